// Sums over neighbouring dimensions: of numbers, their squares or sizes; and products.
#include <vector>

#include "binding.hpp"
#include "maths.hpp"

namespace {

// An array is seen as (outer, n, inner), and added up along n in parts of a fixed size, each in its own
// precision; the parts are added up in double. So the threads change nothing in the result.
constexpr I PART = 1 << 15, ROWS = 1 << 12, FEW_ROWS = 256, STRIP = 256;

struct Plain {
    template <class W> static INLINE W term(W x) { return x; }
    static double finished(double total) { return total; }
};
struct Length : Plain {  // the root of the sum of squares
    template <class W> static INLINE W term(W x) { return x * x; }
    static double finished(double total) { return std::sqrt(total); }
};
struct Size : Plain {
    template <class W> static INLINE W term(W x) { return std::fabs(x); }
};
struct Numbers : Plain {  // what is none counts for nothing
    template <class W> static INLINE W term(W x) { return x == x ? x : 0; }
};

template <class F, class T> void sum_rows(const T* x, T* out, I outer, I n) {
    I parts = std::max<I>(1, (n + PART - 1) / PART);
    std::vector<double> found(outer * parts);
    parallel(outer * parts, rows_grain(std::min(n, PART)), [=, to = found.data()](I begin, I end) {
        for (I k = begin; k < end; k++) {
            I start = k % parts * PART;
            const T* from = x + k / parts * n + start;
            to[k] = summed<Wide<T>>(std::min(PART, n - start), [=](I j) INLINE_LAMBDA { return F::term(wide(from[j])); });
        }
    });
    for (I i = 0; i < outer; i++) {
        double total = 0;
        for (I part = 0; part < parts; part++) total += found[i * parts + part];
        out[i] = narrow<T>(Wide<T>(F::finished(total)));
    }
}

template <class F, class T> void sum_columns(const T* x, T* out, I outer, I n, I inner) {
    using W = Wide<T>;
    I parts = std::max<I>(1, (n + ROWS - 1) / ROWS), strips = (inner + STRIP - 1) / STRIP;
    std::vector<double> found(outer * parts * inner);
    parallel(outer * parts * strips, rows_grain(std::min(n, ROWS) * std::min(inner, STRIP)), [=, to = found.data()](I begin, I end) {
        for (I k = begin; k < end; k++) {
            I first = k % strips * STRIP, width = std::min(STRIP, inner - first);
            I block = k / strips, start = block % parts * ROWS, stop = std::min(n, start + ROWS);
            const T* from = x + block / parts * n * inner + first;
            double* total = to + block * inner + first;
            for (I row = start; row < stop;) {
                W sums[STRIP] = {};
                for (I last = std::min(stop, row + FEW_ROWS); row < last; row++) {
                    const T* p = from + row * inner;
                    SIMD for (I j = 0; j < width; j++) sums[j] += F::term(wide(p[j]));
                }
                SIMD for (I j = 0; j < width; j++) total[j] += double(sums[j]);
            }
        }
    });
    for (I i = 0; i < outer; i++)
        for (I j = 0; j < inner; j++) {
            double total = 0;
            for (I part = 0; part < parts; part++) total += found[(i * parts + part) * inner + j];
            out[i * inner + j] = narrow<T>(W(F::finished(total)));
        }
}

// Over the dimensions from `first` up to `last`.
template <class T, class F> void sum_along(In<T> x, Out<T> out, I first, I last) {
    require(0 <= first && first <= last && last <= x.ndim, "no such dimensions");
    I outer = x.span(0, int(first)), n = x.span(int(first), int(last)), inner = x.span(int(last), x.ndim);
    require(out.size == outer * inner, "the result has another size");
    if (inner == 1) sum_rows<F>(x.data, out.data, outer, n);
    else sum_columns<F>(x.data, out.data, outer, n, inner);
}

// By lanes of a fixed number and parts of a fixed size, each in its own precision.
template <class T> void product_along(In<T> x, Out<T> out, I first, I last) {
    using W = Wide<T>;
    require(0 <= first && first <= last && last <= x.ndim, "no such dimensions");
    I outer = x.span(0, int(first)), n = x.span(int(first), int(last)), inner = x.span(int(last), x.ndim);
    require(out.size == outer * inner, "the result has another size");
    if (inner == 1) {
        I parts = std::max<I>(1, (n + PART - 1) / PART);
        std::vector<W> found(outer * parts);
        parallel(outer * parts, rows_grain(std::min(n, PART)), [=, to = found.data()](I begin, I end) {
            for (I k = begin; k < end; k++) {
                I start = k % parts * PART, length = std::min(PART, n - start);
                const T* from = x.data + k / parts * n + start;
                W product = 1;
                _Pragma("omp simd reduction(*:product)") for (I j = 0; j < length; j++) product *= wide(from[j]);
                to[k] = product;
            }
        });
        for (I i = 0; i < outer; i++) {
            W product = 1;
            for (I part = 0; part < parts; part++) product *= found[i * parts + part];
            out[i] = narrow<T>(product);
        }
        return;
    }
    I strips = (inner + STRIP - 1) / STRIP;
    parallel(outer * strips, rows_grain(n * std::min(inner, STRIP)), [=](I begin, I end) {
        for (I k = begin; k < end; k++) {
            I start = k % strips * STRIP, width = std::min(STRIP, inner - start);
            const T* from = x.data + k / strips * n * inner + start;
            W products[STRIP];
            std::fill_n(products, STRIP, W(1));
            for (I row = 0; row < n; row++, from += inner)
                SIMD for (I j = 0; j < width; j++) products[j] *= wide(from[j]);
            for (I j = 0; j < width; j++) out[k / strips * inner + start + j] = narrow<T>(products[j]);
        }
    });
}

}  // namespace

KERNELS({"sum_along", FOR_FLOATS(sum_along, Plain)}, {"length_along", FOR_FLOATS(sum_along, Length)}, {"size_along", FOR_FLOATS(sum_along, Size)},
        {"sum_of_numbers_along", FOR_FLOATS(sum_along, Numbers)}, {"product_along", FOR_FLOATS(product_along)})
