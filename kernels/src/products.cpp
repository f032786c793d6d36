// Products of matrices: of many small ones, of which each thread takes some, and of large ones, whose parts
// threads share.
#include <vector>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "binding.hpp"
#include "panels.hpp"

namespace {

// ---------------------------------------------------------------- small ones

constexpr I ROWS_AT_ONCE = 128;

// The rows of a by all of b. Whole strips are written where they belong; what is narrower, or not of the
// type that is computed with, goes through memory that is as wide.
template <class T, class W> void rows_product(const Matrix<T>& a, const Matrix<T>& b, T* to, I down, I right, std::vector<W>& memory) {
    bool direct = !is_narrow<T> && right == 1 && b.columns % WIDTH<W> == 0;
    I columns = whole_strips<W>(b.columns), depth = std::min(PIECE, b.rows), step = direct ? down : columns;
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
    for (I k = 0; k < std::max<I>(1, b.rows); k += PIECE) {
        I some = std::min(PIECE, b.rows - k);
        in_strips<W>(Matrix<T>{b.data + k * b.down, some, b.columns, b.down, b.right}, strips);
        by_strips(Matrix<W>{left.data + k * left.right, a.rows, some, left.down, left.right}, strips, b.columns, some * WIDTH<W>,
                  sums, step, k > 0);
    }
    if (!direct) out_of_rows(sums, step, W(1), to, a.rows, b.columns, down, right);
}

template <class T> void small_products(const Seen<T>& a, const Seen<T>& b, const Out<T>& out) {
    using W = Wide<T>;
    int n = a.ndim;
    I rows = out.dim(n - 2), columns = out.dim(n - 1), depth = a.dim(n - 1);
    I parts = parts_of(rows, ROWS_AT_ONCE), high = std::min(rows, ROWS_AT_ONCE);
    parallel(out.span(0, n - 2) * parts, rows_grain(high * columns * std::max<I>(1, depth / 8)), [&](I begin, I end) {
        std::vector<W> memory;
        for (I i = begin; i < end; i++) {
            I index = i / parts, first = i % parts * ROWS_AT_ONCE;
            Matrix<T> left = matrix_of(a, index);
            left.data += first * left.down, left.rows = some_of(rows, first, ROWS_AT_ONCE);
            rows_product<T, W>(left, matrix_of(b, index), out.data + (index * rows + first) * columns, columns, 1, memory);
        }
    });
}

// ---------------------------------------------------------------- large ones

// The second matrix is copied into strips, some of its rows at a time, and the first one into panels.
constexpr I SLAB_BYTES = 1 << 20;             // strips that are made at once: in the second cache
constexpr I COLUMNS_AT_ONCE = 1 << 12;
constexpr I MOST_PANELS = 8, LEAST_PANELS = 2;  // that a thread takes at once

template <class T, class W> struct Slab {  // some rows of the second matrix, in strips
    I pieces, piece, columns;              // how many pieces of so many rows
    Unset<W> memory;

    I strips() const { return parts_of(columns, WIDTH<W>); }
    const W* strip(I index, I number) const { return memory.data() + (index * strips() + number) * piece * WIDTH<W>; }

    void fill(const Matrix<T>& b) {
        memory.resize(pieces * strips() * piece * WIDTH<W>);
        parallel(pieces * strips(), rows_grain(piece * WIDTH<W>), [&](I begin, I end) {
            for (I i = begin; i < end; i++) {
                I first = i / strips() * piece, left = i % strips() * WIDTH<W>;
                in_strips<W>(Matrix<T>{b.data + first * b.down + left * b.right, some_of(b.rows, first, piece),
                                       some_of(b.columns, left, WIDTH<W>), b.down, b.right},
                             memory.data() + i * piece * WIDTH<W>);
            }
        });
    }
};

// Rows `first` and further of a, `rows` of them, by the strips from `begin` to `end`.
template <class Made, class T, class W>
void rows_by_slab(const Matrix<T>& a, I first, I rows, const Slab<T, W>& slab, I begin, I end, Target<W> target, Unset<W>& panels) {
    for (I index = 0; index < slab.pieces; index++) {
        I top = index * slab.piece, depth = some_of(a.columns, top, slab.piece);
        panels.resize((rows + PANEL) * depth + LANES<W>);
        auto height = [&](I row) { return panel_height(rows - row); };
        for (I row = 0; row < rows; row += PANEL)
            in_panel<W>(Matrix<T>{a.data + (first + row) * a.down + top * a.right, some_of(rows, row, PANEL), depth, a.down, a.right},
                        height(row), panels.data() + row * depth);
        for (I s = begin; s < end; s++)
            for (I row = 0; row < rows; row += PANEL) {
                I left = s * WIDTH<W>;
                if (target.symmetric && first + row >= left + WIDTH<W>) continue;
                Target<W> part{target.to + (first + row) * target.step + left, target.step,
                               target.bias && !index ? target.bias + left : nullptr, target.more || index};
                Made::make(height(row), panels.data() + row * depth, slab.strip(index, s), depth, part, some_of(rows, row, PANEL),
                        some_of(slab.columns, left, WIDTH<W>));
            }
    }
}

template <class T, class W, class Made = Tiles> void large_product(const Matrix<T>& a, const Matrix<T>& b, Target<W> target) {
    I pieces = std::max<I>(1, parts_of(b.rows, PIECE)), piece = parts_of(b.rows, pieces);
    I panels = parts_of(a.rows, PANEL), crew = threads();
    I high = std::min(MOST_PANELS, std::max(LEAST_PANELS, panels / (8 * crew))) * PANEL, blocks = parts_of(a.rows, high);
    for (I left = 0; left < b.columns; left += COLUMNS_AT_ONCE) {
        Slab<T, W> slab;
        slab.columns = some_of(b.columns, left, COLUMNS_AT_ONCE), slab.piece = piece;
        I strips = slab.strips(), at_once = std::max<I>(1, SLAB_BYTES / I(sizeof(W)) / std::max<I>(1, strips * WIDTH<W> * piece));
        // Where there are few rows, threads take other columns of them.
        I groups = crew == 1 ? 1 : std::min(strips, parts_of(4 * crew, blocks));
        for (I first = 0; first < pieces; first += at_once) {
            slab.pieces = std::min(at_once, pieces - first);
            I top = first * piece, rows = some_of(b.rows, top, slab.pieces * piece);
            slab.fill({b.data + top * b.down + left * b.right, rows, slab.columns, b.down, b.right});
            Matrix<T> part{a.data + top * a.right, a.rows, rows, a.down, a.right};
            Target<W> to{target.to + left, target.step, target.bias && !first ? target.bias + left : nullptr, first > 0,
                         target.symmetric};
            parallel(blocks * groups, rows_grain(high * slab.columns * std::max<I>(1, rows / 8) / groups), [&](I begin, I end) {
                Unset<W> memory;
                for (I i = begin; i < end; i++) {
                    I row = i / groups * high, group = i % groups;
                    rows_by_slab<Made, T, W>(part, row, some_of(a.rows, row, high), slab, group * strips / groups,
                                       (group + 1) * strips / groups, to, memory);
                }
            });
        }
    }
}

// ---------------------------------------------------------------- of bfloat16, in pairs

#if defined(__AVX512F__) && defined(__x86_64__)
// Some processors add up the products of two neighbours at once. Pairs of them are moved as if each were a float.
struct TilesOfPairs {
    template <int R, int C>
    __attribute__((noinline, target("avx512bf16")))
    static void tile(const float* panel, const float* strip, I depth, Target<float> target, I rows, I columns) {
        V<float> sum[R][C] = {};
        for (I k = 0; k < depth; k++) {
            V<float> part[C];
            UNROLLED for (int c = 0; c < C; c++) part[c] = loaded(strip + k * WIDTH<float> + c * LANES<float>);
            UNROLLED for (int r = 0; r < R; r++) {
                __m512 pair = _mm512_set1_ps(panel[k * R + r]);
                UNROLLED for (int c = 0; c < C; c++) sum[r][c] = (V<float>)_mm512_dpbf16_ps((__m512)sum[r][c], (__m512bh)part[c], (__m512bh)pair);
            }
        }
        put(sum, target, rows, columns);
    }
    template <int R> static void tile(const float* panel, const float* strip, I depth, Target<float> target, I rows, I columns) {
        if (columns > LANES<float>) tile<R, 2>(panel, strip, depth, target, rows, columns);
        else tile<R, 1>(panel, strip, depth, target, rows, columns);
    }
    static void make(int height, const float* panel, const float* strip, I depth, Target<float> target, I rows, I columns) {
        if (height == PANEL) tile<PANEL>(panel, strip, depth, target, rows, columns);
        else if (height == 2 * THIRD) tile<2 * THIRD>(panel, strip, depth, target, rows, columns);
        else tile<THIRD>(panel, strip, depth, target, rows, columns);
    }
};
bool takes_pairs() {
    static const bool found = __builtin_cpu_supports("avx512bf16");
    return found;
}
#else
using TilesOfPairs = Tiles;
bool takes_pairs() { return false; }
#endif

// The product of matrices whose rows lie in one piece, or of the second of them its columns.
void product_of_pairs(const Matrix<bfloat16>& a, const Matrix<bfloat16>& b, float* to, bool symmetric = false) {
    Target<float> target{to, b.columns, nullptr, false, symmetric};
    if (!takes_pairs() || a.columns % 2 || a.down % 2) return large_product<bfloat16, float>(a, b, target);
    auto as_pairs = [](const bfloat16* from) { return reinterpret_cast<const float*>(from); };
    Matrix<float> left{as_pairs(a.data), a.rows, a.columns / 2, a.down / 2, 1};
    if (b.down == 1) return large_product<float, float, TilesOfPairs>(left, {as_pairs(b.data), b.rows / 2, b.columns, 1, b.right / 2}, target);
    Unset<std::uint32_t> pairs(b.rows / 2 * b.columns);
    parallel(b.rows / 2, rows_grain(b.columns), [&](I begin, I end) {
        for (I k = begin; k < end; k++) {
            const bfloat16 *low = b.data + 2 * k * b.down, *high = low + b.down;
            std::uint32_t* q = pairs.data() + k * b.columns;
            _Pragma("omp simd") for (I j = 0; j < b.columns; j++) q[j] = low[j].bits | std::uint32_t(high[j].bits) << 16;
        }
    });
    large_product<float, float, TilesOfPairs>(left, {reinterpret_cast<const float*>(pairs.data()), b.rows / 2, b.columns, b.columns, 1}, target);
}

// What lies above the diagonal, below it as well; block by block, so that columns stay in the cache.
void mirror(float* to, I size) {
    constexpr I block = 32;
    parallel(parts_of(size, block), rows_grain(block * size), [=](I begin, I end) {
        for (I i = begin * block; i < std::min(size, end * block); i += block)
            for (I j = 0; j <= i; j += block)
                for (I row = i; row < std::min(size, i + block); row++)
                    for (I column = j; column < std::min(row, j + block); column++) to[row * size + column] = to[column * size + row];
    });
}

// Newton's and Schulz's steps towards the nearest orthogonal matrices, wider than high, in bfloat16:
// x becomes a x + (b g + c g g) x, where g is the product of x and x turned.
void orthogonal_steps(In<float> x, Out<float> y, I steps, double a, double b, double c) {
    require(x.ndim == 3 && same_shape(x, y) && x.dim(1) <= x.dim(2), "matrices wider than high are needed");
    I high = x.dim(1), wide_ = x.dim(2), size = high * wide_, square = high * high;
    Unset<float> sums(size);
    Unset<bfloat16> found(size), gram(square), both(square);
    auto each = [](I n, auto&& f) {
        parallel(n, GRAIN, [&](I begin, I end) {
            _Pragma("omp simd") for (I i = begin; i < end; i++) f(i);
        });
    };
    auto matrix = [](const bfloat16* from, I rows, I columns) { return Matrix<bfloat16>{from, rows, columns, columns, 1}; };
    for (I index = 0; size && index < x.dim(0); index++) {
        each(size, [&](I i) INLINE_LAMBDA { found[i] = narrow<bfloat16>(x[index * size + i]); });
        Matrix<bfloat16> now = matrix(found.data(), high, wide_), inner = matrix(gram.data(), high, high);
        for (I step = 0; step < steps; step++) {
            product_of_pairs(now, now.turned(), sums.data(), true);
            mirror(sums.data(), high);
            each(square, [&](I i) INLINE_LAMBDA { gram[i] = narrow<bfloat16>(sums[i]); });
            product_of_pairs(inner, inner.turned(), sums.data(), true);  // turned, it is as it was
            mirror(sums.data(), high);
            each(square, [&](I i) INLINE_LAMBDA { both[i] = narrow<bfloat16>(sums[i] * float(c) + wide(gram[i]) * float(b)); });
            product_of_pairs(matrix(both.data(), high, high), now, sums.data());
            each(size, [&](I i) INLINE_LAMBDA { found[i] = narrow<bfloat16>(sums[i] + wide(found[i]) * float(a)); });
        }
        each(size, [&](I i) INLINE_LAMBDA { y[index * size + i] = wide(found[i]); });
    }
}

// ---------------------------------------------------------------- all of them

// So many products of numbers are a matrix for one thread, where there are others for the others.
constexpr I SMALL = 1 << 21;

template <class T> void matrix_products(Seen<T> a, Seen<T> b, Maybe<T> bias, Out<T> out) {
    using W = Wide<T>;
    int n = a.ndim;
    require(n > 1 && b.ndim == n && out.ndim == n, "matrices have two dimensions");
    for (int d = 0; d < n - 2; d++) require(a.dim(d) == out.dim(d) && b.dim(d) == out.dim(d), "the batches are different");
    I rows = out.dim(n - 2), columns = out.dim(n - 1), depth = a.dim(n - 1), count = out.span(0, n - 2);
    require(a.dim(n - 2) == rows && b.dim(n - 2) == depth && b.dim(n - 1) == columns, "the matrices do not fit");
    require(!bias || bias.size == columns, "the bias has another size");
    if (!out.size) return;
    if (count > 1 && !bias && (rows * columns * depth <= SMALL || rows < 32)) return small_products(a, b, out);
    Aligned<W> added(bias ? whole_strips<W>(columns) : 0, W(0));
    if (bias) for (I j = 0; j < columns; j++) added[j] = wide(bias[j]);
    Unset<W> sums(is_narrow<T> ? rows * columns : 0);
    for (I index = 0; index < count; index++) {
        T* to = out.data + index * rows * columns;
        Target<W> target{nullptr, columns, bias ? added.data() : nullptr, false};
        if constexpr (is_narrow<T>) target.to = sums.data();
        else target.to = to;
        large_product<T, W>(matrix_of(a, index), matrix_of(b, index), target);
        if constexpr (is_narrow<T>)
            parallel(rows * columns, GRAIN, [&](I begin, I end) {
                _Pragma("omp simd") for (I i = begin; i < end; i++) to[i] = narrow<T>(sums[i]);
            });
    }
}

}  // namespace

KERNELS({"matrix_products", FOR_FLOATS(matrix_products)}, {"orthogonal_steps", bind<orthogonal_steps>})
