// Sums over neighbouring dimensions: of numbers, their squares or sizes; and products.
#include <vector>

#include "binding.hpp"
#include "maths.hpp"

namespace {

// An array is seen as (outer, n, inner), and added up along n in parts of a fixed size, each in its own
// precision; the parts are added up in double. So the threads change nothing in the result.
constexpr I PART = 1 << 15, ROWS = 1 << 12, FEW_ROWS = 16, STRIP = 256;

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

// The sums of `term` of the numbers of each row, as W, and of the row's number.
template <class W, class T, class Term> std::vector<double> row_sums(const T* x, I outer, I n, Term term) {
    I parts = std::max<I>(1, (n + PART - 1) / PART);
    std::vector<double> found(outer * parts);
    parallel(outer * parts, rows_grain(std::min(n, PART)), [=, to = found.data()](I begin, I end) {
        for (I k = begin; k < end; k++) {
            I row = k / parts, start = k % parts * PART;
            const T* from = x + row * n + start;
            to[k] = summed<W>(std::min(PART, n - start), [=](I j) INLINE_LAMBDA { return term(W(wide(from[j])), row); });
        }
    });
    for (I i = 0; i < outer; i++) {
        double total = 0;
        for (I part = 0; part < parts; part++) total += found[i * parts + part];
        found[i] = total;
    }
    return found;
}

// The same of each column.
template <class W, class T, class Term> std::vector<double> column_sums(const T* x, I outer, I n, I inner, Term term) {
    I parts = std::max<I>(1, (n + ROWS - 1) / ROWS), strips = (inner + STRIP - 1) / STRIP;
    std::vector<double> found(outer * parts * inner);
    parallel(outer * parts * strips, rows_grain(std::min(n, ROWS) * std::min(inner, STRIP)), [=, to = found.data()](I begin, I end) {
        for (I k = begin; k < end; k++) {
            I first = k % strips * STRIP, width = std::min(STRIP, inner - first);
            I block = k / strips, start = block % parts * ROWS, stop = std::min(n, start + ROWS);
            I column = block / parts * inner + first;
            const T* from = x + block / parts * n * inner + first;
            double* total = to + block * inner + first;
            for (I row = start; row < stop;) {  // few by few, and few of those sums: no sum is of many numbers
                W sums[STRIP] = {};
                for (I end = std::min(stop, row + FEW_ROWS * FEW_ROWS); row < end;) {
                    W few[STRIP] = {};
                    for (I last = std::min(end, row + FEW_ROWS); row < last; row++) {
                        const T* p = from + row * inner;
                        SIMD for (I j = 0; j < width; j++) few[j] += term(W(wide(p[j])), column + j);
                    }
                    SIMD for (I j = 0; j < width; j++) sums[j] += few[j];
                }
                SIMD for (I j = 0; j < width; j++) total[j] += double(sums[j]);
            }
        }
    });
    for (I i = 0; i < outer; i++)
        for (I j = 0; j < inner; j++) {
            double total = 0;
            for (I part = 0; part < parts; part++) total += found[(i * parts + part) * inner + j];
            found[i * inner + j] = total;
        }
    return found;
}

template <class W, class T, class Term> std::vector<double> sums(In<T> x, Out<T> out, I first, I last, Term term) {
    require(0 <= first && first <= last && last <= x.ndim, "no such dimensions");
    I outer = x.span(0, int(first)), n = x.span(int(first), int(last)), inner = x.span(int(last), x.ndim);
    require(out.size == outer * inner, "the result has another size");
    return inner == 1 ? row_sums<W>(x.data, outer, n, term) : column_sums<W>(x.data, outer, n, inner, term);
}

// Over the dimensions from `first` up to `last`.
template <class T, class F> void sum_along(In<T> x, Out<T> out, I first, I last) {
    using W = Wide<T>;
    std::vector<double> found = sums<W>(x, out, first, last, [](W v, I) INLINE_LAMBDA { return F::term(v); });
    for (I i = 0; i < out.size; i++) out[i] = narrow<T>(W(F::finished(found[i])));
}

// The mean, and the squares of the distances from it, added up and divided; or the root of that. All in double.
template <class T> void variance_along(In<T> x, Out<T> out, Out<T> means, I first, I last, double divisor, bool root) {
    using W = Wide<T>;
    require(means.size == out.size, "the result has another size");
    std::vector<double> centre = sums<double>(x, out, first, last, [](double v, I) INLINE_LAMBDA { return v; });
    double count = double(x.span(int(first), int(last)));
    for (I i = 0; i < out.size; i++) centre[i] /= count, means[i] = narrow<T>(W(centre[i]));
    std::vector<double> found = sums<double>(x, out, first, last, [from = centre.data()](double v, I i) INLINE_LAMBDA {
        double distance = v - from[i];
        return distance * distance;
    });
    for (I i = 0; i < out.size; i++) out[i] = narrow<T>(W(root ? std::sqrt(found[i] / divisor) : found[i] / divisor));
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
        {"sum_of_numbers_along", FOR_FLOATS(sum_along, Numbers)}, {"product_along", FOR_FLOATS(product_along)}, {"variance_along", FOR_FLOATS(variance_along)})
