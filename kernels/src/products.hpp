// Products of matrices that fit the caches. The second one is copied into strips, as wide as two vectors;
// the first one is read where it is, a number at a time; its rows or its columns lie in one piece.
#pragma once
#include <utility>

#include "vectors.hpp"

template <class W> constexpr I WIDTH = 2 * LANES<W>;
template <class W> I whole_strips(I n) { return (n + WIDTH<W> - 1) / WIDTH<W> * WIDTH<W>; }

template <class T> struct Matrix {
    const T* data;
    I rows, columns, down, right;  // the last two from an element to the next

    Matrix turned() const { return {data, columns, rows, right, down}; }
};
template <class A> auto matrix_of(const A& array, I index) {  // the last two dimensions
    int n = array.ndim;
    using T = std::remove_cv_t<std::remove_pointer_t<decltype(array.data)>>;
    return Matrix<T>{array.part(index, n - 2), array.dim(n - 2), array.dim(n - 1), array.step(n - 2), array.step(n - 1)};
}

// ---------------------------------------------------------------- copies

template <class W, std::size_t... i> INLINE V<W> first_halves(V<W> a, V<W> b, std::index_sequence<i...>) {
    return __builtin_shufflevector(a, b, (i / 2 + i % 2 * sizeof...(i))...);
}
template <class W, std::size_t... i> INLINE V<W> second_halves(V<W> a, V<W> b, std::index_sequence<i...>) {
    return __builtin_shufflevector(a, b, (sizeof...(i) / 2 + i / 2 + i % 2 * sizeof...(i))...);
}
// Rows become columns: each step shuffles the first half of the rows with the second one.
template <class W> INLINE void turn(V<W> (&rows)[LANES<W>]) {
    constexpr auto lanes = std::make_index_sequence<LANES<W>>{};
    for (I step = 1; step < LANES<W>; step *= 2) {
        V<W> mixed[LANES<W>];
        for (I i = 0; i < LANES<W> / 2; i++) {
            mixed[2 * i] = first_halves<W>(rows[i], rows[i + LANES<W> / 2], lanes);
            mixed[2 * i + 1] = second_halves<W>(rows[i], rows[i + LANES<W> / 2], lanes);
        }
        for (I i = 0; i < LANES<W>; i++) rows[i] = mixed[i];
    }
}

// The strips of a matrix one after the other, each row by row, with zeros beyond the last column.
template <class W, class T> __attribute__((noinline)) void in_strips(const Matrix<T>& m, W* to) {
    constexpr I lanes = LANES<W>;
    for (I first = 0; first < m.columns; first += WIDTH<W>, to += m.rows * WIDTH<W>) {
        I count = std::min(WIDTH<W>, m.columns - first), row = 0;
        const T* from = m.data + first * m.right;
        if (std::is_same_v<T, W> && m.down == 1 && count == WIDTH<W>)
            for (; row + lanes <= m.rows; row += lanes)
                for (I half = 0; half < 2; half++) {
                    V<W> block[lanes];
                    for (I j = 0; j < lanes; j++) block[j] = loaded(reinterpret_cast<const W*>(from + row + (half * lanes + j) * m.right));
                    turn<W>(block);
                    for (I i = 0; i < lanes; i++) stored(to + (row + i) * WIDTH<W> + half * lanes, block[i]);
                }
        if (count < WIDTH<W>) std::fill_n(to, m.rows * WIDTH<W>, W(0));
        for (; row < m.rows; row++) {
            const T* p = from + row * m.down;
            W* q = to + row * WIDTH<W>;
            if (m.right == 1 && count == WIDTH<W>) for (I j = 0; j < WIDTH<W>; j++) q[j] = wide(p[j]);
            else if (m.right == 0 && count == WIDTH<W>) std::fill_n(q, WIDTH<W>, wide(*p));
            else for (I j = 0; j < count; j++) q[j] = wide(p[j * m.right]);
        }
    }
}

// The rows of a matrix one after the other, times a factor.
template <class W, class T> Matrix<W> in_rows(const Matrix<T>& m, W factor, W* to) {
    for (I i = 0; i < m.rows; i++) {
        const T* p = m.data + i * m.down;
        W* q = to + i * m.columns;
        if (m.right == 1) _Pragma("omp simd") for (I k = 0; k < m.columns; k++) q[k] = wide(p[k]) * factor;
        else for (I k = 0; k < m.columns; k++) q[k] = wide(p[k * m.right]) * factor;
    }
    return {to, m.rows, m.columns, m.columns, 1};
}
// Numbers that lie in rows, times a factor, to where an array's own lie.
template <class W, class T> void out_of_rows(const W* from, I step, W factor, T* to, I rows, I columns, I down, I right) {
    for (I i = 0; i < rows; i++) {
        const W* p = from + i * step;
        T* q = to + i * down;
        if (right == 1) _Pragma("omp simd") for (I k = 0; k < columns; k++) q[k] = narrow<T>(p[k] * factor);
        else for (I k = 0; k < columns; k++) q[k * right] = narrow<T>(p[k] * factor);
    }
}

// ---------------------------------------------------------------- products

// R rows of a result as wide as a strip; `more`: they are added to what is there. Rows of the first
// matrix, or its columns if it is TURNED, lie in one piece, and `apart` from one another.
template <class W, int R, bool TURNED>
INLINE void rows_by_strip(const W* a, I apart, const W* strip, I depth, W* to, I step, bool more) {
    V<W> sum[R][2] = {};
    if (more)
        for (int r = 0; r < R; r++)
            for (int c = 0; c < 2; c++) sum[r][c] = loaded(to + r * step + c * LANES<W>);
    for (I k = 0; k < depth; k++) {
        V<W> part[2] = {loaded(strip + k * WIDTH<W>), loaded(strip + k * WIDTH<W> + LANES<W>)};
        for (int r = 0; r < R; r++)
            for (int c = 0; c < 2; c++) sum[r][c] += part[c] * a[TURNED ? k * apart + r : r * apart + k];
    }
    for (int r = 0; r < R; r++)
        for (int c = 0; c < 2; c++) stored(to + r * step + c * LANES<W>, sum[r][c]);
}

// All rows of a matrix by one strip.
template <class W, bool TURNED>
__attribute__((noinline)) void by_strip(const Matrix<W>& a, const W* strip, W* to, I step, bool more) {
    I row = 0, apart = TURNED ? a.right : a.down;
    auto run = [&](auto rows) {
        constexpr int R = decltype(rows)::value;
        for (; row + R <= a.rows; row += R)
            rows_by_strip<W, R, TURNED>(a.data + row * a.down, apart, strip, a.columns, to + row * step, step, more);
    };
    run(std::integral_constant<int, MOST_ROWS>{});
    run(std::integral_constant<int, MOST_ROWS / 2>{});
    run(std::integral_constant<int, 1>{});
}

// By a matrix of so many columns that lies in strips, `apart` from one another; results are written in
// whole strips.
template <class W> void by_strips(const Matrix<W>& a, const W* strips, I columns, I apart, W* to, I step, bool more) {
    for (I first = 0; first < columns; first += WIDTH<W>, strips += apart) {
        if (a.right == 1) by_strip<W, false>(a, strips, to + first, step, more);
        else by_strip<W, true>(a, strips, to + first, step, more);
    }
}
