// Along a dimension: the largest or smallest number so far and where it was last met, running sums and
// products.
#include "binding.hpp"
#include "maths.hpp"
#include "transposing.hpp"

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

// What numbers are added up in: float in double, as PyTorch does.
template <class T> using Running = std::conditional_t<std::is_same_v<T, float>, double, Wide<T>>;

struct Sum {
    template <class T> using Of = Running<T>;
    static constexpr int START = 0, INPUTS = 1;
    static constexpr bool EXCLUSIVE = false;
    template <class A> static INLINE A next(A so_far, A x) { return so_far + x; }
    // What is found at an element of which x holds the inputs; works on vectors too.
    template <class A> static INLINE A found(A& so_far, const A* x, bool) { return so_far = so_far + x[0]; }
};
struct Product {
    template <class T> using Of = Running<T>;
    static constexpr int START = 1, INPUTS = 1;
    static constexpr bool EXCLUSIVE = false;
    template <class A> static INLINE A next(A so_far, A x) { return so_far * x; }
    template <class A> static INLINE A found(A& so_far, const A* x, bool) { return so_far = so_far * x[0]; }
};
struct ProductBefore : Product {  // of those before each element, without it
    static constexpr bool EXCLUSIVE = true;
    template <class A> static INLINE A found(A& so_far, const A* x, bool) {
        A before = so_far;
        so_far = so_far * x[0];
        return before;
    }
};
struct Recurrence {  // of a factor and a term, the first factor counting for nothing
    template <class T> using Of = Wide<T>;
    static constexpr int START = 0, INPUTS = 2;
    template <class A> static INLINE A found(A& so_far, const A* x, bool is_first) {
        return so_far = is_first ? so_far + x[1] : x[0] * so_far + x[1];
    }
};

// Rows that lie one behind another are scanned side by side, as many as a vector has lanes: some columns of
// them at a time become rows of a block, and are put back.
constexpr I DEPTH = 64;
template <class T> constexpr I TOGETHER = LANES<Wide<T>>;

template <class T, class W> void into_lanes(const T* from, W* block, I rows, I width, I n) {
    if constexpr (!is_narrow<T>) return transpose(from, block, width, rows, n, TOGETHER<T>);
    for (I row = 0; row < rows; row++)
        for (I k = 0; k < width; k++) block[k * TOGETHER<T> + row] = wide(from[row * n + k]);
}
template <class T, class W> void from_lanes(const W* block, T* to, I rows, I width, I n) {
    if constexpr (!is_narrow<T>) return transpose(block, to, rows, width, TOGETHER<T>, n);
    for (I row = 0; row < rows; row++)
        for (I k = 0; k < width; k++) to[row * n + k] = narrow<T>(block[k * TOGETHER<T> + row]);
}

template <class T, class F, class A> void run_together(const T* const (&from)[F::INPUTS], T* to, I rows, I n, bool reverse) {
    using W = Wide<T>;
    constexpr I L = TOGETHER<T>, PARTS = L / LANES<A>;  // vectors of A for each of W
    typedef W Part __attribute__((vector_size(LANES<A> * sizeof(W))));
    alignas(64) W in[F::INPUTS][DEPTH * L] = {}, out[DEPTH * L];
    V<A> so_far[PARTS];
    for (V<A>& part : so_far) part = V<A>{} + A(F::START);
    for (I done = 0, width; done < n; done += width) {
        width = std::min(DEPTH, n - done);
        I first = reverse ? n - done - width : done;
        for (int i = 0; i < F::INPUTS; i++) into_lanes(from[i] + first, in[i], rows, width, n);
        for (I count = 0; count < width; count++) {
            I start = (reverse ? width - 1 - count : count) * L;
            for (I part = 0; part < PARTS; part++) {
                V<A> x[F::INPUTS];
                for (int i = 0; i < F::INPUTS; i++) {
                    Part given;
                    std::memcpy(&given, in[i] + start + part * LANES<A>, sizeof given);
                    x[i] = __builtin_convertvector(given, V<A>);
                }
                Part found = __builtin_convertvector(F::found(so_far[part], x, done + count == 0), Part);
                std::memcpy(out + start + part * LANES<A>, &found, sizeof found);
            }
        }
        from_lanes(out, to + first, rows, width, n);
    }
}

