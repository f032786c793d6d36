// Shapes of convolutions over up to three dimensions of space, and padded copies of their samples.
#pragma once
#include <array>
#include <vector>

#include "binding.hpp"
#include "maths.hpp"
#include "panels.hpp"

// ---------------------------------------------------------------- shapes

struct Space {  // one dimension of it
    I in, kernel, out, stride, padding, dilation;
    I reach() const { return dilation * (kernel - 1) + 1; }
};

constexpr int RANK = 3;             // slices, rows and columns; the first ones may be idle
using Ints = std::array<I, RANK>;
using Spaces = std::array<Space, RANK>;
inline I product_of(const Ints& n) { return n[0] * n[1] * n[2]; }

struct Shape {
    I samples, channels, kernels, groups;
    Spaces spaces;

    template <class X, class K, class Y>
    Shape(const X& input, const K& weight, const Y& output, I groups, const I (&steps)[3 * RANK]) : groups(groups) {
        int rank = input.ndim - 2;
        require(rank > 0 && rank <= RANK && weight.ndim == input.ndim && output.ndim == input.ndim,
                "one to three dimensions of space are needed");
        samples = input.dim(0), channels = input.dim(1), kernels = weight.dim(0);
        require(groups > 0 && channels % groups == 0 && kernels % groups == 0 &&
                    weight.dim(1) == channels / groups && output.dim(0) == samples && output.dim(1) == kernels,
                "the channels do not fit");
        for (int d = 0; d < RANK; d++) {
            int dim = d + 2 - (RANK - rank);
            Space& s = spaces[d] = {1, 1, 1, 1, 0, 1};
            if (dim >= 2) s = {input.dim(dim), weight.dim(dim), output.dim(dim), steps[d], steps[RANK + d], steps[2 * RANK + d]};
            require(s.stride > 0 && s.dilation > 0 && s.padding >= 0 && s.kernel > 0 && s.out >= 0 &&
                        (s.out == 0 || (s.out - 1) * s.stride + s.reach() <= s.in + 2 * s.padding),
                    "the result is larger than the windows allow");
        }
    }
    I channels_of_group() const { return channels / groups; }
    I kernels_of_group() const { return kernels / groups; }
    Ints in() const { return {spaces[0].in, spaces[1].in, spaces[2].in}; }
    Ints out() const { return {spaces[0].out, spaces[1].out, spaces[2].out}; }
    I kernel() const { return spaces[0].kernel * spaces[1].kernel * spaces[2].kernel; }
    I taps() const { return channels_of_group() * kernel(); }
};

// f(position) for all positions of a grid, the last dimension first.
template <class F> void for_grid(const Ints& sizes, F&& f) {
    for (I i = 0; i < sizes[0]; i++)
        for (I j = 0; j < sizes[1]; j++)
            for (I k = 0; k < sizes[2]; k++) f(Ints{i, j, k});
}
// f(how far it reaches) for every position of the kernel.
template <class F> void for_kernel(const Shape& s, F&& f) {
    for_grid({s.spaces[0].kernel, s.spaces[1].kernel, s.spaces[2].kernel}, [&](const Ints& at) {
        f(Ints{at[0] * s.spaces[0].dilation, at[1] * s.spaces[1].dilation, at[2] * s.spaces[2].dilation});
    });
}

// ---------------------------------------------------------------- samples, padded and sorted by remainder

// The positions of a dimension that are so many more than a multiple of the stride.
struct Sorted {
    I stride, size, before;  // remainders, positions of each, where position 0 lies
    I used;                  // the first remainders, that a kernel meets

    static Sorted windows_of(const Space& s) {
        return {s.stride, parts_of(s.in + 2 * s.padding, s.stride), s.padding, s.dilation == 1 ? std::min(s.stride, s.kernel) : s.stride};
    }
};

// Rows of so many elements, in blocks of `size` that overlap at their ends.
template <I size, class W> INLINE void copy_rows(const W* from, I from_step, W* to, I to_step, I rows, I count) {
    for (I row = 0; row < rows; row++, from += from_step, to += to_step) {
        for (I j = 0; j + size < count; j += size) std::memcpy(to + j, from + j, size * sizeof(W));
        std::memcpy(to + count - size, from + count - size, size * sizeof(W));
    }
}
template <class W> void copy_rows(const W* from, I from_step, W* to, I to_step, I rows, I count) {
    constexpr I lanes = LANES<W>;
    if (count >= lanes) copy_rows<lanes>(from, from_step, to, to_step, rows, count);
    else if (count >= lanes / 2) copy_rows<(lanes + 1) / 2>(from, from_step, to, to_step, rows, count);
    else if (count >= lanes / 4) copy_rows<(lanes + 3) / 4>(from, from_step, to, to_step, rows, count);
    else if (count) copy_rows<1>(from, from_step, to, to_step, rows, count);
}
// The same of every `stride`-th element, and of other types.
template <class T, class W> void copy_rows(const T* from, I from_step, I stride, W* to, I to_step, I rows, I count) {
    if constexpr (!is_narrow<T>)
        if (stride == 1) return copy_rows(from, from_step, to, to_step, rows, count);
    for (I row = 0; row < rows; row++, from += from_step, to += to_step) {
        if (stride == 2) SIMD for (I j = 0; j < count; j++) to[j] = wide(from[2 * j]);
        else SIMD for (I j = 0; j < count; j++) to[j] = wide(from[j * stride]);
    }
}

