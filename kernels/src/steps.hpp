// The steps of elementwise expressions, and pairs of them that are taken at once.
#pragma once
#include <tuple>

#include "maths.hpp"
#include "vectors.hpp"

enum Kind : std::uint8_t {
    ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATE, EXP, SQRT, ABSOLUTE, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, ZEROED,
    COPY, SIGN, MAXIMUM, MINIMUM, CHOSEN,  // not of `compute`
    EQUAL, NOT_EQUAL, AND, OR, XOR, NOT, NUMBER, FLOOR, CEIL, TRUNC, RINT, COPYSIGN, LOG, LOG1P, EXPM1, TANH, SIN, COS,
    POWER, FMOD, HYPOT, FMAX, FMIN, EXP2, LOG2, LOG10, TAN, ASIN, ACOS, ATAN, ATAN2, COSH, KINDS,  // of `evaluated` alone
    PAIR = 255  // made of two steps
};

// What the second step of a pair does with what the first one found, which is its left or its right operand.
enum Second : std::uint8_t {
    PLUS, MINUS, SUBTRACTED_FROM, TIMES, DIVIDED_BY, DIVISOR_OF, LEFT_MAXIMUM, RIGHT_MAXIMUM, LEFT_MINIMUM, RIGHT_MINIMUM, SIZE, ROOT,
    CHOOSES, DROPS, KEEPS,  // of a comparison: the third operand or the fourth, or the third or 0
    NO_PAIR
};

struct Step {
    std::uint8_t kind, to, a, b, c;  // `a`, `b` and `c` are operands, `to` is one that is written
    std::uint8_t first = 0, second = 0, d = 0;  // of a pair
};

// What a step reads: elements side by side, or one number for all of them, as a vector that is met by each
// vector of the others. That one stays in the cache, which a whole block of the number would take up.
template <class T> struct Operand {
    const T* data;
    I step;
};

template <class T, class F, class... A> INLINE void each(T* to, I n, F f, A... operands) {
    if constexpr (sizeof...(A) == 2) {  // a number beside an array stays in a register
        auto [a, b] = std::tuple(operands...);
        T left = *a.data, right = *b.data;
        if (!b.step) return each(to, n, [=](T x) INLINE_LAMBDA { return f(x, right); }, a);
        if (!a.step) return each(to, n, [=](T y) INLINE_LAMBDA { return f(left, y); }, b);
    }
    I i = 0;
    for (; i + LANES<T> <= n; i += LANES<T>)
        SIMD for (I j = 0; j < LANES<T>; j++) to[i + j] = f(operands.data[i * operands.step + j]...);
    for (; i < n; i++) to[i] = f(operands.data[i * operands.step]...);
}

// to = (a first b) second (c, d), each rounded.
template <class T> void take_pair(const Step& step, T* to, Operand<T> a, Operand<T> b, Operand<T> c, Operand<T> d, I n);
