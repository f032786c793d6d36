// Along a dimension: the largest or smallest number so far and where it was last met, running sums and
// products.
#include "binding.hpp"
#include "maths.hpp"

namespace {

// NaN wins and stays. An array is seen as (outer, n, inner); columns of a strip are scanned together.
constexpr I STRIP = 64;

template <bool LARGEST, class W> INLINE bool is_next(W now, W before) {
    return now != now || (before == before && (LARGEST ? now >= before : now <= before));
}

template <class T, bool LARGEST> void scan_row(const T* x, T* values, std::int64_t* places, I n) {
    T best = x[0];
    I place = 0;
    for (I i = 0; i < n; i++) {
        if (is_next<LARGEST>(wide(x[i]), wide(best))) {
            best = x[i];
            place = i;
        }
        values[i] = best;
        places[i] = place;
    }
}

template <class T, bool LARGEST> void scan(const T* x, T* values, std::int64_t* places, I n, I inner, I width) {
    if (inner == 1) return scan_row<T, LARGEST>(x, values, places, n);
    std::copy_n(x, width, values);
    std::fill_n(places, width, 0);
    for (I i = 1; i < n; i++) {
        const T *row = x + i * inner, *before = values + (i - 1) * inner;
        const std::int64_t* known = places + (i - 1) * inner;
        T* now = values + i * inner;
        std::int64_t* met = places + i * inner;
        for (I j = 0; j < width; j++) {
            bool is_new = is_next<LARGEST>(wide(row[j]), wide(before[j]));
            now[j] = is_new ? row[j] : before[j];
            met[j] = is_new ? i : known[j];
        }
    }
}

template <class T> void running_extreme(In<T> x, Out<T> values, Out<std::int64_t> places, I axis, bool largest) {
    require(same_shape(x, values) && same_shape(x, places), "the arrays have different shapes");
    require(0 <= axis && axis < x.ndim, "no such dimension");
    I outer = x.span(0, int(axis)), n = x.dim(int(axis)), inner = x.span(int(axis) + 1, x.ndim);
    if (!x.size) return;
    I strips = (inner + STRIP - 1) / STRIP;
    parallel(outer * strips, rows_grain(n * std::min(inner, STRIP), 4), [=](I begin, I end) {
        for (I k = begin; k < end; k++) {
            I first = k % strips * STRIP, start = k / strips * n * inner + first, width = std::min(STRIP, inner - first);
            (largest ? scan<T, true> : scan<T, false>)(x.data + start, values.data + start, places.data + start, n, inner, width);
        }
    });
}

// ---------------------------------------------------------------- sums and products

struct Sum {
    static constexpr int START = 0;
    template <class A> static INLINE A next(A so_far, A x) { return so_far + x; }
};
struct Product {
    static constexpr int START = 1;
    template <class A> static INLINE A next(A so_far, A x) { return so_far * x; }
};
// What numbers are added up in: float in double, as PyTorch does.
template <class T> using Running = std::conditional_t<std::is_same_v<T, float>, double, Wide<T>>;
constexpr I AT_ONCE = 8;  // rows, none of which waits for another

template <class T, class F, I ROWS> void run_along(const T* x, T* y, I n, bool reverse) {
    using A = Running<T>;
    A so_far[ROWS];
    std::fill_n(so_far, ROWS, A(F::START));
    I first = reverse ? n - 1 : 0, step = reverse ? -1 : 1;
    for (I i = first, count = 0; count < n; count++, i += step)
        for (I row = 0; row < ROWS; row++) y[row * n + i] = narrow<T>(Wide<T>(so_far[row] = F::next(so_far[row], A(wide(x[row * n + i])))));
}

template <class T, class F> void run_across(const T* x, T* y, I n, I inner, I width, bool reverse) {
    using A = Running<T>;
    A so_far[STRIP];
    std::fill_n(so_far, STRIP, A(F::START));
    for (I count = 0; count < n; count++) {
        I start = (reverse ? n - 1 - count : count) * inner;
        SIMD for (I j = 0; j < width; j++) y[start + j] = narrow<T>(Wide<T>(so_far[j] = F::next(so_far[j], A(wide(x[start + j])))));
    }
}

// From the end where `reverse` says so.
template <class T, class F> void running(In<T> x, Out<T> y, I axis, bool reverse) {
    require(same_shape(x, y), "the result has another shape");
    require(0 <= axis && axis < x.ndim, "no such dimension");
    I outer = x.span(0, int(axis)), n = x.dim(int(axis)), inner = x.span(int(axis) + 1, x.ndim);
    if (!x.size) return;
    if (inner == 1) {
        parallel((outer + AT_ONCE - 1) / AT_ONCE, rows_grain(n * AT_ONCE, 2), [=](I begin, I end) {
            for (I row = begin * AT_ONCE; row < std::min(outer, end * AT_ONCE);) {
                bool many = row + AT_ONCE <= outer;
                (many ? run_along<T, F, AT_ONCE> : run_along<T, F, 1>)(x.data + row * n, y.data + row * n, n, reverse);
                row += many ? AT_ONCE : 1;
            }
        });
        return;
    }
    I strips = (inner + STRIP - 1) / STRIP;
    parallel(outer * strips, rows_grain(n * std::min(inner, STRIP)), [=](I begin, I end) {
        for (I k = begin; k < end; k++) {
            I first = k % strips * STRIP, start = k / strips * n * inner + first;
            run_across<T, F>(x.data + start, y.data + start, n, inner, std::min(STRIP, inner - first), reverse);
        }
    });
}

}  // namespace

KERNELS({"running_extreme", FOR_FLOATS(running_extreme)}, {"running_sum", FOR_FLOATS(running, Sum)},
        {"running_product", FOR_FLOATS(running, Product)})
