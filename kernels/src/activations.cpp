// Smooth activations and what they pass on of a gradient.
#include "special.hpp"
#include "vectors.hpp"

namespace {

constexpr double ROOT_TWO_PI = 2.5066282746310005024, SCALE = 0.79788456080286535588, CUBIC = 0.044715;

// The sigmoid of x, and what is left of 1, both to all digits.
template <class W> struct Shares {
    W own, rest;
};
template <class W> INLINE Shares<W> shares(W x) {
    W e = exp_(-std::fabs(x)), larger = 1 / (e + 1), smaller = e * larger;
    return x < 0 ? Shares<W>{smaller, larger} : Shares<W>{larger, smaller};
}

struct Gelu {
    template <class W> static INLINE W value(W x) { return x * normal(x).below; }
    template <class W> static INLINE W slope(W x) {
        Normal<W> of_x = normal(x);
        return of_x.below + x * of_x.bell * W(1 / ROOT_TWO_PI);
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
