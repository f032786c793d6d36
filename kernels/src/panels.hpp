// Products of matrices beyond the caches: the second one lies in strips, as wide as two vectors, the first one
// in panels.
#pragma once
#include "products.hpp"

constexpr I PIECE = 256;  // rows of a strip: they stay in the first cache

// What is left of n from `first` on, `most` at a time.
inline I some_of(I n, I first, I most) { return std::min(most, n - first); }
inline I parts_of(I n, I size) { return (n + size - 1) / size; }

// A panel is a few rows, column by column. A tile of the result, as many numbers as the registers hold, is
// added up from memory that is read in order.
#if defined(__AVX512F__)
constexpr int PANEL = 12;  // rows: 24 of 32 registers are sums
#else
constexpr int PANEL = 6;   // 12 of 16
#endif
constexpr int THIRD = PANEL / 3;              // a panel at the end has one, two or three of them
INLINE int panel_height(I rows) { return int(parts_of(std::min<I>(rows, PANEL), THIRD)) * THIRD; }

// Up to `height` rows, column by column, with zeros below the last one. Behind the panel there is room
// for a vector, of which the next panel is written over.
template <class W, class T> void in_panel(const Matrix<T>& m, int height, W* to) {
    constexpr I lanes = LANES<W>, blocks = (PANEL + lanes - 1) / lanes;
    I k = 0;
    auto in_squares = [&](auto rows) INLINE_LAMBDA {
        for (; k + lanes <= m.columns; k += lanes) {
            V<W> block[blocks][lanes] = {};
            for (I b = 0; b < blocks; b++) {
                for (I r = 0; r < lanes && b * lanes + r < rows; r++) block[b][r] = loaded(reinterpret_cast<const W*>(m.data + (b * lanes + r) * m.down + k));
                turn<W>(block[b]);
            }
            for (I i = 0; i < lanes; i++)
                for (I b = 0; b * lanes < height; b++) stored(to + (k + i) * height + b * lanes, block[b][i]);
        }
    };
    if (std::is_same_v<T, W> && m.right == 1) {
        if (m.rows == PANEL) in_squares(std::integral_constant<I, PANEL>{});
        else in_squares(m.rows);
    }
    if (m.rows == PANEL)
        for (; k < m.columns; k++) {
            const T* column = m.data + k * m.right;
            if (m.down == 1) for (int r = 0; r < PANEL; r++) to[k * PANEL + r] = wide(column[r]);
            else if (m.down == 0) std::fill_n(to + k * PANEL, PANEL, wide(*column));
            else for (int r = 0; r < PANEL; r++) to[k * PANEL + r] = wide(column[r * m.down]);
        }
    for (; k < m.columns; k++)
        for (int r = 0; r < height; r++) to[k * height + r] = r < m.rows ? wide(m.data[r * m.down + k * m.right]) : W(0);
}

template <class W> struct Target {
    W* to;
    I step;
    const W* bias;  // whole strips of it, or nothing
    bool more;      // sums are added to what is there
    bool symmetric = false;  // tiles below the diagonal are left out
    const W* added = nullptr;  // a number for each row of a panel, or nothing
};

// Sums of R rows of a result, C vectors of each, to where they belong; `rows` and `columns` of them are wanted.
template <class W, int R, int C> INLINE void put(V<W> (&sum)[R][C], Target<W> target, I rows, I columns) {
    if (target.bias)
        UNROLLED for (int r = 0; r < R; r++)
            UNROLLED for (int c = 0; c < C; c++) sum[r][c] += loaded(target.bias + c * LANES<W>);
    if (target.added)
        UNROLLED for (int r = 0; r < R; r++)
            UNROLLED for (int c = 0; c < C; c++) sum[r][c] += target.added[r];
    if (rows == R && columns == C * LANES<W>) {
        UNROLLED for (int r = 0; r < R; r++)
            UNROLLED for (int c = 0; c < C; c++) {
                W* to = target.to + r * target.step + c * LANES<W>;
                stored(to, target.more ? sum[r][c] + loaded(to) : sum[r][c]);
            }
        return;
    }
    W found[R * C * LANES<W>];
    UNROLLED for (int r = 0; r < R; r++)
        UNROLLED for (int c = 0; c < C; c++) stored(found + (r * C + c) * LANES<W>, sum[r][c]);
    for (I r = 0; r < rows; r++)
        for (I j = 0; j < columns; j++) {
            W& to = target.to[r * target.step + j];
            to = target.more ? to + found[r * C * LANES<W> + j] : found[r * C * LANES<W> + j];
        }
}

// Rows of a strip that lie anywhere.
template <class W> struct Scattered {
    const W* first;
    const I* offsets;
};
template <class W> INLINE const W* row_of(const W* strip, I k) { return strip + k * WIDTH<W>; }
template <class W> INLINE const W* row_of(Scattered<W> strip, I k) { return strip.first + strip.offsets[k]; }

// R rows of a result, C vectors of each; `rows` and `columns` of them are wanted.
template <int R, int C, class W, class S>
__attribute__((noinline)) void tile(const W* panel, S strip, I depth, Target<W> target, I rows, I columns) {
    V<W> sum[R][C] = {};
    for (I k = 0; k < depth; k++) {
        V<W> part[C];
        UNROLLED for (int c = 0; c < C; c++) part[c] = loaded(row_of(strip, k) + c * LANES<W>);
        UNROLLED for (int r = 0; r < R; r++)
            UNROLLED for (int c = 0; c < C; c++) sum[r][c] += part[c] * panel[k * R + r];
    }
    put(sum, target, rows, columns);
}

template <int R, class W, class S>
void tile(const W* panel, S strip, I depth, Target<W> target, I rows, I columns) {
    if (columns > LANES<W>) tile<R, 2>(panel, strip, depth, target, rows, columns);
    else tile<R, 1>(panel, strip, depth, target, rows, columns);
}
struct Tiles {
    template <class W, class S> static void make(int height, const W* panel, S strip, I depth, Target<W> target, I rows, I columns) {
        if (height == PANEL) tile<PANEL>(panel, strip, depth, target, rows, columns);
        else if (height == 2 * THIRD) tile<2 * THIRD>(panel, strip, depth, target, rows, columns);
        else tile<THIRD>(panel, strip, depth, target, rows, columns);
    }
};