template <class T, class W> struct Planes {
    std::array<Sorted, RANK> sorted;
    I channels;
    Ints copied;  // how much of them

    static Planes windows_of(const Shape& s) {
        return {{Sorted::windows_of(s.spaces[0]), Sorted::windows_of(s.spaces[1]), Sorted::windows_of(s.spaces[2])}, s.channels, s.in()};
    }
    I width() const { return sorted[2].size; }
    I slice() const { return sorted[1].size * width(); }
    I plane() const { return sorted[0].size * slice(); }
    I channel() const { return sorted[0].stride * sorted[1].stride * sorted[2].stride * plane(); }
    I sample() const { return channels * channel(); }
    I at(I channel_, const Ints& p) const {
        I remainder = (p[0] % sorted[0].stride * sorted[1].stride + p[1] % sorted[1].stride) * sorted[2].stride + p[2] % sorted[2].stride;
        return channel_ * channel() + remainder * plane() + p[0] / sorted[0].stride * slice() + p[1] / sorted[1].stride * width() +
               p[2] / sorted[2].stride;
    }
    // Copies one channel to where there are zeros around it.
    void copy(const T* from, W* to) const {
        for_grid({sorted[0].used, sorted[1].used, sorted[2].used}, [&](const Ints& remainder) {
            Ints shift, first, count;  // positions that lie inside
            for (int d = 0; d < RANK; d++) {
                const Sorted& s = sorted[d];
                shift[d] = s.before - remainder[d];
                first[d] = std::min(s.size, std::max<I>(0, parts_of(shift[d], s.stride)));
                count[d] = std::max<I>(0, std::min(s.size, parts_of(copied[d] + shift[d], s.stride)) - first[d]);
            }
            auto source = [&](int d) { return first[d] * sorted[d].stride - shift[d]; };
            const T* p = from + (source(0) * copied[1] + source(1)) * copied[2] + source(2);
            W* q = to + at(0, remainder) + first[0] * slice() + first[1] * width() + first[2];
            for (I z = 0; z < count[0]; z++)
                copy_rows(p + z * sorted[0].stride * copied[1] * copied[2], sorted[1].stride * copied[2], sorted[2].stride, q + z * slice(), width(),
                          count[1], count[2]);
        });
    }
    // Whether all of a channel is finite.
    bool is_finite(const T* from) const {
        W odd = 0;
        I count = product_of(copied);
        _Pragma("omp simd reduction(+:odd)") for (I i = 0; i < count; i++) odd += wide(from[i]) * 0;
        return odd == 0;
    }
};

// Samples are handled some at a time, so that their copies stay in the cache.
constexpr I COPIED_BYTES = 1 << 20;
inline I samples_at_once(I samples, I bytes) {
    I most = std::max<I>(1, COPIED_BYTES / std::max<I>(bytes, 1));
    return parts_of(samples, parts_of(samples, most));
}

// Runs f(copies, step, first, count) on the padded copies of some samples after the others. Around
// each copy there is room for vectors that begin before its first row or end behind its last one.
template <class T, class W, class F> void with_copies(const Planes<T, W>& planes, const T* data, I samples, I beyond, F&& f) {
    I step = planes.sample() + beyond + COLUMNS * LANES<W>;
    I size = samples_at_once(samples, step * I(sizeof(W)));
    Aligned<W> memory(LANES<W> + size * step, W(0));
    W* copies = memory.data() + LANES<W>;
    I channel = planes.channel(), plane = product_of(planes.copied);
    for (I first = 0; first < samples; first += size) {
        I count = std::min(size, samples - first);
        parallel(count * planes.channels, rows_grain(channel), [&](I begin, I end) {
            for (I i = begin; i < end; i++)
                planes.copy(data + (first * planes.channels + i) * plane,
                            copies + i / planes.channels * step + i % planes.channels * channel);
        });
        f(copies, step, first, count);
    }
}

// ---------------------------------------------------------------- few kernels

// Kernels in blocks of 8, 4, 2 and 1.
struct Block {
    I first;
    int rows;
};
inline std::vector<Block> blocks_of(I kernels) {
    std::vector<Block> found;
    for (I first = 0; first < kernels;) {
        int rows = MOST_ROWS;
        while (rows > kernels - first) rows /= 2;
        found.push_back({first, rows});
        first += rows;
    }
    return found;
}
