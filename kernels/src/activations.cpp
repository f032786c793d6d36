// Smooth activations and what they pass on of a gradient.
#include "special.hpp"
#include "vectors.hpp"

namespace {

constexpr double DENSITY = 0.39894228040143267794, SCALE = 0.79788456080286535588, CUBIC = 0.044715;

// The sigmoid of x, and what is left of 1, both to all digits.
template <class W> struct Shares {
    W own, rest;
};
template <class W> INLINE Shares<W> shares(W x) {
    W e = exp_(-std::fabs(x)), larger = 1 / (e + 1), smaller = e * larger;
    return x < 0 ? Shares<W>{smaller, larger} : Shares<W>{larger, smaller};
}

// x² - y, where they are nearly the same.
INLINE float square_beyond(float x, float y) {
#if defined(__FMA__) || defined(__aarch64__)
    return __builtin_fmaf(x, x, -y);
#else
    float head = bits_as<float>(bits_as<std::uint32_t>(x) & 0xfffff000u);
    return (head * head - y) + (x - head) * (x + head);
#endif
}
// The density of the normal distribution at x, and its probability to be below x.
template <class W> struct Normal {
    W density, below;
};
INLINE Normal<double> normal(double x) { return {exp_(x * x * -0.5) * DENSITY, 0.5 * erfc_(over_root_two(-x))}; }
// The probability is near 0 a polynomial in x², elsewhere a quotient of two in |x| times exp(-x² / 2), so that small ones
// keep their digits; so does the exponential, as the square is not rounded before it is reduced.
INLINE Normal<float> normal(float x) {
    constexpr float SMALL = 0x1p-100f, MAGIC = 0x1.8p23f;  // exponentials are larger by 2^100, as none of them is then subnormal
    constexpr float series[] = {0.125f, -0.020833142f, 0.0026041369f, -0.00026154784f, 2.1799321e-5f};
    constexpr float near[] = {0.398942279f, -0.0664903323f, 0.00997317093f, -0.0011859847f, 0.000113143645f, -7.53030545e-06f};
    constexpr float above[] = {0.5f * SMALL, 0.437595956f * SMALL, 0.182690849f * SMALL, 0.0404420443f * SMALL, 0.00408563392f * SMALL};
    constexpr float under[] = {1.f, 1.67307676f, 1.20029989f, 0.468026824f, 0.10137975f, 0.010241043f};
    float a = std::fabs(x), c = a > 14.5f ? 14.5f : a;
    float square = c * c, shifted = square * 0.72134752f + MAGIC, k = shifted - MAGIC;  // x² is 2 k log(2) + r
    float r = square_beyond(c, k * 1.38671875f) + k * 4.2438888e-4f;
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
struct TanhGelu {  // (1 + tanh(u)) / 2 is the sigmoid of 2 u
    template <class W> static INLINE W twice(W x) { return (x * x * W(SCALE * CUBIC) + W(SCALE)) * x * 2; }
    template <class W> static INLINE W value(W x) { return sigmoid_(twice(x)) * x; }
    template <class W> static INLINE W slope(W x) {
        Shares<W> s = shares(twice(x));
        return s.own * ((x * x * W(3 * SCALE * CUBIC) + W(SCALE)) * x * 2 * s.rest + 1);
    }
};
struct Silu {
    template <class W> static INLINE W value(W x) { return x / (exp_(-x) + 1); }
    template <class W> static INLINE W slope(W x) {
        Shares<W> s = shares(x);
        return s.own * (s.rest * x + 1);
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
        {"silu", FOR_FLOATS(value, Silu)}, {"silu_gradient", FOR_FLOATS(gradient, Silu)})