template <class T, class F> void run_alone(const T* const (&from)[F::INPUTS], T* to, I n, bool reverse) {
    using A = typename F::template Of<T>;
    A so_far = A(F::START);
    for (I count = 0; count < n; count++) {
        I i = reverse ? n - 1 - count : count;
        A x[F::INPUTS];
        for (int k = 0; k < F::INPUTS; k++) x[k] = A(wide(from[k][i]));
        to[i] = narrow<T>(Wide<T>(F::found(so_far, x, count == 0)));
    }
}

template <class T, class F> void run_along(const T* const (&from)[F::INPUTS], T* to, I outer, I n, bool reverse) {
    I together = TOGETHER<T>;
    parallel((outer + together - 1) / together, rows_grain(n * together, 2), [&](I begin, I end) {
        for (I row = begin * together; row < std::min(outer, end * together); row += together) {
            I rows = std::min(together, outer - row);
            const T* own[F::INPUTS];
            for (int i = 0; i < F::INPUTS; i++) own[i] = from[i] + row * n;
            if (rows == 1) run_alone<T, F>(own, to + row * n, n, reverse);
            else run_together<T, F, typename F::template Of<T>>(own, to + row * n, rows, n, reverse);
        }
    });
}

template <class T, class F> void run_across(const T* x, T* y, I n, I inner, I width, bool reverse) {
    using A = Running<T>;
    A so_far[STRIP];
    std::fill_n(so_far, STRIP, A(F::START));
    for (I count = 0; count < n; count++) {
        I start = (reverse ? n - 1 - count : count) * inner;
        SIMD for (I j = 0; j < width; j++) {
            A next = F::next(so_far[j], A(wide(x[start + j])));
            y[start + j] = narrow<T>(Wide<T>(F::EXCLUSIVE ? so_far[j] : next));
            so_far[j] = next;
        }
    }
}

// From the end where `reverse` says so.
template <class T, class F> void running(In<T> x, Out<T> y, I axis, bool reverse) {
    require(same_shape(x, y), "the result has another shape");
    require(0 <= axis && axis < x.ndim, "no such dimension");
    I outer = x.span(0, int(axis)), n = x.dim(int(axis)), inner = x.span(int(axis) + 1, x.ndim);
    if (!x.size) return;
    if (inner == 1) return run_along<T, F>({x.data}, y.data, outer, n, reverse);
    I strips = (inner + STRIP - 1) / STRIP;
    parallel(outer * strips, rows_grain(n * std::min(inner, STRIP)), [=](I begin, I end) {
        for (I k = begin; k < end; k++) {
            I first = k % strips * STRIP, start = k / strips * n * inner + first;
            run_across<T, F>(x.data + start, y.data + start, n, inner, std::min(STRIP, inner - first), reverse);
        }
    });
}

// y[k] = factor[k] y[k - 1] + term[k], or y[k + 1] from the end; the first factor counts for nothing.
template <class T> void recurrence(In<T> factor, In<T> term, Out<T> y, I axis, bool reverse) {
    require(same_shape(factor, term) && same_shape(term, y), "the arrays have different shapes");
    require(0 <= axis && axis < y.ndim, "no such dimension");
    I outer = y.span(0, int(axis)), n = y.dim(int(axis)), inner = y.span(int(axis) + 1, y.ndim);
    if (!y.size) return;
    if (inner == 1) return run_along<T, Recurrence>({factor.data, term.data}, y.data, outer, n, reverse);
    // Columns of a strip do not wait for one another.
    I step = (reverse ? -1 : 1) * inner, first = reverse ? (n - 1) * inner : 0, strips = (inner + STRIP - 1) / STRIP;
    parallel(outer * strips, rows_grain(n * std::min(inner, STRIP), 2), [=](I begin, I end) {
        for (I k = begin; k < end; k++) {
            I column = k % strips * STRIP, width = std::min(STRIP, inner - column);
            I start = k / strips * n * inner + column + first;
            Wide<T> so_far[STRIP] = {};
            for (I count = 0; count < n; count++, start += step)
                SIMD for (I j = 0; j < width; j++) {
                    Wide<T> x[] = {wide(factor[start + j]), wide(term[start + j])};
                    y[start + j] = narrow<T>(Recurrence::found(so_far[j], x, count == 0));
                }
        }
    });
}

}  // namespace

KERNELS({"running_extreme", FOR_FLOATS(running_extreme)}, {"running_sum", FOR_FLOATS(running, Sum)},
        {"running_product", FOR_FLOATS(running, Product)}, {"product_before", FOR_FLOATS(running, ProductBefore)},
        {"recurrence", FOR_FLOATS(recurrence)})
