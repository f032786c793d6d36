// Orders in which equal elements stand as the C++ library leaves them: PyTorch sorts narrow dtypes with
// the same function, so that this is its order too. And the first few of an order, without the rest.
#include <algorithm>
#include <vector>

#include "binding.hpp"

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

// ---------------------------------------------------------------- the first few

template <bool LARGEST, class T> INLINE bool comes_before(T a, T b) {  // NaN is larger than any number
    return LARGEST ? a > b || (a != a && b == b) : a < b || (a == a && b != b);
}

// The first `k` of a row in order, of equal ones those that lie first. Nearly all elements come behind
// the last that is kept, so that a block of them is passed over by one look.
template <class T, bool LARGEST> void first_of_row(const T* x, I n, Keyed<T>* kept, I k) {
    constexpr I BLOCK = 32;
    I count = 0;
    auto insert = [&](I i) {
        I place = count < k ? count++ : k - 1;
        for (; place > 0 && comes_before<LARGEST>(x[i], kept[place - 1].key); place--) kept[place] = kept[place - 1];
        kept[place] = {x[i], i};
    };
    for (I i = 0; i < k; i++) insert(i);
    for (I i = k; i < n; i += BLOCK) {
        I stop = std::min(n, i + BLOCK);
        T last = kept[k - 1].key;
        bool is_any = false;
        for (I j = i; j < stop; j++) is_any |= comes_before<LARGEST>(x[j], last);
        if (!is_any) continue;
        for (I j = i; j < stop; j++)
            if (comes_before<LARGEST>(x[j], kept[k - 1].key)) insert(j);
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
        {"first_in_order", bind<first_in_order<float>, first_in_order<double>>})
