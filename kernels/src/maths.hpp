// Elementary functions without branches, which compilers vectorise. The coefficients are minimax
// fits made for this file (fit.py); tests hold every function to its error in units in the last place.
#pragma once
#include <cmath>
#include <limits>

#include "arrays.hpp"

#define SIMD _Pragma("omp simd")

template <class T, int N> INLINE T polynomial(T x, const T (&rising)[N]) {
    T found = rising[N - 1];
    _Pragma("GCC unroll 64") for (int i = N - 2; i >= 0; i--) found = found * x + rising[i];
    return found;
}

// ---------------------------------------------------------------- exponentials

// exp(x) = 2^k exp(r) with |r| <= log(2) / 2. Of r, `part` is what comes before its rounding, which LOG_TWO_LESS, the
// rest of log(2) beside 9 bits, times the `whole` k is added to.
constexpr float LOG_TWO_LESS = 2.12194440054691e-4f;
INLINE float reduced_exponent(float x, std::int32_t& k, float& part, float& whole) {
    constexpr float MAGIC = 0x1.8p23f;  // a sum with it is rounded to a whole number
    float shifted = x * 1.44269504088896f + MAGIC;
    k = bits_as<std::int32_t>(shifted) - bits_as<std::int32_t>(MAGIC);
    whole = shifted - MAGIC;
    part = x - whole * 0.693359375f;
    return part + whole * LOG_TWO_LESS;
}
// (exp(r) - 1 - r) / r².
INLINE float exp_series(float r) {
    constexpr float q[] = {0.50000000994529f, 0.16666513632229f, 0.041666190394687f, 0.0083695307648391f,
                           0.0013951565226693f};
    return polynomial(r, q);
}
// What exp(r) is above 1, and k.
INLINE float reduced_exp(float x, std::int32_t& k) {
    float part, whole, r = reduced_exponent(x, k, part, whole);
    return r * r * exp_series(r) + r;
}
// k is biased by 2048, since right shifts of unsigned numbers are what AVX2 has. r comes with what its rounding took.
INLINE double reduced_exponent(double x, std::uint64_t& k, double& rest) {
    constexpr double MAGIC = 0x1.8p52;
    double shifted = x * 1.4426950408889634074 + MAGIC;
    k = bits_as<std::uint64_t>(shifted) - bits_as<std::uint64_t>(MAGIC) + 2048;
    double whole = shifted - MAGIC;
    double head = x - whole * 0x1.62e42fee00000p-1;
    double r = head - whole * 0x1.a39ef35793c76p-33;
    rest = head - r - whole * 0x1.a39ef35793c76p-33;
    return r;
}
// (exp(r) - 1 - r) / r².
INLINE double exp_series(double r) {
    constexpr double q[] = {0.50000000000000130291,    0.1666666666666670108,     0.041666666666509850155,
                            0.008333333333305742852,   0.0013888888949054472405,  0.00019841269920800860701,
                            0.000024801487372945833399, 2.7557213087612000826e-6, 2.7632328954041837772e-7,
                            2.5118916316272378073e-8};
    return polynomial(r, q);
}
INLINE double reduced_exp(double x, std::uint64_t& k) {
    double rest, r = reduced_exponent(x, k, rest);
    return r * r * exp_series(r) + r;
}
INLINE float power_of_two(std::int32_t k) { return bits_as<float>(std::uint32_t(k + 127) << 23); }
INLINE double power_of_two(std::uint64_t k) { return bits_as<double>((k - 2048 + 1023) << 52); }

