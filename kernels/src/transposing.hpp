// Matrices whose rows become columns: squares of as many rows as a vector has lanes, in registers.
#pragma once
#include "vectors.hpp"

template <class T> using Square = V<T>[LANES<T>];

// Squares of `half` by `half` elements change their places across the diagonal of larger ones.
template <class T, I half> INLINE void exchange(Square<T>& rows) {
    if constexpr (half < LANES<T>) {
        using Place = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
        V<Place> upper, lower;
        for (I j = 0; j < LANES<T>; j++) {
            upper[j] = Place(j & half ? LANES<T> + j - half : j);
            lower[j] = Place(j & half ? LANES<T> + j : j + half);
        }
        for (I i = 0; i < LANES<T>; i++) {
            if (i & half) continue;
            V<T> a = rows[i], b = rows[i + half];
            rows[i] = __builtin_shuffle(a, b, upper);
            rows[i + half] = __builtin_shuffle(a, b, lower);
        }
        exchange<T, 2 * half>(rows);
    }
}

// `across` elements lie side by side in the source, `along` in the result.
template <class T> void transpose(const T* from, T* to, I across, I along, I from_step, I to_step) {
    constexpr I L = LANES<T>;
    I whole = sizeof(T) >= 4 && across >= L ? along / L * L : 0;
    for (I j = 0; j < whole; j += L)
        for (I k = 0; k + L <= across; k += L) {
            if constexpr (sizeof(T) >= 4) {
                Square<T> rows;
                for (I i = 0; i < L; i++) rows[i] = loaded<T>(from + (j + i) * from_step + k);
                exchange<T, 1>(rows);
                for (I i = 0; i < L; i++) stored<T>(to + (k + i) * to_step + j, rows[i]);
            }
        }
    for (I k = whole ? across / L * L : across; k < across; k++)
        for (I j = 0; j < whole; j++) to[k * to_step + j] = from[j * from_step + k];
    for (I k = 0; k < across; k++)
        for (I j = whole; j < along; j++) to[k * to_step + j] = from[j * from_step + k];
}
