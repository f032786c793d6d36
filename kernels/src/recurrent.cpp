// Steps of recurrent layers, and the gradients of those. The products with weights are made elsewhere;
// the gates of a sample lie side by side in its row.
#include "binding.hpp"
#include "maths.hpp"

namespace {

template <class T> INLINE T sigmoid_slope(T y) { return y * (1 - y); }
template <class T> INLINE T tanh_slope(T y) { return 1 - y * y; }

// f(i, j) for the units j of each sample i, in an order that vectorises.
template <class F> void for_units(I samples, I units, F f) {
    parallel(samples, rows_grain(units, 16), [=](I begin, I end) {
        for (I i = begin; i < end; i++)
            SIMD for (I j = 0; j < units; j++) f(i, j);
    });
}

template <class A> void require_rows(const A& array, I samples, I units, int gates = 1) {
    require(array.ndim == 2 && array.dim(0) == samples && array.dim(1) == gates * units, "an array has another number of samples or units");
}
#define REQUIRE_ROWS(array, ...) require_rows(array, samples, units __VA_OPT__(,) __VA_ARGS__)

// The gates are in, keep, value and out. `gates` holds the products of the inputs, and is given what
// becomes of them; `before` is given what the cell was.
template <class T>
void lstm_step(In<T> product, InOut<T> gates, InOut<T> hidden, InOut<T> cell, InOut<T> output, InOut<T> before) {
    require(cell.ndim == 2, "a state is a matrix");
    I samples = cell.dim(0), units = cell.dim(1);
    REQUIRE_ROWS(product, 4);
    REQUIRE_ROWS(gates, 4);
    REQUIRE_ROWS(hidden);
    REQUIRE_ROWS(output);
    REQUIRE_ROWS(before);
    for_units(samples, units, [=](I i, I j) INLINE_LAMBDA {
        const T* p = product.data + i * units * 4;
        T* g = gates.data + i * units * 4;
        I at = i * units + j;
        T into = sigmoid_(g[j] + p[j]), keep = sigmoid_(g[units + j] + p[units + j]);
        T value = tanh_(g[2 * units + j] + p[2 * units + j]), out = sigmoid_(g[3 * units + j] + p[3 * units + j]);
        T was = cell[at], now = keep * was + into * value;
        g[j] = into;
        g[units + j] = keep;
        g[2 * units + j] = value;
        g[3 * units + j] = out;
        before[at] = was;
        cell[at] = now;
        output[at] = hidden[at] = out * tanh_(now);
    });
}

// `of_cell` is the gradient of the cell after the step, and is given that of the cell before it; that of
// the state goes into `slopes`, and nothing of it is left.
template <class T>
void lstm_step_gradient(In<T> gates, In<T> before, Maybe<T> of_output, InOut<T> of_hidden, InOut<T> of_cell, InOut<T> slopes) {
    require(of_cell.ndim == 2, "a state is a matrix");
    I samples = of_cell.dim(0), units = of_cell.dim(1);
    REQUIRE_ROWS(gates, 4);
    REQUIRE_ROWS(slopes, 4);
    REQUIRE_ROWS(before);
    REQUIRE_ROWS(of_hidden);
    if (of_output) REQUIRE_ROWS(of_output);
    for_units(samples, units, [=](I i, I j) INLINE_LAMBDA {
        const T* g = gates.data + i * units * 4;
        T* s = slopes.data + i * units * 4;
        I at = i * units + j;
        T into = g[j], keep = g[units + j], value = g[2 * units + j], out = g[3 * units + j];
        T was = before[at], shown = tanh_(keep * was + into * value);
        T arrived = of_hidden[at] + (of_output ? of_output[at] : T(0));
        T change = of_cell[at] + arrived * out * tanh_slope(shown);
        s[j] = change * value * sigmoid_slope(into);
        s[units + j] = change * was * sigmoid_slope(keep);
        s[2 * units + j] = change * into * tanh_slope(value);
        s[3 * units + j] = arrived * shown * sigmoid_slope(out);
        of_cell[at] = change * keep;
        of_hidden[at] = 0;
    });
}

// The gates are reset, update and new; `fresh` is given the state's part of the last.
template <class T>
void gru_step(In<T> product, Maybe<T> bias, InOut<T> gates, InOut<T> hidden, InOut<T> output, InOut<T> fresh) {
    require(hidden.ndim == 2, "a state is a matrix");
    I samples = hidden.dim(0), units = hidden.dim(1);
    REQUIRE_ROWS(product, 3);
    REQUIRE_ROWS(gates, 3);
    REQUIRE_ROWS(output);
    REQUIRE_ROWS(fresh);
    require(!bias || bias.size == 3 * units, "there are more or fewer biases than gates");
    for_units(samples, units, [=](I i, I j) INLINE_LAMBDA {
        const T* p = product.data + i * units * 3;
        T* g = gates.data + i * units * 3;
        I at = i * units + j;
        auto of_state = [=](I k) INLINE_LAMBDA { return bias ? p[k] + bias[k] : p[k]; };
        T reset = sigmoid_(g[j] + of_state(j)), update = sigmoid_(g[units + j] + of_state(units + j));
        T own = of_state(2 * units + j), made = tanh_(g[2 * units + j] + reset * own);
        g[j] = reset;
        g[units + j] = update;
        g[2 * units + j] = made;
        fresh[at] = own;
        output[at] = hidden[at] = (hidden[at] - made) * update + made;
    });
}

// `of_hidden` is the gradient of the state after the step, and is given what of it goes to the state
// before it directly; `slopes` are for the products of the inputs, `own_slopes` for those of the state.
template <class T>
void gru_step_gradient(In<T> gates, In<T> fresh, In<T> before, Maybe<T> of_output, InOut<T> of_hidden, InOut<T> slopes, InOut<T> own_slopes) {
    require(of_hidden.ndim == 2, "a state is a matrix");
    I samples = of_hidden.dim(0), units = of_hidden.dim(1);
    REQUIRE_ROWS(gates, 3);
    REQUIRE_ROWS(slopes, 3);
    REQUIRE_ROWS(own_slopes, 3);
    REQUIRE_ROWS(fresh);
    REQUIRE_ROWS(before);
    if (of_output) REQUIRE_ROWS(of_output);
    for_units(samples, units, [=](I i, I j) INLINE_LAMBDA {
        const T* g = gates.data + i * units * 3;
        T *s = slopes.data + i * units * 3, *own = own_slopes.data + i * units * 3;
        I at = i * units + j;
        T reset = g[j], update = g[units + j], made = g[2 * units + j];
        T arrived = of_hidden[at] + (of_output ? of_output[at] : T(0));
        T change = arrived * (1 - update) * tanh_slope(made);
        s[j] = own[j] = change * fresh[at] * sigmoid_slope(reset);
        s[units + j] = own[units + j] = arrived * (before[at] - made) * sigmoid_slope(update);
        s[2 * units + j] = change;
        own[2 * units + j] = change * reset;
        of_hidden[at] = arrived * update;
    });
}

}  // namespace

KERNELS({"lstm_step", bind<lstm_step<float>, lstm_step<double>>},
        {"lstm_step_gradient", bind<lstm_step_gradient<float>, lstm_step_gradient<double>>},
        {"gru_step", bind<gru_step<float>, gru_step<double>>},
        {"gru_step_gradient", bind<gru_step_gradient<float>, gru_step_gradient<double>>})
