// Functions of two numbers that are made of logarithms. Of numbers of single precision they are computed in double, so
// that no product of a rounded logarithm is rounded again, and no digit is lost where a sum is nearly 0.
#include "special.hpp"

namespace {

// f of two arrays, either of which may be one number.
template <class T, class F> INLINE void each_pair(In<T> x, In<T> y, Out<T> found, F f) {
    require((x.size == found.size || x.size == 1) && (y.size == found.size || y.size == 1), "the result has another shape");
    bool is_number = x.size == 1, is_of_number = y.size == 1;
    parallel(found.size, GRAIN / 16, [=](I begin, I end) {
        T first = is_number ? x[0] : T(0), second = is_of_number ? y[0] : T(0);
        if (is_number) SIMD for (I i = begin; i < end; i++) found[i] = f(first, is_of_number ? second : y[i]);
        else if (is_of_number) SIMD for (I i = begin; i < end; i++) found[i] = f(x[i], second);
        else SIMD for (I i = begin; i < end; i++) found[i] = f(x[i], y[i]);
    });
}

// x times the logarithm of a number that is `rounded` and for which `found` was found.
INLINE double times_logarithm(double x, double rounded, Long found) {
    bool is_usual = rounded > 0 && rounded < INFINITE;
    double log = is_usual ? found.head + found.rest : rounded == 0 ? -INFINITE : rounded > 0 ? INFINITE : NO_NUMBER;
    double product = is_usual && std::fabs(x) < INFINITE ? x * found.head + x * found.rest : x * log;
    return rounded != rounded ? rounded : x == 0 ? 0 : product;
}
template <class T> INLINE T times_log(T x, T y) {
    if constexpr (sizeof(T) == 4) return T(times_logarithm(x, y, {short_log(y), 0}));
    else return times_logarithm(x, y, long_log(y));
}
// What the rounding of 1 + y took is given back. The logarithm is y where that is small, with its sign where it is 0.
template <class T> INLINE T times_log1p(T x, T y) {
    Long whole = sum(1, y), found = long_log(whole.head);
    found.rest += whole.rest / whole.head;
    double product = times_logarithm(x, whole.head, found);
    return T(std::fabs(y) < T(0x1p-60) && x != 0 ? double(x) * y : product);
}
template <class T> void xlogy(In<T> x, In<T> y, Out<T> found) {
    each_pair(x, y, found, [](T a, T b) INLINE_LAMBDA { return times_log(a, b); });
}
template <class T> void xlog1py(In<T> x, In<T> y, Out<T> found) {
    each_pair(x, y, found, [](T a, T b) INLINE_LAMBDA { return times_log1p(a, b); });
}

// The larger of two numbers, and log(1 + exp(-d)), d being how far the other one is below it. To base two d is so many
// times log(2), and what is found is divided by that.
constexpr double LOG_TWO = 0.69314718055994530942, PER_LOG_TWO = 1.44269504088896340736;
template <bool BASE_TWO> INLINE float log_add_exp(float x, float y) {
    double high = x > y ? x : y, low = x > y ? y : x, down = low - high;
    double share = falling_exp(BASE_TWO ? down * LOG_TWO : down), whole = 1 + share;
    double more = log_(whole) + (share - (whole - 1)) / whole;
    float found = float(high + (BASE_TWO ? more * PER_LOG_TWO : more));
    found = x == y ? float(high + (BASE_TWO ? 1 : LOG_TWO)) : found;  // equal infinities have no difference
    return x != x || y != y ? x + y : found;
}
template <bool BASE_TWO> INLINE double log_add_exp(double x, double y) {
    constexpr Long LONG_LOG_TWO{LOG_TWO, 2.3190468138462996e-17}, LONG_PER_LOG_TWO{PER_LOG_TWO, 2.0355273740931033e-17};
    double high = x > y ? x : y, low = x > y ? y : x;
    Long down = sum(low, -high);
    down.rest = down.head > -800 ? down.rest : 0;  // beyond which nothing is left, and infinite ones have no rest
    Long whole = sum({1, 0}, long_exp(BASE_TWO ? product(down, LONG_LOG_TWO) : down)), more = long_log(whole.head);
    more.rest += whole.rest / whole.head;
    if (BASE_TWO) more = product(more, LONG_PER_LOG_TWO);
    Long all = sum(high, more.head);
    double found = high < INFINITE ? all.head + (all.rest + more.rest) : high;
    found = x == y ? high + (BASE_TWO ? 1 : LOG_TWO) : found;
    return x != x || y != y ? x + y : found;
}
template <class T> void log_add_exp(In<T> x, In<T> y, Out<T> found, bool base_two) {
    if (base_two) each_pair(x, y, found, [](T a, T b) INLINE_LAMBDA { return log_add_exp<true>(a, b); });
    else each_pair(x, y, found, [](T a, T b) INLINE_LAMBDA { return log_add_exp<false>(a, b); });
}

}  // namespace

KERNELS({"xlogy", bind<xlogy<float>, xlogy<double>>}, {"xlog1py", bind<xlog1py<float>, xlog1py<double>>},
        {"log_add_exp", bind<log_add_exp<float>, log_add_exp<double>>})
