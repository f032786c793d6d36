// What special functions have in common. They are computed in double, most of them whatever their arguments are.
#pragma once
#include "binding.hpp"
#include "maths.hpp"

template <class T, class F> INLINE void each(In<T> x, Out<T> y, F f) {
    require(same_shape(x, y), "the result has another shape");
    parallel(x.size, GRAIN / 16, [=](I begin, I end) {
        SIMD for (I i = begin; i < end; i++) y[i] = narrow<T>(Wide<T>(f(double(wide(x[i])))));
    });
}

constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double NO_NUMBER = std::numeric_limits<double>::quiet_NaN();

// log(x) = k log(2) + log(1 + f), with s = f / (2 + f): twice the area tangent of s.
// What twice the area tangent of s has beyond 2 s, over s³, in z = s².
INLINE double area_tangent(double z) {
    constexpr double p[] = {0.666666666666666665, 0.40000000000000877,  0.285714285708036118, 0.222222223917139174,
                            0.181817956401329063, 0.153862397028146582, 0.132687731386568852, 0.130866261478401021};
    return polynomial(z, p);
}
INLINE float area_tangent(float z) {
    constexpr float p[] = {0.6666666665f, 0.4000001077f, 0.2857030572f, 0.2226471121f, 0.1746470247f, 0.2078761686f};
    return polynomial(z, p);
}
INLINE double log_(double x) {
    bool subnormal = x < 0x1p-1022;
    double f, k = exponent(subnormal ? x * 0x1p54 : x, f) - (subnormal ? 54 : 0), s = f / (2 + f), z = s * s;
    // 2 s is f - s f, which leaves f as it is.
    double found = k * 0x1.62e42fee00000p-1 + (f - (s * (f - z * area_tangent(z)) - k * 0x1.a39ef35793c76p-33));
    found = x > 0 ? found : x == 0 ? -INFINITE : NO_NUMBER;
    return x == INFINITE ? x : found;
}

// erf(x) for |x| up to 1: x times a polynomial in x².
INLINE double small_erf(double x) {
    constexpr double p[] = {1.12837916709551257377,      -0.376126389031837480557,   0.112837916709548786662,
                            -0.0268661706450767932482,   0.00522397762481801446725,  -0.000854832698083378990518,
                            0.000120553311116427109225,  -0.0000149255952668311815652, 0.0000016461000484121368033,
                            -1.63503127010546950107e-7,  1.46597752740474358138e-8,  -1.13728488567916736704e-9,
                            5.95717614774891140443e-11};
    return x * polynomial(x * x, p);
}
// exp(a²) erfc(a) for a from 0.5 on: a polynomial in t = (a - 3) / (a + 3), over 1 + 2 a.
INLINE double scaled_erfc(double a) {
    constexpr double even[] = {1.25300805826972965, -0.0475622943534511257, -0.119273663415274676,
                               -0.0237705149197293497, 0.00188869037555550401, -0.000105159936509724601,
                               4.9501735605214486e-6, -7.33686426065499042e-7, 3.61113265058160541e-7,
                               -1.46421088299955684e-7, 4.40479787513383207e-8, -7.76388791793093802e-9};
    constexpr double odd[] = {-0.135621106124581205, 0.129645158702764642, 0.0683080273438264914,
                              0.00252939181882477925, -0.000779832301446208099, 0.000125099554262711179,
                              -0.0000201015087067458305, 3.47541234653355805e-6, -6.23070240469064264e-7,
                              1.10679964267452206e-7, -2.03020238950069117e-8, 3.40679934703256325e-9};
    a = a > 1e150 ? 1e150 : a;
    double below = 1 / ((a + 3) * (1 + 2 * a)), t = (a - 3) * (1 + 2 * a) * below;
    return (a + 3) * below * (polynomial(t * t, even) + t * polynomial(t * t, odd));
}
// exp(±a²), the square being taken in two parts, of which the first is exact.
template <int SIGN> INLINE double exp_of_square(double a) {
    double head = bits_as<double>(bits_as<std::uint64_t>(a) & ~std::uint64_t(0x7ffffff));
    double rest = SIGN * (a - head) * (a + head);
    return exp_(SIGN * head * head) * (1 + rest * (1 + rest * (0.5 + rest * (1. / 6))));
}
