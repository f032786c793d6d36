// The gradients of the weights of convolutions over one to three dimensions of space.
//
// With many channels, samples are copied position by position, channels side by side: the channels that a
// position of the kernel meets are then the strips of a matrix product, whose depth are the positions of the
// result. With few, vectors of neighbouring positions are multiplied, and their lanes added up at the end.
#include <atomic>
#include <numeric>

#include "convolution.hpp"

namespace {

// ---------------------------------------------------------------- few channels

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

template <class T> void add_shifted(const Shape& s, const In<T>& g, const In<T>& x, Out<T>& out) {
    using W = Wide<T>;
    std::vector<W> total(out.size, W(0));
    auto planes = Planes<T, W>::windows_of(s);
    I slices = s.spaces[0].out, high = s.spaces[1].out, across = s.spaces[2].out;
    I taps = s.taps(), kernels = s.kernels_of_group(), width = planes.width();
    std::vector<I> offsets;
    for (I c = 0; c < s.channels_of_group(); c++) for_kernel(s, [&](const Ints& reach) { offsets.push_back(planes.at(c, reach)); });
    I group_step = s.channels_of_group() * planes.channel();
    // Gradients in rows of whole vectors, or as wide as the planes with zeros behind them; planes of 4,096 bytes
    // would lie in the same lines of the cache.
    bool whole = across % LANES<W> == 0 && slices == 1;
    I g_row = whole ? across : width, g_rows = slices == 1 ? high : planes.sorted[1].size;
    // Of the last slice no row behind the last one, which a tap would meet behind the copies of the samples.
    I length = whole_vectors<W>(((slices - 1) * g_rows + high) * g_row), g_plane = length + LANES<W>;
    Planes<T, W> laid_out{{{{1, slices, 0, 1}, {1, g_rows, 0, 1}, {1, g_row, 0, 1}}}, 1, s.out()};
    Positions all{1, length / LANES<W>, 1, 0, LANES<W>, s.kernels * g_plane, LANES<W>, g_plane};
    if (whole) all.rows = high, all.vectors = g_row / LANES<W>, all.x_row = width, all.g_row = g_row;
    Aligned<W> gradients;
    std::vector<Block> blocks = blocks_of(kernels);
    I count = I(blocks.size()), parts = (taps + SLOPES - 1) / SLOPES;
    auto of_finite = [&](const W* copies, I step, I samples) {
        // Threads take other taps of the same kernels, whose gradients they share in the first cache.
        I pieces = std::min<I>(parts, 8), everything = s.groups * count;
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
                        for (I row = 0; row < slices * high; row++) {
                            I shift = (row / high * g_rows + row % high) * g_row;
                            const W* p = gradients.data() + n * all.g_sample + kernel * g_plane + shift;
                            const W* q = copies + n * step + kernel / kernels * group_step + offsets[k] + shift;
                            W sum = 0;
                            for (I j = 0; j < across; j++) sum += p[j] * q[j];
                            total[kernel * taps + k] += sum;
                        }
        });
    };
    I plane = product_of(s.out()), x_plane = product_of(s.in());
    auto is_finite = [&](I first, I count) {
        std::atomic<bool> all{true};
        parallel(count * s.channels, rows_grain(x_plane), [&](I begin, I end) {
            for (I i = begin; i < end && all; i++)
                if (!planes.is_finite(x.data + (first * s.channels + i) * x_plane)) all = false;
        });
        return all.load();
    };
    with_copies<T, W>(planes, x.data, s.samples, s.spaces[2].reach(), [&](const W* copies, I step, I first, I samples) {
        gradients.resize(samples * all.g_sample, W(0));
        parallel(samples * s.kernels, rows_grain(plane), [&](I begin, I end) {
            for (I i = begin; i < end; i++) laid_out.copy(g.data + (first * s.kernels + i) * plane, gradients.data() + i * g_plane);
        });
        if (whole || is_finite(first, samples)) of_finite(copies, step, samples);
        else of_any(copies, step, samples);
    });
    for (I i = 0; i < out.size; i++) out[i] = narrow<T>(total[i]);
}

