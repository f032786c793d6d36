// The largest or smallest number so far along a dimension, and where it was last met.
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

}  // namespace

KERNELS({"running_extreme", FOR_FLOATS(running_extreme)})
