// Copies of arrays that do not lie row by row in memory, into ones that do. Elements are moved by their
// size, whatever they mean.
#include <vector>

#include "binding.hpp"
#include "maths.hpp"
#include "transposing.hpp"
#include "vectors.hpp"

namespace {

struct Dim {
    I size, step;  // in elements of the source
};

// The dimensions that matter: none of one element, and neighbours as one where they lie as one.
template <class T> std::vector<Dim> dims_of(const Seen<T>& x) {
    std::vector<Dim> dims;
    for (int d = 0; d < x.ndim; d++) {
        if (x.dim(d) == 1) continue;
        Dim dim{x.dim(d), x.step(d)};
        if (!dims.empty() && dims.back().step == dim.step * dim.size) dims.back() = {dims.back().size * dim.size, dim.step};
        else dims.push_back(dim);
    }
    return dims;
}

// ---------------------------------------------------------------- arrays

template <class T> void copy_row(const T* from, T* to, I n, I step) {
    if (step == 1) std::memcpy(to, from, n * sizeof(T));
    else if (step == -1) by_lines(to, 0, n, [=](I start, I stop) { SIMD for (I i = start; i < stop; i++) to[i] = from[-i]; });
    else for (I i = 0; i < n; i++) to[i] = from[i * step];
}

// Where part `index` of the dimensions lies in the source.
I offset_of(const std::vector<Dim>& dims, I index) {
    I offset = 0;
    for (std::size_t d = dims.size(); d-- > 1; index /= dims[d].size) offset += index % dims[d].size * dims[d].step;
    return dims.empty() ? 0 : offset + index * dims[0].step;
}

// Rows of `n` elements, `step` apart in the source, between places that functions tell. Long ones are cut, so
// that there is something for each thread.
template <class From, class To> void copy_rows(I rows, I n, I step, From from, To to) {
    I most = std::clamp<I>(n / GRAIN, 1, 1024), length = (n + most - 1) / most, cuts = (n + length - 1) / length;
    parallel(rows * cuts, rows_grain(length), [=](I begin, I end) {
        I row = begin / cuts, start = begin % cuts * length;
        for (I k = begin; k < end; k++) {
            copy_row(from(row) + start * step, to(row) + start, std::min(length, n - start), step);
            start += length;
            if (start >= n) start = 0, row++;
        }
    }, rows_grain(length));
}

template <class T> void copied_in_rows(Seen<T> x, Out<T> y) {
    require(same_shape(x, y), "the result has another shape");
    if (!x.size) return;
    std::vector<Dim> dims = dims_of(x);
    if (dims.empty()) return void(y[0] = *x.data);
    Dim last = dims.back();
    dims.pop_back();
    auto nearest = std::find_if(dims.begin(), dims.end(), [](const Dim& dim) { return dim.step == 1; });
    if (last.step == 1 || nearest == dims.end()) {
        return copy_rows(y.size / last.size, last.size, last.step, [&](I row) { return x.data + offset_of(dims, row); },
                         [=](I row) { return y.data + row * last.size; });
    }
    // Strips of the dimension that lies side by side in the source: a line of the cache wide.
    constexpr I WIDE = std::max<I>(LANES<T>, 64 / I(sizeof(T)));
    I across = nearest->size, step = last.size, strips = (across + WIDE - 1) / WIDE;
    for (auto dim = nearest + 1; dim != dims.end(); ++dim) step *= dim->size;
    std::vector<Dim> parts = dims, places = dims;  // of the source, and of the result
    I distance = last.size;
    for (I d = I(dims.size()) - 1; d >= 0; d--) {
        places[d].step = distance;
        distance *= dims[d].size;
    }
    I d = nearest - dims.begin();
    for (auto* each : {&parts, &places}) (*each)[d] = {strips, (*each)[d].step * WIDE};
    parallel(y.size / across / last.size * strips, rows_grain(WIDE * last.size), [&](I begin, I end) {
        for (I part = begin; part < end; part++) {
            I from = offset_of(parts, part), to = offset_of(places, part), rest = part;
            for (I behind = I(parts.size()) - 1; behind > d; behind--) rest /= parts[behind].size;
            transpose(x.data + from, y.data + to, std::min(WIDE, across - rest % strips * WIDE), last.size, last.step, step);
        }
    });
}

template <class T> bool lies_in_rows(const Filled<T>& y) {
    I step = 1;
    for (int d = y.ndim - 1; d >= 0; step *= y.dim(d), d--)
        if (y.dim(d) > 1 && y.step(d) != step) return false;
    return true;
}

// Into an array whose last dimension lies side by side; none of its elements may be met twice.
template <class T> void copied_into(Seen<T> x, Filled<T> y) {
    require(same_shape(x, y) && y.ndim, "the result has another shape");
    int last = y.ndim - 1;
    I n = y.dim(last);
    require(n == 1 || y.step(last) == 1, "the rows of the result do not lie side by side");
    if (!y.size) return;
    if (n > 1 && x.step(last) != 1 && lies_in_rows(y)) {
        Out<T> rows;
        static_cast<Array<T>&>(rows) = y;
        return copied_in_rows(x, rows);  // which knows transposed arrays
    }
    copy_rows(y.size / n, n, x.step(last), [=](I row) { return x.part(row, last); }, [=](I row) { return y.part(row, last); });
}

}  // namespace

KERNELS({"copied_into", bind<copied_into<std::uint8_t>, copied_into<std::int16_t>, copied_into<std::int32_t>, copied_into<std::int64_t>>},
        {"copied_in_rows", bind<copied_in_rows<std::uint8_t>, copied_in_rows<std::int16_t>, copied_in_rows<std::int32_t>, copied_in_rows<std::int64_t>>})
