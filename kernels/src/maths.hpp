// Elementary functions without branches, which compilers vectorise. The coefficients are minimax
// fits made for this file (fit.py); tests hold every function to its error in units in the last place.
#pragma once
#include <cmath>
#include <limits>

#include "arrays.hpp"

#define SIMD _Pragma("omp simd")

template <class T, int N> INLINE T polynomial(T x, const T (&rising)[N]) {
    T found = rising[N - 1];
    for (int i = N - 2; i >= 0; i--) found = found * x + rising[i];
    return found;
}

// ---------------------------------------------------------------- exponentials

// exp(x) = 2^k exp(r) with |r| <= log(2) / 2: what exp(r) is above 1, and k.
INLINE float reduced_exp(float x, std::int32_t& k) {
    constexpr float q[] = {0.50000000994529f, 0.16666513632229f, 0.041666190394687f, 0.0083695307648391f,
                           0.0013951565226693f};
    constexpr float MAGIC = 0x1.8p23f;  // a sum with it is rounded to a whole number
    float shifted = x * 1.44269504088896f + MAGIC;
    k = bits_as<std::int32_t>(shifted) - bits_as<std::int32_t>(MAGIC);
    float whole = shifted - MAGIC;
    float r = x - whole * 0.693359375f;  // log(2) in two parts, the first of 9 bits
    r = r + whole * 2.12194440054691e-4f;
    return r * r * polynomial(r, q) + r;
}
// k is biased by 2048, since right shifts of unsigned numbers are what AVX2 has.
INLINE double reduced_exp(double x, std::uint64_t& k) {
    constexpr double q[] = {0.50000000000000130291,    0.1666666666666670108,     0.041666666666509850155,
                            0.008333333333305742852,   0.0013888888949054472405,  0.00019841269920800860701,
                            0.000024801487372945833399, 2.7557213087612000826e-6, 2.7632328954041837772e-7,
                            2.5118916316272378073e-8};
    constexpr double MAGIC = 0x1.8p52;
    double shifted = x * 1.4426950408889634074 + MAGIC;
    k = bits_as<std::uint64_t>(shifted) - bits_as<std::uint64_t>(MAGIC) + 2048;
    double whole = shifted - MAGIC;
    double r = x - whole * 0x1.62e42fee00000p-1;
    r = r - whole * 0x1.a39ef35793c76p-33;
    return r * r * polynomial(r, q) + r;
}
INLINE float power_of_two(std::int32_t k) { return bits_as<float>((k + 127) << 23); }
INLINE double power_of_two(std::uint64_t k) { return bits_as<double>((k - 2048 + 1023) << 52); }

// 2^k comes in two factors, for subnormal results.
INLINE float exp_(float x) {
    float c = x < -104.f ? -104.f : x;
    c = c > 89.f ? 89.f : c;
    std::int32_t k;
    float y = reduced_exp(c, k) + 1.f;
    std::int32_t half = k >> 1;
    y = y * power_of_two(half) * power_of_two(k - half);
    return x != x ? x : y;
}
INLINE double exp_(double x) {
    double c = x < -746. ? -746. : x;
    c = c > 710. ? 710. : c;
    std::uint64_t k;
    double y = reduced_exp(c, k) + 1.;
    std::uint64_t half = k >> 1;
    y = y * power_of_two(half + 1024) * power_of_two(k - half + 1024);
    return x != x ? x : y;
}

// With e = exp(-2 |x|) - 1 it is -e / (e + 2), which is right to the last digits near 0 as well.
template <class T, class Exponent> INLINE T tanh_by(T x, T bound) {
    T size = std::fabs(x);
    size = size > bound ? bound : size;
    Exponent k;
    T rest = reduced_exp(size * -2, k), factor = power_of_two(k);
    T e = rest * factor + (factor - 1);
    T y = std::copysign(-e / (e + 2), x);
    return x != x ? x : y;
}
INLINE float tanh_(float x) { return tanh_by<float, std::int32_t>(x, 10.f); }
INLINE double tanh_(double x) { return tanh_by<double, std::uint64_t>(x, 20.); }

template <class T> INLINE T sigmoid_(T x) { return 1 / (exp_(-x) + 1); }

// ---------------------------------------------------------------- the normal distribution

// The probability of a normal variable to be below x, half of erf(x / sqrt(2)) being x times a quotient
// of polynomials in x². Beyond the bounds it is 0 or 1 to all digits.
INLINE float normal_probability(float x) {
    constexpr float BOUND = 5.6568542f;
    constexpr float above[] = {0.398942271f, 0.0342143406f, 0.00469357973f, 0.000171621855f, 6.28806841e-06f, 2.19509131e-08f};
    constexpr float below[] = {1.f, 0.252428912f, 0.0288375457f, 0.0019009104f, 7.40983356e-05f, 1.16937567e-06f};
    float c = x < -BOUND ? -BOUND : x;
    c = c > BOUND ? BOUND : c;
    float s = c * c;
    float found = c * polynomial(s, above) / polynomial(s, below) + 0.5f;
    return found < 0 ? 0 : found;  // NaN stays NaN through all of these comparisons
}
INLINE double normal_probability(double x) { return (std::erf(x * 0.70710678118654752440) + 1) * 0.5; }

// ---------------------------------------------------------------- sums and extremes of rows

constexpr I BLOCK = 4096;  // so many are added up in their own precision, blocks in double

template <class T, class F> INLINE T summed(I n, F&& term) {
    if (n <= BLOCK) {
        T s = 0;
        _Pragma("omp simd reduction(+:s)") for (I j = 0; j < n; j++) s += term(j);
        return s;
    }
    double total = 0;
    for (I start = 0; start < n; start += BLOCK) {
        I stop = std::min(n, start + BLOCK);
        T s = 0;
        _Pragma("omp simd reduction(+:s)") for (I j = start; j < stop; j++) s += term(j);
        total += s;
    }
    return T(total);
}

// Two sums at once: of term(j) and of term(j) * factor(j).
template <class T> struct Sums {
    T plain, along;
};
template <class T, class F, class G> INLINE Sums<T> summed_along(I n, F&& term, G&& factor) {
    double plain = 0, along = 0;
    for (I start = 0; start < n; start += BLOCK) {
        I stop = std::min(n, start + BLOCK);
        T a = 0, b = 0;
        _Pragma("omp simd reduction(+:a,b)") for (I j = start; j < stop; j++) {
            T v = term(j);
            a += v;
            b += v * factor(j);
        }
        plain += a, along += b;
    }
    return {T(plain), T(along)};
}

// NaN is passed over: it comes back in what is computed with the maximum.
template <class T, class F> INLINE T largest(I n, F&& term) {
    T m = -std::numeric_limits<T>::infinity();
    _Pragma("omp simd reduction(max:m)") for (I j = 0; j < n; j++) {
        T v = term(j);
        m = v > m ? v : m;
    }
    return m;
}
