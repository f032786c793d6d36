// Convolutions over one to three dimensions of space, the gradients of their inputs, and so transposed ones.
//
// A sample is copied once, padded, and with strides its positions sorted by their remainder (a "plane"
// for each), so that every position of the kernel is a shift of a whole plane. A result is then a
// matrix product whose second matrix is never made: row k of it begins at `offsets[k]`. With few kernels its
// rows are read where they are, and are as wide as those of the planes; what stands beyond their ends is
// computed and left out. With many, strips of it are copied for the thread that multiplies them.
#include "convolution.hpp"

namespace {

// ---------------------------------------------------------------- products

constexpr I SOME_KERNELS = 16;

// What is computed of every sample: a plane for each kernel, of some taps, written anywhere.
template <class T, class W> struct Product {
    I groups, channels, kernels, taps, source_step;  // of one group
    std::vector<I> offsets;                // of the taps, from where a group's channels begin
    const T* weight;
    I group_apart, kernels_apart;          // in the weights
    std::vector<I> places;                 // of the taps, from a kernel's first weight
    Ints sizes, source_steps;              // of the result; in the planes it comes of, the last one is 1
    I start;
    Ints steps;                            // where it is written
    Unset<W> packed;                       // the weights as they are read

    const T* weights_of(I group, I kernel) const { return weight + group * group_apart + kernel * kernels_apart; }
    I positions() const { return product_of(sizes); }
    void flatten() {  // planes that are not padded become one row
        sizes = {1, 1, positions()}, source_steps = {0, sizes[2], 1};
    }
    // Strips cost a copy, which many kernels share; the other way costs what is computed beyond the ends of rows,
    // and reads each channel from the start for few taps.
    bool is_in_strips() const {
        if (!taps || kernels < SOME_KERNELS) return false;
        bool whole = sizes[2] % LANES<W> == 0 && steps[2] == 1;
        double too_much = whole ? 1 : double(source_steps[1]) / double(sizes[2]);
        return taps == channels || 1 + 6.5 / double(kernels) < 1.04 * too_much;
    }
    bool in_one_piece() const { return steps[2] == 1 && (sizes[1] == 1 || steps[1] == sizes[2]) && (sizes[0] == 1 || steps[0] == sizes[1] * sizes[2]); }
};

// Where the samples of a product are: their copies, and their planes of results.
template <class T, class W> struct Samples {
    const W* source;
    I source_sample;
    T* to;
    I to_sample, to_plane;
    const T* bias;
    I count;
    bool has_room = true;  // for vectors around the copies
};

// ---------------------------------------------------------------- few kernels

// Where C vectors of each of R rows of results are: side by side, and so far from one row to the next.
template <class W> struct Places {
    const I* source;  // from the first vector of the planes
    const I* result;
    I rows_apart;
};

// R rows of results, C vectors of each: the sum over all taps, added to what is there or to `first`.
template <class W, int R, int C>
INLINE void shifted_tile(const W* source, const I* offsets, const W* weights, I taps, W* to, Places<W> at, const W* first) {
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
void shifted_tiles(const W* source, const I* offsets, const W* weights, I taps, W* to, Places<W> at, I vectors, const W* first) {
    for (I k = 0; k < taps; k += TAPS_AT_ONCE, first = nullptr) {
        I some = std::min(TAPS_AT_ONCE, taps - k), v = 0;
        auto run = [&](auto columns) {
            constexpr int C = decltype(columns)::value;
            for (; v + C <= vectors; v += C)
                shifted_tile<W, R, C>(source, offsets + k, weights + k * R, some, to, {at.source + v, at.result + v, at.rows_apart}, first);
        };
        if (R == 1) run(std::integral_constant<int, 2 * COLUMNS>{});
        run(std::integral_constant<int, COLUMNS>{});
        run(std::integral_constant<int, 1>{});
    }
}
template <class W>
void shifted_tiles(int rows, const W* source, const I* offsets, const W* weights, I taps, W* to, Places<W> at, I vectors, const W* first) {
    if (rows == 1) shifted_tiles<W, 1>(source, offsets, weights, taps, to, at, vectors, first);
    else if (rows == 2) shifted_tiles<W, 2>(source, offsets, weights, taps, to, at, vectors, first);
    else if (rows == 4) shifted_tiles<W, 4>(source, offsets, weights, taps, to, at, vectors, first);
    else shifted_tiles<W, MOST_ROWS>(source, offsets, weights, taps, to, at, vectors, first);
}

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

template <class T, class W> void pack_in_blocks(Product<T, W>& p) {
    p.packed.resize(p.groups * p.kernels * p.taps);
    W* to = p.packed.data();
    for (I g = 0; g < p.groups; g++)
        for (Block block : blocks_of(p.kernels))
            for (I k = 0; k < p.taps; k++)
                for (int r = 0; r < block.rows; r++) *to++ = wide(p.weights_of(g, block.first + r)[p.places[k]]);
}

template <class T, class W> void compute_shifted(const Product<T, W>& p, const Samples<T, W>& at) {
    std::vector<Block> blocks = blocks_of(p.kernels);
    I slices = p.sizes[0], rows_ = p.sizes[1], columns = p.sizes[2], width = p.source_steps[1];
    I count = I(blocks.size()), parts = std::max<I>(1, rows_ * MOST_ROWS * width / BLOCK_ELEMENTS);
    I high = parts_of(rows_, parts), strips = parts_of(rows_, high);
    I work = p.taps * std::min<I>(p.kernels, MOST_ROWS) * high * width;
    bool direct = !is_narrow<T> && p.steps[2] == 1 && columns % LANES<W> == 0 && p.taps;
    Vectors<W> vectors(direct, high, columns, width, p.steps[1]);
    parallel(at.count * p.groups * count * slices * strips, rows_grain(std::max<I>(1, work / 8)), [&](I begin, I end) {
        Unset<W> memory(direct ? 0 : MOST_ROWS * whole_vectors<W>(high * width));
        W* sums = memory.data();
        for (I i = begin; i < end; i++) {
            I strip = i % strips, slice = i / strips % slices, rest = i / strips / slices;
            const Block& block = blocks[rest % count];
            I group = rest / count % p.groups, sample = rest / count / p.groups;
            I first = strip * high, rows = std::min(high, rows_ - first), kernel = group * p.kernels + block.first;
            W values[MOST_ROWS];
            for (int r = 0; r < block.rows; r++) values[r] = at.bias ? wide(at.bias[kernel + r]) : W(0);
            const W* from = at.source + sample * at.source_sample + group * p.source_step + slice * p.source_steps[0] + first * width;
            const W* weights = p.packed.data() + kernel * p.taps;
            T* planes = at.to + sample * at.to_sample + kernel * at.to_plane + p.start + slice * p.steps[0] + first * p.steps[1];
            Places<W> places{vectors.source.data(), vectors.result.data(), at.to_plane};
            if constexpr (!is_narrow<T>)
                if (direct) {
                    shifted_tiles(block.rows, from, p.offsets.data(), weights, p.taps, planes, places, rows * columns / LANES<W>, values);
                    continue;
                }
            places.rows_apart = whole_vectors<W>(rows * width);
            if (p.taps) shifted_tiles(block.rows, from, p.offsets.data(), weights, p.taps, sums, places, places.rows_apart / LANES<W>, values);
            else for (int r = 0; r < block.rows; r++) std::fill_n(sums + r * places.rows_apart, places.rows_apart, values[r]);
            for (int r = 0; r < block.rows; r++) {
                const W* found = sums + r * places.rows_apart;
                T* q = planes + r * at.to_plane;
                if constexpr (!is_narrow<T>)
                    if (p.steps[2] == 1) {
                        copy_rows(found, width, q, p.steps[1], rows, columns);
                        continue;
                    }
                for (I row = 0; row < rows; row++, found += width, q += p.steps[1])
                    for (I j = 0; j < columns; j++) q[j * p.steps[2]] = narrow<T>(found[j]);
            }
        }
    });
}

// ---------------------------------------------------------------- many kernels

// Neighbours in a row of results: where they come from, where they are written, and where in their strip
// they lie.
struct Run {
    I source, result, place, count;
};

// The results of all samples one after the other, as many in a strip as it is wide.
template <class T, class W> struct Strips {
    using Lane = std::conditional_t<sizeof(W) == 4, std::int32_t, std::int64_t>;
    struct Part {  // of a vector: where its first lane would be, and from which lane on it is wanted
        const W* from;
        I lane;
    };
    static constexpr I MOST_PARTS = std::max<I>(3, LANES<W>);
    const Product<T, W>& p;
    const Samples<T, W>& at;
    I each = p.positions(), positions = at.count * each, count = parts_of(positions, WIDTH<W>);

    I columns(I strip) const { return some_of(positions, strip * WIDTH<W>, WIDTH<W>); }
    bool in_one_sample(I strip) const { return strip * WIDTH<W> / each == (strip * WIDTH<W> + columns(strip) - 1) / each; }

    void find(I strip, std::vector<Run>& runs) const {
        runs.clear();
        for (I place = 0, some = columns(strip); place < some;) {
            I position = strip * WIDTH<W> + place, sample = position / each, rest = position % each;
            Ints where{rest / p.sizes[2] / p.sizes[1], rest / p.sizes[2] % p.sizes[1], rest % p.sizes[2]};
            I many = std::min(some - place, p.sizes[2] - where[2]);
            I source = sample * at.source_sample, result = sample * at.to_sample + p.start;
            for (int d = 0; d < RANK; d++) source += where[d] * p.source_steps[d], result += where[d] * p.steps[d];
            runs.push_back({source, result, place, many});
            place += many;
        }
    }
    // The taps of a strip, row by row.
    void fill(I strip, const std::vector<Run>& runs, const W* source, W* to) const {
        for (I first = 0; first < columns(strip); first += LANES<W>) {
            if (!at.has_room && strip == count - 1 && columns(strip) < first + LANES<W>) {
                fill_exactly(runs, source, first, to);
                return;
            }
            Part parts[MOST_PARTS];
            int some = 0;
            for (const Run& run : runs)
                if (run.place < first + LANES<W> && run.place + run.count > first)
                    parts[some++] = {source + run.source + first - run.place, std::max<I>(0, run.place - first)};
            if (some == 1) fill<1>(parts, some, to + first);
            else if (some == 2) fill<2>(parts, some, to + first);
            else if (some == 3) fill<3>(parts, some, to + first);
            else fill<0>(parts, some, to + first);
        }
    }
    // Strips of one run each, tap by tap: what lies side by side in memory is read together.
    void fill_whole(const std::vector<Run>* runs, I some, const W* source, W* to) const {
        for (I k = 0; k < p.taps; k++)
            for (I s = 0; s < some; s++) std::memcpy(to + (s * p.taps + k) * WIDTH<W>, source + p.offsets[k] + runs[s][0].source, WIDTH<W> * sizeof(W));
    }

  private:
    // The last vector, where there is nothing to be read behind it.
    void fill_exactly(const std::vector<Run>& runs, const W* source, I first, W* to) const {
        for (const Run& run : runs)
            for (I k = 0; k < p.taps; k++)
                for (I j = std::max<I>(0, first - run.place); j < run.count; j++) to[k * WIDTH<W> + run.place + j] = source[p.offsets[k] + run.source + j];
    }
    // A vector of each tap, of N parts, or with 0 of as many as there are.
    template <int N> void fill(const Part* parts, int some, W* to) const {
        V<Lane> wanted[MOST_PARTS], lanes;
        for (I i = 0; i < LANES<W>; i++) lanes[i] = Lane(i);
        for (int n = 1; n < some; n++) wanted[n] = lanes >= Lane(parts[n].lane);
        const I* offsets = p.offsets.data();
        for (I k = 0; k < p.taps; k++) {
            V<W> found = loaded(parts[0].from + offsets[k]);
            for (int n = 1; n < (N ? N : some); n++) {
                V<W> next = loaded(parts[n].from + offsets[k]);
                found = wanted[n] ? next : found;
            }
            stored(to + k * WIDTH<W>, found);
        }
    }
};

constexpr I STRIPS_BYTES = 1 << 19, MOST_STRIPS = 8;  // that a thread makes at once: half the second cache

// A panel for so many kernels, with room for a vector behind it.
template <class T, class W> I panel_size(const Product<T, W>& p) { return PANEL * p.taps + LANES<W>; }

template <class T, class W> void pack_in_panels(Product<T, W>& p) {
    I panels = parts_of(p.kernels, PANEL), size = panel_size(p);
    p.packed.resize(p.groups * panels * size);
    auto each = [&](I i, auto&& f) {
        I first = i % panels * PANEL, rows = some_of(p.kernels, first, PANEL);
        f(p.weights_of(i / panels, first), rows, panel_height(rows), p.packed.data() + i * size);
    };
    if (p.places.back() == p.taps - 1) {  // they lie side by side
        parallel(p.groups * panels, rows_grain(size), [&](I begin, I end) {
            for (I i = begin; i < end; i++)
                each(i, [&](const T* from, I rows, int height, W* to) { in_panel<W>(Matrix<T>{from, rows, p.taps, p.kernels_apart, 1}, height, to); });
        });
        return;
    }
    // Some taps of all kernels, which lie near one another, before the next ones.
    constexpr I some = 64;
    parallel(p.groups * parts_of(p.taps, some), rows_grain(some * p.kernels), [&](I begin, I end) {
        for (I i = begin; i < end; i++) {
            I group = i % p.groups, first = i / p.groups * some, last = std::min(p.taps, first + some);
            for (I panel = 0; panel < panels; panel++)
                each(group * panels + panel, [&](const T* from, I rows, int height, W* to) {
                    for (I k = first; k < last; k++) {
                        const T* tap = from + p.places[k];
                        if (rows == PANEL) for (int r = 0; r < PANEL; r++) to[k * PANEL + r] = wide(tap[r * p.kernels_apart]);
                        else for (int r = 0; r < height; r++) to[k * height + r] = r < rows ? wide(tap[r * p.kernels_apart]) : W(0);
                    }
                });
        }
    });
}

template <class T, class W> void compute_in_strips(const Product<T, W>& p, const Samples<T, W>& at) {
    Strips<T, W> strips{p, at};
    I panels = parts_of(p.kernels, PANEL), crew = threads();
    I most = std::max<I>(1, std::min(MOST_STRIPS, STRIPS_BYTES / I(sizeof(W)) / (p.taps * WIDTH<W>)));
    I several = std::min(most, std::max<I>(1, strips.count / (4 * crew))), blocks = parts_of(strips.count, several);
    I piece = several > 1 ? PIECE : p.taps;  // a panel is read again for the next strip
    // Where there are few positions, threads take other kernels of them.
    I sections = crew == 1 ? 1 : std::min(panels, parts_of(8 * crew, blocks * p.groups));
    I work = several * WIDTH<W> * p.taps * p.kernels / sections;
    parallel(p.groups * blocks * sections, rows_grain(std::max<I>(1, work / 8)), [&](I begin, I end) {
        Unset<W> made(several * p.taps * WIDTH<W>), sums(several * PANEL * WIDTH<W>);
        std::vector<std::vector<Run>> runs(several);
        for (I i = begin; i < end; i++) {
            I group = i / sections / blocks, block = i / sections % blocks, section = i % sections;
            I first = block * several, some = some_of(strips.count, first, several);
            const W* source = at.source + group * p.source_step;
            for (I s = 0; s < some; s++) strips.find(first + s, runs[s]);
            for (I s = 0, whole; s < some; s += std::max<I>(1, whole)) {
                W* to = made.data() + s * p.taps * WIDTH<W>;
                for (whole = 0; s + whole < some && runs[s + whole].size() == 1 && runs[s + whole][0].count == WIDTH<W>;) whole++;
                if (whole) strips.fill_whole(&runs[s], whole, source, to);
                else strips.fill(first + s, runs[s], source, to);
            }
            for (I q = section * panels / sections; q < (section + 1) * panels / sections; q++) {
                I kernel = group * p.kernels + q * PANEL, rows = some_of(p.kernels, q * PANEL, PANEL);
                T* planes = at.to + kernel * at.to_plane;
                int height = panel_height(rows);
                const W* weights = p.packed.data() + (group * panels + q) * panel_size(p);
                auto target = [&](I s) -> Target<W> {
                    if constexpr (!is_narrow<T>)
                        if (p.in_one_piece() && strips.in_one_sample(first + s)) return {planes + runs[s][0].result, at.to_plane, nullptr, true};
                    return {sums.data() + s * PANEL * WIDTH<W>, WIDTH<W>, nullptr, true};
                };
                W biases[PANEL] = {};
                for (I r = 0; at.bias && r < rows; r++) biases[r] = wide(at.bias[kernel + r]);
                for (I k = 0; k < p.taps; k += piece)
                    for (I s = 0; s < some; s++) {
                        Target<W> to = target(s);
                        to.more = k > 0, to.added = at.bias && !k ? biases : nullptr;
                        Tiles::make(height, weights + k * height, made.data() + (s * p.taps + k) * WIDTH<W>, some_of(p.taps, k, piece), to, rows,
                                    strips.columns(first + s));
                    }
                for (I s = 0; s < some; s++) {
                    Target<W> from = target(s);
                    if (from.step != WIDTH<W> || from.to != sums.data() + s * PANEL * WIDTH<W>) continue;
                    for (I r = 0; r < rows; r++)
                        for (const Run& run : runs[s])
                            for (I j = 0; j < run.count; j++)
                                planes[r * at.to_plane + run.result + j * p.steps[2]] = narrow<T>(from.to[r * WIDTH<W> + run.place + j]);
                }
            }
        }
    });
}

// ---------------------------------------------------------------- results

template <class T, class W> void pack(Product<T, W>& p) { p.is_in_strips() ? pack_in_panels(p) : pack_in_blocks(p); }
template <class T, class W> void compute(const Product<T, W>& p, const Samples<T, W>& at) {
    p.is_in_strips() ? compute_in_strips(p, at) : compute_shifted(p, at);
}

// Whether samples are read as they are: windows of one position, all of them.
bool is_plain(const Shape& s) {
    return std::all_of(s.spaces.begin(), s.spaces.end(), [](const Space& d) { return d.kernel == 1 && d.stride == 1 && d.padding == 0 && d.in == d.out; });
}

template <class T>
void convolution(In<T> x, In<T> weight, Maybe<T> bias, Out<T> y, I s0, I s1, I s2, I p0, I p1, I p2, I d0, I d1, I d2, I groups) {
    using W = Wide<T>;
    Shape s(x, weight, y, groups, {s0, s1, s2, p0, p1, p2, d0, d1, d2});
    require(!bias || bias.size == s.kernels, "the bias has another size");
    if (!y.size) return;
    auto planes = Planes<T, W>::windows_of(s);
    Product<T, W> p;
    p.groups = groups, p.channels = s.channels_of_group(), p.kernels = s.kernels_of_group(), p.taps = s.taps();
    p.source_step = s.channels_of_group() * planes.channel();
    for (I c = 0; c < s.channels_of_group(); c++)
        for_kernel(s, [&](const Ints& reach) { p.offsets.push_back(planes.at(c, reach)), p.places.push_back(I(p.places.size())); });
    p.weight = weight.data, p.kernels_apart = p.taps, p.group_apart = p.kernels * p.taps;
    p.sizes = s.out(), p.source_steps = {planes.slice(), planes.width(), 1};
    p.start = 0, p.steps = {s.spaces[1].out * s.spaces[2].out, s.spaces[2].out, 1};
    if (is_plain(s)) p.flatten();
    pack(p);
    I plane = p.positions();
    if constexpr (!is_narrow<T>)
        if (is_plain(s) && p.is_in_strips())
            return compute<T, W>(p, {x.data, s.channels * plane, y.data, s.kernels * plane, plane, bias.data, s.samples, false});
    with_copies<T, W>(planes, x.data, s.samples, s.spaces[2].reach(), [&](const W* copies, I step, I first, I count) {
        compute<T, W>(p, {copies, step, y.data + first * s.kernels * plane, s.kernels * plane, plane, bias.data, count});
    });
}

// ---------------------------------------------------------------- the gradient of the input

// Along one dimension: the input positions of one remainder are the sums of some taps' gradients.
struct Phase {
    I first, last;                        // positions, in units of the stride, with the padding
    std::vector<std::pair<I, I>> taps;    // which, and how many positions they lie behind

    Phase(const Space& s, I remainder) {
        first = parts_of(s.padding - remainder, s.stride);
        I end = s.padding + s.in - 1 - remainder;
        last = end < 0 ? first - 1 : end / s.stride;
        for (I k = 0; k < s.kernel; k++)
            if (k * s.dilation % s.stride == remainder) taps.push_back({k, k * s.dilation / s.stride});
    }
    I size() const { return taps.empty() ? 0 : std::max<I>(0, last - first + 1); }
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
    Sorted sorted(const Space& s) const { return {1, before + s.out + after, before, 1}; }
};

template <class T>
void convolution_input_gradient(In<T> g, In<T> weight, Out<T> out, I s0, I s1, I s2, I p0, I p1, I p2, I d0, I d1, I d2, I groups) {
    using W = Wide<T>;
    Shape s(out, weight, g, groups, {s0, s1, s2, p0, p1, p2, d0, d1, d2});
    if (!g.size || !out.size) return std::fill(out.data, out.data + out.size, narrow<T>(0));
    const Phases phases[RANK] = {Phases(s.spaces[0]), Phases(s.spaces[1]), Phases(s.spaces[2])};
    Planes<T, W> planes{{}, s.kernels, s.out()};
    for (int d = 0; d < RANK; d++) planes.sorted[d] = phases[d].sorted(s.spaces[d]);
    std::vector<Product<T, W>> products;
    I found = 0;
    for_grid({s.spaces[0].stride, s.spaces[1].stride, s.spaces[2].stride}, [&](const Ints& remainder) {
        Product<T, W> p;
        Ints taps;
        const Phase* phase[RANK];
        for (int d = 0; d < RANK; d++) {
            phase[d] = &phases[d].each[remainder[d]];
            p.sizes[d] = phase[d]->size(), taps[d] = I(phase[d]->taps.size());
        }
        found += p.positions();
        if (!p.positions()) return;
        p.groups = groups, p.channels = s.kernels_of_group(), p.kernels = s.channels_of_group();
        p.source_step = s.kernels_of_group() * planes.channel();
        for (I c = 0; c < s.kernels_of_group(); c++)
            for_grid(taps, [&](const Ints& at) {
                Ints from;
                I place = 0;
                for (int d = 0; d < RANK; d++) {
                    auto [tap, behind] = phase[d]->taps[at[d]];
                    from[d] = phase[d]->first - behind + phases[d].before;
                    place = place * s.spaces[d].kernel + tap;
                }
                p.offsets.push_back(planes.at(c, from));
                p.places.push_back(c * s.taps() + place);
            });
        p.taps = I(p.places.size());
        p.weight = weight.data, p.kernels_apart = s.kernel(), p.group_apart = s.kernels_of_group() * s.taps();
        p.source_steps = {planes.slice(), planes.width(), 1};
        p.start = 0;
        for (int d = 0; d < RANK; d++) {
            const Space& space = s.spaces[d];
            p.start = p.start * space.in + phase[d]->first * space.stride + remainder[d] - space.padding;
            p.steps[d] = space.stride;
            for (int e = d + 1; e < RANK; e++) p.steps[d] *= s.spaces[e].in;
        }
        if (is_plain(s)) p.flatten();
        pack(p);
        products.push_back(std::move(p));
    });
    I plane = product_of(s.in());
    if constexpr (!is_narrow<T>)
        if (is_plain(s) && products[0].is_in_strips())
            return compute<T, W>(products[0], {g.data, s.kernels * plane, out.data, s.channels * plane, plane, nullptr, s.samples, false});
    if (found < plane) std::fill(out.data, out.data + out.size, narrow<T>(0));  // no window meets some positions
    I beyond = phases[2].before + phases[2].after;
    with_copies<T, W>(planes, g.data, s.samples, beyond, [&](const W* copies, I step, I first, I count) {
        for (const Product<T, W>& p : products)
            compute<T, W>(p, {copies, step, out.data + first * s.channels * plane, s.channels * plane, plane, nullptr, count});
    });
}

}  // namespace

KERNELS({"convolved", FOR_FLOATS(convolution)}, {"convolved_input_gradient", FOR_FLOATS(convolution_input_gradient)})
