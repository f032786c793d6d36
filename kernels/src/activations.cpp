// Smooth activations and what they pass on of a gradient.
#include "special.hpp"
#include "vectors.hpp"

namespace {

constexpr double DENSITY = 0.39894228040143267794, SCALE = 0.79788456080286535588, CUBIC = 0.044715;

// The density of the normal distribution at x, and its probability to be below x.
template <class W> struct Normal {
    W density, below;
};
INLINE Normal<double> normal(double x) { return {falling_exp(x * x * -0.5) * DENSITY, 0.5 * erfc_(over_root_two(-x))}; }
// The probability is near 0 a polynomial in x², elsewhere a quotient of two in |x| times exp(-x² / 2), so that small ones
// keep their digits; so does the exponential, as the square is not rounded before it is reduced.
INLINE Normal<float> normal(float x) {
    constexpr float SMALL = 0x1p-100f, MAGIC = 0x1.8p23f;  // exponentials are larger by 2^100, as none of them is then subnormal
    constexpr float series[] = {0.125f, -0.020833142f, 0.0026041369f, -0.00026154784f, 2.1799321e-5f};
    constexpr float near[] = {0.398942292f, -0.0664905533f, 0.00997425802f, -0.00118824642f, 0.000115252937f, -8.25747975e-06f};
    constexpr float above[] = {0.5f * SMALL, 0.437595956f * SMALL, 0.182690849f * SMALL, 0.0404420443f * SMALL, 0.00408563392f * SMALL};
    constexpr float under[] = {1.f, 1.67307676f, 1.20029989f, 0.468026824f, 0.10137975f, 0.010241043f};
    float a = std::fabs(x), c = a > 14.5f ? 14.5f : a;
    float square = c * c, shifted = square * 0.72134752f + MAGIC, k = shifted - MAGIC;  // x² is 2 k log(2) + r
    float r = product_rest(c, c, k * 1.38671875f) + k * 4.2438888e-4f;
    std::uint32_t power = (100u << 23) - (bits_as<std::uint32_t>(shifted) << 23);  // 100 - k, where exponents are
    float bell = bits_as<float>(bits_as<std::uint32_t>(r * (r * polynomial(r, series) - 0.5f) + 1) + power);
    float beyond = bell * (polynomial(c, above) / polynomial(c, under)), within = 0.5f + x * polynomial(square, near);
    return {bell * (float(DENSITY) * SMALL), a < 1 ? within : x < 0 ? beyond : 1 - beyond};
}

struct Gelu {
    template <class W> static INLINE W value(W x) { return x * normal(x).below; }
    template <class W> static INLINE W slope(W x) {
        Normal<W> of_x = normal(x);
        return of_x.below + x * of_x.density;
    }
};
// x times the sigmoid of v(x), v being odd, of e = exp(-|v|): over 1 + e it is x, or x e where x is negative. What the
// roundings of both and of the quotient took is given back.
template <class W> INLINE W gated(W x, W e) {
    W share = x < 0 ? e : W(1), above = x * share, below = e + 1, inverse = 1 / below, found = above * inverse;
    W rest = product_rest(x, share, above) - product_rest(found, below, above) - found * (e - (below - 1));
    W exact = std::copysign(found + rest * inverse, x);
    return std::fabs(x) < W(INFINITE) ? exact : found;
}
// Its slope at -|x|, of the `bend` |x| v'(x) too, is e (1 - bend + e) / (1 + e)²; at |x| it is what is left of 1. So one
// sum alone loses digits, where it is 0.
template <class W> INLINE W gated_slope(W x, W e, W bend) {
    W lower = (e * (1 - bend) + e * e) / (e * (e + 2) + 1);
    return x < 0 ? lower : 1 - lower;
}
struct TanhGelu {  // (1 + tanh(u)) / 2 is the sigmoid of 2 u
    template <class W> static INLINE W twice(W x) { return (x * x * W(2 * SCALE * CUBIC) + W(2 * SCALE)) * x; }
    template <class W> static INLINE W value(W x) { return gated(x, falling_exp(-twice(W(std::fabs(x))))); }
    template <class W> static INLINE W slope(W x) {
        W size = std::fabs(x), near = size > 100 ? W(100) : size;  // farther away nothing is left that an infinite bend may meet
        return gated_slope(x, falling_exp(-twice(size)), (near * near * W(6 * SCALE * CUBIC) + W(2 * SCALE)) * size);
    }
};
struct Silu {
    template <class W> static INLINE W value(W x) { return x / one_and_exp(-x); }
    template <class W> static INLINE W slope(W x) {
        W size = std::fabs(x);
        return gated_slope(x, falling_exp(-size), size);
    }
};
// x times the tangent of log(1 + exp(x)), both parts of which are over the larger one's exponential. Numbers of single
// precision are computed in double: for all digits, and still quicker than three functions one after another.
struct Mish {
    static INLINE float value(float given) {
        double x = given, e = falling_exp(-std::fabs(x)), square = e * e, above = x < 0 ? square + 2 * e : 2 * e + 1;
        return float(x * above / (above + (x < 0 ? 2. : 2 * square)));
    }
    static INLINE double value(double x) {
        Long e = long_exp({-std::fabs(x), 0}), square = product(e, e), twice = doubled(e);
        Long above = chosen(x < 0, sum(twice, square), sum({1, 0}, twice));
        Long share = quotient(above, sum(above, chosen(x < 0, {2, 0}, doubled(square))));
        return x * share.head + (std::fabs(x) < INFINITE ? x : 0) * share.rest;
    }
    // A polynomial of four terms in e over the square of what the function is over. For negative numbers it rises from
    // 4 (x + 1) and is multiplied by e once more, for others it falls to that.
    static INLINE float slope(float given) {
        double x = bounded(given), e = falling_exp(-std::fabs(x)), last = 4 * x + 4, next = last + 2;
        double rising[] = {x < 0 ? last : 1, x < 0 ? next : 4, x < 0 ? 4 : next, x < 0 ? 1 : last};
        double below = 2 * e + (x < 0 ? e * e + 2 : 2 * e * e + 1), above = polynomial(e, rising) * (x < 0 ? e : 1);
        return float(above / (below * below));
    }
    static INLINE double slope(double given) {
        double x = bounded(given);
        bool left = x < 0;
        Long e = long_exp({-std::fabs(x), 0}), square = product(e, e), last = sum(4 * x, 4), next = sum(4 * x, 6);
        Long above = sum(chosen(left, {4, 0}, next), product(e, chosen(left, {1, 0}, last)));
        above = sum(chosen(left, next, {4, 0}), product(e, above));
        above = sum(chosen(left, last, {1, 0}), product(e, above));
        above = chosen(left, product(e, above), above);
        Long below = sum(doubled(e), chosen(left, sum({2, 0}, square), sum({1, 0}, doubled(square))));
        return rounded(quotient(above, product(below, below)));
    }
    static INLINE Long doubled(Long x) { return {2 * x.head, 2 * x.rest}; }
    // Beyond 800 an exponential is 0, and times an infinite number that is none.
    static INLINE double bounded(double x) {
        double c = x < -800 ? -800 : x;
        c = c > 800 ? 800 : c;
        return std::fabs(x) < INFINITE ? c : NO_NUMBER;
    }
};

template <class T, class F> void value(In<T> x, Out<T> y) {
    require(same_shape(x, y), "the result has another shape");
    const T* from = x.data;
    T* to = y.data;
    parallel(x.size, GRAIN / 4, [=](I begin, I end) {
        SIMD for (I i = begin; i < end; i++) to[i] = narrow<T>(F::value(wide(from[i])));
    });
}

template <class T, class F> void gradient(In<T> g, In<T> x, Out<T> y) {
    require(same_shape(g, x) && same_shape(x, y), "the arrays have different shapes");
    const T *slopes = g.data, *from = x.data;
    T* to = y.data;
    parallel(x.size, GRAIN / 4, [=](I begin, I end) {
        SIMD for (I i = begin; i < end; i++) to[i] = narrow<T>(F::slope(wide(from[i])) * wide(slopes[i]));
    });
}

template <class T> void rectified(In<T> x, Out<T> y) {
    require(same_shape(x, y), "the result has another shape");
    const T* from = x.data;
    T* to = y.data;
    parallel(x.size, GRAIN / 4, [=](I begin, I end) {
        by_lines(to, begin, end, [=](I start, I stop) {
            SIMD for (I i = start; i < stop; i++) {
                Wide<T> v = wide(from[i]);
                to[i] = narrow<T>(v > 0 || v != v ? v : Wide<T>(0));  // NaN stays what it is
            }
        });
    });
}

template <class T> void leaky_gradient(In<T> g, In<T> x, Out<T> y, double slope) {
    using W = Wide<T>;
    require(same_shape(g, x) && same_shape(x, y), "the arrays have different shapes");
    const T *slopes = g.data, *from = x.data;
    T* to = y.data;
    W factor = W(slope);
    parallel(x.size, GRAIN, [=](I begin, I end) {
        by_lines(to, begin, end, [=](I start, I stop) {
            SIMD for (I i = start; i < stop; i++) {
                W passed = wide(slopes[i]);
                to[i] = narrow<T>(wide(from[i]) > 0 ? passed : passed * factor);
            }
        });
    });
}

}  // namespace

KERNELS({"rectified", FOR_FLOATS(rectified)}, {"leaky_gradient", FOR_FLOATS(leaky_gradient)}, {"gelu", FOR_FLOATS(value, Gelu)}, {"gelu_gradient", FOR_FLOATS(gradient, Gelu)},
        {"tanh_gelu", FOR_FLOATS(value, TanhGelu)}, {"tanh_gelu_gradient", FOR_FLOATS(gradient, TanhGelu)},
        {"silu", FOR_FLOATS(value, Silu)}, {"silu_gradient", FOR_FLOATS(gradient, Silu)}, {"mish", FOR_FLOATS(value, Mish)},
        {"mish_gradient", FOR_FLOATS(gradient, Mish)})
