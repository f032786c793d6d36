// Two steps of an expression at once: what the first one finds stays in a register. This file is compiled
// without contraction, so that a product is rounded before it is added to, as it is in a step of its own.
#include "steps.hpp"

namespace {

template <class T, class First>
INLINE void after(std::uint8_t second, T* to, Operand<T> a, Operand<T> b, Operand<T> c, I n, First first) {
    switch (second) {
        case PLUS: return each(to, n, [=](T x, T y, T z) INLINE_LAMBDA { return first(x, y) + z; }, a, b, c);
        case MINUS: return each(to, n, [=](T x, T y, T z) INLINE_LAMBDA { return first(x, y) - z; }, a, b, c);
        case SUBTRACTED_FROM: return each(to, n, [=](T x, T y, T z) INLINE_LAMBDA { return z - first(x, y); }, a, b, c);
        case TIMES: return each(to, n, [=](T x, T y, T z) INLINE_LAMBDA { return first(x, y) * z; }, a, b, c);
        case DIVIDED_BY: return each(to, n, [=](T x, T y, T z) INLINE_LAMBDA { return first(x, y) / z; }, a, b, c);
        case DIVISOR_OF: return each(to, n, [=](T x, T y, T z) INLINE_LAMBDA { return z / first(x, y); }, a, b, c);
        case LEFT_MAXIMUM: return each(to, n, [=](T x, T y, T z) INLINE_LAMBDA { T t = first(x, y); return t > z || t != t ? t : z; }, a, b, c);
        case RIGHT_MAXIMUM: return each(to, n, [=](T x, T y, T z) INLINE_LAMBDA { T t = first(x, y); return z > t || z != z ? z : t; }, a, b, c);
        case LEFT_MINIMUM: return each(to, n, [=](T x, T y, T z) INLINE_LAMBDA { T t = first(x, y); return t < z || t != t ? t : z; }, a, b, c);
        case RIGHT_MINIMUM: return each(to, n, [=](T x, T y, T z) INLINE_LAMBDA { T t = first(x, y); return z < t || z != z ? z : t; }, a, b, c);
        case SIZE: return each(to, n, [=](T x, T y) INLINE_LAMBDA { return std::fabs(first(x, y)); }, a, b);
        case ROOT: return each(to, n, [=](T x, T y) INLINE_LAMBDA { return std::sqrt(first(x, y)); }, a, b);
    }
}

template <class T, class Holds>
INLINE void by(std::uint8_t second, T* to, Operand<T> a, Operand<T> b, Operand<T> c, Operand<T> d, I n, Holds holds) {
    switch (second) {
        case CHOOSES: return each(to, n, [=](T x, T y, T z, T other) INLINE_LAMBDA { return holds(x, y) ? z : other; }, a, b, c, d);
        case DROPS: return each(to, n, [=](T x, T y, T z) INLINE_LAMBDA { return holds(x, y) ? T(0) : z; }, a, b, c);
        case KEEPS: return each(to, n, [=](T x, T y, T z) INLINE_LAMBDA { return holds(x, y) ? z : T(0); }, a, b, c);
    }
}

}  // namespace

template <class T> void take_pair(const Step& step, T* to, Operand<T> a, Operand<T> b, Operand<T> c, Operand<T> d, I n) {
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
template void take_pair<float>(const Step&, float*, Operand<float>, Operand<float>, Operand<float>, Operand<float>, I);
template void take_pair<double>(const Step&, double*, Operand<double>, Operand<double>, Operand<double>, Operand<double>, I);
