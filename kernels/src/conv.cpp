// Convolutions over one or two dimensions of space, their gradients, and so transposed ones.
//
// A sample is copied once, padded, and with strides its positions sorted by their remainder (a "plane"
// for each), so that every position of the kernel is a shift of a whole plane. A result is then a
// matrix product whose second matrix is never made: row k of it begins at `offsets[k]`. Rows of results
// are as wide as those of the planes; what stands beyond their ends is computed and left out.
#include <cmath>
#include <numeric>
#include <vector>

#include "binding.hpp"
#include "maths.hpp"
#include "vectors.hpp"

namespace {

// ---------------------------------------------------------------- products

// Where C vectors of each of R rows of results are: side by side, and so far from one row to the next.
template <class W> struct Places {
    const I* source;  // from the first vector of the planes
    const I* result;
    I rows_apart;
};

// R rows of results, C vectors of each: the sum over all taps, added to what is there or to `first`.
template <class W, int R, int C>
INLINE void tile(const W* source, const I* offsets, const W* weights, I taps, W* to, Places<W> at, const W* first) {
    V<W> sum[R][C];
    UNROLLED for (int r = 0; r < R; r++)
        UNROLLED for (int c = 0; c < C; c++)
            sum[r][c] = first ? V<W>{} + first[r] : loaded(to + r * at.rows_apart + at.result[c]);
    const W* x[C];
    for (int c = 0; c < C; c++) x[c] = source + at.source[c];
    for (I k = 0; k < taps; k++) {
        V<W> part[C];
        for (int c = 0; c < C; c++) part[c] = loaded(x[c] + offsets[k]);
        for (int r = 0; r < R; r++)
            for (int c = 0; c < C; c++) sum[r][c] += part[c] * weights[k * R + r];
    }
    UNROLLED for (int r = 0; r < R; r++)
        UNROLLED for (int c = 0; c < C; c++) stored(to + r * at.rows_apart + at.result[c], sum[r][c]);
}

constexpr I TAPS_AT_ONCE = 512;  // so many rows of weights stay in the first cache
template <class W, int R>
void tiles(const W* source, const I* offsets, const W* weights, I taps, W* to, Places<W> at, I vectors, const W* first) {
    for (I k = 0; k < taps; k += TAPS_AT_ONCE, first = nullptr) {
        I some = std::min(TAPS_AT_ONCE, taps - k), v = 0;
        auto run = [&](auto columns) {
            constexpr int C = decltype(columns)::value;
            for (; v + C <= vectors; v += C)
                tile<W, R, C>(source, offsets + k, weights + k * R, some, to, {at.source + v, at.result + v, at.rows_apart}, first);
        };
        run(std::integral_constant<int, COLUMNS>{});
        run(std::integral_constant<int, 1>{});
    }
}
template <class W>
void tiles(int rows, const W* source, const I* offsets, const W* weights, I taps, W* to, Places<W> at, I vectors, const W* first) {
    if (rows == 1) tiles<W, 1>(source, offsets, weights, taps, to, at, vectors, first);
    else if (rows == 2) tiles<W, 2>(source, offsets, weights, taps, to, at, vectors, first);
    else if (rows == 4) tiles<W, 4>(source, offsets, weights, taps, to, at, vectors, first);
    else tiles<W, MOST_ROWS>(source, offsets, weights, taps, to, at, vectors, first);
}

// ---------------------------------------------------------------- shapes

struct Space {  // one dimension of it
    I in, kernel, out, stride, padding, dilation;
    I reach() const { return dilation * (kernel - 1) + 1; }
};

struct Shape {
    I samples, channels, kernels, groups;
    Space y, x;  // rows and columns

