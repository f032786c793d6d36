// The steps of elementwise expressions, and pairs of them that are taken at once.
#pragma once
#include "arrays.hpp"

enum Kind : std::uint8_t {
    ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATE, EXP, SQRT, ABSOLUTE, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, ZEROED,
    COPY, SIGN, MAXIMUM, MINIMUM, CHOSEN,  // not of `compute`
    EQUAL, NOT_EQUAL, AND, OR, XOR, NOT, NUMBER, FLOOR, CEIL, TRUNC, RINT, COPYSIGN, LOG, LOG1P, EXPM1, TANH, SIN, COS,
    POWER, FMOD, HYPOT, FMAX, FMIN, KINDS,  // of `evaluate` alone
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

// to = (a first b) second (c, d), each rounded.
template <class T> void take_pair(const Step& step, T* to, const T* a, const T* b, const T* c, const T* d, I n);