// ---------------------------------------------------------------- many channels

// Samples, padded, position by position: blocks of channels that lie side by side, as many as a strip is wide.
template <class T, class W> struct Pixels {
    I channels, groups, lanes, blocks, plane;  // of a group: channels, blocks of so many
    Ints sizes;                                // with the padding
    std::vector<I> places;                     // of the positions of a channel

    explicit Pixels(const Shape& s) : channels(s.channels_of_group()), groups(s.groups) {
        lanes = channels > LANES<W> ? WIDTH<W> : LANES<W>, blocks = parts_of(channels, lanes), plane = product_of(s.in());
        for (int d = 0; d < RANK; d++) sizes[d] = s.spaces[d].in + 2 * s.spaces[d].padding;
        for_grid(s.in(), [&](const Ints& p) {
            places.push_back(at({p[0] + s.spaces[0].padding, p[1] + s.spaces[1].padding, p[2] + s.spaces[2].padding}));
        });
    }
    I at(const Ints& p) const { return ((p[0] * sizes[1] + p[1]) * sizes[2] + p[2]) * lanes; }
    I block() const { return product_of(sizes) * lanes; }
    I sample() const { return groups * blocks * block(); }
    I channels_of(I number) const { return some_of(channels, number * lanes, lanes); }

    // Copies a block of channels to where there are zeros around it.
    void copy(const T* from, I count, W* to) const {
        constexpr std::integral_constant<I, LANES<W>> whole{};
        for (I p = 0; p < plane; p += LANES<W>)
            for (I c = 0; c < count; c += LANES<W>) {
                I some = some_of(plane, p, LANES<W>), rows = some_of(count, c, LANES<W>);
                const T* corner = from + c * plane + p;
                if (some == LANES<W> && rows == LANES<W>) copy_square(corner, whole, whole, &places[p], to + c);
                else copy_square(corner, rows, some, &places[p], to + c);
            }
    }

  private:
    // So many channels of so many positions.
    template <class R, class C> void copy_square(const T* from, R rows, C count, const I* place, W* to) const {
        V<W> square[LANES<W>] = {};
        for (I r = 0; r < rows; r++)
            if constexpr (std::is_same_v<T, W> && !std::is_same_v<C, I>) square[r] = loaded(from + r * plane);
            else {
                W found[LANES<W>] = {};
                for (I i = 0; i < count; i++) found[i] = wide(from[r * plane + i]);
                square[r] = loaded(found);
            }
        turn<W>(square);
        for (I i = 0; i < count; i++) stored(to + place[i], square[i]);
    }
};

constexpr I POSITIONS_AT_ONCE = 128;  // so many rows of a strip stay in the first cache

