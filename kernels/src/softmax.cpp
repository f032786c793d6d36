// Exponentials that add up to one, their logarithms, and the gradients of both, along one dimension.
#include <vector>

#include "binding.hpp"
#include "maths.hpp"

namespace {

// An array seen as (outer, n, inner), the reduction going along n.
struct Along {
    I outer, n, inner;
    template <class A> Along(const A& x, I axis) {
        require(axis >= 0 && axis < x.ndim, "no such dimension");
        outer = x.span(0, int(axis));
        n = x.dim(int(axis));
        inner = x.span(int(axis) + 1, x.ndim);
    }
};

// Rows, of which `row(where)` does one; where no row lies in one piece, columns, some at a time, of
// which `columns(where, stride, width)` does several.
constexpr I COLUMNS = 64;
template <class Row, class Columns> void along(const Along& a, I cost, Row row, Columns columns) {
    if (a.inner == 1) {
        parallel(a.outer, rows_grain(a.n, cost), [&](I begin, I end) {
            for (I i = begin; i < end; i++) row(i * a.n);
        });
        return;
    }
    I strips = (a.inner + COLUMNS - 1) / COLUMNS;
    parallel(a.outer * strips, rows_grain(a.n * std::min(a.inner, COLUMNS), cost), [&](I begin, I end) {
        for (I i = begin; i < end; i++) {
            I first = i % strips * COLUMNS;
            columns(i / strips * a.n * a.inner + first, std::min(COLUMNS, a.inner - first));
        }
    });
}

template <class T> struct Columns {  // a value for each column
    T at[COLUMNS];
    explicit Columns(T value) { std::fill(at, at + COLUMNS, value); }
};

template <class T, bool LOG> void normalised(In<T> x, Out<T> y, I axis) {
    using W = Wide<T>;
    require(same_shape(x, y), "the result has another shape");
    Along a(x, axis);
    I n = a.n, step = a.inner;
    const T* from = x.data;
    T* to = y.data;
    along(a, 8, [=](I start) {
        const T* p = from + start;
        T* q = to + start;
        W m = largest<W>(n, [=](I j) { return wide(p[j]); });
        if constexpr (LOG) {
            // Two differences, since the sum of what is subtracted would have lost small digits.
            W s = std::log(summed<W>(n, [=](I j) { return exp_(wide(p[j]) - m); }));
            SIMD for (I j = 0; j < n; j++) q[j] = narrow<T>(wide(p[j]) - m - s);
        } else if constexpr (is_narrow<T>) {
            W s = 1 / summed<W>(n, [=](I j) { return exp_(wide(p[j]) - m); });
            SIMD for (I j = 0; j < n; j++) q[j] = narrow<T>(exp_(wide(p[j]) - m) * s);
        } else {
            W s = 1 / summed<W>(n, [=](I j) { return q[j] = exp_(p[j] - m); });
            SIMD for (I j = 0; j < n; j++) q[j] *= s;
        }
    }, [=](I start, I width) {
        const T* p = from + start;
        T* q = to + start;
        Columns<W> m(-std::numeric_limits<W>::infinity()), s(0);
        for (I k = 0; k < n; k++)
            SIMD for (I j = 0; j < width; j++) {
                W v = wide(p[k * step + j]);
                m.at[j] = v > m.at[j] ? v : m.at[j];
            }
        for (I k = 0; k < n; k++)
            SIMD for (I j = 0; j < width; j++) s.at[j] += exp_(wide(p[k * step + j]) - m.at[j]);
        for (I j = 0; j < width; j++) s.at[j] = LOG ? std::log(s.at[j]) : 1 / s.at[j];
        for (I k = 0; k < n; k++)
            SIMD for (I j = 0; j < width; j++) {
                W v = wide(p[k * step + j]) - m.at[j];
                q[k * step + j] = narrow<T>(LOG ? v - s.at[j] : exp_(v) * s.at[j]);
            }
    });
}

template <class T, bool LOG> void slope(In<T> g, In<T> y, Out<T> out, I axis) {
    using W = Wide<T>;
    require(same_shape(g, y) && same_shape(g, out), "the arrays have different shapes");
    Along a(g, axis);
    I n = a.n, step = a.inner;
    const T *gradient = g.data, *output = y.data;
    T* to = out.data;
    auto term = [](W g, W y) INLINE_LAMBDA { return LOG ? g : g * y; };
    auto passed = [](W g, W y, W s) INLINE_LAMBDA { return LOG ? g - s * exp_(y) : (g - s) * y; };
    along(a, LOG ? 4 : 2, [=](I start) {
        const T *p = gradient + start, *q = output + start;
        T* r = to + start;
        W s = summed<W>(n, [=](I j) { return term(wide(p[j]), wide(q[j])); });
        SIMD for (I j = 0; j < n; j++) r[j] = narrow<T>(passed(wide(p[j]), wide(q[j]), s));
    }, [=](I start, I width) {
        const T *p = gradient + start, *q = output + start;
        T* r = to + start;
        Columns<W> s(0);
        for (I k = 0; k < n; k++)
            SIMD for (I j = 0; j < width; j++) s.at[j] += term(wide(p[k * step + j]), wide(q[k * step + j]));
        for (I k = 0; k < n; k++)
            SIMD for (I j = 0; j < width; j++) {
                I i = k * step + j;
                r[i] = narrow<T>(passed(wide(p[i]), wide(q[i]), s.at[j]));
            }
    });
}

}  // namespace

KERNELS({"softmax", FOR_FLOATS(normalised, false)}, {"log_softmax", FOR_FLOATS(normalised, true)},
        {"softmax_gradient", FOR_FLOATS(slope, false)}, {"log_softmax_gradient", FOR_FLOATS(slope, true)})
