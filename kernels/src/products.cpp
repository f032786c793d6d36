// Products of many small matrices.
#include <vector>

#include "binding.hpp"
#include "products.hpp"

namespace {

constexpr I ROWS_AT_ONCE = 128, DEPTH = 256;  // a strip of so many rows stays in the first cache

// The rows of a by all of b. Whole strips are written where they belong; what is narrower, or not of the
// type that is computed with, goes through memory that is as wide.
template <class T, class W> void rows_product(const Matrix<T>& a, const Matrix<T>& b, T* to, I down, I right, std::vector<W>& memory) {
    bool direct = !is_narrow<T> && right == 1 && b.columns % WIDTH<W> == 0;
    I columns = whole_strips<W>(b.columns), depth = std::min(DEPTH, b.rows), step = direct ? down : columns;
    I apart = direct ? 0 : a.rows * columns;
    bool copies = is_narrow<T> || (a.right != 1 && a.down != 1);
    memory.resize(depth * columns + apart + (copies ? a.rows * a.columns : 0));
    W *strips = memory.data(), *sums = strips + depth * columns;
    Matrix<W> left{nullptr, a.rows, a.columns, a.down, a.right};
    if (copies) left = in_rows(a, W(1), sums + apart);
    if constexpr (!is_narrow<T>) {
        if (!copies) left.data = a.data;
        if (direct) sums = to;
    }
    for (I k = 0; k < std::max<I>(1, b.rows); k += DEPTH) {
        I some = std::min(DEPTH, b.rows - k);
        in_strips<W>(Matrix<T>{b.data + k * b.down, some, b.columns, b.down, b.right}, strips);
        by_strips(Matrix<W>{left.data + k * left.right, a.rows, some, left.down, left.right}, strips, b.columns, some * WIDTH<W>,
                  sums, step, k > 0);
    }
    if (!direct) out_of_rows(sums, step, W(1), to, a.rows, b.columns, down, right);
}

template <class T> void batched_product(Seen<T> a, Seen<T> b, Filled<T> out) {
    using W = Wide<T>;
    int n = a.ndim;
    require(n > 1 && b.ndim == n && out.ndim == n, "matrices have two dimensions");
    for (int d = 0; d < n - 2; d++) require(a.dim(d) == out.dim(d) && b.dim(d) == out.dim(d), "the batches are different");
    I rows = out.dim(n - 2), columns = out.dim(n - 1), depth = a.dim(n - 1);
    require(a.dim(n - 2) == rows && b.dim(n - 2) == depth && b.dim(n - 1) == columns, "the matrices do not fit");
    if (!out.size) return;
    I parts = (rows + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE, high = std::min(rows, ROWS_AT_ONCE);
    parallel(out.span(0, n - 2) * parts, rows_grain(high * columns * std::max<I>(1, depth / 8)), [&](I begin, I end) {
        std::vector<W> memory;
        for (I i = begin; i < end; i++) {
            I index = i / parts, first = i % parts * ROWS_AT_ONCE;
            Matrix<T> left = matrix_of(a, index);
            left.data += first * left.down, left.rows = std::min(ROWS_AT_ONCE, rows - first);
            I down = out.step(n - 2);
            rows_product<T, W>(left, matrix_of(b, index), out.part(index, n - 2) + first * down, down, out.step(n - 1), memory);
        }
    });
}

}  // namespace

KERNELS({"batched_product", FOR_FLOATS(batched_product)})
