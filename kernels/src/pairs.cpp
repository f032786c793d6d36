// Two steps of an expression at once: what the first one finds stays in a register. This file is compiled
// without contraction, so that a product is rounded before it is added to, as it is in a step of its own.
#include "maths.hpp"
#include "steps.hpp"

namespace {

template <class T, class F> INLINE void each(T* to, const T* a, const T* b, const T* c, I n, F f) {
    SIMD for (I i = 0; i < n; i++) to[i] = f(a[i], b[i], c[i]);
}

template <class T, class First>
INLINE void after(std::uint8_t second, T* to, const T* a, const T* b, const T* c, I n, First first) {
    switch (second) {
        case PLUS: return each(to, a, b, c, n, [=](T x, T y, T z) INLINE_LAMBDA { return first(x, y) + z; });
        case MINUS: return each(to, a, b, c, n, [=](T x, T y, T z) INLINE_LAMBDA { return first(x, y) - z; });
        case SUBTRACTED_FROM: return each(to, a, b, c, n, [=](T x, T y, T z) INLINE_LAMBDA { return z - first(x, y); });
        case TIMES: return each(to, a, b, c, n, [=](T x, T y, T z) INLINE_LAMBDA { return first(x, y) * z; });
        case DIVIDED_BY: return each(to, a, b, c, n, [=](T x, T y, T z) INLINE_LAMBDA { return first(x, y) / z; });
        case DIVISOR_OF: return each(to, a, b, c, n, [=](T x, T y, T z) INLINE_LAMBDA { return z / first(x, y); });
        case LEFT_MAXIMUM: return each(to, a, b, c, n, [=](T x, T y, T z) INLINE_LAMBDA { T t = first(x, y); return t > z || t != t ? t : z; });
        case RIGHT_MAXIMUM: return each(to, a, b, c, n, [=](T x, T y, T z) INLINE_LAMBDA { T t = first(x, y); return z > t || z != z ? z : t; });
        case LEFT_MINIMUM: return each(to, a, b, c, n, [=](T x, T y, T z) INLINE_LAMBDA { T t = first(x, y); return t < z || t != t ? t : z; });
        case RIGHT_MINIMUM: return each(to, a, b, c, n, [=](T x, T y, T z) INLINE_LAMBDA { T t = first(x, y); return z < t || z != z ? z : t; });
        case SIZE: return each(to, a, b, a, n, [=](T x, T y, T) INLINE_LAMBDA { return std::fabs(first(x, y)); });
        case ROOT: return each(to, a, b, a, n, [=](T x, T y, T) INLINE_LAMBDA { return std::sqrt(first(x, y)); });
    }
}

template <class T, class Holds>
INLINE void by(std::uint8_t second, T* to, const T* a, const T* b, const T* c, const T* d, I n, Holds holds) {
    switch (second) {
        case CHOOSES:
            SIMD for (I i = 0; i < n; i++) to[i] = holds(a[i], b[i]) ? c[i] : d[i];
            return;
        case DROPS: return each(to, a, b, c, n, [=](T x, T y, T z) INLINE_LAMBDA { return holds(x, y) ? T(0) : z; });
        case KEEPS: return each(to, a, b, c, n, [=](T x, T y, T z) INLINE_LAMBDA { return holds(x, y) ? z : T(0); });
    }
}

}  // namespace

template <class T> void take_pair(const Step& step, T* to, const T* a, const T* b, const T* c, const T* d, I n) {
    switch (step.first) {
        case ADD: return after(step.second, to, a, b, c, n, [](T x, T y) INLINE_LAMBDA { return x + y; });
        case SUBTRACT: return after(step.second, to, a, b, c, n, [](T x, T y) INLINE_LAMBDA { return x - y; });
        case MULTIPLY: return after(step.second, to, a, b, c, n, [](T x, T y) INLINE_LAMBDA { return x * y; });
        case DIVIDE: return after(step.second, to, a, b, c, n, [](T x, T y) INLINE_LAMBDA { return x / y; });
        case LESS: return by(step.second, to, a, b, c, d, n, [](T x, T y) INLINE_LAMBDA { return x < y; });
        case LESS_EQUAL: return by(step.second, to, a, b, c, d, n, [](T x, T y) INLINE_LAMBDA { return x <= y; });
        case GREATER: return by(step.second, to, a, b, c, d, n, [](T x, T y) INLINE_LAMBDA { return x > y; });
        case GREATER_EQUAL: return by(step.second, to, a, b, c, d, n, [](T x, T y) INLINE_LAMBDA { return x >= y; });
    }
}
template void take_pair<float>(const Step&, float*, const float*, const float*, const float*, const float*, I);
template void take_pair<double>(const Step&, double*, const double*, const double*, const double*, const double*, I);
