// Layer norm: rows shifted to mean 0 and scaled to variance 1, and the gradients of that.
#include <vector>

#include "binding.hpp"
#include "maths.hpp"

namespace {

struct Rows {  // the last `rank` dimensions are a row
    I count, width;
    template <class A> Rows(const A& x, I rank) {
        require(rank >= 0 && rank <= x.ndim, "no such dimension");
        count = x.span(0, x.ndim - int(rank));
        width = x.span(x.ndim - int(rank), x.ndim);
    }
};

template <class W> struct Moments {
    W mean, scale;  // scale: one over the standard deviation
};

template <class T, class W = Wide<T>> INLINE Moments<W> moments_of(const T* x, I n, double eps) {
    W mean = summed<W>(n, [=](I j) { return wide(x[j]); }) / W(n ? n : 1);
    W squares = summed<W>(n, [=](I j) { W apart = wide(x[j]) - mean; return apart * apart; });
    return {mean, 1 / std::sqrt(squares / W(n ? n : 1) + W(eps))};
}

template <class T> using Column = Maybe<Wide<T>>;

template <class T> INLINE Moments<Wide<T>> known_or_found(const Column<T>& mean, const Column<T>& scale, I row, const T* x, I n, double eps) {
    if (mean && scale) return {mean[row], scale[row]};
    return moments_of(x, n, eps);
}

template <class T> void check(const Rows& rows, const Maybe<T>& parameter) {
    require(!parameter || parameter.size == rows.width, "a weight has another size than a row");
}
template <class T> void check_columns(const Rows& rows, const Column<T>& mean, const Column<T>& scale) {
    require((!mean || mean.size == rows.count) && (!scale || scale.size == rows.count), "there are more or fewer moments than rows");
}

template <class T>
void layer_norm(In<T> x, Maybe<T> weight, Maybe<T> bias, Out<T> y, Out<Wide<T>> mean, Out<Wide<T>> scale, I rank, double eps) {
    using W = Wide<T>;
    Rows rows(x, rank);
    check(rows, weight);
    check(rows, bias);
    require(same_shape(x, y) && mean.size == rows.count && scale.size == rows.count, "the results have other sizes");
    I n = rows.width;
    const T *w = weight.data, *c = bias.data;
    parallel(rows.count, rows_grain(n, 2), [=](I begin, I end) {
        for (I i = begin; i < end; i++) {
            const T* p = x.data + i * n;
            T* q = y.data + i * n;
            auto [m, s] = moments_of(p, n, eps);
            mean[i] = m;
            scale[i] = s;
            W middle = m, factor = s;
            auto row = [=](auto&& finish) INLINE_LAMBDA {
                SIMD for (I j = 0; j < n; j++) q[j] = narrow<T>(finish((wide(p[j]) - middle) * factor, j));
            };
            if (w && c) row([=](W v, I j) INLINE_LAMBDA { return v * wide(w[j]) + wide(c[j]); });
            else if (w) row([=](W v, I j) INLINE_LAMBDA { return v * wide(w[j]); });
            else if (c) row([=](W v, I j) INLINE_LAMBDA { return v + wide(c[j]); });
            else row([](W v, I) INLINE_LAMBDA { return v; });
        }
    });
}

// One row: what is left of its gradient once what moves mean and variance is taken out.
template <bool WEIGHTED, class T, class W>
void row_gradient(const T* __restrict g, const T* __restrict x, const T* __restrict w, T* __restrict out, I n, Moments<W> moments) {
    W mean = moments.mean, scale = moments.scale, size = W(n ? n : 1);
    auto slope = [=](I j) INLINE_LAMBDA { return WEIGHTED ? wide(g[j]) * wide(w[j]) : wide(g[j]); };
    W shift = summed<W>(n, [=](I j) INLINE_LAMBDA { return slope(j); }) / size;
    W bend = summed<W>(n, [=](I j) INLINE_LAMBDA { return slope(j) * (wide(x[j]) - mean); }) * scale * scale / size;
    SIMD for (I j = 0; j < n; j++) out[j] = narrow<T>((slope(j) - shift - (wide(x[j]) - mean) * bend) * scale);
}

template <class T>
void layer_input_gradient(In<T> g, In<T> x, Maybe<T> weight, Column<T> mean, Column<T> scale, Out<T> out, I rank, double eps) {
    Rows rows(x, rank);
    check(rows, weight);
    check_columns<T>(rows, mean, scale);
    require(same_shape(g, x) && same_shape(x, out), "the arrays have different shapes");
    I n = rows.width;
    parallel(rows.count, rows_grain(n, 3), [=](I begin, I end) {
        for (I i = begin; i < end; i++) {
            const T* row = x.data + i * n;
            auto moments = known_or_found<T>(mean, scale, i, row, n, eps);
            if (weight) row_gradient<true>(g.data + i * n, row, weight.data, out.data + i * n, n, moments);
            else row_gradient<false>(g.data + i * n, row, weight.data, out.data + i * n, n, moments);
        }
    });
}

// Parts of the rows are added up apart, and then together in their order.
template <class T>
void layer_weight_gradient(In<T> g, In<T> x, Column<T> mean, Column<T> scale, Out<T> out, I rank, double eps) {
    using W = Wide<T>;
    Rows rows(x, rank);
    check_columns<T>(rows, mean, scale);
    require(same_shape(g, x) && out.size == rows.width, "the arrays have different shapes");
    I n = rows.width, each = std::max((rows.count + 31) / 32, rows_grain(n, 2));
    I parts = (rows.count + each - 1) / each;
    std::vector<W> all(std::max<I>(1, parts) * n);
    in_parts(rows.count, each, [&, data = all.data()](I part, I begin, I end) {
        W* sums = data + part * n;
        for (I i = begin; i < end; i++) {
            const T *p = g.data + i * n, *q = x.data + i * n;
            auto [m, s] = known_or_found<T>(mean, scale, i, q, n, eps);
            W middle = m, factor = s;
            SIMD for (I j = 0; j < n; j++) sums[j] += wide(p[j]) * ((wide(q[j]) - middle) * factor);
        }
    });
    for (I part = 1; part < parts; part++)
        SIMD for (I j = 0; j < n; j++) all[j] += all[part * n + j];
    for (I j = 0; j < n; j++) out[j] = narrow<T>(all[j]);
}

}  // namespace

KERNELS({"layer_norm", FOR_FLOATS(layer_norm)},
        {"layer_input_gradient", FOR_FLOATS(layer_input_gradient)},
        {"layer_weight_gradient", FOR_FLOATS(layer_weight_gradient)})
