// Steps of recurrent layers, all of them one after the other, and their gradients. The products with the
// inputs are made elsewhere; the gates of a sample lie side by side in its row.
#include "binding.hpp"
#include "maths.hpp"
#include "products.hpp"

namespace {

template <class T> INLINE T sigmoid_slope(T y) { return y * (1 - y); }
template <class T> INLINE T tanh_slope(T y) { return 1 - y * y; }

template <class A> void require_rows(const A& array, I samples, I units, int gates = 1) {
    require(array.ndim == 2 && array.dim(0) == samples && array.dim(1) == gates * units, "an array has another number of samples or units");
}
#define REQUIRE_ROWS(array, ...) require_rows(array, rows, units __VA_OPT__(,) __VA_ARGS__)
#define REQUIRE_STATE(array) require_rows(array, samples, units)

// The weights of a layer's own products, in strips; `backward` for gradients, which are multiplied by them as
// they stand.
template <class T> struct Own {
    I from, to;
    Unset<T> strips;

    Own(const In<T>& weight, I units, int gates, bool backward) {
        require_rows(weight, gates * units, units);
        Matrix<T> m{weight.data, gates * units, units, units, 1};
        if (!backward) m = m.turned();
        from = m.rows, to = m.columns;
        strips.resize(from * whole_strips<T>(to));
        in_strips<T>(m, strips.data());
    }
    I width() const { return whole_strips<T>(to); }
    // `count` rows by the weights, into rows of whole strips.
    void times(const T* rows, I count, T* products) const {
        by_strips(Matrix<T>{rows, count, from, from, 1}, strips.data(), to, from * WIDTH<T>, products, width(), false);
    }
};

// step(first, count, row, products) for every span of rows in turn: `count` samples from `first` on, which
// begin in that row. Threads take other samples, which know nothing of one another.
template <class T, class F> void for_steps(const In<I>& spans, I rows, I samples, const Own<T>& own, F step) {
    require(spans.ndim == 2 && spans.dim(1) == 2, "a span has a beginning and an end");
    I steps = spans.dim(0);
    for (I n = 0; n < steps; n++)
        require(spans[2 * n] >= 0 && spans[2 * n] <= spans[2 * n + 1] && spans[2 * n + 1] <= rows && spans[2 * n + 1] - spans[2 * n] <= samples,
                "a span lies beyond the rows");
    I grain = std::max<I>(MOST_ROWS, rows_grain(steps * own.to * std::max<I>(1, own.from / 8)));
    parallel(samples, grain, [&](I begin, I end) {
        Unset<T> products((end - begin) * own.width());
        for (I n = 0; n < steps; n++) {
            I start = spans[2 * n], count = std::min(end, spans[2 * n + 1] - start) - begin;
            if (count > 0) step(begin, count, start + begin, products.data());
        }
    });
}

// The gates are in, keep, value and out. `gates` holds the products of the inputs, and is given what
// becomes of them; `before` and `cells` are given what the state and the cell were.
template <class T>
void lstm_steps(In<T> weight, In<I> spans, InOut<T> gates, InOut<T> hidden, InOut<T> cell, InOut<T> before, InOut<T> output, InOut<T> cells) {
    require(cell.ndim == 2 && gates.ndim == 2, "a state is a matrix");
    I samples = cell.dim(0), units = cell.dim(1), rows = gates.dim(0);
    REQUIRE_STATE(hidden);
    REQUIRE_ROWS(gates, 4);
    REQUIRE_ROWS(before);
    REQUIRE_ROWS(output);
    REQUIRE_ROWS(cells);
    Own<T> own(weight, units, 4, false);
    for_steps<T>(spans, rows, samples, own, [&](I first, I count, I row, T* products) {
        std::copy_n(hidden.data + first * units, count * units, before.data + row * units);
        own.times(hidden.data + first * units, count, products);
        for (I i = 0; i < count; i++) {
            const T* p = products + i * own.width();
            T *g = gates.data + (row + i) * units * 4, *h = hidden.data + (first + i) * units, *c = cell.data + (first + i) * units;
            T *o = output.data + (row + i) * units, *was = cells.data + (row + i) * units;
            SIMD for (I j = 0; j < units; j++) {
                T into = sigmoid_(g[j] + p[j]), keep = sigmoid_(g[units + j] + p[units + j]);
                T value = tanh_(g[2 * units + j] + p[2 * units + j]), out = sigmoid_(g[3 * units + j] + p[3 * units + j]);
                T now = keep * c[j] + into * value;
                g[j] = into;
                g[units + j] = keep;
                g[2 * units + j] = value;
                g[3 * units + j] = out;
                was[j] = c[j];
                c[j] = now;
                o[j] = h[j] = out * tanh_(now);
            }
        }
    });
}

// `of_hidden` and `of_cell` are the gradients of the last state, and are given those of the first one;
// `slopes` are given those of the products.
template <class T>
void lstm_gradients(In<T> weight, In<I> spans, In<T> gates, In<T> cells, Maybe<T> of_output, InOut<T> of_hidden, InOut<T> of_cell, InOut<T> slopes) {
    require(of_cell.ndim == 2 && gates.ndim == 2, "a state is a matrix");
    I samples = of_cell.dim(0), units = of_cell.dim(1), rows = gates.dim(0);
    REQUIRE_STATE(of_hidden);
    REQUIRE_ROWS(gates, 4);
    REQUIRE_ROWS(slopes, 4);
    REQUIRE_ROWS(cells);
    if (of_output) REQUIRE_ROWS(of_output);
    Own<T> own(weight, units, 4, true);
    for_steps<T>(spans, rows, samples, own, [&](I first, I count, I row, T* products) {
        for (I i = 0; i < count; i++) {
            const T *g = gates.data + (row + i) * units * 4, *was = cells.data + (row + i) * units;
            const T *above = of_output ? of_output.data + (row + i) * units : nullptr, *h = of_hidden.data + (first + i) * units;
            T *s = slopes.data + (row + i) * units * 4, *c = of_cell.data + (first + i) * units;
            SIMD for (I j = 0; j < units; j++) {
                T into = g[j], keep = g[units + j], value = g[2 * units + j], out = g[3 * units + j];
                T shown = tanh_(keep * was[j] + into * value);
                T arrived = h[j] + (above ? above[j] : T(0));
                T change = c[j] + arrived * out * tanh_slope(shown);
                s[j] = change * value * sigmoid_slope(into);
                s[units + j] = change * was[j] * sigmoid_slope(keep);
                s[2 * units + j] = change * into * tanh_slope(value);
                s[3 * units + j] = arrived * shown * sigmoid_slope(out);
                c[j] = change * keep;
            }
        }
        own.times(slopes.data + row * units * 4, count, products);
        for (I i = 0; i < count; i++) std::copy_n(products + i * own.width(), units, of_hidden.data + (first + i) * units);
    });
}

// The gates are reset, update and new; `fresh` is given the state's part of the last.
template <class T>
void gru_steps(In<T> weight, Maybe<T> bias, In<I> spans, InOut<T> gates, InOut<T> hidden, InOut<T> before, InOut<T> output, InOut<T> fresh) {
    require(hidden.ndim == 2 && gates.ndim == 2, "a state is a matrix");
    I samples = hidden.dim(0), units = hidden.dim(1), rows = gates.dim(0);
    REQUIRE_ROWS(gates, 3);
    REQUIRE_ROWS(before);
    REQUIRE_ROWS(output);
    REQUIRE_ROWS(fresh);
    require(!bias || bias.size == 3 * units, "there are more or fewer biases than gates");
    Own<T> own(weight, units, 3, false);
    for_steps<T>(spans, rows, samples, own, [&](I first, I count, I row, T* products) {
        std::copy_n(hidden.data + first * units, count * units, before.data + row * units);
        own.times(hidden.data + first * units, count, products);
        for (I i = 0; i < count; i++) {
            T *p = products + i * own.width(), *g = gates.data + (row + i) * units * 3, *h = hidden.data + (first + i) * units;
            T *o = output.data + (row + i) * units, *f = fresh.data + (row + i) * units;
            if (bias) SIMD for (I j = 0; j < 3 * units; j++) p[j] += bias[j];
            SIMD for (I j = 0; j < units; j++) {
                T reset = sigmoid_(g[j] + p[j]), update = sigmoid_(g[units + j] + p[units + j]);
                T mine = p[2 * units + j], made = tanh_(g[2 * units + j] + reset * mine);
                g[j] = reset;
                g[units + j] = update;
                g[2 * units + j] = made;
                f[j] = mine;
                o[j] = h[j] = (h[j] - made) * update + made;
            }
        }
    });
}

// `slopes` are for the products of the inputs, `own_slopes` for those of the state.
template <class T>
void gru_gradients(In<T> weight, In<I> spans, In<T> gates, In<T> fresh, In<T> before, Maybe<T> of_output, InOut<T> of_hidden, InOut<T> slopes, InOut<T> own_slopes) {
    require(of_hidden.ndim == 2 && gates.ndim == 2, "a state is a matrix");
    I samples = of_hidden.dim(0), units = of_hidden.dim(1), rows = gates.dim(0);
    REQUIRE_ROWS(gates, 3);
    REQUIRE_ROWS(slopes, 3);
    REQUIRE_ROWS(own_slopes, 3);
    REQUIRE_ROWS(fresh);
    REQUIRE_ROWS(before);
    if (of_output) REQUIRE_ROWS(of_output);
    Own<T> own(weight, units, 3, true);
    for_steps<T>(spans, rows, samples, own, [&](I first, I count, I row, T* products) {
        for (I i = 0; i < count; i++) {
            const T *g = gates.data + (row + i) * units * 3, *f = fresh.data + (row + i) * units, *was = before.data + (row + i) * units;
            const T* above = of_output ? of_output.data + (row + i) * units : nullptr;
            T *s = slopes.data + (row + i) * units * 3, *mine = own_slopes.data + (row + i) * units * 3, *h = of_hidden.data + (first + i) * units;
            SIMD for (I j = 0; j < units; j++) {
                T reset = g[j], update = g[units + j], made = g[2 * units + j];
                T arrived = h[j] + (above ? above[j] : T(0));
                T change = arrived * (1 - update) * tanh_slope(made);
                s[j] = mine[j] = change * f[j] * sigmoid_slope(reset);
                s[units + j] = mine[units + j] = arrived * (was[j] - made) * sigmoid_slope(update);
                s[2 * units + j] = change;
                mine[2 * units + j] = change * reset;
                h[j] = arrived * update;
            }
        }
        own.times(own_slopes.data + row * units * 3, count, products);
        for (I i = 0; i < count; i++) {
            const T* p = products + i * own.width();
            T* h = of_hidden.data + (first + i) * units;
            SIMD for (I j = 0; j < units; j++) h[j] += p[j];
        }
    });
}

}  // namespace

KERNELS({"lstm_steps", bind<lstm_steps<float>, lstm_steps<double>>}, {"lstm_gradients", bind<lstm_gradients<float>, lstm_gradients<double>>},
        {"gru_steps", bind<gru_steps<float>, gru_steps<double>>}, {"gru_gradients", bind<gru_gradients<float>, gru_gradients<double>>})
