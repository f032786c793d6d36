// Orders in which equal elements stand as the C++ library leaves them: PyTorch sorts narrow dtypes with
// the same function, so that this is its order too. Short rows in order, and the first few of an order.
#include <algorithm>
#include <vector>

#include "binding.hpp"
#include "maths.hpp"

namespace {

using Index = std::int64_t;

template <class T> struct Keyed {
    T key;
    Index place;
};

// The indices that sort each row; what is not a number is larger than any.
template <class T> void sorting_order(In<T> x, Out<Index> order, bool descending) {
    require(x.ndim > 0 && same_shape(x, order), "the result has another shape");
    I n = x.dim(x.ndim - 1), rows = n ? x.size / n : 0;
    parallel(rows, std::max<I>(1, GRAIN / (16 * std::max<I>(n, 1))), [&](I begin, I end) {
        std::vector<Keyed<T>> row(n);
        for (I r = begin; r < end; r++) {
            for (I i = 0; i < n; i++) row[i] = {x[r * n + i], i};
            std::sort(row.begin(), row.end(), [descending](const Keyed<T>& a, const Keyed<T>& b) {
                const T &low = descending ? b.key : a.key, &high = descending ? a.key : b.key;
                return (low == low && high != high) || low < high;
            });
            for (I i = 0; i < n; i++) order[r * n + i] = row[i].place;
        }
    });
}

template <bool LARGEST, class T> INLINE bool comes_before(T a, T b) {  // NaN is larger than any number
    return LARGEST ? a > b || (a != a && b == b) : a < b || (a == a && b != b);
}

// Short rows in order, and where their elements were: each is inserted behind those that it equals.
template <bool DESCENDING, class T> void insert_each(const T* x, T* values, Index* places, I n) {
    for (I i = 0; i < n; i++) {
        T value = x[i];
        I place = i;
        for (; place > 0 && comes_before<DESCENDING>(value, values[place - 1]); place--) {
            values[place] = values[place - 1];
            places[place] = places[place - 1];
        }
        values[place] = value;
        places[place] = i;
    }
}
template <class T> void short_rows_in_order(In<T> x, Out<T> values, Out<Index> places, bool descending) {
    require(x.ndim > 0 && same_shape(x, values) && same_shape(x, places), "a result has another shape");
    I n = x.dim(x.ndim - 1), rows = n ? x.size / n : 0;
    auto insert = descending ? insert_each<true, T> : insert_each<false, T>;
    parallel(rows, std::max<I>(1, GRAIN / (n * n + 1)), [=](I begin, I end) {
        for (I r = begin; r < end; r++) insert(x.data + r * n, values.data + r * n, places.data + r * n, n);
    });
}

// ---------------------------------------------------------------- the first few

constexpr I WAYS = 64;  // in which the elements of a row are dealt out

// A value that at least `k` elements of a row are no worse than: as many of the ways have a best one like that.
template <class T, bool LARGEST> T bound_of(const T* x, I n, I k) {
    T best[WAYS];
    std::copy_n(x, WAYS, best);
    for (I i = WAYS; i + WAYS <= n; i += WAYS)
        SIMD for (I j = 0; j < WAYS; j++) best[j] = comes_before<LARGEST>(x[i + j], best[j]) ? x[i + j] : best[j];
    std::nth_element(best, best + k - 1, best + WAYS, comes_before<LARGEST, T>);
    return best[k - 1];
}

// The first `k` of a row in order, of equal ones those that lie first. Nearly all elements come behind
// the last that is kept, so that a block of them is passed over by one look.
template <class T, bool LARGEST> void first_of_row(const T* x, I n, Keyed<T>* kept, I k) {
    constexpr I BLOCK = 32;
    bool is_bounded = k <= WAYS / 2 && n >= 4 * WAYS;
    T last = is_bounded ? bound_of<T, LARGEST>(x, n, k) : T(0);
    I count = 0;
    auto insert = [&](I i) {
        I place = count < k ? count++ : k - 1;
        for (; place > 0 && comes_before<LARGEST>(x[i], kept[place - 1].key); place--) kept[place] = kept[place - 1];
        kept[place] = {x[i], i};
        if (count == k) last = kept[k - 1].key;
    };
    I start = is_bounded ? 0 : k;
    for (I i = 0; i < start; i++) insert(i);
    // Until there are enough, what equals the bound is kept as well.
    auto is_wanted = [x](I j, T last, bool are_enough) INLINE_LAMBDA {
        return are_enough ? comes_before<LARGEST>(x[j], last) : !comes_before<LARGEST>(last, x[j]);
    };
    for (I i = start; i < n; i += BLOCK) {
        I stop = std::min(n, i + BLOCK);
        T now = last;
        bool are_enough = count == k;
        int is_any = 0;
        _Pragma("omp simd reduction(|:is_any)") for (I j = i; j < stop; j++) is_any |= is_wanted(j, now, are_enough);
        if (!is_any) continue;
        for (I j = i; j < stop; j++)
            if (is_wanted(j, last, count == k)) insert(j);
    }
}

template <class T> void first_in_order(In<T> x, Out<Index> places, bool largest) {
    require(x.ndim > 0 && places.ndim == x.ndim, "the result has another number of dimensions");
    int last = x.ndim - 1;
    I n = x.dim(last), k = places.dim(last), rows = x.span(0, last);
    require(rows == places.span(0, last) && k <= n, "the result has another shape");
    if (!places.size) return;
    parallel(rows, rows_grain(n), [=](I begin, I end) {
        std::vector<Keyed<T>> kept(k);
        for (I r = begin; r < end; r++) {
            (largest ? first_of_row<T, true> : first_of_row<T, false>)(x.data + r * n, n, kept.data(), k);
            for (I i = 0; i < k; i++) places[r * k + i] = kept[i].place;
        }
    });
}

}  // namespace

KERNELS({"sorting_order", bind<sorting_order<double>, sorting_order<Index>>},
        {"short_rows_in_order", bind<short_rows_in_order<float>, short_rows_in_order<double>>},
        {"first_in_order", bind<first_in_order<float>, first_in_order<double>>})
