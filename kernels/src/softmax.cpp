// Exponentials that add up to one, their logarithms, and the gradients of both, along one dimension;
// and the likelihood of a class for each row.
#include <limits>
#include <vector>

#include "binding.hpp"
#include "maths.hpp"
#include "vectors.hpp"

namespace {

// ---------------------------------------------------------------- rows, whose last elements fill a vector

// What is left of a row beyond whole vectors, as one that -inf fills up: no element is done alone.
template <class T> struct Rest {
    using W = Wide<T>;
    static constexpr I lanes = LANES<W>;
    I start, count;
    W at[lanes];

    Rest(const T* p, I n) : start(n / lanes * lanes), count(n - start) {
        const T* q = p + start;
        SIMD for (I k = 0; k < lanes; k++) at[k] = k < count ? wide(q[k]) : -std::numeric_limits<W>::infinity();
    }
};

template <class T, class W = Wide<T>> INLINE W largest_of(const T* p, const Rest<T>& rest) {
    W m = largest<W>(rest.start, [=](I j) { return wide(p[j]); });
    if (!rest.count) return m;
    W last = largest<W>(Rest<T>::lanes, [&](I k) { return rest.at[k]; });
    return last > m ? last : m;
}

// The sum of exp(x - m) over a row; keep(j, exp) is shown each.
template <class T, class W, class F> INLINE W exponentials(const T* p, const Rest<T>& rest, W m, F&& keep) {
    W s = summed<W>(rest.start, [=](I j) INLINE_LAMBDA { W e = falling_exp(wide(p[j]) - m); keep(j, e); return e; });
    if (!rest.count) return s;
    W last[Rest<T>::lanes];
    SIMD for (I k = 0; k < Rest<T>::lanes; k++) last[k] = falling_exp(rest.at[k] - m);
    W sum = 0;
    _Pragma("omp simd reduction(+:sum)") for (I k = 0; k < Rest<T>::lanes; k++) sum += last[k];
    for (I k = 0; k < rest.count; k++) keep(rest.start + k, last[k]);
    return s + sum;
}
template <class T, class W> INLINE W exponentials(const T* p, const Rest<T>& rest, W m) {
    return exponentials<T, W>(p, rest, m, [](I, W) INLINE_LAMBDA {});
}

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
        Rest<T> rest(p, n);
        W m = largest_of(p, rest);
        if constexpr (LOG) {
            // Two differences, since the sum of what is subtracted would have lost small digits.
            W s = std::log(exponentials<T, W>(p, rest, m));
            SIMD for (I j = 0; j < n; j++) q[j] = narrow<T>(wide(p[j]) - m - s);
        } else if constexpr (is_narrow<T>) {
            W s = 1 / exponentials<T, W>(p, rest, m);
            SIMD for (I j = 0; j < n; j++) q[j] = narrow<T>(falling_exp(wide(p[j]) - m) * s);
        } else {
            W s = 1 / exponentials<T, W>(p, rest, m, [=](I j, W e) INLINE_LAMBDA { q[j] = e; });
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
            SIMD for (I j = 0; j < width; j++) s.at[j] += falling_exp(wide(p[k * step + j]) - m.at[j]);
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

// ---------------------------------------------------------------- the likelihood of classes

// Rows with a class for each, of which those with the class `ignore` do not count.
enum Reduction { NONE, MEAN, SUM };

struct Classes {
    I rows, n, counted = 0;

    template <class A> Classes(const A& array, const In<std::int64_t>& target, I ignore) {
        require(array.ndim == 2 && target.ndim == 1 && target.size == array.dim(0), "there is a class for each row");
        rows = array.dim(0), n = array.dim(1);
        for (I i = 0; i < rows; i++) {
            if (target[i] == ignore) continue;
            counted++;
            require_index(target[i] >= 0 && target[i] < n, "there is no such class");
        }
    }
};

template <class T> void negative_likelihood(In<T> x, In<std::int64_t> target, Out<T> out, I reduction, I ignore) {
    Classes c(x, target, ignore);
    require(out.size == (reduction == NONE ? c.rows : 1), "the result has another size");
    double total = 0, rest = 0;  // what roundings took from the total
    for (I i = 0; i < c.rows; i++) {
        T loss = target[i] == ignore ? T(0) : -x[i * c.n + target[i]];
        if (reduction == NONE) out[i] = loss;
        double sum = total + loss, of_loss = sum - total;
        rest += (total - (sum - of_loss)) + (loss - of_loss);
        total = sum;
    }
    total += rest == rest ? rest : 0;  // infinite losses have none
    if (reduction != NONE) out[0] = reduction == MEAN ? T(total) / T(c.counted) : T(total);
}

template <class T> void spread_likelihood(In<T> g, In<std::int64_t> target, Out<T> out, I reduction, I ignore) {
    Classes c(out, target, ignore);
    require(g.size == (reduction == NONE ? c.rows : 1), "there is a gradient for each row");
    parallel(c.rows, rows_grain(c.n), [&](I begin, I end) {
        std::fill(out.data + begin * c.n, out.data + end * c.n, T(0));
        for (I i = begin; i < end; i++)
            if (target[i] != ignore) out[i * c.n + target[i]] = reduction == NONE ? -g[i] : reduction == MEAN ? -g[0] / T(c.counted) : -g[0];
    });
}

}  // namespace

KERNELS({"softmax", FOR_FLOATS(normalised, false)}, {"log_softmax", FOR_FLOATS(normalised, true)},
        {"softmax_gradient", FOR_FLOATS(slope, false)}, {"log_softmax_gradient", FOR_FLOATS(slope, true)},
        {"negative_likelihood", bind<negative_likelihood<float>, negative_likelihood<double>>},
        {"spread_likelihood", bind<spread_likelihood<float>, spread_likelihood<double>>})
