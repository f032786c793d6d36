// Normal numbers of random words.
#include "binding.hpp"
#include "maths.hpp"

namespace {

constexpr double TWO_PI = 6.283185307179586476925;

// Two words make a number from 0 up to 1, of 53 bits.
double unit(const std::int64_t* words) { return double((words[0] & 0x1FFFFF) << 32 | (words[1] & 0xFFFFFFFF)) * 0x1p-53; }

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

}  // namespace

KERNELS({"polar_normals", bind<polar_normals<float>, polar_normals<double>>})
