// Special functions, computed in double whatever their arguments are. The coefficients are Chebyshev
// fits made for this file.
#include "binding.hpp"
#include "maths.hpp"

namespace {

template <class T, class F> INLINE void each(In<T> x, Out<T> y, F f) {
    require(same_shape(x, y), "the result has another shape");
    parallel(x.size, GRAIN / 16, [=](I begin, I end) {
        SIMD for (I i = begin; i < end; i++) y[i] = narrow<T>(Wide<T>(f(double(wide(x[i])))));
    });
}

// ---------------------------------------------------------------- the error function

// erf(x) for |x| up to 1: x times a polynomial in x².
INLINE double small_erf(double x) {
    constexpr double p[] = {1.12837916709551257377,      -0.376126389031837480557,   0.112837916709548786662,
                            -0.0268661706450767932482,   0.00522397762481801446725,  -0.000854832698083378990518,
                            0.000120553311116427109225,  -0.0000149255952668311815652, 0.0000016461000484121368033,
                            -1.63503127010546950107e-7,  1.46597752740474358138e-8,  -1.13728488567916736704e-9,
                            5.95717614774891140443e-11};
    return x * polynomial(x * x, p);
}
// erfc(a) for a from 0.5 on: exp(-a²) / (1 + 2 a) times a polynomial in t = (a - 3) / (a + 3).
INLINE double upper_erfc(double a) {
    constexpr double even[] = {1.25300805826972965186, -0.0475622943534506939878, -0.119273663415311785346,
                               -0.0237705149185363778777, 0.00188869035640020553974,
                               -0.00010515976008945177399, 0.00000494917144760333215688,
                               -7.30055088256998715745e-7, 3.52693258412997986823e-7,
                               -1.34323124094512907274e-7, 3.42329907978226005735e-8,
                               -4.32537071910727837355e-9};
    constexpr double odd[] = {-0.135621106124581187855, 0.129645158702762033093, 0.0683080273439443404809,
                              0.00252939181633511687872, -0.000779832271491879488952,
                              0.000125099327586360722384, -0.0000201003761131060858721,
                              0.00000347161667659357387505, -6.14634634142541694279e-7,
                              9.87743807494067206583e-8, -1.06596288073932025147e-8};
    a = a > 28 ? 28 : a;  // where it is 0
    double below = 1 / ((a + 3) * (1 + 2 * a)), t = (a - 3) * (1 + 2 * a) * below;
    // The square in two parts, of which the first is exact.
    double head = bits_as<double>(bits_as<std::uint64_t>(a) & ~std::uint64_t(0x7ffffff));
    double rest = (a - head) * (a + head);
    double square = exp_(-head * head) * (1 - rest * (1 - rest * (0.5 - rest * (1. / 6))));
    return square * (a + 3) * below * (polynomial(t * t, even) + t * polynomial(t * t, odd));
}
INLINE double erf_(double x) {
    double a = std::fabs(x), near = small_erf(x), far = std::copysign(1 - upper_erfc(a), x);
    return a >= 1 ? far : near;
}
INLINE double erfc_(double x) {
    double a = std::fabs(x), near = 1 - small_erf(x), far = upper_erfc(a);
    far = x < 0 ? 2 - far : far;
    return a >= 0.5 ? far : near;
}
template <class T> void erf(In<T> x, Out<T> y) { each(x, y, [](double v) INLINE_LAMBDA { return erf_(v); }); }
template <class T> void erfc(In<T> x, Out<T> y) { each(x, y, [](double v) INLINE_LAMBDA { return erfc_(v); }); }
template <class T> void ndtr(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA { return 0.5 * erfc_(v * -0.70710678118654752440); });
}

// ---------------------------------------------------------------- the second derivative of log gamma

// For x > 0: ten terms of the sum of 1 / (x + k)², two at a time, and Bernoulli's numbers for the others.
INLINE double upper_trigamma(double x) {
    constexpr double bernoulli[] = {1. / 6, -1. / 30, 1. / 42, -1. / 30, 5. / 66, -691. / 2730, 7. / 6};
    double sum = 0;
    for (int k = 0; k < 10; k += 2) {
        double a = x + k, b = a + 1, ab = a * b;
        sum += (a * a + b * b) / (ab * ab);
    }
    bool large = x > 20;
    double z = 1 / (large ? x : x + 10), s = z * z;
    return (large ? 0 : sum) + z + 0.5 * s + z * s * polynomial(s, bernoulli);
}
template <class T> void trigamma(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA { return upper_trigamma(v); });
    parallel(x.size, GRAIN, [=](I begin, I end) {
        constexpr double PI = 3.14159265358979323846;
        for (I i = begin; i < end; i++) {
            double v = wide(x[i]);
            if (!(v <= 0)) continue;
            double part = v - std::nearbyint(v), sine = std::sin(PI * part) / PI;
            y[i] = narrow<T>(Wide<T>(part == 0 || std::isinf(v) ? std::numeric_limits<double>::infinity()
                                                               : 1 / (sine * sine) - upper_trigamma(1 - v)));
        }
    });
}

}  // namespace

KERNELS({"erf", bind<erf<float>, erf<double>>}, {"erfc", bind<erfc<float>, erfc<double>>},
        {"ndtr", bind<ndtr<float>, ndtr<double>>}, {"trigamma", bind<trigamma<float>, trigamma<double>>})
