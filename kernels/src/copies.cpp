// Copies of arrays that do not lie row by row in memory, into ones that do. Elements are moved by their
// size, whatever they mean.
#include <vector>

#include "binding.hpp"
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

// ---------------------------------------------------------------- transposed squares

template <class T> using Square = V<T>[LANES<T>];

// Squares of `half` by `half` elements change their places across the diagonal of larger ones.
template <class T, I half> INLINE void exchange(Square<T>& rows) {
    if constexpr (half < LANES<T>) {
        typedef T Lanes __attribute__((vector_size(VECTOR_BYTES)));
        Lanes upper, lower;
        for (I j = 0; j < LANES<T>; j++) {
            upper[j] = T(j & half ? LANES<T> + j - half : j);
            lower[j] = T(j & half ? LANES<T> + j : j + half);
        }
        for (I i = 0; i < LANES<T>; i++) {
            if (i & half) continue;
            V<T> a = rows[i], b = rows[i + half];
            rows[i] = __builtin_shuffle(a, b, upper);
            rows[i + half] = __builtin_shuffle(a, b, lower);
        }
        exchange<T, 2 * half>(rows);
    }
}

// `across` elements lie side by side in the source, `along` in the result.
template <class T> void transpose(const T* from, T* to, I across, I along, I from_step, I to_step) {
    constexpr I L = LANES<T>;
    I whole = sizeof(T) >= 4 && across >= L ? along / L * L : 0;
    for (I j = 0; j < whole; j += L)
        for (I k = 0; k + L <= across; k += L) {
            if constexpr (sizeof(T) >= 4) {
                Square<T> rows;
                for (I i = 0; i < L; i++) rows[i] = loaded<T>(from + (j + i) * from_step + k);
                exchange<T, 1>(rows);
                for (I i = 0; i < L; i++) stored<T>(to + (k + i) * to_step + j, rows[i]);
            }
        }
    for (I k = whole ? across / L * L : across; k < across; k++)
        for (I j = 0; j < whole; j++) to[k * to_step + j] = from[j * from_step + k];
    for (I k = 0; k < across; k++)
        for (I j = whole; j < along; j++) to[k * to_step + j] = from[j * from_step + k];
}

// ---------------------------------------------------------------- arrays

template <class T> void copy_row(const T* from, T* to, I n, I step) {
    if (step == 1) std::memcpy(to, from, n * sizeof(T));
    else for (I i = 0; i < n; i++) to[i] = from[i * step];
}

// Where part `index` of the dimensions lies in the source.
I offset_of(const std::vector<Dim>& dims, I index) {
    I offset = 0;
    for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
        offset += index % dim->size * dim->step;
        index /= dim->size;
    }
    return offset;
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
        parallel(y.size / last.size, rows_grain(last.size), [&](I begin, I end) {
            for (I row = begin; row < end; row++) copy_row(x.data + offset_of(dims, row), y.data + row * last.size, last.size, last.step);
        });
        return;
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

}  // namespace

KERNELS({"copied_in_rows", bind<copied_in_rows<std::uint8_t>, copied_in_rows<std::int16_t>, copied_in_rows<std::int32_t>, copied_in_rows<std::int64_t>>})