// exp(r) and k. What the rounding of 1 + r took is given back.
INLINE float exp_part(float x, std::int32_t& k) {
    float part, whole, r = reduced_exponent(x, k, part, whole), head = 1 + part;
    return head + (r * r * exp_series(r) + (part - (head - 1) + whole * LOG_TWO_LESS));
}
INLINE double exp_part(double x, std::uint64_t& k) {
    double less, r = reduced_exponent(x, k, less), head = 1 + r;
    return head + (r * r * exp_series(r) + (r - (head - 1) + less));
}
// 2^k comes in two factors, for subnormal results.
INLINE float exp_(float x) {
    float c = x < -104.f ? -104.f : x;
    c = c > 89.f ? 89.f : c;
    std::int32_t k;
    float y = exp_part(c, k);
    std::int32_t half = k >> 1;
    y = y * power_of_two(half) * power_of_two(k - half);
    return x != x ? x : y;
}
INLINE double exp_(double x) {
    double c = x < -746. ? -746. : x;
    c = c > 710. ? 710. : c;
    std::uint64_t k;
    double y = exp_part(c, k);
    std::uint64_t half = k >> 1;
    y = y * power_of_two(half + 1024) * power_of_two(k - half + 1024);
    return x != x ? x : y;
}
// The same for x up to 0, in three quarters of the time: one factor will do, on top of a moved exponent.
INLINE float falling_exp(float x) {
    float c = x < -104.f ? -104.f : x;
    std::int32_t k;
    float y = exp_part(c, k);
    y = bits_as<float>(bits_as<std::uint32_t>(y) + (std::uint32_t(k + 64) << 23)) * 0x1p-64f;
    return x != x ? x : y;
}
INLINE double falling_exp(double x) {
    double c = x < -746. ? -746. : x;
    std::uint64_t k;
    double y = exp_part(c, k);
    y = bits_as<double>(bits_as<std::uint64_t>(y) + ((k - 2048 + 512) << 52)) * 0x1p-512;
    return x != x ? x : y;
}

// 1 + exp(x), in as little time: of exponentials that are nothing beside 1 any will do.
INLINE float one_and_exp(float x) {
    float c = x < -80.f ? -80.f : x;
    c = c > 89.f ? 89.f : c;
    std::int32_t k;
    float y = exp_part(c, k);
    y = bits_as<float>(bits_as<std::uint32_t>(y) + (std::uint32_t(k - 1) << 23)) * 2 + 1;
    return x != x ? x : y;
}
INLINE double one_and_exp(double x) {
    double c = x < -700. ? -700. : x;
    c = c > 710. ? 710. : c;
    std::uint64_t k;
    double y = exp_part(c, k);
    y = bits_as<double>(bits_as<std::uint64_t>(y) + ((k - 2048 - 1) << 52)) * 2 + 1;
    return x != x ? x : y;
}

// In double precision, since what is left of a difference would not be enough digits.
INLINE float expm1_(float x) {
    double c = x < -20.f ? -20. : double(x);
    c = c > 89. ? 89. : c;
    std::uint64_t k;
    double rest = reduced_exp(c, k), factor = power_of_two(k);
    float y = float(rest * factor + (factor - 1));
    return x != x || x == 0 ? x : y;
}

// 2^x = 2^k 2^r with |r| <= 1/2, both of which are exact.
INLINE float exp2_(float x) {
    constexpr float p[] = {0.6931471806f, 0.2402265092f, 0.05550410884f, 0.009618056679f, 0.001333350239f, 0.000154614447f,
                           1.529732376e-5f};
    constexpr float MAGIC = 0x1.8p23f;
    float c = x < -151.f ? -151.f : x;
    c = c > 129.f ? 129.f : c;
    float shifted = c + MAGIC, r = c - (shifted - MAGIC);
    std::int32_t k = bits_as<std::int32_t>(shifted) - bits_as<std::int32_t>(MAGIC), half = k >> 1;
    float y = (1 + r * polynomial(r, p)) * power_of_two(half) * power_of_two(k - half);
    return x != x ? x : y;
}

// By a quarter of exp(|x|), which is finite as long as the result is.
INLINE float cosh_(float x) {
    float size = std::fabs(x), c = size > 90.f ? 90.f : size;
    std::int32_t k;
    float rest = reduced_exp(c, k) + 1, quarter = rest * power_of_two(k - 2);
    float y = 2 * quarter + 0.125f / quarter;
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
// Its slope is 1 - tanh(x)², of which little is left where the function is nearly one: no digit may be wrong there.
INLINE float exact_tanh(float x) { return float(tanh_(double(x))); }

template <class T> INLINE T sigmoid_(T x) { return 1 / one_and_exp(-x); }

// ---------------------------------------------------------------- logarithms

// x = 2^k (1 + f), with 1 + f from sqrt(1/2) to sqrt(2), for a normal number.
template <class T> INLINE T exponent(T x, T& f) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr int DIGITS = std::numeric_limits<T>::digits - 1, BIAS = std::numeric_limits<T>::max_exponent - 1;
    constexpr Bits ONE = Bits(BIAS) << DIGITS, UNIT = Bits(1) << DIGITS;
    constexpr Bits ROOT = sizeof(T) == 4 ? Bits(0x3f3504f3) : Bits(0x3fe6a09e667f3bcd);
    constexpr T LARGE_ONE = T(std::uint64_t(1) << DIGITS);  // whose last digit is 1
    Bits bits = bits_as<Bits>(x) + (ONE - ROOT);
    f = bits_as<T>((bits & (UNIT - 1)) + ROOT) - 1;
    return bits_as<T>(bits >> DIGITS | bits_as<Bits>(LARGE_ONE)) - (LARGE_ONE + BIAS);
}

