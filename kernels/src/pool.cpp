// The largest element or the mean of every window of a plane, and what their gradients pass back.
#include <limits>
#include <vector>

#include "binding.hpp"
#include "maths.hpp"

namespace {

struct Axis {
    I in, out, kernel, stride, padding, dilation;

    I start(I window) const { return window * stride - padding; }
    // The windows whose element `k` lies inside.
    I first(I k) const {
        I before = padding - k * dilation;
        return std::min(out, before <= 0 ? 0 : (before + stride - 1) / stride);
    }
    I last(I k) const {
        I room = in - 1 + padding - k * dilation;
        return room < 0 ? 0 : std::max(first(k), std::min(out, room / stride + 1));
    }
    bool is_inside() const { return padding == 0 && start(out - 1) + (kernel - 1) * dilation < in; }  // all of all windows
};

// Planes of one or two dimensions: what is pooled, and what comes of it.
struct Pooling {
    I planes;
    Axis y, x;

    template <class X, class Y>
    Pooling(const X& whole, const Y& pooled, const I (&n)[8]) {  // kernel, stride, padding, dilation
        require(whole.ndim == pooled.ndim && whole.ndim >= 1, "the result has another number of dimensions");
        bool flat = n[0] == 1 && n[2] == 1 && n[4] == 0 && n[6] == 1;
        int rank = flat ? 1 : 2;
        require(whole.ndim >= rank, "there is no plane");
        int last = whole.ndim - 1;
        planes = whole.span(0, whole.ndim - rank);
        require(planes == pooled.span(0, pooled.ndim - rank), "the result has another number of planes");
        y = rank == 1 ? Axis{1, 1, 1, 1, 0, 1} : Axis{whole.dim(last - 1), pooled.dim(last - 1), n[0], n[2], n[4], n[6]};
        x = {whole.dim(last), pooled.dim(last), n[1], n[3], n[5], n[7]};
        for (const Axis& a : {y, x})
            require(a.kernel > 0 && a.stride > 0 && a.padding >= 0 && a.dilation > 0, "the windows are not windows");
    }
    I whole() const { return y.in * x.in; }
    I pooled() const { return y.out * x.out; }
    I grain() const { return rows_grain(pooled() * y.kernel * x.kernel); }
    // Rows of few windows are not done one by one, but all of a plane at once, by where its windows begin.
    bool is_narrow() const { return x.out < 16 && y.is_inside() && x.is_inside() && whole() <= std::numeric_limits<std::int32_t>::max(); }
    std::vector<std::int32_t> starts() const {
        std::vector<std::int32_t> found;
        for (I i = 0; i < y.out; i++)
            for (I j = 0; j < x.out; j++) found.push_back(std::int32_t(y.start(i) * x.in + x.start(j)));
        return found;
    }
};

// f(how far from its start) for every element of a window.
template <class F> INLINE void elements_of(const Pooling& p, F&& f) {
    for (I ky = 0; ky < p.y.kernel; ky++)
        for (I kx = 0; kx < p.x.kernel; kx++) f(std::int32_t(ky * p.y.dilation * p.x.in + kx * p.x.dilation));
}

// f(row of the plane, kernel row, kernel column, first, last) for every part of the windows in row `i`.
template <class F> INLINE void parts_of_row(const Pooling& p, I i, F&& f) {
    for (I ky = 0; ky < p.y.kernel; ky++) {
        I row = p.y.start(i) + ky * p.y.dilation;
        if (row < 0 || row >= p.y.in) continue;
        for (I kx = 0; kx < p.x.kernel; kx++) f(row, ky, kx, p.x.first(kx), p.x.last(kx));
    }
}

template <class T, class P> void largest_of_windows(const Pooling& p, const T* x, T* y, P* places) {
    using W = Wide<T>;
    // Of equals the first counts, of several NaN the last; where there is nothing but -inf, the first inside.
    auto inside = [](const Axis& a, I window) {
        I start = a.start(window);
        return start < 0 ? (-start + a.dilation - 1) / a.dilation * a.dilation : 0;
    };
    if (p.is_narrow()) {
        std::vector<std::int32_t> starts = p.starts();
        parallel(p.planes, p.grain(), [&](I begin, I end) {
            I n = p.pooled();
            std::vector<W> best(n);
            std::vector<std::int32_t> where(n);
            for (I plane = begin; plane < end; plane++) {
                std::fill(best.begin(), best.end(), -std::numeric_limits<W>::infinity());
                std::fill(where.begin(), where.end(), 0);
                const T* q = x + plane * p.whole();
                const std::int32_t* s = starts.data();
                W* b = best.data();
                std::int32_t* w = where.data();
                elements_of(p, [&](std::int32_t here) INLINE_LAMBDA {
                    SIMD for (I j = 0; j < n; j++) {
                        W v = wide(q[s[j] + here]);
                        bool better = (v > b[j]) | (v != v);
                        b[j] = better ? v : b[j];
                        w[j] = better ? here : w[j];
                    }
                });
                for (I j = 0; j < n; j++) y[plane * n + j] = narrow<T>(b[j]);
                if (places)
                    for (I j = 0; j < n; j++) places[plane * n + j] = P(w[j]);
            }
        });
        return;
    }
    parallel(p.planes, p.grain(), [&](I begin, I end) {
        std::vector<W> best(p.x.out);
        std::vector<std::int32_t> where(p.x.out), first(p.x.out);
        for (I j = 0; j < p.x.out; j++) first[j] = std::int32_t(inside(p.x, j));
        for (I i = begin * p.y.out; i < end * p.y.out; i++) {
            I plane = i / p.y.out, window = i % p.y.out;
            std::fill(best.begin(), best.end(), -std::numeric_limits<W>::infinity());
            std::int32_t above = std::int32_t(inside(p.y, window) * p.x.in);
            for (I j = 0; j < p.x.out; j++) where[j] = above + first[j];
            parts_of_row(p, window, [&](I row, I ky, I kx, I from, I to) INLINE_LAMBDA {
                const T* q = x + plane * p.whole() + row * p.x.in + p.x.start(0) + kx * p.x.dilation;
                std::int32_t here = std::int32_t(ky * p.y.dilation * p.x.in + kx * p.x.dilation);
                I step = p.x.stride;
                W* b = best.data();
                std::int32_t* w = where.data();
                auto compare = [=](I j, W v) INLINE_LAMBDA {
                    bool better = (v > b[j]) | (v != v);
                    b[j] = better ? v : b[j];
                    w[j] = better ? here : w[j];
                };
                if (step == 1) SIMD for (I j = from; j < to; j++) compare(j, wide(q[j]));
                else if (step == 2) SIMD for (I j = from; j < to; j++) compare(j, wide(q[2 * j]));
                else SIMD for (I j = from; j < to; j++) compare(j, wide(q[j * step]));
            });
            for (I j = 0; j < p.x.out; j++) y[i * p.x.out + j] = narrow<T>(best[j]);
            if (places)
                for (I j = 0; j < p.x.out; j++) places[i * p.x.out + j] = P(where[j]);
        }
    });
}

template <class T, class P>
void max_pool_with_places(In<T> x, Out<T> y, Out<P> places, I k0, I k1, I s0, I s1, I p0, I p1, I d0, I d1) {
    Pooling p(x, y, {k0, k1, s0, s1, p0, p1, d0, d1});
    require(same_shape(y, places), "the places have another shape");
    I farthest = (p.y.kernel - 1) * p.y.dilation * p.x.in + (p.x.kernel - 1) * p.x.dilation;
    require(farthest <= std::numeric_limits<P>::max() && farthest <= std::numeric_limits<std::int32_t>::max(),
            "the places are too far apart");
    largest_of_windows<T, P>(p, x.data, y.data, places.data);
}

template <class T> void max_pool(In<T> x, Out<T> y, I k0, I k1, I s0, I s1, I p0, I p1, I d0, I d1) {
    Pooling p(x, y, {k0, k1, s0, s1, p0, p1, d0, d1});
    require(p.whole() <= std::numeric_limits<std::int32_t>::max(), "the plane is too large");
    largest_of_windows<T, std::int8_t>(p, x.data, y.data, nullptr);
}

// A plane of sums, which add(sums) adds up: in wide numbers, also where it is kept in narrow ones.
template <class T> struct SummedPlane {
    I size;
    std::vector<Wide<T>> memory;
    explicit SummedPlane(I size) : size(size), memory(is_narrow<T> ? size : 0) {}

    template <class F> void fill(T* to, F&& add) {
        Wide<T>* sums;
        if constexpr (is_narrow<T>) sums = memory.data();
        else sums = to;
        std::fill(sums, sums + size, Wide<T>(0));
        add(sums);
        if constexpr (is_narrow<T>)
            for (I i = 0; i < size; i++) to[i] = narrow<T>(sums[i]);
    }
};

template <class T, class P>
void scatter_places(In<T> g, In<P> places, Out<T> out, I k0, I k1, I s0, I s1, I p0, I p1, I d0, I d1) {
    Pooling p(out, g, {k0, k1, s0, s1, p0, p1, d0, d1});
    require(same_shape(g, places), "the places have another shape");
    parallel(p.planes, rows_grain(p.whole() + 4 * p.pooled()), [&](I begin, I end) {
        SummedPlane<T> summed(p.whole());
        for (I plane = begin; plane < end; plane++)
            summed.fill(out.data + plane * p.whole(), [&](Wide<T>* sums) {
                for (I i = 0, at = plane * p.pooled(); i < p.y.out; i++)
                    for (I j = 0; j < p.x.out; j++, at++) {
                        I where = p.y.start(i) * p.x.in + p.x.start(j) + I(places[at]);
                        require_index(where >= 0 && where < p.whole(), "a place lies outside its plane");
                        sums[where] += wide(g[at]);
                    }
            });
    });
}

// ---------------------------------------------------------------- means

// What the sum of each window of a plane is divided by: a number that was given, or how many elements it
// has, those of the padding among them or not.
struct Divisor {
    double given;
    bool include_pad;
    I elements(const Axis& a, I window) const {
        I start = a.start(window), end = std::min(start + a.kernel, a.in + a.padding);
        return include_pad ? end - start : std::min(end, a.in) - std::max<I>(start, 0);
    }
    template <class W> std::vector<W> of_windows(const Pooling& p) const {
        std::vector<W> found(p.pooled(), W(given));
        if (!given)
            for (I i = 0; i < p.y.out; i++)
                for (I j = 0; j < p.x.out; j++) found[i * p.x.out + j] = W(elements(p.y, i) * elements(p.x, j));
        return found;
    }
};

template <class T>
void average_pool(In<T> x, Out<T> y, I k0, I k1, I s0, I s1, I p0, I p1, bool include_pad, double given) {
    using W = Wide<T>;
    Pooling p(x, y, {k0, k1, s0, s1, p0, p1, 1, 1});
    std::vector<W> counts = Divisor{given, include_pad}.of_windows<W>(p);
    std::vector<std::int32_t> starts = p.is_narrow() ? p.starts() : std::vector<std::int32_t>();
    parallel(p.planes, p.grain(), [&](I begin, I end) {
        I n = p.pooled();
        std::vector<W> sums(n);
        for (I plane = begin; plane < end; plane++) {
            std::fill(sums.begin(), sums.end(), W(0));
            const T* from = x.data + plane * p.whole();
            W* s = sums.data();
            if (p.is_narrow()) {
                elements_of(p, [&](std::int32_t here) INLINE_LAMBDA {
                    SIMD for (I j = 0; j < n; j++) s[j] += wide(from[starts[j] + here]);
                });
            } else {
                for (I i = 0; i < p.y.out; i++, s += p.x.out)
                    parts_of_row(p, i, [&](I row, I, I kx, I first, I last) INLINE_LAMBDA {
                        const T* q = from + row * p.x.in + p.x.start(0) + kx;
                        I step = p.x.stride;
                        if (step == 1) SIMD for (I j = first; j < last; j++) s[j] += wide(q[j]);
                        else SIMD for (I j = first; j < last; j++) s[j] += wide(q[j * step]);
                    });
            }
            SIMD for (I j = 0; j < n; j++) y[plane * n + j] = narrow<T>(sums[j] / counts[j]);
        }
    });
}

template <class T>
void average_pool_gradient(In<T> g, Out<T> out, I k0, I k1, I s0, I s1, I p0, I p1, bool include_pad, double given) {
    using W = Wide<T>;
    Pooling p(out, g, {k0, k1, s0, s1, p0, p1, 1, 1});
    std::vector<W> counts = Divisor{given, include_pad}.of_windows<W>(p);
    std::vector<std::int32_t> starts = p.is_narrow() ? p.starts() : std::vector<std::int32_t>();
    parallel(p.planes, p.grain(), [&](I begin, I end) {
        SummedPlane<T> summed(p.whole());
        I n = p.pooled();
        std::vector<W> shares(n);
        for (I plane = begin; plane < end; plane++)
            summed.fill(out.data + plane * p.whole(), [&](W* sums) {
                const T* from = g.data + plane * n;
                W* share = shares.data();
                SIMD for (I j = 0; j < n; j++) share[j] = wide(from[j]) / counts[j];
                if (p.is_narrow()) {
                    elements_of(p, [&](std::int32_t here) INLINE_LAMBDA {
                        for (I j = 0; j < n; j++) sums[starts[j] + here] += share[j];
                    });
                    return;
                }
                for (I i = 0; i < p.y.out; i++, share += p.x.out)
                    parts_of_row(p, i, [&](I row, I, I kx, I first, I last) {
                        W* q = sums + row * p.x.in + p.x.start(0) + kx;
                        for (I j = first; j < last; j++) q[j * p.x.stride] += share[j];
                    });
            });
    });
}

}  // namespace

#define PLACES(f, T) f<T, std::int8_t>, f<T, std::int16_t>, f<T, std::int64_t>
#define WITH_PLACES(f) bind<PLACES(f, float), PLACES(f, double), PLACES(f, bfloat16), PLACES(f, float16)>
KERNELS({"max_pool_with_places", WITH_PLACES(max_pool_with_places)}, {"max_pool", FOR_FLOATS(max_pool)},
        {"scatter_places", WITH_PLACES(scatter_places)}, {"average_pool", FOR_FLOATS(average_pool)},
        {"average_pool_gradient", FOR_FLOATS(average_pool_gradient)})
