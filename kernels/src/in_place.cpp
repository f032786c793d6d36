// One step of arithmetic where an array lies: the plainest of all writes, with the least to ask beforehand. This
// file is compiled without contraction, so that a product is rounded before it is added to.
#include "binding.hpp"
#include "steps.hpp"

namespace {

// to = f(to, other), where `other` is an array or a number. Vectors of half a line, of which several are under
// way at a time, go through memory a twentieth quicker than whole lines.
template <class T, class F> INLINE void write(T* to, const T* other, bool is_number, I n, F f) {
    typedef T Half __attribute__((vector_size(32)));
    constexpr I LANE = 32 / I(sizeof(T));
    Half number = Half{} + *other;
    I i = 0;
    auto pass = [&](auto operand) INLINE_LAMBDA {
        _Pragma("GCC unroll 4") for (; i + LANE <= n; i += LANE) {
            Half x, y = operand(i);
            std::memcpy(&x, to + i, sizeof x);
            x = f(x, y);
            std::memcpy(to + i, &x, sizeof x);
        }
    };
    if (is_number) pass([=](I) INLINE_LAMBDA { return number; });
    else pass([=](I i) INLINE_LAMBDA { Half y; std::memcpy(&y, other + i, sizeof y); return y; });
    for (; i < n; i++) to[i] = f(to[i], other[is_number ? 0 : i]);
}

// arithmetic(step, to, other, factor): by an array of the same size or a number; what is added or subtracted is
// multiplied by a factor.
template <class T> void arithmetic(I step, InOut<T> to, In<T> other, double factor) {
    bool is_number = other.size == 1, is_scaled = factor != 1;
    require(step >= ADD && step <= (is_scaled ? SUBTRACT : DIVIDE), "a step that is no arithmetic, or takes no factor");
    require(is_number || other.size == to.size, "the arrays have different sizes");
    parallel(to.size, GRAIN / 2, [=, scale = T(factor)](I begin, I end) {
        by_lines(to.data, begin, end, [=](I start, I stop) {
            auto by = [=](auto f) INLINE_LAMBDA { write(to.data + start, other.data + (is_number ? 0 : start), is_number, stop - start, f); };
            switch (step) {
                case ADD:
                    if (is_scaled) return by([=](auto x, auto y) INLINE_LAMBDA { return x + y * scale; });
                    return by([](auto x, auto y) INLINE_LAMBDA { return x + y; });
                case SUBTRACT:
                    if (is_scaled) return by([=](auto x, auto y) INLINE_LAMBDA { return x - y * scale; });
                    return by([](auto x, auto y) INLINE_LAMBDA { return x - y; });
                case MULTIPLY: return by([](auto x, auto y) INLINE_LAMBDA { return x * y; });
                default: return by([](auto x, auto y) INLINE_LAMBDA { return x / y; });
            }
        });
    });
}

}  // namespace

KERNELS({"arithmetic", bind<arithmetic<float>, arithmetic<double>>})
