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
void row_norm(In<T> x, Maybe<T> weight, Maybe<T> bias, Out<T> y, MaybeOut<Wide<T>> mean, MaybeOut<Wide<T>> scale, I rank,
                double eps) {
    using W = Wide<T>;
    Rows rows(x, rank);
    check(rows, weight);
    check(rows, bias);
    require(same_shape(x, y), "the result has another shape");
    require((!mean || mean.size == rows.count) && (!scale || scale.size == rows.count), "there are more or fewer moments than rows");
    I n = rows.width;
    const T *w = weight.data, *c = bias.data;
    parallel(rows.count, rows_grain(n, 2), [=](I begin, I end) {
        for (I i = begin; i < end; i++) {
            const T* p = x.data + i * n;
            T* q = y.data + i * n;
            auto [m, s] = moments_of(p, n, eps);
            if (mean) mean[i] = m;
            if (scale) scale[i] = s;
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
    auto [sum, along] = summed_along<W>(n, slope, [=](I j) INLINE_LAMBDA { return wide(x[j]) - mean; });
    W shift = sum / size, bend = along * scale * scale / size;
    SIMD for (I j = 0; j < n; j++) out[j] = narrow<T>((slope(j) - shift - (wide(x[j]) - mean) * bend) * scale);
}

inline I rows_of_part(const Rows& rows) { return std::max((rows.count + 31) / 32, rows_grain(rows.width, 2)); }

// Sums over rows: parts of the rows are added up apart, and then together in their order.
template <class W> struct PartSums {
    I width;
    std::vector<W> all;

    PartSums(I rows, I width, I each) : width(width), all(std::max<I>(1, (rows + each - 1) / each) * width) {}
    W* of(I part) { return all.data() + part * width; }
    template <class T> void write(const Out<T>& to) {
        for (I start = width; start < I(all.size()); start += width)
            SIMD for (I j = 0; j < width; j++) all[j] += all[start + j];
        for (I j = 0; j < width; j++) to[j] = narrow<T>(all[j]);
    }
};

// The gradients of the input, and of the weight and the bias where there is room for them.
template <class T>
void layer_gradients(In<T> g, In<T> x, Maybe<T> weight, Column<T> mean, Column<T> scale, Out<T> out, Out<T> of_weight, Out<T> of_bias,
                     I rank, double eps) {
    using W = Wide<T>;
    Rows rows(x, rank);
    check(rows, weight);
    check_columns<T>(rows, mean, scale);
    require(same_shape(g, x) && same_shape(x, out), "the arrays have different shapes");
    require((!of_weight.size || of_weight.size == rows.width) && of_bias.size == of_weight.size, "a weight has another size than a row");
    I n = rows.width, each = rows_of_part(rows);
    bool all = of_weight.size > 0;
    PartSums<W> weights(rows.count, all ? n : 0, each), biases(rows.count, all ? n : 0, each);
    in_parts(rows.count, each, [&](I part, I begin, I end) {
        for (I i = begin; i < end; i++) {
            const T *slope = g.data + i * n, *row = x.data + i * n;
            auto moments = known_or_found<T>(mean, scale, i, row, n, eps);
            if (weight) row_gradient<true>(slope, row, weight.data, out.data + i * n, n, moments);
            else row_gradient<false>(slope, row, weight.data, out.data + i * n, n, moments);
            if (!all) continue;
            W middle = moments.mean, factor = moments.scale, *p = weights.of(part), *q = biases.of(part);
            SIMD for (I j = 0; j < n; j++) {
                W v = wide(slope[j]);
                p[j] += v * ((wide(row[j]) - middle) * factor);
                q[j] += v;
            }
        }
    });
    if (all) weights.write(of_weight), biases.write(of_bias);
}

template <class T>
void layer_weight_gradient(In<T> g, In<T> x, Column<T> mean, Column<T> scale, Out<T> out, I rank, double eps) {
    using W = Wide<T>;
    Rows rows(x, rank);
    check_columns<T>(rows, mean, scale);
    require(same_shape(g, x) && out.size == rows.width, "the arrays have different shapes");
    I n = rows.width, each = rows_of_part(rows);
    PartSums<W> sums(rows.count, n, each);
    in_parts(rows.count, each, [&](I part, I begin, I end) {
        W* to = sums.of(part);
        for (I i = begin; i < end; i++) {
            const T *p = g.data + i * n, *q = x.data + i * n;
            auto [m, s] = known_or_found<T>(mean, scale, i, q, n, eps);
            W middle = m, factor = s;
            SIMD for (I j = 0; j < n; j++) to[j] += wide(p[j]) * ((wide(q[j]) - middle) * factor);
        }
    });
    sums.write(out);
}

}  // namespace

KERNELS({"row_norm", FOR_FLOATS(row_norm)},
        {"layer_gradients", FOR_FLOATS(layer_gradients)},
        {"layer_weight_gradient", FOR_FLOATS(layer_weight_gradient)})
