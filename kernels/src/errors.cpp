// Errors that are quadratic near zero and linear elsewhere: their sum or mean, and their gradient.
#include <vector>

#include "binding.hpp"
#include "maths.hpp"

namespace {

constexpr I PART = 1 << 15;  // added up apart, so that the threads change nothing in the result

// The slope grows by `bend` up to `beta`, from where on it is `steepest`.
template <class T> void smooth_total(In<T> x, In<T> target, Out<T> out, double beta, double bend, double steepest, bool mean) {
    require(same_shape(x, target) && out.size == 1, "the arrays have different shapes");
    std::vector<double> found((x.size + PART - 1) / PART);
    T bound = T(beta), half = T(0.5 * beta), factor = T(0.5 * bend), slope = T(steepest);
    in_parts(x.size, PART, [&](I part, I begin, I end) {
        const T *a = x.data + begin, *b = target.data + begin;
        found[part] = summed<T>(end - begin, [=](I i) INLINE_LAMBDA {
            T apart = std::fabs(a[i] - b[i]);
            return apart < bound ? apart * apart * factor : (apart - half) * slope;
        });
    });
    double total = 0;
    for (double part : found) total += part;
    out[0] = mean ? T(total) / T(x.size) : T(total);
}

// With one gradient for all errors, or one for each.
template <class T> void smooth_gradient(In<T> g, In<T> x, In<T> target, Out<T> out, double bend, double steepest) {
    require(same_shape(x, target) && same_shape(x, out) && (g.size == 1 || g.size == x.size), "the arrays have different shapes");
    auto pass = [=](auto of) {
        parallel(x.size, GRAIN, [=](I begin, I end) {
            const T *a = x.data, *b = target.data;
            T *to = out.data, factor = T(bend), most = T(steepest);
            SIMD for (I i = begin; i < end; i++) {
                T slope = (a[i] - b[i]) * factor;
                slope = slope < -most ? -most : slope;
                to[i] = (slope > most ? most : slope) * of(i);
            }
        });
    };
    const T* each = g.data;
    if (g.size == 1) pass([same = *each](I) INLINE_LAMBDA { return same; });
    else pass([=](I i) INLINE_LAMBDA { return each[i]; });
}

}  // namespace

KERNELS({"smooth_total", bind<smooth_total<float>, smooth_total<double>>},
        {"smooth_gradient", bind<smooth_gradient<float>, smooth_gradient<double>>})
