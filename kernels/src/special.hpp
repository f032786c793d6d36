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
constexpr double NO_NUMBER = std::numeric_limits<double>::quiet_NaN(), LARGEST = std::numeric_limits<double>::max();

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

// Of the sum 1 + x, what its rounding took is given back.
INLINE double log1p_(double x) {
    double whole = 1 + x, lost = (x - (whole - 1)) / whole, f, k = exponent(whole, f), s = f / (2 + f), z = s * s;
    double found = k * 0x1.62e42fee00000p-1 + (f - (s * (f - z * area_tangent(z)) - (k * 0x1.a39ef35793c76p-33 + lost)));
    found = x > -1 ? found : x == -1 ? -INFINITE : NO_NUMBER;
    return x == INFINITE || x == 0 ? x : found;
}

// ---------------------------------------------------------------- more digits

// A number and what its rounding took.
struct Long {
    double head, rest;
};
INLINE double rounded(Long x) { return x.head + x.rest; }
INLINE constexpr Long operator-(Long x) { return {-x.head, -x.rest}; }
// a b - p, p being their product as it is rounded.
INLINE double product_rest(double a, double b, double p) {
#if defined(__FMA__) || defined(__aarch64__)
    return __builtin_fma(a, b, -p);
#else
    constexpr std::uint64_t HEAD = ~std::uint64_t(0x7ffffff);
    double c = bits_as<double>(bits_as<std::uint64_t>(a) & HEAD), d = bits_as<double>(bits_as<std::uint64_t>(b) & HEAD);
    return ((c * d - p) + c * (b - d) + (a - c) * d) + (a - c) * (b - d);
#endif
}
INLINE float product_rest(float a, float b, float p) {
#if defined(__FMA__) || defined(__aarch64__)
    return __builtin_fmaf(a, b, -p);
#else
    return float(double(a) * b - p);
#endif
}
INLINE Long product(double a, double b) {
    double p = a * b;
    return {p, product_rest(a, b, p)};
}
INLINE Long product(Long a, Long b) {
    Long p = product(a.head, b.head);
    return {p.head, p.rest + (a.head * b.rest + a.rest * b.head)};
}
// Whichever of them is larger.
INLINE Long sum(double a, double b) {
    double s = a + b, of_b = s - a;
    return {s, (a - (s - of_b)) + (b - of_b)};
}
INLINE Long sum(Long a, Long b) {
    Long s = sum(a.head, b.head);
    return {s.head, s.rest + (a.rest + b.rest)};
}
INLINE Long chosen(bool first, Long a, Long b) { return {first ? a.head : b.head, first ? a.rest : b.rest}; }
INLINE Long quotient(Long a, Long b) {
    double q = a.head / b.head;
    return {q, (-product_rest(q, b.head, a.head) + (a.rest - q * b.rest)) / b.head};
}
INLINE Long long_root(double x) {
    double root = std::sqrt(x);
    return {root, -product_rest(root, root, x) / (2 * root)};
}
// A polynomial whose first terms are added up to all digits, with what the roundings of these coefficients took.
template <int FIRST, int N> INLINE Long long_sum(Long x, const double (&p)[N], const double (&rests)[FIRST]) {
    double inner = p[N - 1];
    _Pragma("GCC unroll 64") for (int i = N - 2; i >= FIRST; i--) inner = inner * x.head + p[i];
    Long found{inner, 0};
    _Pragma("GCC unroll 64") for (int i = FIRST - 1; i >= 0; i--) {
        Long more = product(found, x);
        found = sum(p[i], more.head);
        found.rest += more.rest + rests[i];
    }
    return found;
}
template <int FIRST, int N> INLINE Long long_sum(Long x, const double (&p)[N]) {
    constexpr double none[FIRST] = {};
    return long_sum(x, p, none);
}
// a x + b, of x with its rest.
INLINE Long line(double a, Long x, double b) {
    Long found = sum(a * x.head, b);
    return {found.head, found.rest + a * x.rest};
}
// first + x p(x), the former being the larger part.
template <int N> INLINE Long long_polynomial(double first, double x, const double (&p)[N]) {
    double inner = polynomial(x, p), head = first + x * inner;
    return {head, first - head + x * inner};
}

