// Triangular systems, and the factors of many small matrices. Larger ones are made of these and of products.
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

#include "binding.hpp"
#include "elimination.hpp"

namespace {

// ---------------------------------------------------------------- triangles

// One right-hand side, which lies in one piece: rows of the triangle by what is known, or what is known by its columns.
template <class W> void solve_column(const Matrix<W>& a, W* x, bool upper, bool unit) {
    I n = a.rows;
    for (I step = 0; step < n; step++) {
        I i = upper ? n - 1 - step : step, begin = upper ? i + 1 : 0, end = upper ? n : i;
        const W* row = a.data + i * a.down;
        if (a.right == 1) {
            W sum = 0;
            if (n < 2 * LANES<W>) for (I k = begin; k < end; k++) sum += row[k] * x[k];
            else _Pragma("omp simd reduction(+ : sum)") for (I k = begin; k < end; k++) sum += row[k] * x[k];
            x[i] -= sum;
        }
        if (!unit) x[i] /= row[i * a.right];
        if (a.right == 1) continue;
        const W *column = a.data + i * a.right, known = x[i];
        I first = upper ? 0 : i + 1, last = upper ? i : n;
        if (a.down == 1) SIMD for (I k = first; k < last; k++) x[k] -= column[k] * known;
        else for (I k = first; k < last; k++) x[k] -= column[k * a.down] * known;
    }
}

struct Triangle {
    bool upper, unit;
};

// Solves for C vectors of right-hand sides, from `start` on, brought together so that they stay in the cache: by one
// triangle of `a`, and perhaps by another. Rows are taken in the order `from` and written in the order `to`, if given.
template <int C, class W>
void solve_strip(const Matrix<W>& a, const Matrix<W>& b, W* x, I start, std::initializer_list<Triangle> triangles,
                 const I* from, const I* to, Aligned<W>& memory) {
    constexpr I width = C * LANES<W>;
    I some = std::min(width, b.columns - start), last = a.rows - 1;
    memory.resize(a.rows * width);
    for (I i = 0; i <= last; i++) {
        const W* given = b.data + (from ? from[i] : i) * b.down + start * b.right;
        W* row = memory.data() + i * width;
        if (b.right == 1) std::copy(given, given + some, row);
        else for (I j = 0; j < some; j++) row[j] = given[j * b.right];
        std::fill(row + some, row + width, W(0));
    }
    for (Triangle triangle : triangles) {
        if (triangle.upper)
            Strip<C, W>{{a.data + last * (a.down + a.right), a.rows, a.rows, -a.down, -a.right},
                        memory.data() + last * width, -width, triangle.unit}.substitute_all();
        else Strip<C, W>{a, memory.data(), width, triangle.unit}.substitute_all();
    }
    for (I i = 0; i <= last; i++)
        std::copy_n(memory.data() + i * width, some, x + (to ? to[i] : i) * b.columns + start);
}

// All right-hand sides of all matrices; orders(number) says in which order rows of that matrix are taken and written.
template <class W, class Orders>
void solve_all(const Seen<W>& a, const Seen<W>& b, const Out<W>& x, bool turned,
               std::initializer_list<Triangle> triangles, Orders orders) {
    int n = x.ndim;
    require(n > 1 && a.ndim == n && same_shape(b, x), "the right-hand sides and the solution have different shapes");
    for (int d = 0; d < n - 2; d++) require(a.dim(d) == x.dim(d), "the batches are different");
    I rows = x.dim(n - 2), columns = x.dim(n - 1);
    require(a.dim(n - 2) == rows && a.dim(n - 1) == rows, "the matrices do not fit");
    if (!x.size) return;
    constexpr int WIDE = 4;
    bool narrow = columns <= 2 * LANES<W>;
    I width = columns == 1 ? 1 : (narrow ? 1 : WIDE) * LANES<W>, strips = (columns + width - 1) / width;
    parallel(x.span(0, n - 2) * strips, rows_grain(rows * width * std::max<I>(1, rows / 32)), [&](I begin, I end) {
        Aligned<W> memory;
        for (I i = begin; i < end; i++) {
            I index = i / strips, start = i % strips * width;
            W* to = x.data + index * rows * columns;
            Matrix<W> matrix = matrix_of(a, index), sides = matrix_of(b, index);
            if (turned) matrix = matrix.turned();
            auto [from, back] = orders(index);
            if (columns > 1) {
                if (narrow) solve_strip<1>(matrix, sides, to, start, triangles, from, back, memory);
                else solve_strip<WIDE>(matrix, sides, to, start, triangles, from, back, memory);
                continue;
            }
            W* column = to;
            if (back) memory.resize(rows), column = memory.data();
            for (I k = 0; k < rows; k++) column[k] = sides.data[(from ? from[k] : k) * sides.down];
            for (Triangle triangle : triangles) solve_column(matrix, column, triangle.upper, triangle.unit);
            if (back) for (I k = 0; k < rows; k++) to[back[k]] = column[k];
        }
    });
}

using Orders = std::pair<const I*, const I*>;

// The solution of a @ x = b, of which one triangle of a is read. x may be b.
template <class W> void triangular_solution(Seen<W> a, Seen<W> b, Out<W> x, bool upper, bool unit) {
    solve_all(a, b, x, false, {{upper, unit}}, [](I) { return Orders{nullptr, nullptr}; });
}

// The row that swaps brought to each place, for each matrix.
void row_order(In<std::int32_t> pivots, Out<std::int64_t> order) {
    int n = order.ndim;
    require(n > 0 && pivots.ndim == n, "there is no order for each matrix");
    I rows = order.dim(n - 1), steps = pivots.dim(n - 1), count = order.span(0, n - 1);
    require(steps <= rows && pivots.size == count * steps, "there is no order for each matrix");
    for (I number = 0; number < count; number++) {
        auto* own = order.data + number * rows;
        for (I i = 0; i < rows; i++) own[i] = i;
        for (I k = 0; k < steps; k++) {
            I other = pivots[number * steps + k] - 1;
            require_index(other >= 0 && other < rows, "a pivot is none of the rows");
            std::swap(own[k], own[other]);
        }
    }
}

// The solution of A @ x = b, or of the transpose of A, of which both LU factors and the order of rows are known.
template <class W> void lu_solution(Seen<W> packed, In<std::int64_t> order, Seen<W> b, Out<W> x, bool turned) {
    I rows = x.dim(std::max(0, x.ndim - 2));
    require(x.ndim > 1 && order.size == x.span(0, x.ndim - 1), "there is no order for each matrix");
    for (I i = 0; i < order.size; i++) require_index(order[i] >= 0 && order[i] < rows, "there is no such row");
    static_assert(sizeof(I) == sizeof(std::int64_t));
    auto orders = [&](I index) {
        const I* own = reinterpret_cast<const I*>(order.data) + index * rows;
        return turned ? Orders{nullptr, own} : Orders{own, nullptr};
    };
    if (turned) solve_all(packed, b, x, true, {{false, false}, {true, true}}, orders);
    else solve_all(packed, b, x, false, {{false, true}, {true, false}}, orders);
}

// ---------------------------------------------------------------- factors

// Of every matrix, f(its own elements, a copy in rows, its number).
template <class W, class F> void each_matrix(const Seen<W>& a, W* out, F f) {
    int n = a.ndim;
    I rows = a.dim(n - 2), columns = a.dim(n - 1);
    parallel(a.span(0, n - 2), rows_grain(rows * columns, std::max<I>(1, columns / 4)), [&](I begin, I end) {
        for (I i = begin; i < end; i++) {
            Matrix<W> from = matrix_of(a, i);
            f(from, out + i * rows * columns, i);
        }
    });
}

// f(N), N being a constant if the size is one of the smallest, whose loops are written out; else 0.
template <class F> INLINE void of_known_size(I size, F f) {
    if (size == 2) return f(std::integral_constant<I, 2>{});
    if (size == 3) return f(std::integral_constant<I, 3>{});
    if (size == 4) return f(std::integral_constant<I, 4>{});
    f(std::integral_constant<I, 0>{});
}

// One matrix; the first zero pivot, from one, is returned.
template <class W> INLINE std::int32_t factor_lu(const Matrix<W>& from, W* to, I rows, I columns, std::int32_t* pivots) {
    std::int32_t zero = 0;
    for (I i = 0; i < rows; i++)
        for (I j = 0; j < columns; j++) to[i * columns + j] = from.data[i * from.down + j * from.right];
    for (I k = 0; k < std::min(rows, columns); k++) {
        I best = k;
        W most = std::fabs(to[k * columns + k]);
        for (I i = k + 1; i < rows; i++) {
            W size = std::fabs(to[i * columns + k]);
            if (size > most) most = size, best = i;
        }
        pivots[k] = std::int32_t(best + 1);
        W *own = to + k * columns, pivot = to[best * columns + k];
        if (pivot == 0) {
            if (!zero) zero = std::int32_t(k + 1);
            continue;
        }
        if (best != k) std::swap_ranges(own, own + columns, to + best * columns);
        for (I i = k + 1; i < rows; i++) {
            W *row = to + i * columns, factor = row[k] /= pivot;
            SIMD for (I j = k + 1; j < columns; j++) row[j] -= factor * own[j];
        }
    }
    return zero;
}
constexpr I MOST_INVERTED = 16;  // rows of matrices whose inverses are found one number after the other
constexpr I FEW = 48;  // steps up to which strips are not worth their copies
// Both LU factors in one matrix, the row that each step swapped and the first zero pivot, both from one.
template <class W> void lu_factors(Seen<W> a, Out<W> packed, Out<std::int32_t> pivots, Out<std::int32_t> info) {
    int n = a.ndim;
    require(n > 1 && same_shape(a, packed), "the factors have another shape");
    I rows = a.dim(n - 2), columns = a.dim(n - 1), steps = std::min(rows, columns), count = a.span(0, n - 2);
    require(pivots.size == count * steps && info.size == count, "the pivots have another shape");
    each_matrix(a, packed.data, [=](const Matrix<W>& from, W* to, I number) {
        if (steps > FEW) {
            Elimination<W> large{rows, columns, pivots.data + number * steps};
            large.run(from, to);
            info[number] = large.zero;
            return;
        }
        of_known_size(rows == columns ? rows : 0, [&](auto known) INLINE_LAMBDA {
            constexpr I N = decltype(known)::value;
            info[number] = factor_lu(from, to, N ? N : rows, N ? N : columns, pivots.data + number * steps);
        });
    });
}

// One matrix; 1 if it has no finite factor.
template <class W> INLINE std::int32_t factor_cholesky(const Matrix<W>& from, W* to, I size, bool upper) {
    // The upper factor, row by row; the lower one is its transpose.
    I down = upper ? from.down : from.right, right = upper ? from.right : from.down;
    for (I i = 0; i < size; i++)
        for (I j = i; j < size; j++) to[i * size + j] = from.data[i * down + j * right];
    bool bad = false;
    for (I k = 0; k < size; k++) {
        W *own = to + k * size, square = own[k], root = std::sqrt(square);
        bad |= !(square > 0 && square <= std::numeric_limits<W>::max());
        SIMD for (I j = k; j < size; j++) own[j] /= root;
        own[k] = root;
        for (I i = k + 1; i < size; i++) {
            W *row = to + i * size, factor = own[i];
            SIMD for (I j = i; j < size; j++) row[j] -= factor * own[j];
        }
    }
    if (bad) std::fill(to, to + size * size, std::numeric_limits<W>::quiet_NaN());
    else
        for (I i = 0; i < size; i++)
            for (I j = 0; j < i; j++) {
                if (!upper) to[i * size + j] = to[j * size + i];
                to[(upper ? i : j) * size + (upper ? j : i)] = 0;
            }
    return bad;
}
// The lower Cholesky factor, or the upper one, and whether there is none that is finite.
template <class W> void cholesky_factors(Seen<W> a, Out<W> out, Out<std::int32_t> info, bool upper) {
    int n = a.ndim;
    require(n > 1 && same_shape(a, out) && a.dim(n - 2) == a.dim(n - 1), "the factors have another shape");
    require(info.size == a.span(0, n - 2), "there is no place for what is bad");
    I size = a.dim(n - 1);
    each_matrix(a, out.data, [=](const Matrix<W>& from, W* to, I number) {
        of_known_size(size, [&](auto known) INLINE_LAMBDA {
            constexpr I N = decltype(known)::value;
            info[number] = factor_cholesky(from, to, N ? N : size, upper);
        });
    });
}

// The determinant from both LU factors: the product of all pivots, turned once for each swap.
template <class W> bool are_swapped_oddly(const std::int32_t* pivots, I n) {
    bool odd = false;
    for (I k = 0; k < n; k++) odd ^= pivots[k] != k + 1;
    return odd;
}
template <class W> W determinant(const W* packed, const std::int32_t* pivots, I n) {
    W found = are_swapped_oddly<W>(pivots, n) ? -1 : 1;
    for (I k = 0; k < n; k++) found *= packed[k * n + k];
    return found;
}
template <class W> I pivots_of(const In<W>& packed, const In<std::int32_t>& pivots, I count) {
    int d = packed.ndim;
    require(d > 1 && packed.dim(d - 2) == packed.dim(d - 1), "the factors are not square");
    I n = packed.dim(d - 1);
    require(packed.size == count * n * n && pivots.size == count * n, "there is no place for each matrix");
    return n;
}
template <class W> void determinants(In<W> packed, In<std::int32_t> pivots, Out<W> out) {
    I n = pivots_of(packed, pivots, out.size);
    parallel(out.size, rows_grain(n), [=](I begin, I end) {
        for (I i = begin; i < end; i++) out[i] = determinant(packed.data + i * n * n, pivots.data + i * n, n);
    });
}
// Its sign and the logarithm of its size.
template <class W> void signs_and_logarithms(In<W> packed, In<std::int32_t> pivots, Out<W> sign, Out<W> log) {
    I n = pivots_of(packed, pivots, sign.size);
    require(log.size == sign.size, "there is no place for each matrix");
    parallel(sign.size, rows_grain(n, 16), [=](I begin, I end) {
        for (I i = begin; i < end; i++) {
            W found = are_swapped_oddly<W>(pivots.data + i * n, n) ? -1 : 1, sum = 0;
            for (I k = 0; k < n; k++) {
                W pivot = packed[(i * n + k) * n + k];
                found = pivot == 0 ? 0 : pivot < 0 ? -found : pivot > 0 ? found : pivot;
                sum += std::log(std::fabs(pivot));
            }
            sign[i] = found, log[i] = found == 0 ? -std::numeric_limits<W>::infinity() : sum;
        }
    });
}

// The inverse of a small matrix from both LU factors: the rows of the identity, in the order of pivoting, are brought down
// through the one and up through the other. Each is C vectors; N is their number, where it is known.
template <class W, I N, I C> struct Inverse {
    I n;
    V<W> x[N ? N : MOST_INVERTED][C];

    explicit Inverse(I rows) : n(N ? N : rows) {}
    I rows() const { return N ? N : n; }
    const W* row(I i) const { return reinterpret_cast<const W*>(x[i]); }
    INLINE void find(const W* lu, const std::int32_t* pivots) {
        I order[N ? N : MOST_INVERTED];
        for (I i = 0; i < rows(); i++) order[i] = i;
        for (I k = 0; k < rows(); k++) std::swap(order[k], order[pivots[k] - 1]);
        for (I i = 0; i < rows(); i++) {
            for (I c = 0; c < C; c++) x[i][c] = V<W>{};
            reinterpret_cast<W*>(x[i])[order[i]] = 1;
        }
        for (I i = 1; i < rows(); i++)
            for (I k = 0; k < i; k++) subtract(i, k, lu[i * rows() + k]);
        for (I i = rows() - 1; i >= 0; i--) {
            for (I k = i + 1; k < rows(); k++) subtract(i, k, lu[i * rows() + k]);
            for (I c = 0; c < C; c++) x[i][c] /= lu[i * rows() + i];
        }
    }
    INLINE void subtract(I i, I k, W factor) {
        for (I c = 0; c < C; c++) x[i][c] -= factor * x[k][c];
    }
    INLINE void put(W* to) const {
        for (I i = 0; i < rows(); i++) std::copy_n(row(i), rows(), to + i * rows());
    }
    INLINE void put_turned(W* to, W factor) const {
        for (I i = 0; i < rows(); i++)
            for (I j = 0; j < rows(); j++) to[i * rows() + j] = factor * row(j)[i];
    }
};
// f(inverse, number) for every matrix.
template <class W, class F> void each_inverse(const In<W>& packed, const In<std::int32_t>& pivots, const Out<W>& out, F f) {
    require(same_shape(packed, out) && packed.ndim > 1, "the inverses have another shape");
    I n = pivots_of(packed, pivots, packed.span(0, packed.ndim - 2)), count = n ? packed.size / (n * n) : 0;
    require(n <= MOST_INVERTED, "the matrices are too large");
    for (I i = 0; i < pivots.size; i++) require_index(pivots[i] > 0 && pivots[i] <= n, "a pivot is none of the rows");
    auto all = [&](auto inverse) INLINE_LAMBDA {
        parallel(count, rows_grain(n * n, n), [&](I begin, I end) {
            auto own = inverse;
            for (I i = begin; i < end; i++) {
                own.find(packed.data + i * n * n, pivots.data + i * n);
                f(own, i);
            }
        });
    };
    constexpr I L = LANES<W>;
    of_known_size(n, [&](auto known) INLINE_LAMBDA {
        constexpr I N = decltype(known)::value;
        if constexpr (N > 0) all(Inverse<W, N, (N + L - 1) / L>(n));
        else if (n <= L) all(Inverse<W, 0, 1>(n));
        else all(Inverse<W, 0, (MOST_INVERTED + L - 1) / L>(n));
    });
}
template <class W> void inverses(In<W> packed, In<std::int32_t> pivots, Out<W> out) {
    each_inverse(packed, pivots, out, [&](const auto& inverse, I i) { inverse.put(out.data + i * inverse.n * inverse.n); });
}
// The signed minors: transposed inverses times determinants, none of which may be zero, or nearly so.
template <class W> void cofactors(In<W> packed, In<std::int32_t> pivots, Out<W> volumes, Out<W> out) {
    I n = pivots_of(packed, pivots, volumes.size);
    require(volumes.size == packed.span(0, packed.ndim - 2), "there is no place for each matrix");
    for (I i = 0; i < volumes.size; i++) {
        volumes[i] = determinant(packed.data + i * n * n, pivots.data + i * n, n);
        require_index(!(std::fabs(volumes[i]) < std::numeric_limits<W>::min()), "a matrix is singular");
    }
    each_inverse(packed, pivots, out, [&](const auto& inverse, I i) {
        inverse.put_turned(out.data + i * inverse.n * inverse.n, volumes[i]);
    });
}

// ---------------------------------------------------------------- symmetric matrices

// Bunch and Kaufman's elimination of a lower triangle: L, and D, whose blocks have one or two rows.
template <class W> struct Symmetric {
    W* a;
    I n;

    W& at(I i, I j) const { return a[i * n + j]; }
    W size(I i, I j) const { return std::fabs(i < j ? at(j, i) : at(i, j)); }
    // How many rows the next block has (0: its column is zero), and which row it begins with.
    std::pair<I, I> block(I k) const {
        constexpr W GROWTH = W(0.64038820320220756873);  // (1 + sqrt(17)) / 8
        I row = k;
        W own = size(k, k), most = 0, largest = 0;
        for (I i = k + 1; i < n; i++)
            if (size(i, k) > most) most = size(i, k), row = i;
        if (!(std::max(own, most) > 0)) return {0, k};
        if (own >= GROWTH * most) return {1, k};
        for (I j = k; j < n; j++)
            if (j != row) largest = std::max(largest, size(row, j));
        if (own >= GROWTH * most * (most / largest)) return {1, k};
        return {size(row, row) >= GROWTH * largest ? 1 : 2, row};
    }
    // Rows and columns i and j, i being the first, change places; what lies before column `first` stays.
    void swap(I first, I i, I j) const {
        if (i == j) return;
        for (I c = first; c < i; c++) std::swap(at(i, c), at(j, c));
        for (I r = j + 1; r < n; r++) std::swap(at(r, i), at(r, j));
        for (I m = i + 1; m < j; m++) std::swap(at(m, i), at(j, m));
        std::swap(at(i, i), at(j, j));
    }
    void eliminate(I k) const {
        W scale = 1 / at(k, k);
        for (I i = k + 1; i < n; i++) {
            W factor = at(i, k) * scale;
            for (I j = k + 1; j <= i; j++) at(i, j) -= factor * at(j, k);
        }
        for (I i = k + 1; i < n; i++) at(i, k) *= scale;
    }
    void eliminate_two(I k) const {
        W across = at(k + 1, k), p = at(k + 1, k + 1) / across, q = at(k, k) / across, scale = 1 / (p * q - 1) / across;
        for (I j = k + 2; j < n; j++) {
            W u = at(j, k), v = at(j, k + 1), first = scale * (p * u - v), second = scale * (q * v - u);
            for (I i = j; i < n; i++) at(i, j) -= at(i, k) * first + at(i, k + 1) * second;
            at(j, k) = first, at(j, k + 1) = second;
        }
    }
};
template <class W> void ldl_factors(Seen<W> a, Out<W> packed, Out<std::int32_t> pivots, Out<std::int32_t> info) {
    int d = a.ndim;
    require(d > 1 && same_shape(a, packed) && a.dim(d - 2) == a.dim(d - 1), "the factors have another shape");
    I n = a.dim(d - 1), count = a.span(0, d - 2);
    require(pivots.size == count * n && info.size == count, "the pivots have another shape");
    each_matrix(a, packed.data, [=](const Matrix<W>& from, W* to, I number) {
        for (I i = 0; i < n; i++)
            for (I j = 0; j < n; j++) to[i * n + j] = j > i ? W(0) : from.data[i * from.down + j * from.right];
        Symmetric<W> matrix{to, n};
        std::int32_t* own = pivots.data + number * n;
        info[number] = 0;
        for (I k = 0; k < n;) {
            auto [width, chosen] = matrix.block(k);
            if (width) matrix.swap(k, k + width - 1, chosen);
            else if (!info[number]) info[number] = std::int32_t(k + 1);
            if (width == 1) matrix.eliminate(k);
            if (width == 2) matrix.eliminate_two(k);
            for (I r = 0; r < std::max<I>(1, width); r++) own[k + r] = std::int32_t(width == 2 ? -(chosen + 1) : chosen + 1);
            k += std::max<I>(1, width);
        }
    });
}

// ---------------------------------------------------------------- reflections

// rows -= tau * v @ (v.T @ rows) for the rows from `first` on, columns from `left` up to `columns`; v is 1 at first,
// and below that a column that begins at `v`.
template <class W>
INLINE void reflect(W* rows, I count, I columns, I left, I first, const W* v, I step, W tau, W* along) {
    if (tau == 0) return;
    for (I j = left; j < columns; j++) along[j] = rows[first * columns + j];
    for (I i = first + 1; i < count; i++) {
        W factor = v[i * step];
        const W* row = rows + i * columns;
        SIMD for (I j = left; j < columns; j++) along[j] += factor * row[j];
    }
    for (I i = first; i < count; i++) {
        W factor = tau * (i == first ? W(1) : v[i * step]);
        W* row = rows + i * columns;
        SIMD for (I j = left; j < columns; j++) row[j] -= factor * along[j];
    }
}

// R with the vectors of the reflections below it, and the factors of these, as LAPACK has them.
template <class W> void reflections(Seen<W> a, Out<W> packed, Out<W> tau) {
    int n = a.ndim;
    require(n > 1 && same_shape(a, packed), "the reflections have another shape");
    I rows = a.dim(n - 2), columns = a.dim(n - 1), steps = std::min(rows, columns);
    require(tau.size == a.span(0, n - 2) * steps, "there is no factor for each reflection");
    each_matrix(a, packed.data, [=](const Matrix<W>& from, W* to, I number) {
        std::vector<W> along(columns);
        for (I i = 0; i < rows; i++)
            for (I j = 0; j < columns; j++) to[i * columns + j] = from.data[i * from.down + j * from.right];
        for (I k = 0; k < steps; k++) {
            W& factor = tau[number * steps + k];
            W most = 0, sum = 0, own = to[k * columns + k];
            for (I i = k + 1; i < rows; i++) {
                W size = std::fabs(to[i * columns + k]);
                most = size > most || size != size ? size : most;
            }
            factor = 0;
            if (most == 0) continue;  // it is zero below already
            most = std::max(most, std::fabs(own));
            for (I i = k; i < rows; i++) {
                W part = to[i * columns + k] / most;
                sum += part * part;
            }
            W length = -std::copysign(most * std::sqrt(sum), own);
            factor = (length - own) / length;
            for (I i = k + 1; i < rows; i++) to[i * columns + k] /= own - length;
            reflect(to, rows, columns, k + 1, k, to + k, columns, factor, along.data());
            to[k * columns + k] = length;
        }
    });
}

// The product of reflections, or its transpose, and matrices.
template <class W> void reflected_columns(Seen<W> vectors, In<W> tau, Seen<W> c, Out<W> out, bool transposed) {
    int n = out.ndim;
    require(n > 1 && vectors.ndim == n && tau.ndim == n - 1 && same_shape(c, out), "the matrices have another shape");
    I rows = out.dim(n - 2), columns = out.dim(n - 1), steps = tau.dim(n - 2), count = out.span(0, n - 2);
    require(vectors.dim(n - 2) == rows && vectors.dim(n - 1) >= steps && rows >= steps
            && vectors.span(0, n - 2) == count && tau.size == count * steps, "the reflections have another shape");
    each_matrix(c, out.data, [=](const Matrix<W>& from, W* to, I number) {
        std::vector<W> along(columns);
        Matrix<W> v = matrix_of(vectors, number);
        for (I i = 0; i < rows; i++)
            for (I j = 0; j < columns; j++) to[i * columns + j] = from.data[i * from.down + j * from.right];
        for (I step = 0; step < steps; step++) {
            I k = transposed ? step : steps - 1 - step;
            reflect(to, rows, columns, 0, k, v.data + k * v.right, v.down, tau[number * steps + k], along.data());
        }
    });
}

// The first columns of the product of reflections.
template <class W> void reflected_identity(Seen<W> packed, In<W> tau, Out<W> q) {
    int n = q.ndim;
    require(n > 1 && packed.ndim == n && tau.ndim == n - 1, "the reflections have another shape");
    I rows = q.dim(n - 2), columns = q.dim(n - 1), steps = tau.dim(n - 2), count = q.span(0, n - 2);
    require(packed.dim(n - 2) == rows && packed.dim(n - 1) >= steps && columns >= steps && columns <= rows
            && packed.span(0, n - 2) == count && tau.size == count * steps, "the reflections have another shape");
    parallel(count, rows_grain(rows * columns, std::max<I>(1, columns / 4)), [=](I begin, I end) {
        std::vector<W> along(columns);
        for (I number = begin; number < end; number++) {
            Matrix<W> from = matrix_of(packed, number);
            W* to = q.data + number * rows * columns;
            std::fill(to, to + rows * columns, W(0));
            for (I i = 0; i < columns; i++) to[i * columns + i] = 1;
            for (I k = steps - 1; k >= 0; k--)
                reflect(to, rows, columns, k, k, from.data + k * from.right, from.down, tau[number * steps + k],
                        along.data());
        }
    });
}

// ---------------------------------------------------------------- vectors of three

// Of the vectors along a middle dimension of three.
template <class W> void cross_products(In<W> a, In<W> b, Out<W> out, I axis) {
    require(same_shape(a, out) && same_shape(b, out) && axis >= 0 && axis < out.ndim && out.dim(int(axis)) == 3,
            "the vectors do not fit");
    I inner = out.span(int(axis) + 1, out.ndim), outer = out.span(0, int(axis));
    parallel(outer, rows_grain(3 * inner), [=](I begin, I end) {
        for (I i = begin; i < end; i++) {
            const W *p = a.data + i * 3 * inner, *q = b.data + i * 3 * inner;
            W* to = out.data + i * 3 * inner;
            for (int k = 0; k < 3; k++) {
                I next = (k + 1) % 3 * inner, last = (k + 2) % 3 * inner;
                SIMD for (I j = 0; j < inner; j++) to[k * inner + j] = p[next + j] * q[last + j] - p[last + j] * q[next + j];
            }
        }
    });
}

}  // namespace

KERNELS({"triangular_solution", bind<triangular_solution<float>, triangular_solution<double>>},
        {"lu_factors", bind<lu_factors<float>, lu_factors<double>>}, {"row_order", bind<row_order>},
        {"lu_solution", bind<lu_solution<float>, lu_solution<double>>},
        {"reflections", bind<reflections<float>, reflections<double>>},
        {"reflected_identity", bind<reflected_identity<float>, reflected_identity<double>>},
        {"reflected_columns", bind<reflected_columns<float>, reflected_columns<double>>},
        {"cross_products", bind<cross_products<float>, cross_products<double>>},
        {"determinants", bind<determinants<float>, determinants<double>>},
        {"inverses", bind<inverses<float>, inverses<double>>}, {"cofactors", bind<cofactors<float>, cofactors<double>>},
        {"signs_and_logarithms", bind<signs_and_logarithms<float>, signs_and_logarithms<double>>},
        {"ldl_factors", bind<ldl_factors<float>, ldl_factors<double>>},
        {"cholesky_factors", bind<cholesky_factors<float>, cholesky_factors<double>>})
