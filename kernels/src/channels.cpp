// Batch, instance and group norm: statistics shared by the rows of a channel, or of some channels of
// a sample; and what else is done channel by channel. A row is a channel of a sample.
#include <cmath>
#include <vector>

#include "binding.hpp"
#include "maths.hpp"

namespace {

// Which rows share their statistics: those of a channel (`groups` is 0), or of a group in a sample.
struct Sets {
    I samples, channels, width, count, groups, together;

    template <class X> Sets(const X& x, I groups) : groups(groups) {
        require(x.ndim >= 2, "there are no channels");
        samples = x.dim(0), channels = x.dim(1), width = x.span(2, x.ndim);
        require(groups >= 0 && (groups == 0 || channels % groups == 0), "the channels do not fit the groups");
        count = groups ? samples * groups : channels;
        together = groups ? channels / groups : samples;
    }
    I row(I set, I i) const { return groups ? set * together + i : i * channels + set; }
    I elements() const { return std::max<I>(1, together * width); }
    // f(set) for all of them, at once.
    template <class F> void each(I cost, F&& f) const {
        parallel(count, rows_grain(elements(), cost), [&](I begin, I end) {
            for (I set = begin; set < end; set++) f(set);
        });
    }
    // The sum of term(row) over the rows of a set.
    template <class F> double sum(I set, F&& term) const {
        double total = 0;
        for (I i = 0; i < together; i++) total += term(row(set, i));
        return total;
    }
};

template <class W> struct SetMoments {
    W mean, square, scale;  // the sum of squared differences, and one over the standard deviation
};
template <class T, class W = Wide<T>> SetMoments<W> moments_of(const Sets& s, const T* x, I set, double eps) {
    I n = s.width;
    W mean = W(s.sum(set, [&](I row) {
        const T* p = x + row * n;
        return summed<W>(n, [=](I j) INLINE_LAMBDA { return wide(p[j]); });
    }) / s.elements());
    W square = W(s.sum(set, [&](I row) {
        const T* p = x + row * n;
        return summed<W>(n, [=](I j) INLINE_LAMBDA { W d = wide(p[j]) - mean; return d * d; });
    }));
    return {mean, square, W(1 / std::sqrt(double(square) / s.elements() + eps))};
}

template <class T, class W = Wide<T>>
void set_norm(In<T> x, Maybe<T> weight, Maybe<T> bias, Out<T> y, MaybeOut<W> means, MaybeOut<W> scales, MaybeOut<W> squares,
              I groups, double eps) {
    Sets s(x, groups);
    I rows = s.samples * s.channels, n = s.width;
    require(same_shape(x, y), "the result has another shape");
    for (const MaybeOut<W>& each : {means, scales, squares}) require(!each || each.size == rows, "there is a number for each row");
    require((!weight || weight.size == s.channels) && (!bias || bias.size == s.channels), "the parameters have another size");
    s.each(4, [&](I set) {
        auto [mean, square, scale] = moments_of(s, x.data, set, eps);
        for (I i = 0; i < s.together; i++) {
            I row = s.row(set, i), channel = row % s.channels;
            if (means) means[row] = mean;
            if (scales) scales[row] = scale;
            if (squares) squares[row] = square;
            const T* p = x.data + row * n;
            T* q = y.data + row * n;
            W middle = mean, factor = weight ? scale * wide(weight[channel]) : scale, shift = bias ? wide(bias[channel]) : W(0);
            SIMD for (I j = 0; j < n; j++) q[j] = narrow<T>((wide(p[j]) - middle) * factor + shift);
        }
    });
}

// Moves a running mean and variance towards those found, of which the first ones are the channels'.
template <class W> void blend(InOut<W> mean, InOut<W> var, In<W> means, In<W> squares, I count, double momentum) {
    I channels = mean.size;
    require(var.size == channels && means.size >= channels && squares.size == means.size, "there is a number for each channel");
    W kept = W(1 - momentum), taken = W(momentum), freedom = W(count - 1);
    for (I i = 0; i < channels; i++) {
        mean[i] = mean[i] * kept + means[i] * taken;
        var[i] = var[i] * kept + squares[i] / freedom * taken;
    }
}

// The gradients of the input, the weight and the bias; the last two come of the sums that the first one needs.
// The moments may be known.
template <class T, class W = Wide<T>>
void channel_gradients(In<T> g, In<T> x, Maybe<T> weight, Maybe<W> means, Maybe<W> scales, Out<T> out, Out<T> of_weight,
                       Out<T> of_bias, I groups, double eps) {
    Sets s(x, groups);
    I rows = s.samples * s.channels, n = s.width;
    require(same_shape(g, x) && same_shape(x, out), "the arrays have different shapes");
    bool known = means && scales;
    require(!known || (means.size == rows && scales.size == rows), "there is a number for each row");
    require((!weight || weight.size == s.channels) && of_weight.size == s.channels && of_bias.size == s.channels,
            "the parameters have another size");
    std::vector<Sums<W>> sums(rows);  // of the gradients, and along the input in units of its deviation
    s.each(4, [&](I set) {
        if (!s.together) return;
        SetMoments<W> moments = known ? SetMoments<W>{means[s.row(set, 0)], 0, scales[s.row(set, 0)]} : moments_of(s, x.data, set, eps);
        W mean = moments.mean, scale = moments.scale;
        auto factor = [&](I row) { return scale * (weight ? wide(weight[row % s.channels]) : W(1)); };
        double sum = 0, along = 0;
        for (I i = 0; i < s.together; i++) {
            I row = s.row(set, i);
            const T *p = g.data + row * n, *q = x.data + row * n;
            Sums<W> found = summed_along<W>(n, [=](I j) INLINE_LAMBDA { return wide(p[j]); }, [=](I j) INLINE_LAMBDA { return wide(q[j]) - mean; });
            sum += factor(row) * found.plain;
            along += factor(row) * found.along;
            sums[row] = {found.plain, scale * found.along};
        }
        W shift = W(sum / s.elements()), slope = W(along / s.elements()) * scale * scale;
        for (I i = 0; i < s.together; i++) {
            I row = s.row(set, i);
            const T *p = g.data + row * n, *q = x.data + row * n;
            T* to = out.data + row * n;
            W own = factor(row);
            SIMD for (I j = 0; j < n; j++) to[j] = narrow<T>(wide(p[j]) * own - shift - (wide(q[j]) - mean) * slope);
        }
    });
    for (I channel = 0; channel < s.channels; channel++) {
        double along = 0, plain = 0;
        for (I row = channel; row < rows; row += s.channels) along += sums[row].along, plain += sums[row].plain;
        of_weight[channel] = narrow<T>(W(along)), of_bias[channel] = narrow<T>(W(plain));
    }
}

// The channels' sums over all samples of what term(row) gives.
template <class T, class F> void of_channels(const Sets& s, const Out<T>& out, F&& term) {
    require(out.size == s.channels, "there is a number for each channel");
    s.each(2, [&](I channel) { out[channel] = narrow<T>(Wide<T>(s.sum(channel, term))); });
}

template <class T, class W = Wide<T>>
void channel_weight_gradient(In<T> g, In<T> x, In<W> means, In<W> scales, Out<T> out) {
    Sets s(x, 0);
    I rows = s.samples * s.channels, n = s.width;
    require(same_shape(g, x), "the arrays have different shapes");
    require(means.size == rows && scales.size == rows, "there is a number for each row");
    of_channels<T>(s, out, [&](I row) {
        const T *p = g.data + row * n, *q = x.data + row * n;
        W mean = means[row];
        return scales[row] * summed<W>(n, [=](I j) INLINE_LAMBDA { return wide(p[j]) * (wide(q[j]) - mean); });
    });
}

template <class T> void channel_sums(In<T> x, Out<T> out) {
    using W = Wide<T>;
    Sets s(x, 0);
    of_channels<T>(s, out, [&](I row) {
        const T* p = x.data + row * s.width;
        return summed<W>(s.width, [=](I j) INLINE_LAMBDA { return wide(p[j]); });
    });
}

template <class T, class W = Wide<T>> void shifted_channels(In<T> x, In<W> scale, In<W> shift, Out<T> y) {
    Sets s(x, 0);
    require(same_shape(x, y), "the result has another shape");
    require(scale.size == s.channels && shift.size == s.channels, "there is a number for each channel");
    parallel(s.samples * s.channels, rows_grain(s.width), [&](I begin, I end) {
        for (I row = begin; row < end; row++) {
            const T* p = x.data + row * s.width;
            T* q = y.data + row * s.width;
            W a = scale[row % s.channels], b = shift[row % s.channels];
            SIMD for (I j = 0; j < s.width; j++) q[j] = narrow<T>(wide(p[j]) * a + b);
        }
    });
}

}  // namespace

KERNELS({"set_norm", FOR_FLOATS(set_norm)}, {"channel_gradients", FOR_FLOATS(channel_gradients)},
        {"blend", bind<blend<float>, blend<double>>},
        {"channel_weight_gradient", FOR_FLOATS(channel_weight_gradient)}, {"channel_sums", FOR_FLOATS(channel_sums)},
        {"shifted_channels", FOR_FLOATS(shifted_channels)})
