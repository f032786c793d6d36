// Normal numbers and masks of random words.
#include "binding.hpp"
#include "maths.hpp"

namespace {

constexpr double TWO_PI = 6.283185307179586476925;

// Two words make a number of 53 bits, or one from 0 up to 1.
INLINE std::int64_t mantissa(const std::int64_t* words) { return (words[0] & 0x1FFFFF) << 32 | (words[1] & 0xFFFFFFFF); }
double unit(const std::int64_t* words) { return double(mantissa(words)) * 0x1p-53; }

// Two numbers of every four words: the C library's functions give the bits that PyTorch has.
template <class T> void polar_normals(In<std::int64_t> words, Out<T> out) {
    require(out.size % 2 == 0 && words.size == 2 * out.size, "four words are needed for two numbers");
    for (I i = 0; i < out.size; i += 2) {
        double turn = unit(words.data + 2 * i), square = unit(words.data + 2 * i + 2);
        double radius = std::sqrt(-2.0 * std::log1p(-square)), angle = TWO_PI * turn;
        out[i] = T(radius * std::cos(angle));
        out[i + 1] = T(radius * std::sin(angle));
    }
}

// `value` with the probability that 53 random bits are `below` a number: of a pair of words for each element,
// or of a word of 64 bits.
template <class T> void mask(In<std::int64_t> words, Out<T> out, I below, double value) {
    I n = out.size;
    require(words.size == n || words.size == 2 * n, "a word or two are needed for each element");
    const std::int64_t* w = words.data;
    T *to = out.data, one = narrow<T>(Wide<T>(value)), none = narrow<T>(Wide<T>(0));
    auto fill = [=](auto&& bits) {
        parallel(n, GRAIN, [=](I begin, I end) {
            for (I i = begin; i < end; i++) to[i] = bits(i) < below ? one : none;
        });
    };
    if (words.size == n) fill([=](I i) INLINE_LAMBDA { return w[i] & ((I(1) << 53) - 1); });
    else fill([=](I i) INLINE_LAMBDA { return mantissa(w + 2 * i); });
}

}  // namespace

KERNELS({"mask", FOR_FLOATS(mask)}, {"polar_normals", bind<polar_normals<float>, polar_normals<double>>})