// exp(x) within its bounds.
INLINE Long long_exp(Long x) {
    double c = x.head < -746. ? -746. : x.head;
    c = c > 710. ? 710. : c;
    std::uint64_t k;
    double less, r = reduced_exponent(c, k, less), head = 1 + r;
    double more = std::fabs(x.head) < 800 ? less + x.rest : 0;  // an infinite number has no rest
    double series = r * r * exp_series(r), rest = 1 - head + r + (series + more * (head + series));
    std::uint64_t half = k >> 1;
    double factor = power_of_two(half + 1024), other = power_of_two(k - half + 1024);
    double sum = head + rest;  // the larger one takes all it can, so that a subnormal number is rounded once
    return {sum * factor * other, (head - sum + rest) * factor * other};
}
INLINE double exact_exp(Long x) {
    double found = long_exp(x).head;
    return x.head != x.head ? x.head : found;
}
INLINE double exact_exp(double x) { return exact_exp(Long{x, 0}); }
// The logarithm of a positive number, to eight digits more than a double has: 2 s comes with what its roundings took.
INLINE Long long_log(double x) {
    bool subnormal = x < 0x1p-1022;
    double f, k = exponent(subnormal ? x * 0x1p54 : x, f) - (subnormal ? 54 : 0);
    double below = 2 + f, s = f / below, z = s * s;
    double more = (-product_rest(s, below, f) - s * (f - (below - 2))) / below;
    double whole = k * 0x1.62e42fee00000p-1;
    Long found = sum(whole, 2 * s);
    double rest = found.rest + (2 * more + (s * z * area_tangent(z) + k * 0x1.a39ef35793c76p-33)), head = found.head + rest;
    return {head, found.head - head + rest};
}

// ---------------------------------------------------------------- the error function

constexpr double SLOPE_OF_ERF = 1.12837916709551257390;  // at 0: 2 / sqrt(pi)
// erf(x) / x - 1 for |x| up to 1, in x².
INLINE double erf_beyond(double z) {
    constexpr double p[] = {0.128379167095512573897,     -0.376126389031837480557,   0.112837916709548786662,
                            -0.0268661706450767932482,   0.00522397762481801446725,  -0.000854832698083378990518,
                            0.000120553311116427109225,  -0.0000149255952668311815652, 0.0000016461000484121368033,
                            -1.63503127010546950107e-7,  1.46597752740474358138e-8,  -1.13728488567916736704e-9,
                            5.95717614774891140443e-11};
    return polynomial(z, p);
}
INLINE double small_erf(double x) { return x + x * erf_beyond(x * x); }
// exp(a²) erfc(a) for a from 0.5 on: a polynomial in t = (a - 3) / (a + 3), over 1 + 2 a.
INLINE Long scaled_erfc(double a) {
    constexpr double even[] = {-0.0475622943534511257, -0.119273663415274676,
                               -0.0237705149197293497, 0.00188869037555550401, -0.000105159936509724601,
                               4.9501735605214486e-6, -7.33686426065499042e-7, 3.61113265058160541e-7,
                               -1.46421088299955684e-7, 4.40479787513383207e-8, -7.76388791793093802e-9};
    constexpr double odd[] = {-0.135621106124581205, 0.129645158702764642, 0.0683080273438264914,
                              0.00252939181882477925, -0.000779832301446208099, 0.000125099554262711179,
                              -0.0000201015087067458305, 3.47541234653355805e-6, -6.23070240469064264e-7,
                              1.10679964267452206e-7, -2.03020238950069117e-8, 3.40679934703256325e-9};
    constexpr double FIRST = 1.25300805826972965;
    a = a > 1e150 ? 1e150 : a;
    double t = (a - 3) / (a + 3), inner = polynomial(t * t, odd) + t * polynomial(t * t, even), head = FIRST + t * inner;
    double rest = FIRST - head + t * inner, twice = 2 * a, below = twice + 1, inverse = 1 / below, found = head * inverse;
    return {found, (rest - product_rest(found, below, head) - found * (1 - (below - twice))) * inverse};
}
// erfc(x) for x from 0.5 on.
INLINE Long upper_erfc(Long x) {
    double a = x.head > 28 ? 28 : x.head;  // where it is 0
    Long square = product(a, a), scaled = scaled_erfc(a);
    return product(long_exp(-square), {scaled.head, scaled.rest - SLOPE_OF_ERF * x.rest});
}
// erfc(x), and to more digits from 0.5 on.
INLINE double erfc_(Long x) {
    double a = std::fabs(x.head), head = 1 - x.head, rest = 1 - head - x.head;
    double near = head + (rest - x.head * erf_beyond(x.head * x.head) - SLOPE_OF_ERF * x.rest);
    Long far = upper_erfc({a, std::copysign(1., x.head) * x.rest});
    double found = x.head < 0 ? 2 - far.head - far.rest : rounded(far);
    return a >= 0.5 ? found : near;
}
// x over the root of 2.
INLINE Long over_root_two(double x) {
    constexpr double HEAD = 0.70710678118654752440, REST = -4.8336466567264565e-17;
    Long found = product(x, HEAD);
    return {found.head, std::fabs(x) < INFINITE ? found.rest + x * REST : 0};
}
