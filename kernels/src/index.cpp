// Reading and adding through indices. Every index is looked at before anything is written.
#include <vector>

#include "binding.hpp"
#include "maths.hpp"

namespace {

using Index = std::int64_t;

// An array seen as (outer, n, inner), whose positions along n are named by an index.
struct Rows {
    I outer, n, inner;
    template <class A> Rows(const A& x, I axis) {
        require(axis >= 0 && axis < x.ndim, "no such dimension");
        outer = x.span(0, int(axis)), n = x.dim(int(axis)), inner = x.span(int(axis) + 1, x.ndim);
    }
};

// Negative indices count from the end.
void check(const Array<const Index>& index, I n, bool from_the_end) {
    parallel(index.size, GRAIN, [&](I begin, I end) {
        bool odd = false;
        I low = from_the_end ? -n : 0;
        for (I i = begin; i < end; i++) odd |= (index[i] < low) | (index[i] >= n);
        require_index(!odd, "an index is out of range");
    });
}
INLINE I from_start(Index i, I n) { return i < 0 ? i + n : i; }

// The slices of x that the index names along one dimension, where it may count from the end or not.
template <class T> void slices(In<T> x, In<Index> index, Out<T> y, I axis, bool from_the_end) {
    Rows r(x, axis);
    require(y.size == r.outer * index.size * r.inner, "the result has another size");
    check(index, r.n, from_the_end);
    parallel(r.outer * index.size, rows_grain(r.inner), [&](I begin, I end) {
        for (I start = begin, stop; start < end; start = stop) {
            I outer = start / index.size, first = outer * index.size;
            stop = std::min(end, first + index.size);
            const T* from = x.data + outer * r.n * r.inner;
            const Index* at = index.data - first;
            if (r.inner == 1)
                for (I i = start; i < stop; i++) y[i] = from[from_start(at[i], r.n)];
            else
                for (I i = start; i < stop; i++)
                    std::memcpy(static_cast<void*>(y.data + i * r.inner), from + from_start(at[i], r.n) * r.inner, r.inner * sizeof(T));
        }
    });
}

// Adds slices to those that the index names, in their order, but for one. Threads share what is written to: the
// positions along the dimension, or where there are few, the elements of a slice.
template <class T> void add_slices(const Rows& r, T* x, const In<Index>& index, const In<T>& values, I passed_over) {
    auto add = [&](I outer, I low, I high, I first, I last) {
        for (I i = 0; i < index.size; i++) {
            I row = from_start(index[i], r.n);
            if (row < low || row >= high || row == passed_over) continue;
            T* to = x + (outer * r.n + row) * r.inner;
            const T* from = values.data + (outer * index.size + i) * r.inner;
            if (last - first == 1) to[first] += from[first];
            else SIMD for (I j = first; j < last; j++) to[j] += from[j];
        }
    };
    if (r.outer > 1) {
        parallel(r.outer, rows_grain(index.size * r.inner), [&](I begin, I end) {
            for (I outer = begin; outer < end; outer++) add(outer, 0, r.n, 0, r.inner);
        });
    } else if (r.inner >= 1024) {
        parallel(r.inner, rows_grain(index.size), [&](I begin, I end) { add(0, 0, r.n, begin, end); });
    } else if (r.outer == 1) {
        // Each thread reads all of the index: that pays if there is more to add than to read.
        I crew = std::min<I>(threads(), r.inner >= 8 ? index.size * r.inner / GRAIN : 1);
        crew = std::max<I>(1, std::min(crew, r.n));
        parallel(crew, 1, [&](I begin, I end) { add(0, begin * r.n / crew, end * r.n / crew, 0, r.inner); });
    }
}

template <class T> void add_at(InOut<T> x, In<Index> index, In<T> values, I axis) {
    Rows r(x, axis);
    require(values.size == r.outer * index.size * r.inner, "the values have another size");
    check(index, r.n, true);
    add_slices(r, x.data, index, values, -1);
}

// To rows of zeros; nothing is added to the row `padding`.
template <class T> void add_rows(Out<T> zeros, In<Index> index, In<T> rows, I padding) {
    Rows r(zeros, 0);
    require(rows.size == index.size * r.inner, "the rows have another size");
    check(index, r.n, false);
    add_slices(r, zeros.data, index, rows, padding < 0 ? -1 : padding);
}

// ---------------------------------------------------------------- an index for each element

// A window at the origin of an array, of which one coordinate is replaced by an index.
struct Elements {
    int ndim, dim;
    I lines, length, step, last_step;  // rows of the window; distance of neighbours along `dim` and in a row
    std::vector<I> sizes, strides;

    template <class X> Elements(const X& x, const Array<const Index>& window, I axis) : ndim(window.ndim), dim(int(axis)) {
        require(x.ndim == ndim && ndim > 0 && axis >= 0 && axis < ndim, "no such dimension");
        strides.resize(ndim), sizes.resize(ndim);
        I stride = 1;
        for (int d = ndim - 1; d >= 0; stride *= x.dim(d), d--) {
            strides[d] = stride, sizes[d] = window.dim(d);
            require(d == dim || sizes[d] <= x.dim(d), "the index is larger than the array");
        }
        length = sizes[ndim - 1];
        lines = length ? window.size / length : 0;
        step = strides[dim];
        last_step = dim == ndim - 1 ? 0 : 1;
    }
    I start_of_line(I line) const {
        I start = 0;
        for (int d = ndim - 2; d >= 0; d--) {
            if (d != dim) start += line % sizes[d] * strides[d];
            line /= sizes[d];
        }
        return start;
    }
};

template <class T> void gather(In<T> x, In<Index> index, Out<T> y, I axis) {
    Elements e(x, index, axis);
    require(same_shape(index, y), "the result has another shape");
    check(index, x.dim(int(axis)), false);
    parallel(e.lines, rows_grain(e.length * 2), [&](I begin, I end) {
        for (I line = begin; line < end; line++) {
            const T* from = x.data + e.start_of_line(line);
            const Index* own = index.data + line * e.length;
            T* to = y.data + line * e.length;
            for (I j = 0; j < e.length; j++) to[j] = from[own[j] * e.step + j * e.last_step];
        }
    });
}

// Lines of one coordinate before `dim` meet no others: these are shared among threads.
template <class T> void scatter_add(InOut<T> x, In<Index> index, In<T> source, I axis) {
    Elements e(x, index, axis);
    require(same_shape(index, source), "the values have another shape");
    check(index, x.dim(int(axis)), false);
    I apart = 1;
    for (int d = 0; d < e.dim && d < e.ndim - 1; d++) apart *= e.sizes[d];
    I together = apart ? e.lines / std::max<I>(1, apart) : 0;
    parallel(apart, rows_grain(together * e.length * 2), [&](I begin, I end) {
        for (I line = begin * together; line < end * together; line++) {
            T* to = x.data + e.start_of_line(line);
            const Index* own = index.data + line * e.length;
            const T* from = source.data + line * e.length;
            for (I j = 0; j < e.length; j++) to[own[j] * e.step + j * e.last_step] += from[j];
        }
    });
}

}  // namespace

KERNELS({"slices", FOR_FLOATS(slices)}, {"gather", FOR_FLOATS(gather)}, {"add_at", bind<add_at<float>, add_at<double>>},
        {"add_rows", bind<add_rows<float>, add_rows<double>>},
        {"scatter_add", bind<scatter_add<float>, scatter_add<double>>})
