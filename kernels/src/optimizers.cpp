// Steps of optimizers in one pass over parameters, gradients and state. They round as NumPy's functions
// do one by one: products and sums are not contracted.
#include "binding.hpp"
#include "maths.hpp"

#pragma GCC optimize("fp-contract=off")

namespace {

template <class F> void for_elements(I n, F f) {
    parallel(n, GRAIN / 2, [=](I begin, I end) {
        SIMD for (I i = begin; i < end; i++) f(i);
    });
}

template <class T> void require_size(const T& array, I n, const char* what) { require(array.size == n, what); }

template <class T> struct Slope {  // of an element, with weight decay on request
    const T* grad;
    T sign, decay;
    INLINE T operator()(I i, T param) const {
        T g = sign * grad[i];
        return decay == 0 ? g : g + param * decay;
    }
};

template <class T> void sgd_step(InOut<T> param, In<T> grad, double lr, double decay, bool maximize) {
    require_size(grad, param.size, "a gradient has another size than its parameter");
    Slope<T> slope{grad.data, T(maximize ? -1 : 1), T(decay)};
    T *p = param.data, rate = T(-lr);
    for_elements(param.size, [=](I i) INLINE_LAMBDA { p[i] = p[i] + slope(i, p[i]) * rate; });
}

template <class T>
void momentum_step(InOut<T> param, In<T> grad, InOut<T> buffer, double lr, double momentum, double share, double decay, bool nesterov, bool maximize) {
    require_size(grad, param.size, "a gradient has another size than its parameter");
    require_size(buffer, param.size, "a state has another size than its parameter");
    Slope<T> slope{grad.data, T(maximize ? -1 : 1), T(decay)};
    T *p = param.data, *b = buffer.data, rate = T(-lr), kept = T(momentum), taken = T(share);
    for_elements(param.size, [=](I i) INLINE_LAMBDA {
        T g = slope(i, p[i]), now = b[i] * kept + g * taken;
        b[i] = now;
        p[i] = p[i] + (nesterov ? g + now * kept : now) * rate;
    });
}

// `third` is the largest second moment so far, and left alone unless that is asked for. What parameters
// are multiplied by directly is `shrink`.
template <class T>
void adam_step(InOut<T> param, In<T> grad, InOut<T> first_moment, InOut<T> second_moment, InOut<T> third, double beta1, double beta2, double eps, double rate, double decay, double shrink, bool amsgrad, bool maximize) {
    I n = param.size;
    require_size(grad, n, "a gradient has another size than its parameter");
    for (auto& state : {first_moment, second_moment, third}) require_size(state, n, "a state has another size than its parameter");
    Slope<T> slope{grad.data, T(maximize ? -1 : 1), T(decay)};
    T *p = param.data, *first = first_moment.data, *second = second_moment.data, *most = third.data;
    T keep1 = T(beta1), take1 = T(1 - beta1), keep2 = T(beta2), take2 = T(1 - beta2), small = T(eps), factor = T(rate), left = T(shrink);
    auto move = [=](I i, auto&& chosen) INLINE_LAMBDA {
        T was = p[i] * left, g = slope(i, was);
        T m = first[i] * keep1 + g * take1, v = second[i] * keep2 + g * g * take2;
        first[i] = m;
        second[i] = v;
        p[i] = was + m / (std::sqrt(chosen(i, v)) + small) * factor;
    };
    if (amsgrad) for_elements(n, [=](I i) INLINE_LAMBDA {
        move(i, [=](I k, T v) INLINE_LAMBDA { return most[k] = v > most[k] || v != v ? v : most[k]; });
    });
    else for_elements(n, [=](I i) INLINE_LAMBDA { move(i, [](I, T v) INLINE_LAMBDA { return v; }); });
}

}  // namespace

KERNELS({"sgd_step", bind<sgd_step<float>, sgd_step<double>>},
        {"momentum_step", bind<momentum_step<float>, momentum_step<double>>},
        {"adam_step", bind<adam_step<float>, adam_step<double>>})