    template <class X, class K, class Y>
    Shape(const X& input, const K& weight, const Y& output, I groups, const I (&steps)[6]) : groups(groups) {
        int rank = input.ndim - 2;
        require((rank == 1 || rank == 2) && weight.ndim == input.ndim && output.ndim == input.ndim,
                "one or two dimensions of space are needed");
        samples = input.dim(0), channels = input.dim(1), kernels = weight.dim(0);
        require(groups > 0 && channels % groups == 0 && kernels % groups == 0 &&
                    weight.dim(1) == channels / groups && output.dim(0) == samples && output.dim(1) == kernels,
                "the channels do not fit");
        I last = rank + 1;
        y = rank == 1 ? Space{1, 1, 1, 1, 0, 1}
                      : Space{input.dim(2), weight.dim(2), output.dim(2), steps[0], steps[2], steps[4]};
        x = {input.dim(int(last)), weight.dim(int(last)), output.dim(int(last)), steps[1], steps[3], steps[5]};
        for (const Space& s : {y, x})
            require(s.stride > 0 && s.dilation > 0 && s.padding >= 0 && s.kernel > 0 && s.out >= 0 &&
                        (s.out == 0 || (s.out - 1) * s.stride + s.reach() <= s.in + 2 * s.padding),
                    "the result is larger than the windows allow");
    }
    I channels_of_group() const { return channels / groups; }
    I kernels_of_group() const { return kernels / groups; }
    I taps() const { return channels_of_group() * y.kernel * x.kernel; }
};

// ---------------------------------------------------------------- samples, padded and sorted by remainder

// The positions of a dimension that are so many more than a multiple of the stride.
struct Sorted {
    I stride, size, before;  // remainders, positions of each, where position 0 lies
    static Sorted windows_of(const Space& s) { return {s.stride, (s.in + 2 * s.padding + s.stride - 1) / s.stride, s.padding}; }
};

template <class T, class W> struct Planes {
    Sorted y, x;
    I channels, height, width;  // of what is copied

    I plane() const { return y.size * x.size; }
    I sample() const { return channels * y.stride * x.stride * plane(); }
    I at(I channel, I row, I column) const {
        I remainder = row % y.stride * x.stride + column % x.stride;
        return (channel * y.stride * x.stride + remainder) * plane() + row / y.stride * x.size + column / x.stride;
    }
    // Copies one channel to where there are zeros around it; false if there is something in it that is
    // not finite.
    bool copy(const T* from, W* to) const {
        V<W> odd{};
        for (I ry = 0; ry < y.stride; ry++)
            for (I rx = 0; rx < x.stride; rx++, to += plane())
                for (I i = 0; i < y.size; i++) {
                    I source = i * y.stride + ry - y.before;
                    if (source < 0 || source >= height) continue;
                    // Columns first <= j < last lie inside.
                    I first = std::min(x.size, std::max<I>(0, (x.before - rx + x.stride - 1) / x.stride));
                    I last = std::max(first, std::min(x.size, (width + x.before - rx + x.stride - 1) / x.stride));
                    const T* p = from + source * width + rx - x.before + first * x.stride;
                    odd += copied(p, x.stride, to + i * x.size + first, last - first);
                }
        for (I i = 0; i < LANES<W>; i++)
            if (odd[i] != 0) return false;
        return true;
    }

  private:
    // A row; zeros, where all of it is finite.
    static INLINE V<W> copied(const T* from, I step, W* to, I count) {
        V<W> odd{};
        I j = 0;
        if constexpr (!is_narrow<T>)
            if (step == 1)
                for (; j + LANES<W> <= count; j += LANES<W>) {
                    V<W> some = loaded(from + j);
                    stored(to + j, some);
                    odd += some * W(0);
                }
        for (; j < count; j++) {
            to[j] = wide(from[j * step]);
            odd[0] += to[j] * 0;
        }
        return odd;
    }
};

// Samples are handled some at a time, so that their copies stay in the cache.
constexpr I COPIED_BYTES = 1 << 20;
inline I samples_at_once(I samples, I bytes) {
    return std::max<I>(1, std::min(samples, COPIED_BYTES / std::max<I>(bytes, 1)));
}

// ---------------------------------------------------------------- results

// Kernels in blocks of 8, 4, 2 and 1, each block's weights tap by tap.
struct Block {
    I first;
    int rows;
};
std::vector<Block> blocks_of(I kernels) {
    std::vector<Block> found;
    for (I first = 0; first < kernels;) {
        int rows = MOST_ROWS;
        while (rows > kernels - first) rows /= 2;
        found.push_back({first, rows});
        first += rows;
    }
    return found;
}

// What is computed of every sample: a plane for each kernel, of some taps, written anywhere.
template <class W> struct Product {
    I groups, kernels, taps, source_step;  // of one group
    std::vector<I> offsets;                // of the taps, from where a group's channels begin
    std::vector<W> weights;
    I rows, columns, width;                // of the result; the width of the planes it comes of
    I start, row_step, column_step;        // where it is written

    template <class F> void pack(F&& weight) {  // weight(group, kernel, tap)
        weights.resize(groups * kernels * taps);
        W* to = weights.data();
        for (I g = 0; g < groups; g++)
            for (Block block : blocks_of(kernels))
                for (I k = 0; k < taps; k++)
                    for (int r = 0; r < block.rows; r++) *to++ = weight(g, block.first + r, k);
    }
};

constexpr I BLOCK_ELEMENTS = 8192;

// Vectors of results: those of each row by itself where rows are whole ones, or of all rows in one
// piece, with what stands beyond their ends.
template <class W> struct Vectors {
    std::vector<I> source, result;

    Vectors(bool whole, I rows, I columns, I width, I row_step) {
        if (!whole) columns = width *= rows, rows = 1;
        for (I row = 0; row < rows; row++)
            for (I j = 0; j < columns; j += LANES<W>) {
                source.push_back(row * width + j);
                result.push_back(row * row_step + j);
            }
    }
};

template <class T, class W>
void compute(const Product<W>& p, const W* source, I source_sample, T* to, I to_sample, I to_plane, const T* bias,
             I samples) {
    if (p.rows <= 0 || p.columns <= 0) return;
    std::vector<Block> blocks = blocks_of(p.kernels);
    I count = I(blocks.size()), parts = std::max<I>(1, p.rows * MOST_ROWS * p.width / BLOCK_ELEMENTS);
    I high = (p.rows + parts - 1) / parts, strips = (p.rows + high - 1) / high;
    I work = p.taps * std::min<I>(p.kernels, MOST_ROWS) * high * p.width;
    bool direct = !is_narrow<T> && p.column_step == 1 && p.columns % LANES<W> == 0 && p.taps;
    Vectors<W> vectors(direct, high, p.columns, p.width, p.row_step);
    parallel(samples * p.groups * count * strips, rows_grain(std::max<I>(1, work / 8)), [&](I begin, I end) {
        Unset<W> memory(direct ? 0 : MOST_ROWS * whole_vectors<W>(high * p.width));
        W* sums = memory.data();
        for (I i = begin; i < end; i++) {
            I strip = i % strips, rest = i / strips;
            const Block& block = blocks[rest % count];
            I group = rest / count % p.groups, sample = rest / count / p.groups;
            I first = strip * high, rows = std::min(high, p.rows - first), kernel = group * p.kernels + block.first;
            W values[MOST_ROWS];
            for (int r = 0; r < block.rows; r++) values[r] = bias ? wide(bias[kernel + r]) : W(0);
            const W *from = source + sample * source_sample + group * p.source_step + first * p.width;
            const W* weights = p.weights.data() + kernel * p.taps;
            T* planes = to + sample * to_sample + kernel * to_plane + p.start + first * p.row_step;
            Places<W> at{vectors.source.data(), vectors.result.data(), to_plane};
            if constexpr (!is_narrow<T>)
                if (direct) {
                    tiles(block.rows, from, p.offsets.data(), weights, p.taps, planes, at, rows * p.columns / LANES<W>, values);
                    continue;
                }
            at.rows_apart = whole_vectors<W>(rows * p.width);
            if (p.taps) tiles(block.rows, from, p.offsets.data(), weights, p.taps, sums, at, at.rows_apart / LANES<W>, values);
            else for (int r = 0; r < block.rows; r++) std::fill_n(sums + r * at.rows_apart, at.rows_apart, values[r]);
            for (int r = 0; r < block.rows; r++)
                for (I row = 0; row < rows; row++) {
                    const W* found = sums + r * at.rows_apart + row * p.width;
                    T* q = planes + r * to_plane + row * p.row_step;
                    I stride = p.column_step;
                    if (stride == 1) SIMD for (I j = 0; j < p.columns; j++) q[j] = narrow<T>(found[j]);
                    else for (I j = 0; j < p.columns; j++) q[j * stride] = narrow<T>(found[j]);
                }
        }
    });
}

// Runs f(copies, first, count) on the padded copies of some samples after the others. Behind each
// copy there is room for what is read beyond its last row.
template <class T, class W, class F> void with_copies(const Planes<T, W>& planes, const T* data, I samples, I beyond, F&& f) {
    I step = planes.sample() + beyond + COLUMNS * LANES<W>;
    I size = samples_at_once(samples, step * I(sizeof(W)));
    Aligned<W> memory(size * step, W(0));
    I channel = planes.sample() / planes.channels, plane = planes.height * planes.width;
    for (I first = 0; first < samples; first += size) {
        I count = std::min(size, samples - first);
        std::vector<char> finite(count * planes.channels);
        parallel(count * planes.channels, rows_grain(channel), [&](I begin, I end) {
            for (I i = begin; i < end; i++)
                finite[i] = planes.copy(data + (first * planes.channels + i) * plane,
                                        memory.data() + i / planes.channels * step + i % planes.channels * channel);
        });
        bool all = std::find(finite.begin(), finite.end(), 0) == finite.end();
        f(memory.data(), step, first, count, all);
    }
}

template <class T>
void convolution(In<T> x, In<T> weight, Maybe<T> bias, Out<T> y, I s0, I s1, I p0, I p1, I d0, I d1, I groups) {
    using W = Wide<T>;
    Shape s(x, weight, y, groups, {s0, s1, p0, p1, d0, d1});
    require(!bias || bias.size == s.kernels, "the bias has another size");
    if (!y.size) return;
    Planes<T, W> planes{Sorted::windows_of(s.y), Sorted::windows_of(s.x), s.channels, s.y.in, s.x.in};
    Product<W> p;
    p.groups = groups, p.kernels = s.kernels_of_group(), p.taps = s.taps();
    p.source_step = planes.at(s.channels_of_group(), 0, 0);
    for (I c = 0; c < s.channels_of_group(); c++)
        for (I i = 0; i < s.y.kernel; i++)
            for (I j = 0; j < s.x.kernel; j++)
                p.offsets.push_back(planes.at(c, i * s.y.dilation, j * s.x.dilation));
    p.pack([&](I g, I kernel, I tap) { return wide(weight[(g * p.kernels + kernel) * p.taps + tap]); });
    p.rows = s.y.out, p.columns = s.x.out, p.width = planes.x.size;
    p.start = 0, p.row_step = s.x.out, p.column_step = 1;
    I plane = s.y.out * s.x.out;
    with_copies<T, W>(planes, x.data, s.samples, s.x.reach(), [&](const W* copies, I step, I first, I count, bool) {
        compute<T, W>(p, copies, step, y.data + first * s.kernels * plane, s.kernels * plane, plane, bias.data, count);
    });
}

// ---------------------------------------------------------------- the gradient of the input

// Along one dimension: the input positions of one remainder are the sums of some taps' gradients.
struct Phase {
    I first, last;                        // positions, in units of the stride, with the padding
    std::vector<std::pair<I, I>> taps;    // which, and how many positions they lie behind

