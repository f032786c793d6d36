// Orders in which equal elements stand as the C++ library leaves them. PyTorch sorts narrow dtypes with
// the same function, so that this is its order too.
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

}  // namespace

KERNELS({"sorting_order", bind<sorting_order<double>, sorting_order<Index>>})