// To the digits of float, of a normal number.
INLINE double short_log(double x) {
    constexpr double p[] = {0.666666666673750901, 0.399999987973375856, 0.28571754535914489, 0.221914008303085036,
                            0.193626537142020077};
    double f, k = exponent(x, f), s = f / (2 + f), z = s * s;
    return k * 0.69314718055994530942 + s * (2 + z * polynomial(z, p));
}
// To another base, by the logarithm of that: subnormal numbers are normal ones in double.
INLINE float log_to_base(float x, double inverse) {
    constexpr float INFINITE = std::numeric_limits<float>::infinity();
    float found = float(short_log(double(x)) * inverse);
    found = x > 0 ? found : x == 0 ? -INFINITE : std::numeric_limits<float>::quiet_NaN();
    return x == INFINITE || x != x ? x : found;
}
INLINE float log2_(float x) { return log_to_base(x, 1.44269504088896340736); }
INLINE float log10_(float x) { return log_to_base(x, 0.43429448190325182765); }

// log(1 + f) + k log(2), the latter in two parts, and what else was `lost`. What the rounding of the larger terms' sum
// took is given back.
INLINE float log_of_parts(float f, float k, float lost) {
    constexpr float p[] = {-0.5f, 0.3333333171f, -0.2500082104f, 0.200012269f, -0.1662335716f,
                           0.1420175737f, -0.1316018367f, 0.1276158245f, -0.07634499985f};
    float whole = k * 0.693359375f, head = whole + f, rest = f - (head - whole) + lost;
    return head + (f * f * polynomial(f, p) + (rest - k * LOG_TWO_LESS));
}
INLINE float log_(float x) {
    constexpr float INFINITE = std::numeric_limits<float>::infinity();
    bool subnormal = x < 0x1p-126f;
    float f, k = exponent(subnormal ? x * 0x1p25f : x, f) - (subnormal ? 25.f : 0.f);
    float found = log_of_parts(f, k, 0);
    found = x > 0 ? found : x == 0 ? -INFINITE : std::numeric_limits<float>::quiet_NaN();
    return x == INFINITE ? x : found;
}
INLINE float log1p_(float x) {
    constexpr float INFINITE = std::numeric_limits<float>::infinity();
    float sum = 1 + x, f, k = exponent(sum, f);
    // Of the largest numbers nothing was lost, and 2^-k would be no normal number.
    float lost = (x - (sum - 1)) * power_of_two(-std::int32_t(k > 126 ? 126.f : k));
    float found = log_of_parts(f, k, lost - lost * f);
    found = x > -1 ? found : x == -1 ? -INFINITE : std::numeric_limits<float>::quiet_NaN();
    return x == INFINITE || x == 0 ? x : found;
}

// ---------------------------------------------------------------- angles