    Phase(const Space& s, I remainder) {
        first = (s.padding - remainder + s.stride - 1) / s.stride;
        I end = s.padding + s.in - 1 - remainder;
        last = end < 0 ? first - 1 : end / s.stride;
        for (I k = 0; k < s.kernel; k++)
            if (k * s.dilation % s.stride == remainder) taps.push_back({k, k * s.dilation / s.stride});
    }
};
// The phases of a dimension, and how much room the gradient needs around it.
struct Phases {
    std::vector<Phase> each;
    I before = 0, after = 0;

    explicit Phases(const Space& s) {
        for (I r = 0; r < s.stride; r++) {
            each.emplace_back(s, r);
            const Phase& phase = each.back();
            for (auto [_, behind] : phase.taps) {
                before = std::max(before, behind - phase.first);
                after = std::max(after, phase.last - behind - (s.out - 1));
            }
        }
    }
};

template <class T>
void convolution_input_gradient(In<T> g, In<T> weight, Out<T> out, I s0, I s1, I p0, I p1, I d0, I d1, I groups) {
    using W = Wide<T>;
    Shape s(out, weight, g, groups, {s0, s1, p0, p1, d0, d1});
    std::fill(out.data, out.data + out.size, narrow<T>(0));
    if (!g.size || !out.size) return;
    Phases ys(s.y), xs(s.x);
    Planes<T, W> planes{{1, ys.before + s.y.out + ys.after, ys.before}, {1, xs.before + s.x.out + xs.after, xs.before},
                        s.kernels, s.y.out, s.x.out};
    std::vector<Product<W>> products;
    I kernel = s.y.kernel * s.x.kernel;
    for (I ry = 0; ry < s.y.stride; ry++)
        for (I rx = 0; rx < s.x.stride; rx++) {
            const Phase &py = ys.each[ry], &px = xs.each[rx];
            if (py.taps.empty() || px.taps.empty() || py.first > py.last || px.first > px.last) continue;
            Product<W> p;
            p.groups = groups, p.kernels = s.channels_of_group();
            p.source_step = planes.at(s.kernels_of_group(), 0, 0);
            std::vector<I> places;  // in a group's weights, without the channel
            for (I c = 0; c < s.kernels_of_group(); c++)
                for (auto [i, above] : py.taps)
                    for (auto [j, left] : px.taps) {
                        p.offsets.push_back(planes.at(c, py.first - above + ys.before, px.first - left + xs.before));
                        places.push_back(c * s.channels_of_group() * kernel + i * s.x.kernel + j);
                    }
            p.taps = I(places.size());
            p.pack([&](I group, I channel, I tap) {
                return wide(weight[group * s.kernels_of_group() * s.channels_of_group() * kernel + channel * kernel + places[tap]]);
            });
            p.rows = py.last - py.first + 1, p.columns = px.last - px.first + 1, p.width = planes.x.size;
            p.start = (py.first * s.y.stride + ry - s.y.padding) * s.x.in + px.first * s.x.stride + rx - s.x.padding;
            p.row_step = s.y.stride * s.x.in, p.column_step = s.x.stride;
            products.push_back(std::move(p));
        }
    I plane = s.y.in * s.x.in;
    with_copies<T, W>(planes, g.data, s.samples, xs.before + xs.after, [&](const W* copies, I step, I first, I count, bool) {
        for (const Product<W>& p : products)
            compute<T, W>(p, copies, step, out.data + first * s.channels * plane, s.channels * plane, plane, nullptr, count);
    });
}

// ---------------------------------------------------------------- the gradient of the weights

#if defined(__AVX512F__)
constexpr int SLOPES = 3, KERNELS_AT_ONCE = 8;  // taps, kernels: 24 of 32 registers are sums
#else
constexpr int SLOPES = 2, KERNELS_AT_ONCE = 4;
#endif

// Positions of some samples: rows of so many vectors, and what lies between samples, rows and kernels.
struct Positions {
    I samples, rows, vectors, x_sample, x_row, g_sample, g_row, g_plane;
};

// R kernels by SLOPES taps: the positions are added to sums, a vector for each.
template <class W, int R>
void slopes(const W* g, const W* x, const I* offsets, I taps, const Positions& at, W* sums) {
    V<W> sum[R][SLOPES];
    UNROLLED for (int r = 0; r < R; r++)
        UNROLLED for (int k = 0; k < SLOPES; k++) sum[r][k] = loaded(sums + (r * SLOPES + k) * LANES<W>);
    I shifts[SLOPES];
    for (int k = 0; k < SLOPES; k++) shifts[k] = offsets[std::min<I>(k, taps - 1)];
    for (I n = 0; n < at.samples; n++)
        for (I row = 0; row < at.rows; row++) {
            const W *p = g + n * at.g_sample + row * at.g_row, *q = x + n * at.x_sample + row * at.x_row;
            for (I j = 0; j < at.vectors * LANES<W>; j += LANES<W>) {
                V<W> part[SLOPES];
                UNROLLED for (int k = 0; k < SLOPES; k++) part[k] = loaded(q + shifts[k] + j);
                UNROLLED for (int r = 0; r < R; r++) {
                    V<W> slope = kept(loaded(p + r * at.g_plane + j));
                    UNROLLED for (int k = 0; k < SLOPES; k++) sum[r][k] += slope * part[k];
                }
            }
        }
    UNROLLED for (int r = 0; r < R; r++)
        UNROLLED for (int k = 0; k < SLOPES; k++) stored(sums + (r * SLOPES + k) * LANES<W>, sum[r][k]);
}

constexpr I SLOPE_BYTES = 3 << 13;  // of gradients, which stay in the first cache while all taps are gone through

template <class T>
void convolution_weight_gradient(In<T> g, In<T> x, Out<T> out, I s0, I s1, I p0, I p1, I d0, I d1, I groups) {
    using W = Wide<T>;
    Shape s(x, out, g, groups, {s0, s1, p0, p1, d0, d1});
    std::vector<W> total(out.size, W(0));
    Planes<T, W> planes{Sorted::windows_of(s.y), Sorted::windows_of(s.x), s.channels, s.y.in, s.x.in};
    I taps = s.taps(), kernels = s.kernels_of_group(), width = planes.x.size;
    std::vector<I> offsets;
    for (I c = 0; c < s.channels_of_group(); c++)
        for (I i = 0; i < s.y.kernel; i++)
            for (I j = 0; j < s.x.kernel; j++) offsets.push_back(planes.at(c, i * s.y.dilation, j * s.x.dilation));
    I group_step = planes.at(s.channels_of_group(), 0, 0);
    // Gradients in rows of whole vectors, or as wide as the planes with zeros behind them; planes of 4,096 bytes
    // would lie in the same lines of the cache.
    bool whole = s.x.out % LANES<W> == 0;
    I g_row = whole ? s.x.out : width, length = whole_vectors<W>(s.y.out * g_row), g_plane = length + LANES<W>;
    Planes<T, W> laid_out{{1, s.y.out, 0}, {1, g_row, 0}, 1, s.y.out, s.x.out};
    Positions all{1, length / LANES<W>, 1, 0, LANES<W>, s.kernels * g_plane, LANES<W>, g_plane};
    if (whole) all.rows = s.y.out, all.vectors = g_row / LANES<W>, all.x_row = width, all.g_row = g_row;
    Aligned<W> gradients;
    std::vector<Block> blocks = blocks_of(kernels);
    I count = I(blocks.size()), parts = (taps + SLOPES - 1) / SLOPES;
    auto of_finite = [&](const W* copies, I step, I samples) {
        // Threads take other taps of the same kernels, whose gradients they share in the first cache.
        I pieces = std::min<I>(parts, 8), everything = groups * count;
        I work = samples * length * (taps / pieces + 1) * std::min<I>(kernels, MOST_ROWS);
        parallel(pieces * everything, rows_grain(std::max<I>(1, work / 8)), [&](I begin, I end) {
            // Sample by sample, and all taps of one before the next: the gradients of some kernels stay in the first cache.
            Aligned<W> memory;
            auto rows = [&](auto height, I block, I kernel, I first, I last) {
                constexpr int R = decltype(height)::value;
                constexpr I each = R * SLOPES * LANES<W>;
                memory.assign((last - first) * each, W(0));
                I most = std::max<I>(1, SLOPE_BYTES / (R * all.vectors * VECTOR_BYTES));  // rows
                Positions at = all;
                at.x_sample = step, at.samples = std::max<I>(1, most / all.rows);
                const W *g_first = gradients.data() + kernel * g_plane, *x_first = copies + block / count * group_step;
                for (I n = 0; n < samples; n += at.samples)
                    for (I row = 0; row < all.rows; row += most) {
                        at.rows = std::min(most, all.rows - row), at.samples = std::min(at.samples, samples - n);
                        for (I part = first; part < last; part++)
                            slopes<W, R>(g_first + n * at.g_sample + row * at.g_row, x_first + n * step + row * at.x_row,
                                         &offsets[part * SLOPES], taps - part * SLOPES, at, memory.data() + (part - first) * each);
                    }
                for (I part = first; part < last; part++)
                    for (I i = 0; i < R * SLOPES; i++) {
                        const W* lanes = memory.data() + (part - first) * each + i * LANES<W>;
                        I tap = part * SLOPES + i % SLOPES;
                        if (tap < taps) total[(kernel + i / SLOPES) * taps + tap] += std::accumulate(lanes, lanes + LANES<W>, W(0));
                    }
            };
            for (I i = begin; i < end; i++) {
                I piece = i / everything, block = i % everything, first = piece * parts / pieces, last = (piece + 1) * parts / pieces;
                I kernel = block / count * kernels + blocks[block % count].first;
                for (int r = 0, left = blocks[block % count].rows; left > 0;) {
                    if (left >= KERNELS_AT_ONCE) {
                        rows(std::integral_constant<int, KERNELS_AT_ONCE>{}, block, kernel + r, first, last);
                        r += KERNELS_AT_ONCE, left -= KERNELS_AT_ONCE;
                    } else if (left >= KERNELS_AT_ONCE / 2) {
                        rows(std::integral_constant<int, KERNELS_AT_ONCE / 2>{}, block, kernel + r, first, last);
                        r += KERNELS_AT_ONCE / 2, left -= KERNELS_AT_ONCE / 2;
                    } else {
                        rows(std::integral_constant<int, 1>{}, block, kernel + r, first, last);
                        r++, left--;
                    }
                }
            }
        });
    };
    // What is not finite times the zeros behind a row would not be zero.
    auto of_any = [&](const W* copies, I step, I samples) {
        parallel(s.kernels, 1, [&](I begin, I end) {
            for (I kernel = begin; kernel < end; kernel++)
                for (I n = 0; n < samples; n++)
                    for (I k = 0; k < taps; k++)
                        for (I i = 0; i < s.y.out; i++) {
                            const W* p = gradients.data() + n * all.g_sample + kernel * g_plane + i * g_row;
                            const W* q = copies + n * step + kernel / kernels * group_step + offsets[k] + i * width;
                            W sum = 0;
                            for (I j = 0; j < s.x.out; j++) sum += p[j] * q[j];
                            total[kernel * taps + k] += sum;
                        }
        });
    };
    I plane = s.y.out * s.x.out;
    if (g.size && out.size)
        with_copies<T, W>(planes, x.data, s.samples, s.x.reach(), [&](const W* copies, I step, I first, I samples, bool finite) {
            gradients.resize(samples * all.g_sample, W(0));
            parallel(samples * s.kernels, rows_grain(plane), [&](I begin, I end) {
                for (I i = begin; i < end; i++) laid_out.copy(g.data + (first * s.kernels + i) * plane, gradients.data() + i * g_plane);
            });
            if (finite || whole) of_finite(copies, step, samples);
            else of_any(copies, step, samples);
        });
    for (I i = 0; i < out.size; i++) out[i] = narrow<T>(total[i]);
}

}  // namespace

KERNELS({"convolution", FOR_FLOATS(convolution)}, {"convolution_input_gradient", FOR_FLOATS(convolution_input_gradient)},
        {"convolution_weight_gradient", FOR_FLOATS(convolution_weight_gradient)})
