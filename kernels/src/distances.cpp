// Distances between the points of two sets, and their gradients: of differences, without their squares.
#include "binding.hpp"
#include "maths.hpp"
#include "transposing.hpp"

namespace {

constexpr int TILE = 4, WIDTH = 2;  // points of the first set that meet so many vectors of the second at a time

template <bool SQUARES, class W> INLINE V<W> next(V<W> total, V<W> apart) {
    if constexpr (SQUARES) return total + apart * apart;
    else return total + (apart < 0 ? -apart : apart);
}

// `columns` holds the second set coordinate by coordinate, as wide as `width`.
template <class T, bool SQUARES> void distances_of(const T* x, const T* columns, T* out, I rows, I n, I width, I dims) {
    constexpr I L = LANES<T>;
    for (I start = 0; start < n; start += WIDTH * L) {
        V<T> totals[TILE][WIDTH] = {};
        for (I k = 0; k < dims; k++) {
            V<T> others[WIDTH];
            for (I v = 0; v < WIDTH; v++) others[v] = loaded<T>(columns + k * width + start + v * L);
            for (I i = 0; i < TILE; i++) {
                V<T> own = V<T>{} + x[(i < rows ? i : 0) * dims + k];
                for (I v = 0; v < WIDTH; v++) totals[i][v] = next<SQUARES, T>(totals[i][v], own - others[v]);
            }
        }
        for (I i = 0; i < rows; i++) {
            T found[WIDTH * L];
            std::memcpy(found, totals[i], sizeof found);
            if (SQUARES) SIMD for (I j = 0; j < WIDTH * L; j++) found[j] = std::sqrt(found[j]);
            std::copy_n(found, std::min(WIDTH * L, n - start), out + i * n + start);
        }
    }
}

// Sets of shape (batch, points, coordinates); 2-norms, or 1-norms.
template <class T> void pairwise(In<T> x, In<T> z, Out<T> y, bool squares) {
    require(x.ndim > 1 && z.ndim == x.ndim && y.ndim == x.ndim, "no sets of points");
    int last = x.ndim - 1;
    I dims = x.dim(last), m = x.dim(last - 1), n = z.dim(last - 1), batch = x.span(0, last - 1), width = (n + WIDTH * LANES<T> - 1) / (WIDTH * LANES<T>) * WIDTH * LANES<T>;
    require(z.dim(last) == dims && z.span(0, last - 1) == batch, "the points of two sets have nothing in common");
    require(y.size == batch * m * n && y.dim(last) == n, "the result has another shape");
    if (!y.size) return;
    Aligned<T> columns(batch * dims * width);
    for (I b = 0; b < batch; b++) transpose(z.data + b * n * dims, columns.data() + b * dims * width, dims, n, dims, width);
    I tiles = (m + TILE - 1) / TILE;
    parallel(batch * tiles, rows_grain(n * dims), [=, from = columns.data()](I begin, I end) {
        for (I tile = begin; tile < end; tile++) {
            I b = tile / tiles, i = tile % tiles * TILE;
            (squares ? distances_of<T, true> : distances_of<T, false>)(
                x.data + (b * m + i) * dims, from + b * dims * width, y.data + (b * m + i) * n, std::min<I>(TILE, m - i), n, width, dims);
        }
    });
}

// What TILE points get from all others, of which COUNT vectors of coordinates are looked at. The factors of a point
// and the coordinates of the others lie in rows of their own.
template <class T, int COUNT> void gradients_of(const T* x, const T* others, const T* factors, T* to, I n, I width) {
    constexpr I L = LANES<T>;
    V<T> own[TILE][COUNT], totals[TILE][COUNT] = {};
    for (I i = 0; i < TILE; i++)
        for (I v = 0; v < COUNT; v++) own[i][v] = loaded<T>(x + i * width + v * L);
    for (I j = 0; j < n; j++)
        for (I v = 0; v < COUNT; v++) {
            V<T> other = loaded<T>(others + j * width + v * L);
            for (I i = 0; i < TILE; i++) totals[i][v] += (own[i][v] - other) * factors[i * n + j];
        }
    for (I i = 0; i < TILE; i++)
        for (I v = 0; v < COUNT; v++) stored<T>(to + i * width + v * L, totals[i][v]);
}

// The gradient of the first set, of 2-norms `y` whose gradient is `g`: none where two points are the same.
template <class T> void pairwise_gradient(In<T> g, In<T> x, In<T> z, In<T> y, Out<T> to) {
    require(x.ndim > 1 && z.ndim == x.ndim && y.ndim == x.ndim && same_shape(g, y) && same_shape(x, to), "no sets of points");
    int last = x.ndim - 1;
    I dims = x.dim(last), m = x.dim(last - 1), n = z.dim(last - 1), batch = x.span(0, last - 1), width = whole_vectors<T>(dims);
    require(z.dim(last) == dims && z.span(0, last - 1) == batch && y.size == batch * m * n, "the arrays do not fit");
    if (!to.size) return;
    Aligned<T> others(batch * n * width);  // in whole vectors
    for (I row = 0; row < batch * n; row++) std::copy_n(z.data + row * dims, dims, others.data() + row * width);
    I tiles = (m + TILE - 1) / TILE;
    parallel(batch * tiles, rows_grain(n * dims), [&](I begin, I end) {
        Aligned<T> factors(TILE * n), own(TILE * width), found(TILE * width);
        for (I tile = begin; tile < end; tile++) {
            I b = tile / tiles, first = b * m + tile % tiles * TILE, rows = std::min<I>(TILE, m - tile % tiles * TILE);
            for (I i = 0; i < rows; i++) {
                const T *slopes = g.data + (first + i) * n, *lengths = y.data + (first + i) * n;
                T* factor = factors.data() + i * n;
                SIMD for (I j = 0; j < n; j++) factor[j] = lengths[j] == 0 ? T(0) : slopes[j] / lengths[j];
                std::copy_n(x.data + (first + i) * dims, dims, own.data() + i * width);
            }
            constexpr int MOST = 4;
            for (I start = 0; start < width; start += MOST * LANES<T>) {
                I count = std::min<I>(MOST, (width - start) / LANES<T>);
                (count == 1 ? gradients_of<T, 1> : count == 2 ? gradients_of<T, 2> : count == 3 ? gradients_of<T, 3> : gradients_of<T, MOST>)(
                    own.data() + start, others.data() + b * n * width + start, factors.data(), found.data() + start, n, width);
            }
            for (I i = 0; i < rows; i++) std::copy_n(found.data() + i * width, dims, to.data + (first + i) * dims);
        }
    });
}

}  // namespace

KERNELS({"pairwise", bind<pairwise<float>, pairwise<double>>}, {"pairwise_gradient", bind<pairwise_gradient<float>, pairwise_gradient<double>>})