template <class T> void add_channels(const Shape& s, const In<T>& g, const In<T>& x, Out<T>& out) {
    using W = Wide<T>;
    Pixels<T, W> pixels(s);
    I plane = product_of(s.out()), kernels = s.kernels_of_group(), panels = parts_of(kernels, PANEL);
    std::vector<I> shifts;  // of the positions of the kernel
    for_kernel(s, [&](const Ints& reach) { shifts.push_back(pixels.at(reach)); });
    I taps = I(shifts.size()), strips = taps * pixels.blocks;
    Unset<W> total(strips * s.kernels * pixels.lanes);  // of a kernel, its taps of some channels side by side
    I size = samples_at_once(s.samples, (pixels.sample() + s.kernels * plane) * I(sizeof(W)));
    Aligned<W> copies(size * pixels.sample(), W(0));
    I panel = PANEL * size * plane + LANES<W>;
    Unset<W> gradients(s.groups * panels * panel);
    std::vector<I> offsets;  // of the positions of results
    for (I n = 0; n < size; n++)
        for_grid(s.out(), [&](const Ints& p) {
            offsets.push_back(n * pixels.sample() + pixels.at({p[0] * s.spaces[0].stride, p[1] * s.spaces[1].stride, p[2] * s.spaces[2].stride}));
        });
    I sections = threads() == 1 ? 1 : std::min(panels, parts_of(8 * threads(), s.groups * strips));  // of panels, where there are few strips
    for (I first = 0; first < s.samples; first += size) {
        I samples = some_of(s.samples, first, size), depth = samples * plane;
        I each = s.groups * pixels.blocks;
        parallel(samples * each, rows_grain(pixels.plane * pixels.lanes), [&](I begin, I end) {
            for (I i = begin; i < end; i++) {
                I channel = (first + i / each) * s.channels + i % each / pixels.blocks * pixels.channels + i % pixels.blocks * pixels.lanes;
                pixels.copy(x.data + channel * pixels.plane, pixels.channels_of(i % pixels.blocks),
                            copies.data() + i / each * pixels.sample() + i % each * pixels.block());
            }
        });
        parallel(s.groups * panels, rows_grain(PANEL * depth), [&](I begin, I end) {
            for (I i = begin; i < end; i++)
                for (I n = 0; n < samples; n++) {
                    I top = i % panels * PANEL, rows = some_of(kernels, top, PANEL);
                    const T* from = g.data + ((first + n) * s.kernels + i / panels * kernels + top) * plane;
                    int height = panel_height(rows);
                    in_panel<W>(Matrix<T>{from, rows, plane, plane, 1}, height, gradients.data() + i * panel + n * plane * height);
                }
        });
        I work = depth * pixels.lanes * kernels / sections;
        parallel(s.groups * strips * sections, rows_grain(std::max<I>(1, work / 8)), [&](I begin, I end) {
            for (I i = begin; i < end; i++) {
                I strip = i / sections % strips, group = i / sections / strips, section = i % sections;
                I block = strip % pixels.blocks, tap = strip / pixels.blocks, columns = whole_vectors<W>(pixels.channels_of(block));
                const W* from = copies.data() + (group * pixels.blocks + block) * pixels.block() + shifts[tap];
                for (I k = 0; k < depth; k += POSITIONS_AT_ONCE)
                    for (I q = section * panels / sections; q < (section + 1) * panels / sections; q++) {
                        I rows = some_of(kernels, q * PANEL, PANEL);
                        int height = panel_height(rows);
                        W* sums = total.data() + ((block * s.kernels + group * kernels + q * PANEL) * taps + tap) * pixels.lanes;
                        Tiles::make(height, gradients.data() + (group * panels + q) * panel + k * height, Scattered<W>{from, offsets.data() + k},
                                    some_of(depth, k, POSITIONS_AT_ONCE), Target<W>{sums, taps * pixels.lanes, nullptr, first || k}, rows, columns);
                    }
            }
        });
    }
    parallel(s.kernels, rows_grain(s.taps()), [&](I begin, I end) {
        for (I kernel = begin; kernel < end; kernel++)
            for (I block = 0; block < pixels.blocks; block++) {
                const W* from = total.data() + (block * s.kernels + kernel) * taps * pixels.lanes;
                T* to = out.data + (kernel * pixels.channels + block * pixels.lanes) * taps;
                for (I c = 0; c < pixels.channels_of(block); c++)
                    for (I tap = 0; tap < taps; tap++) to[c * taps + tap] = narrow<T>(from[tap * pixels.lanes + c]);
            }
    });
}

constexpr I MANY_CHANNELS = 12, MANY_KERNELS = 4;

template <class T>
void convolution_weight_gradient(In<T> g, In<T> x, Out<T> out, I s0, I s1, I s2, I p0, I p1, I p2, I d0, I d1, I d2, I groups) {
    Shape s(x, out, g, groups, {s0, s1, s2, p0, p1, p2, d0, d1, d2});
    if (!g.size || !out.size) std::fill(out.data, out.data + out.size, narrow<T>(0));
    else if (s.channels_of_group() >= MANY_CHANNELS && s.kernels_of_group() >= MANY_KERNELS) add_channels(s, g, x, out);
    else add_shifted(s, g, x, out);
}

}  // namespace

KERNELS({"convolved_weight_gradient", FOR_FLOATS(convolution_weight_gradient)})