// For |x| up to 2^20: x is reduced by quarters of a turn in double precision.
constexpr float LARGEST_ANGLE = 0x1p20f;
INLINE double reduced_angle(double x, std::uint64_t& turn) {
    constexpr double MAGIC = 0x1.8p52;
    double shifted = x * 0.63661977236758134308 + MAGIC, whole = shifted - MAGIC;
    turn = bits_as<std::uint64_t>(shifted);
    double r = x - whole * 0x1.921fb544p+0;  // 33 bits of a quarter, and the rest
    return r - whole * 0x1.0b4611a626331p-34;
}
template <int QUARTERS> INLINE float sine_(float x) {
    constexpr float p[] = {-0.1666665491f, 0.008332175843f, -0.0001951697706f};
    constexpr float q[] = {0.04166664681f, -0.001388736448f, 2.443809051e-05f};
    std::uint64_t quarters;
    double r = reduced_angle(double(x), quarters);
    std::uint32_t turn = std::uint32_t(quarters) + QUARTERS;
    float s = float(r), z = s * s, low = float(r - double(s)), half = z * 0.5f, rest = 1 - half;
    // What the roundings of the angle, and of 1 - z / 2, took is given back.
    float sine = s + (s * (z * polynomial(z, p)) + low);
    float cosine = rest + ((1 - rest - half) + (z * z * polynomial(z, q) - s * low));
    float found = turn & 1 ? cosine : sine;
    found = bits_as<float>(bits_as<std::uint32_t>(found) ^ (turn & 2) << 30);
    return QUARTERS == 0 && x == 0 ? x : found;
}
INLINE float tangent(float x) {
    constexpr double p[] = {-0.166666666638343125, 0.00833333186656025051, -0.000198400823367227124, 2.72493559797168598e-6};
    constexpr double q[] = {-0.499999999688889785, 0.0416666505550368979, -0.00138875843264772081, 0.0000244631627285616977};
    std::uint64_t turn;
    double r = reduced_angle(double(x), turn), z = r * r;
    double sine = r + r * (z * polynomial(z, p)), cosine = 1 + z * polynomial(z, q);
    bool odd = turn & 1;
    float found = float((odd ? -cosine : sine) / (odd ? sine : cosine));
    return x == 0 ? x : found;
}

// Of a sine, in double: up to half by a series, beyond that by the sine of half the angle that is left.
constexpr double HALF_PI = 1.57079632679489661923, PI = 3.14159265358979323846;
INLINE double series_of_angle(double s, double z) {
    constexpr double p[] = {0.166666673641864467,  0.0749994190875471854,  0.0446611393086689632, 0.0301025068996614882,
                            0.0246508626606040879, 0.00740100723907537938, 0.0347484248080838963};
    return s + s * (z * polynomial(z, p));
}
INLINE double angle_of_sine(double a) {
    bool far = a > 0.5;
    double z = far ? (1 - a) * 0.5 : a * a, root = std::sqrt(z), found = series_of_angle(far ? root : a, z);
    return far ? HALF_PI - 2 * found : found;
}
INLINE float asin_(float x) { return x == 0 ? x : std::copysign(float(angle_of_sine(std::fabs(x))), x); }
INLINE float acos_(float x) {
    double a = std::fabs(x);
    bool far = a > 0.5;
    double z = far ? (1 - a) * 0.5 : a * a, root = std::sqrt(z), found = series_of_angle(far ? root : double(x), z);
    double twice = x < 0 ? PI - 2 * found : 2 * found;
    return float(far ? twice : HALF_PI - found);
}
// From the first axis to the point (x, y): by the smaller part over the larger one.
INLINE float atan2_(float y, float x) {
    constexpr float p[] = {-0.3333333308f, 0.1999994932f, -0.1428400379f, 0.1108826163f, -0.08931826777f, 0.0703191425f,
                           -0.04896051403f, 0.02630500111f, -0.009144629761f, 0.001488691939f};
    constexpr float HALF = 1.57079637f, HALF_REST = -4.37113883e-8f;
    float a = std::fabs(y), b = std::fabs(x), most = a > b ? a : b, least = a > b ? b : a, t = least / most;
    t = least == most ? (most == 0 ? 0.f : 1.f) : t;  // also where both are infinite
    float z = t * t, part = t == 1 ? HALF / 2 : t + t * (z * polynomial(z, p));
    bool steep = a > b, left = bits_as<std::int32_t>(x) < 0;
    float turns = steep ? 1.f : left ? 2.f : 0.f;  // quarters, from which the part is counted
    float found = turns * HALF + ((steep != left ? -part : part) + turns * HALF_REST);
    return x != x || y != y ? x + y : std::copysign(found, y);
}
INLINE float atan_(float x) { return atan2_(x, 1.f); }

// ---------------------------------------------------------------- sums and extremes of rows

constexpr I BLOCK = 512;  // so many are added up in their own precision, blocks in double

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
