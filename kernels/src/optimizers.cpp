// Steps of optimizers in one pass over parameters, gradients and state. They round as NumPy's functions
// do one by one: products and sums are not contracted.
#include <vector>

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

// Adafactor. Parameters are rows of some width, of which `update(row)(column)` is the direction; it is
// taken `alpha` times, less where its root mean square is above `most`.
template <class T, class F> double mean_square(I rows, I width, F at) {
    std::vector<double> squares(rows);
    parallel(rows, rows_grain(width, 4), [&](I begin, I end) {
        for (I i = begin; i < end; i++) {
            auto row = at(i);
            squares[i] = summed<T>(width, [=](I j) INLINE_LAMBDA { T v = row(j); return v * v; });
        }
    });
    double total = 0;
    for (double square : squares) total += square;
    return total / double(rows * width);
}

template <class T, class F> void move_by_size(T* p, I rows, I width, double rate, double least, double most, double shrink, F update) {
    double size = std::sqrt(mean_square<T>(rows, width, [=](I i) { return [q = p + i * width](I j) INLINE_LAMBDA { return q[j]; }; }));
    double length = std::sqrt(mean_square<T>(rows, width, update)) / most;
    T factor = T(-std::max(least, size) * rate / std::max(1.0, length)), left = T(shrink);
    parallel(rows, rows_grain(width, 4), [=](I begin, I end) {
        for (I i = begin; i < end; i++) {
            T* q = p + i * width;
            auto row = update(i);
            SIMD for (I j = 0; j < width; j++) q[j] = q[j] * left + row(j) * factor;
        }
    });
}

template <class T> T blended(T was, T now, double weight) {
    return weight < 0.5 ? was + T(weight) * (now - was) : now - (now - was) * T(1 - weight);
}

template <class T> INLINE T slope_by_root(T g, T variance, T least) {
    return g / std::sqrt(variance < least ? least : variance);
}

// `of_rows` and `of_columns` are means of squared gradients, whose product stands for those.
template <class T>
void factored_step(InOut<T> param, In<T> grad, InOut<T> of_rows, InOut<T> of_columns, double weight, double rate, double eps,
                   double least, double most, double shrink) {
    require(param.ndim > 1 && same_shape(param, grad), "a gradient has another shape than its parameter");
    I m = param.dim(param.ndim - 2), n = param.dim(param.ndim - 1), count = param.span(0, param.ndim - 2);
    require_size(of_rows, count * m, "a state has another size than its parameter");
    require_size(of_columns, count * n, "a state has another size than its parameter");
    const T* g = grad.data;
    T *r = of_rows.data, *c = of_columns.data;
    parallel(count * m, rows_grain(n), [=](I begin, I end) {
        for (I i = begin; i < end; i++)
            r[i] = blended(r[i], summed<T>(n, [q = g + i * n](I j) INLINE_LAMBDA { return q[j] * q[j]; }) / T(n), weight);
    });
    constexpr I BLOCK = 64;
    I blocks = (n + BLOCK - 1) / BLOCK;
    parallel(count * blocks, rows_grain(BLOCK * m), [=](I begin, I end) {
        for (I b = begin; b < end; b++) {
            I which = b / blocks, first = b % blocks * BLOCK, width = std::min(BLOCK, n - first);
            double sums[BLOCK] = {};
            for (I i = 0; i < m; i++) {
                const T* q = g + (which * m + i) * n + first;
                SIMD for (I j = 0; j < width; j++) sums[j] += double(q[j]) * double(q[j]);
            }
            T* to = c + which * n + first;
            for (I j = 0; j < width; j++) to[j] = blended(to[j], T(sums[j] / double(m)), weight);
        }
    });
    std::vector<T> means(count);
    for (I b = 0; b < count; b++) {
        T mean = summed<T>(m, [q = r + b * m](I i) INLINE_LAMBDA { return q[i]; }) / T(m);
        means[b] = mean < T(eps) ? T(eps) : mean;
    }
    move_by_size(param.data, count * m, n, rate, least, most, shrink, [=, mean = means.data(), floor = T(eps * eps)](I i) {
        return [=, row = r[i], middle = mean[i / m], column = c + i / m * n, q = g + i * n](I j) INLINE_LAMBDA {
            return slope_by_root(q[j], row * column[j] / middle, floor);
        };
    });
}

template <class T>
void unfactored_step(InOut<T> param, In<T> grad, InOut<T> variance, double weight, double rate, double eps, double least, double most,
                     double shrink) {
    I n = param.size;
    require_size(grad, n, "a gradient has another size than its parameter");
    require_size(variance, n, "a state has another size than its parameter");
    const T* g = grad.data;
    T *v = variance.data, floor = T(eps * eps);
    for (I i = 0; i < n; i++) v[i] = blended(v[i], g[i] * g[i], weight);
    move_by_size(param.data, 1, n, rate, least, most, shrink, [=](I) {
        return [=](I j) INLINE_LAMBDA { return slope_by_root(g[j], v[j], floor); };
    });
}

}  // namespace

KERNELS({"factored_step", bind<factored_step<float>, factored_step<double>>},
        {"unfactored_step", bind<unfactored_step<float>, unfactored_step<double>>},
        {"sgd_step", bind<sgd_step<float>, sgd_step<double>>},
        {"momentum_step", bind<momentum_step<float>, momentum_step<double>>},
        {"adam_step", bind<adam_step<float>, adam_step<double>>})
