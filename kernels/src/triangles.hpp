// Triangles of matrices by which strips of right-hand sides are solved.
#pragma once
#include "products.hpp"

constexpr int ROWS = 4;  // rows of a triangle that are taken at once

// A strip of right-hand sides, C vectors wide. Rows are counted from the one that is known first, which is the last
// of an upper triangle.
template <int C, class W> struct Strip {
    Matrix<W> a;
    W* x;
    I step;  // from a row to the next
    bool unit;

    W* row(I i) const { return x + i * step; }
    // The R rows from i on, after those before them.
    template <int R> INLINE void substitute(I i) const {
        V<W> sums[R][C];
        for (int r = 0; r < R; r++)
            for (int c = 0; c < C; c++) sums[r][c] = loaded<W>(row(i + r) + c * LANES<W>);
        const W* factors = a.data + i * a.down;
        for (I j = 0; j < i; j++, factors += a.right) {
            V<W> known[C];
            for (int c = 0; c < C; c++) known[c] = loaded<W>(row(j) + c * LANES<W>);
            for (int r = 0; r < R; r++)
                for (int c = 0; c < C; c++) sums[r][c] -= factors[r * a.down] * known[c];
        }
        for (int r = 0; r < R; r++) {
            for (int k = 0; k < r; k++)
                for (int c = 0; c < C; c++) sums[r][c] -= factors[r * a.down + k * a.right] * sums[k][c];
            W pivot = unit ? W(1) : factors[r * a.down + r * a.right];
            for (int c = 0; c < C; c++) {
                sums[r][c] /= pivot;
                stored<W>(row(i + r) + c * LANES<W>, sums[r][c]);
            }
        }
    }
    void substitute_all() const {
        I i = 0;
        for (; i + ROWS <= a.rows; i += ROWS) substitute<ROWS>(i);
        for (; i < a.rows; i++) substitute<1>(i);
    }
};
