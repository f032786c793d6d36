// Discrete Fourier transforms, of columns for lengths without prime factors above 61.
//
// All arithmetic is on vectors each lane of which belongs to another transform: that of a neighbouring
// column, or of another row. A long row is seen as a matrix of n1 by n2 numbers: its columns are
// transformed, the result is turned by roots of unity, and then its rows are, so that these are the
// lanes. Backwards, real and imaginary parts change places on the way in and on the way out.
#include <cmath>
#include <utility>
#include <vector>

#include "binding.hpp"
#include "maths.hpp"
#include "transposing.hpp"
#include "vectors.hpp"

namespace {

// ---------------------------------------------------------------- complex numbers in lanes

template <class T> struct Lanes {
    V<T> re, im;
};

// Memory that begins with a line of the cache, which a thread keeps for its next call: to ask for some takes as long as
// to transform a short row.
class Spare {
    static constexpr int MOST = 8;
    static constexpr std::size_t LARGEST = 1 << 18;
    struct Piece {
        void* memory;
        std::size_t bytes;
    };
    Piece pieces[MOST];
    int count = 0;
    static void free(void* memory) { ::operator delete(memory, std::align_val_t(64)); }

  public:
    ~Spare() {
        while (count) free(pieces[--count].memory);
    }
    Piece take(std::size_t bytes) {
        for (int i = count - 1; i >= 0; i--) {
            if (pieces[i].bytes < bytes) continue;
            Piece found = pieces[i];
            pieces[i] = pieces[--count];
            return found;
        }
        return {::operator new(bytes, std::align_val_t(64)), bytes};
    }
    void give(void* memory, std::size_t bytes) {
        if (count == MOST || bytes > LARGEST) free(memory);
        else pieces[count++] = {memory, bytes};
    }
    static Spare& own() {
        static thread_local Spare spare;
        return spare;
    }
    struct Giving {
        std::size_t bytes;
        void operator()(void* memory) const { own().give(memory, bytes); }
    };
};
template <class T> using Buffer = std::unique_ptr<Lanes<T>[], Spare::Giving>;
template <class T> Buffer<T> buffer(I n) {
    auto piece = Spare::own().take(n * sizeof(Lanes<T>));
    return Buffer<T>(static_cast<Lanes<T>*>(piece.memory), {piece.bytes});
}

template <class T> INLINE Lanes<T> operator+(Lanes<T> a, Lanes<T> b) { return {a.re + b.re, a.im + b.im}; }
template <class T> INLINE Lanes<T> operator-(Lanes<T> a, Lanes<T> b) { return {a.re - b.re, a.im - b.im}; }
template <class T> INLINE Lanes<T> operator*(Lanes<T> a, T factor) { return {a.re * factor, a.im * factor}; }
template <class T, class S> INLINE Lanes<T> turned(Lanes<T> a, S re, S im) {
    return {a.re * re - a.im * im, a.re * im + a.im * re};
}
template <class T> INLINE Lanes<T> quarter_turned(Lanes<T> a) { return {a.im, -a.re}; }  // by -i

template <class T, class Place, std::size_t... l>
INLINE V<T> picked(V<T> a, V<T> b, Place, std::index_sequence<l...>) {
    return __builtin_shufflevector(a, b, Place::from(int(l))...);
}
// A vector of lanes of two others: lane l comes from place `Place::from(l)` of both, end to end.
template <class T, class Place> INLINE V<T> picked(V<T> a, V<T> b) {
    return picked<T>(a, b, Place{}, std::make_index_sequence<LANES<T>>{});
}
template <int FIRST> struct EverySecond {
    static constexpr int from(int l) { return 2 * l + FIRST; }
};
template <int FIRST, int COUNT> struct Alternating {
    static constexpr int from(int l) { return FIRST + l / 2 + l % 2 * COUNT; }
};
template <int COUNT> struct Reversed {
    static constexpr int from(int l) { return COUNT - 1 - l; }
};
template <int STEP, int COUNT> struct LowerOfPairs {
    static constexpr int from(int l) { return l & STEP ? COUNT + l - STEP : l; }
};
template <int STEP, int COUNT> struct UpperOfPairs {
    static constexpr int from(int l) { return l & STEP ? COUNT + l : l + STEP; }
};

// Numbers from memory, where real and imaginary parts alternate; fewer than there are lanes: 0 in others.
template <class T> INLINE Lanes<T> numbers_at(const T* p, I count, bool swapped) {
    constexpr I L = LANES<T>;
    T some[2 * L];
    if (count < L) {
        std::copy(p, p + 2 * count, some);
        std::fill(some + 2 * count, some + 2 * L, T(0));
        p = some;
    }
    V<T> a = loaded(p), b = loaded(p + L);
    V<T> re = picked<T, EverySecond<0>>(a, b), im = picked<T, EverySecond<1>>(a, b);
    return swapped ? Lanes<T>{im, re} : Lanes<T>{re, im};
}
template <class T> INLINE void put_numbers(T* p, Lanes<T> x, I count, bool swapped) {
    constexpr I L = LANES<T>;
    V<T> re = swapped ? x.im : x.re, im = swapped ? x.re : x.im;
    V<T> a = picked<T, Alternating<0, L>>(re, im), b = picked<T, Alternating<L / 2, L>>(re, im);
    if (count >= L) {
        stored(p, a);
        stored(p + L, b);
        return;
    }
    T some[2 * L];
    stored(some, a);
    stored(some + L, b);
    std::copy(some, some + 2 * count, p);
}

// Numbers times factors, one each; real and imaginary parts may change places before or after.
template <class T>
INLINE void multiply(const T* x, const T* factors, T* y, I n, bool swapped_before = false, bool swapped_after = false) {
    constexpr I L = LANES<T>;
    for (I k = 0; k < n; k += L) {
        I lanes = std::min(L, n - k);
        Lanes<T> a = numbers_at(x + 2 * k, lanes, swapped_before), w = numbers_at(factors + 2 * k, lanes, false);
        put_numbers(y + 2 * k, turned(a, w.re, w.im), lanes, swapped_after);
    }
}

// As many vectors as there are lanes change places with their lanes.
template <class T, int STEP = LANES<T> / 2> INLINE void transpose(Lanes<T>* block) {
    constexpr int L = LANES<T>;
    for (int i = 0; i < L; i++) {
        if (i & STEP) continue;
        Lanes<T> a = block[i], b = block[i + STEP];
        block[i] = {picked<T, LowerOfPairs<STEP, L>>(a.re, b.re), picked<T, LowerOfPairs<STEP, L>>(a.im, b.im)};
        block[i + STEP] = {picked<T, UpperOfPairs<STEP, L>>(a.re, b.re), picked<T, UpperOfPairs<STEP, L>>(a.im, b.im)};
    }
    if constexpr (STEP > 1) transpose<T, STEP / 2>(block);
}

// ---------------------------------------------------------------- roots of unity

template <class T> using Exact = std::conditional_t<std::is_same_v<T, float>, double, long double>;
template <class T> using Root = std::complex<Exact<T>>;

// exp(-2 pi i k / n), by an angle of at most an eighth of the circle.
template <class T> Root<T> root(I k, I n) {
    I x = 8 * (k % n);
    bool lower = x > 4 * n;
    if (lower) x = 8 * n - x;
    bool left = x > 2 * n;
    if (left) x = 4 * n - x;
    bool steep = x > n;
    if (steep) x = 2 * n - x;
    constexpr Exact<T> QUARTER_PI = 0.785398163397448309615660845819875721L;
    Exact<T> angle = QUARTER_PI * Exact<T>(x) / Exact<T>(n), c = std::cos(angle), s = std::sin(angle);
    if (steep) std::swap(c, s);
    return {left ? -c : c, lower ? s : -s};
}
template <class T> void put_root(T*& to, Root<T> r) {
    *to++ = T(r.real());
    *to++ = T(r.imag());
}

// Every n-th root of unity, as the product of two out of short tables.
template <class T> struct Powers {
    I n;
    std::vector<Root<T>> fine, coarse;  // the first ones, and every so many-th one

    explicit Powers(I count) : n(count) {
        I step = I(std::sqrt(double(n))) + 1;
        for (I k = 0; k < step; k++) fine.push_back(root<T>(k, n));
        for (I k = 0; k <= n / step; k++) coarse.push_back(root<T>(k * step, n));
    }
    Root<T> operator[](I k) const { return fine[k % fine.size()] * coarse[k / fine.size()]; }
    Lanes<T> in_lanes(I step) const {  // the first ones of those that are `step` apart
        Lanes<T> found;
        for (I l = 0; l < LANES<T>; l++) {
            Root<T> r = (*this)[l * step % n];  // a row may be shorter than a vector
            found.re[l] = T(r.real());
            found.im[l] = T(r.imag());
        }
        return found;
    }
};
constexpr I MOST_KEPT = 1 << 17;  // roots in a table; beyond that they are computed when needed

// Tables of the lengths that a thread met last; it has its own, so that nobody waits and forks are safe. Whoever uses
// one holds it: it stays for as long, whatever is met meanwhile.
template <class Table> using Held = std::shared_ptr<const Table>;
template <class Table> Held<Table> kept(I n) {
    constexpr std::size_t MOST = 8;
    static thread_local std::vector<Held<Table>> tables;
    for (std::size_t i = 0; i < tables.size(); i++)
        if (tables[i]->n == n) {
            if (i) std::rotate(tables.begin(), tables.begin() + i, tables.begin() + i + 1);
            return tables[0];
        }
    tables.insert(tables.begin(), std::make_shared<const Table>(n));
    if (tables.size() > MOST) tables.pop_back();
    return tables[0];
}

// ---------------------------------------------------------------- transforms in lanes

constexpr I MOST_IN_LANES = 1 << 13;  // numbers in a lane: the buffers of more would leave the cache

template <class T> INLINE void transform(Lanes<T> (&v)[2], const T*) {
    Lanes<T> a = v[0], b = v[1];
    v[0] = a + b;
    v[1] = a - b;
}
template <class T> INLINE void transform(Lanes<T> (&v)[4], const T*) {
    Lanes<T> a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = quarter_turned(v[1] - v[3]);
    v[0] = a + c;
    v[1] = b + d;
    v[2] = a - c;
    v[3] = b - d;
}
template <class T> INLINE void transform(Lanes<T> (&v)[8], const T*) {
    constexpr T HALF = T(0.707106781186547524400844362104849039L);
    Lanes<T> even[4] = {v[0], v[2], v[4], v[6]}, odd[4] = {v[1], v[3], v[5], v[7]};
    transform<T>(even, nullptr);
    transform<T>(odd, nullptr);
    odd[1] = {(odd[1].re + odd[1].im) * HALF, (odd[1].im - odd[1].re) * HALF};
    odd[2] = quarter_turned(odd[2]);
    odd[3] = {(odd[3].im - odd[3].re) * HALF, (odd[3].re + odd[3].im) * -HALF};
    for (int k = 0; k < 4; k++) {
        v[k] = even[k] + odd[k];
        v[k + 4] = even[k] - odd[k];
    }
}
// Of an odd length: sums and differences of what stands opposite; `roots` are the R-th ones.
template <class T, int R> INLINE void transform(Lanes<T> (&v)[R], const T* roots) {
    constexpr int H = R / 2;
    Lanes<T> sum[H + 1], difference[H + 1], first = v[0];
    for (int j = 1; j <= H; j++) {
        sum[j] = v[j] + v[R - j];
        difference[j] = v[j] - v[R - j];
        v[0] = v[0] + sum[j];
    }
    for (int k = 1; k <= H; k++) {
        Lanes<T> a = first, b = {V<T>{}, V<T>{}};
        for (int j = 1; j <= H; j++) {
            T c = roots[2 * (j * k % R)], s = roots[2 * (j * k % R) + 1];
            a = {a.re + sum[j].re * c, a.im + sum[j].im * c};
            b = {b.re - difference[j].im * s, b.im + difference[j].re * s};
        }
        v[k] = a + b;
        v[R - k] = a - b;
    }
}

// One pass of a transform that sorts itself: `done` results lie side by side, `rest` is what remains to
// be transformed after it. `roots`: the R-th ones, then those that turn results, R - 1 at a time.
template <class T, int R, bool TURNED>
INLINE void butterflies(const Lanes<T>* x, Lanes<T>* y, I rest, I done, const T* roots, const T* turns) {
    for (I q = 0; q < done; q++) {
        Lanes<T> v[R];
        for (int j = 0; j < R; j++) v[j] = x[q + done * rest * j];
        transform<T>(v, roots);
        y[q] = v[0];
        for (int k = 1; k < R; k++)
            y[q + done * k] = TURNED ? turned(v[k], turns[2 * k - 2], turns[2 * k - 1]) : v[k];
    }
}
template <class T, int R> void pass(const Lanes<T>* x, Lanes<T>* y, I rest, I done, const T* roots) {
    butterflies<T, R, false>(x, y, rest, done, roots, nullptr);
    const T* turns = roots + 2 * R;
    for (I p = 1; p < rest; p++)
        butterflies<T, R, true>(x + done * p, y + done * R * p, rest, done, roots, turns + (p - 1) * (2 * R - 2));
}

// The same for any odd R, of which there are several.
constexpr int MOST_RADIX = 61;
template <class T> void pass_of(int R, const Lanes<T>* x, Lanes<T>* y, I rest, I done, const T* roots) {
    Lanes<T> sum[MOST_RADIX / 2 + 1], difference[MOST_RADIX / 2 + 1];
    for (I p = 0; p < rest; p++) {
        const T* turns = roots + 2 * R + (p - 1) * (2 * R - 2);
        auto put = [&](Lanes<T>* to, int k, Lanes<T> v) INLINE_LAMBDA {
            to[done * k] = p ? turned(v, turns[2 * k - 2], turns[2 * k - 1]) : v;
        };
        for (I q = 0; q < done; q++) {
            const Lanes<T>* from = x + done * p + q;
            Lanes<T>*to = y + done * R * p + q, first = from[0], all = first;
            for (int j = 1; j <= R / 2; j++) {
                Lanes<T> a = from[done * rest * j], b = from[done * rest * (R - j)];
                sum[j] = a + b, difference[j] = a - b, all = all + sum[j];
            }
            to[0] = all;
            for (int k = 1; k <= R / 2; k++) {
                Lanes<T> a = first, b = {V<T>{}, V<T>{}};
                for (int j = 1, place = k; j <= R / 2; j++, place += k) {
                    if (place >= R) place -= R;
                    T c = roots[2 * place], s = roots[2 * place + 1];
                    a = {a.re + sum[j].re * c, a.im + sum[j].im * c};
                    b = {b.re - difference[j].im * s, b.im + difference[j].re * s};
                }
                put(to, k, a + b);
                put(to, R - k, a - b);
            }
        }
    }
}

constexpr int RADICES[] = {61, 59, 53, 47, 43, 41, 37, 31, 29, 23, 19, 17, 13, 11, 7, 5, 3};
I without_small_factors(I n) {
    while (n > 1 && n % 2 == 0) n /= 2;
    for (I radix : RADICES)
        while (n > 1 && n % radix == 0) n /= radix;
    return n;
}

template <class T> struct Passes {  // of a transform in lanes
    struct Pass {
        int radix;
        I rest, done;
        std::vector<T> roots;
    };
    I n;
    std::vector<Pass> all;

    explicit Passes(I length) : n(length) {
        I rest = n;
        for (int radix : RADICES)
            while (rest % radix == 0) add(radix, rest);
        while (rest % 8 == 0 && rest != 16) add(8, rest);
        while (rest % 4 == 0) add(4, rest);
        if (rest % 2 == 0) add(2, rest);
    }
    void add(int radix, I& rest) {
        I before = rest;
        rest /= radix;
        Pass made{radix, rest, n / before, std::vector<T>(2 * (radix + (radix - 1) * (rest - 1)))};
        T* to = made.roots.data();
        for (int k = 0; k < radix; k++) put_root<T>(to, root<T>(k, radix));
        for (I p = 1; p < rest; p++)
            for (int k = 1; k < radix; k++) put_root<T>(to, root<T>(p * k, before));
        all.push_back(std::move(made));
    }
    // Transforms what is in x, with the help of y; returns which of the two has the result.
    Lanes<T>* operator()(Lanes<T>* x, Lanes<T>* y) const {
        for (const Pass& each : all) {
            if (each.radix > 13) {
                pass_of<T>(each.radix, x, y, each.rest, each.done, each.roots.data());
                std::swap(x, y);
                continue;
            }
            auto run = each.radix == 8 ? pass<T, 8> : each.radix == 4 ? pass<T, 4> : each.radix == 2 ? pass<T, 2>
                       : each.radix == 3 ? pass<T, 3> : each.radix == 5 ? pass<T, 5> : each.radix == 7 ? pass<T, 7>
                       : each.radix == 11 ? pass<T, 11> : pass<T, 13>;
            run(x, y, each.rest, each.done, each.roots.data());
            std::swap(x, y);
        }
        return x;
    }
};

// ---------------------------------------------------------------- transforms in memory

// Rows of complex numbers, read from x and written to y, each `step` numbers behind the one before.
template <class T> struct Rows {
    const T* x;
    T* y;
    I count, n, x_step, y_step;
    T scale;
    bool backward;

    INLINE Lanes<T> read(const T* p, I lanes) const { return numbers_at(p, lanes, backward); }
    INLINE void write(T* p, Lanes<T> v, I lanes) const {
        put_numbers(p, {v.re * scale, v.im * scale}, lanes, backward);
    }
    // Half as many numbers as there are lanes, of as many rows as there are.
    INLINE void read_square(const T* p, Lanes<T>* to) const {
        constexpr I L = LANES<T>;
        Square<T> parts;
        for (I r = 0; r < L; r++) parts[r] = loaded(p + 2 * r * x_step);
        exchange<T, 1>(parts);
        for (I i = 0; i < L / 2; i++) to[i] = {parts[2 * i + backward], parts[2 * i + !backward]};
    }
    INLINE void write_square(T* p, const Lanes<T>* from) const {
        constexpr I L = LANES<T>;
        Square<T> parts;
        for (I i = 0; i < L / 2; i++) parts[2 * i + backward] = from[i].re * scale, parts[2 * i + !backward] = from[i].im * scale;
        exchange<T, 1>(parts);
        for (I r = 0; r < L; r++) stored(p + 2 * r * y_step, parts[r]);
    }
};

// Columns: matrices of n by `inner` numbers, one for each of the rows.
template <class T> void columns(const Rows<T>& a, I inner) {
    constexpr I L = LANES<T>;
    const auto held = kept<Passes<T>>(a.n);
    const Passes<T>& passes = *held;
    I strips = (inner + L - 1) / L;
    parallel(a.count * strips, rows_grain(a.n * L, 8), [&](I begin, I end) {
        auto one = buffer<T>(a.n), other = buffer<T>(a.n);
        for (I i = begin; i < end; i++) {
            I first = i % strips * L, lanes = std::min(L, inner - first);
            I start = 2 * (i / strips * a.n * inner + first);
            for (I j = 0; j < a.n; j++) one[j] = a.read(a.x + start + 2 * j * inner, lanes);
            const Lanes<T>* found = passes(one.get(), other.get());
            for (I j = 0; j < a.n; j++) a.write(a.y + start + 2 * j * inner, found[j], lanes);
        }
    });
}

// Rows that are shorter than a vector, end to end: how as many of them as there are lanes become vectors with one
// number of each row, and how these become rows again. Each is picked from all vectors, one after the other.
template <class T> struct Shuffles {
    using Places = decltype(V<T>{} == V<T>{});
    static constexpr I L = LANES<T>;
    I n;
    std::vector<Places> apart, together;

    explicit Shuffles(I length) : n(length) {
        for (I j = 0; j < n; j++) {
            put(apart, [=](I row) { return std::pair{(row * n + j) / L, (row * n + j) % L}; });
            put(together, [=](I place) { return std::pair{(j * L + place) % n, (j * L + place) / n}; });
        }
    }
    // Lane l comes from `from(l)`: a vector, and a lane of it.
    template <class From> void put(std::vector<Places>& to, From from) {
        for (I k = 1; k < n; k++) {
            Places places;
            for (I l = 0; l < L; l++) {
                auto [vector, lane] = from(l);
                places[l] = vector == k ? L + lane : k > 1 ? l : vector == 0 ? lane : 0;
            }
            to.push_back(places);
        }
    }
    static INLINE V<T> picked(V<T> a, V<T> b, Places places) { return __builtin_shuffle(a, b, places); }
    static INLINE Lanes<T> picked(Lanes<T> a, Lanes<T> b, Places places) { return {picked(a.re, b.re, places), picked(a.im, b.im, places)}; }
    // The same where their number is known.
    template <I N, class Numbers> INLINE void pick(const std::vector<Places>& places, const Numbers* from, Numbers* to) const {
        const Places* next = places.data();
        UNROLLED for (I j = 0; j < N; j++) {
            Numbers v = from[0];
            UNROLLED for (I k = 1; k < N; k++) v = picked(v, from[k], next[j * (N - 1) + k - 1]);
            to[j] = v;
        }
    }
    // Of complex numbers, or of real ones.
    template <class Numbers> INLINE void operator()(const std::vector<Places>& places, const Numbers* from, Numbers* to) const {
        const Places* next = places.data();
        for (I j = 0; j < n; j++) {
            Numbers v = from[0];
            for (I k = 1; k < n; k++, next++) v = picked(v, from[k], *next);
            to[j] = v;
        }
    }
};

// Short rows, as many at a time as there are lanes. What is read has `more` numbers than are transformed, and
// before(from, to) makes these of them; after(from, to) makes what is written, with `more` numbers, of the result.
// Each returns where it left them, in one of its two buffers.
template <class T, class Before, class After>
void short_rows(const Rows<T>& a, I more_read, Before before, I more_written, After after) {
    constexpr I L = LANES<T>;
    const auto held = kept<Passes<T>>(a.n);
    const Passes<T>& passes = *held;
    I groups = (a.count + L - 1) / L, read = a.n + more_read, written = a.n + more_written;
    auto shuffles = [&](I n, I step) { return n < L && step == n ? kept<Shuffles<T>>(n) : nullptr; };
    const Held<Shuffles<T>> reading = shuffles(read, a.x_step), writing = shuffles(written, a.y_step);
    bool reads_squares = 2 * read % L == 0, writes_squares = 2 * written % L == 0;  // of real and imaginary parts
    parallel(groups, rows_grain(a.n * L, 8), [&](I begin, I end) {
        auto one = buffer<T>(a.n + 1 + L), other = buffer<T>(a.n + 1 + L);
        auto other_than = [&](Lanes<T>* p) { return p == one.get() ? other.get() : one.get(); };
        for (I i = begin; i < end; i++) {
            I lanes = std::min(L, a.count - i * L);
            const T* x = a.x + 2 * i * L * a.x_step;
            T* y = a.y + 2 * i * L * a.y_step;
            if (reads_squares && lanes == L) {
                for (I j = 0; j < read; j += L / 2) a.read_square(x + 2 * j, &one[j]);
            } else if (reading && lanes == L) {
                for (I j = 0; j < read; j++) other[j] = a.read(x + 2 * j * L, L);
                (*reading)(reading->apart, other.get(), one.get());
            } else for (I j = 0; j < read; j += L) {
                for (I r = 0; r < L; r++)
                    one[j + r] = r < lanes ? a.read(x + 2 * (r * a.x_step + j), std::min(L, read - j)) : Lanes<T>{};
                transpose(&one[j]);
            }
            Lanes<T>* given = before(one.get(), other.get());
            Lanes<T>* found = passes(given, other_than(given));
            found = after(found, other_than(found));
            if (writes_squares && lanes == L) {
                for (I j = 0; j < written; j += L / 2) a.write_square(y + 2 * j, found + j);
            } else if (writing && lanes == L) {
                Lanes<T>* in_rows = other_than(found);
                (*writing)(writing->together, found, in_rows);
                for (I j = 0; j < written; j++) a.write(y + 2 * j * L, in_rows[j], L);
            } else for (I j = 0; j < written; j += L) {
                transpose(found + j);
                for (I r = 0; r < lanes; r++)
                    a.write(y + 2 * (r * a.y_step + j), found[j + r], std::min(L, written - j));
            }
        }
    });
}
// Rows of so few numbers that their transforms stay in registers, end to end: how many of them are done.
template <class T, I N> I tiny_rows(const Rows<T>& a) {
    constexpr I L = LANES<T>;
    if constexpr (N < L) {
        const Held<Shuffles<T>> held = kept<Shuffles<T>>(N);
        const Held<Passes<T>> passes = kept<Passes<T>>(N);
        const Shuffles<T>& shuffles = *held;
        const T* roots = passes->all[0].roots.data();
        parallel(a.count / L, rows_grain(N * L, 8), [&](I begin, I end) {
            for (I i = begin; i < end; i++) {
                Lanes<T> given[N], v[N];
                UNROLLED for (I j = 0; j < N; j++) given[j] = a.read(a.x + 2 * (i * N + j) * L, L);
                shuffles.template pick<N>(shuffles.apart, given, v);
                transform<T>(v, roots);
                shuffles.template pick<N>(shuffles.together, v, given);
                UNROLLED for (I j = 0; j < N; j++) a.write(a.y + 2 * (i * N + j) * L, given[j], L);
            }
        });
        return a.count / L * L;
    }
    return 0;
}
template <class T> I tiny_rows(const Rows<T>& a) {
    if (a.x_step != a.n || a.y_step != a.n) return 0;
    switch (a.n) {
        case 2: return tiny_rows<T, 2>(a);
        case 3: return tiny_rows<T, 3>(a);
        case 4: return tiny_rows<T, 4>(a);
        case 5: return tiny_rows<T, 5>(a);
        case 7: return tiny_rows<T, 7>(a);
        default: return 0;
    }
}
template <class T> void short_rows(const Rows<T>& all) {
    I done = tiny_rows(all);
    Rows<T> a{all.x + 2 * done * all.x_step, all.y + 2 * done * all.y_step, all.count - done, all.n, all.x_step, all.y_step, all.scale, all.backward};
    if (!a.count) return;
    auto as_it_is = [](Lanes<T>* from, Lanes<T>*) INLINE_LAMBDA { return from; };
    short_rows(a, 0, as_it_is, 0, as_it_is);
}

// How a long row is taken apart: number n2 i + j of it stands in row i, column j of a matrix, and
// number i + n1 j of the result in row j, column i.
template <class T> struct Split {
    static constexpr I L = LANES<T>;
    I n, n1, n2, columns;          // strips of columns
    Powers<T> powers;
    std::vector<Lanes<T>> within;  // what row i of a strip is turned by, apart from that of its first column
    std::vector<T> first;          // which is here, for each strip, if they are few

    explicit Split(I length) : n(length), n1(best(n)), n2(n / n1), columns((n2 + L - 1) / L), powers(n) {
        if (n1 == 1) return;
        for (I i = 0; i < n1; i++) within.push_back(powers.in_lanes(i));
        if (columns * n1 > MOST_KEPT) return;
        first.resize(2 * columns * n1);
        for (I c = 0; c < columns; c++) put_first(c, &first[2 * c * n1]);
    }
    // The number of rows with the least work; 1 if there is no choice.
    static I best(I n) {
        I found = 1;
        double least = 0;
        for (I d = 2; d * d <= n; d++)
            for (I rows : {d, n / d}) {
                if (n % d || n / d > MOST_IN_LANES) continue;
                double work = cost(rows, n / rows) + cost(n / rows, rows);
                if (found > 1 && work > least) continue;
                least = work;
                found = rows;
            }
        return found;
    }
    static double cost(I rows, I columns) {
        return double((columns + L - 1) / L * rows) * (std::log2(double(rows)) + 4);
    }
    void put_first(I strip, T* to) const {
        I k = 0, step = strip * L % n;
        for (I i = 0; i < n1; i++) {
            put_root<T>(to, powers[k]);
            k += step;
            if (k >= n) k -= n;
        }
    }
};

template <class T> struct LongRow {
    static constexpr I L = LANES<T>;
    const Rows<T>& a;
    const Split<T>& split;
    I n1 = split.n1, n2 = split.n2, strips = (n1 + L - 1) / L, padded = strips * L;
    Held<Passes<T>> columns_held = kept<Passes<T>>(n1), rows_held = kept<Passes<T>>(n2);
    const Passes<T>&along_columns = *columns_held, &along_rows = *rows_held;

    struct Scratch {
        Buffer<T> one, other;
        std::vector<T> first;
        explicit Scratch(const LongRow& of)
            : one(buffer<T>(std::max(of.n1, of.n2 + L))), other(buffer<T>(std::max(of.n1, of.n2 + L))),
              first(of.split.first.empty() ? 2 * of.n1 : 0) {}
    };

    void transform_columns(I row, Lanes<T>* middle, Scratch& own, I begin, I end) const {
        const T* x = a.x + 2 * row * a.x_step;
        for (I c = begin; c < end; c++) {
            I lanes = std::min(L, n2 - c * L);
            for (I i = 0; i < n1; i++) own.one[i] = a.read(x + 2 * (i * n2 + c * L), lanes);
            const Lanes<T>* found = along_columns(own.one.get(), own.other.get());
            const T* first = split.first.data() + 2 * c * n1;
            if (!own.first.empty()) {
                split.put_first(c, own.first.data());
                first = own.first.data();
            }
            Lanes<T>* to = middle + c * padded;
            for (I i = 0; i < n1; i++) {
                Lanes<T> w = turned(split.within[i], first[2 * i], first[2 * i + 1]);
                to[i] = turned(found[i], w.re, w.im);
            }
            std::fill(to + n1, to + padded, Lanes<T>{});
        }
    }
    void transform_rows(I row, const Lanes<T>* middle, Scratch& own, I begin, I end) const {
        T* y = a.y + 2 * row * a.y_step;
        for (I s = begin; s < end; s++) {
            for (I c = 0; c < split.columns; c++) {
                std::copy_n(middle + c * padded + s * L, L, &own.one[c * L]);
                transpose(&own.one[c * L]);
            }
            const Lanes<T>* found = along_rows(own.one.get(), own.other.get());
            I lanes = std::min(L, n1 - s * L);
            for (I j = 0; j < n2; j++) a.write(y + 2 * (j * n1 + s * L), found[j], lanes);
        }
    }
};

template <class T> void long_rows(const Rows<T>& a, const Split<T>& split) {
    const LongRow<T> all{a, split};
    using Scratch = typename LongRow<T>::Scratch;
    I grain = rows_grain(a.n, 8);
    if (a.count > 1) {
        parallel(a.count, grain, [&](I begin, I end) {
            auto middle = buffer<T>(split.columns * all.padded);
            Scratch own(all);
            for (I row = begin; row < end; row++) {
                all.transform_columns(row, middle.get(), own, 0, split.columns);
                all.transform_rows(row, middle.get(), own, 0, all.strips);
            }
        });
        return;
    }
    auto middle = buffer<T>(split.columns * all.padded);
    parallel(split.columns, rows_grain(all.n1 * LANES<T>, 8), [&](I begin, I end) {
        Scratch own(all);
        all.transform_columns(0, middle.get(), own, begin, end);
    });
    parallel(all.strips, rows_grain(all.n2 * LANES<T>, 8), [&](I begin, I end) {
        Scratch own(all);
        all.transform_rows(0, middle.get(), own, begin, end);
    });
}

// Short rows fill all lanes if there are many of them, long ones stay in the first cache.
constexpr I SHORT = 128;
template <class T> void chirped_rows(const Rows<T>& a);
template <class T> void rows(const Rows<T>& a) {
    constexpr I L = LANES<T>, LONG = 2048;
    if (without_small_factors(a.n) > 1) return chirped_rows(a);
    if (a.count < L / 2 ? a.n >= 16 : a.n > SHORT) {
        const auto held = kept<Split<T>>(a.n);
        const Split<T>& split = *held;
        bool filled = split.n1 % L == 0 && split.n2 % L == 0;
        if (split.n1 > 1 && (filled || a.count < L / 2 || a.n > LONG)) return long_rows(a, split);
    }
    require(a.n <= MOST_IN_LANES, "this length is not for these kernels");
    short_rows(a);
}

// Of any length n: since 2 j k = j² + k² - (j - k)², the sum is a convolution of numbers that are turned by chirps,
// exp(-pi i j² / n), with the opposite chirps. It has a length of which the transform is quick.
template <class T> struct Chirps {
    using C = std::complex<T>;
    I n, m;
    std::vector<C> chirps, spectrum;

    explicit Chirps(I length) : n(length), m(quick(2 * length - 1)), spectrum(m) {
        for (I k = 0; k < n; k++) chirps.push_back(C(root<T>(k % (2 * n) * (k % (2 * n)) % (2 * n), 2 * n)));
        for (I k = 0; k < n; k++) spectrum[k] = spectrum[(m - k) % m] = std::conj(chirps[k]);
        T* numbers = reinterpret_cast<T*>(spectrum.data());
        rows(Rows<T>{numbers, numbers, 1, m, m, m, T(1), false});
    }
    static I quick(I least) {
        I best = 1;
        while (best < least) best *= 2;
        for (I odd : {3, 5, 7, 9})
            for (I n = odd * 16; n < best; n *= 2)
                if (n >= least) best = n;
        return best;
    }
};
constexpr I TOGETHER = 1 << 14;  // numbers of some rows that stay in the cache
template <class T> void chirped_rows(const Rows<T>& a) {
    const auto held = kept<Chirps<T>>(a.n);
    const Chirps<T>& table = *held;
    I n = a.n, m = table.m, group = std::max<I>(1, TOGETHER / m);
    const T *chirps = reinterpret_cast<const T*>(table.chirps.data()), *spectrum = reinterpret_cast<const T*>(table.spectrum.data());
    parallel((a.count + group - 1) / group, rows_grain(group * m, 16), [&](I begin, I end) {
        std::unique_ptr<T[]> work(new T[2 * group * m]);
        T* numbers = work.get();
        for (I first = begin * group; first < std::min(end * group, a.count); first += group) {
            I some = std::min(group, a.count - first);
            for (I r = 0; r < some; r++) {
                T* row = numbers + 2 * r * m;
                multiply(a.x + 2 * (first + r) * a.x_step, chirps, row, n, a.backward);
                std::fill(row + 2 * n, row + 2 * m, T(0));
            }
            rows(Rows<T>{numbers, numbers, some, m, m, m, T(1), false});
            for (I r = 0; r < some; r++) multiply(numbers + 2 * r * m, spectrum, numbers + 2 * r * m, m);
            rows(Rows<T>{numbers, numbers, some, m, m, m, a.scale / T(m), true});
            for (I r = 0; r < some; r++)
                multiply(numbers + 2 * r * m, chirps, a.y + 2 * (first + r) * a.y_step, n, false, a.backward);
        }
    });
}

// ---------------------------------------------------------------- real numbers

// 2 h real numbers are h complex ones, whose spectrum Z tells theirs, X, and the other way round: with
// the sum S = Z[k] + conj(Z[h - k]), the difference D of both, and W = exp(-pi i k / h),
// 2 X[k] = S - i W D, and Z[k] = S + i conj(W) D the other way round.
template <class T> struct Halves {
    static constexpr I L = LANES<T>;
    I n, blocks;  // of as many numbers as there are lanes, from number 1 on, each with its opposite one
    Powers<T> powers;
    Lanes<T> within;
    std::vector<T> first;
    I behind;                             // the first number that is taken alone, in a long row
    std::vector<std::complex<T>> single;  // powers of these

    explicit Halves(I h)
        : n(h), blocks(std::max<I>(0, (h - 1) / 2 / L)), powers(2 * h), within(powers.in_lanes(1)),
          behind(h <= SHORT ? 1 : 1 + blocks * L) {
        first.resize(2 * std::min(blocks, MOST_KEPT));
        T* to = first.data();
        for (I b = 0; b < I(first.size()) / 2; b++) put_root<T>(to, powers[1 + b * L]);
        for (I k = behind; 2 * k <= h; k++) single.push_back(std::complex<T>(powers[k]));
    }
    std::complex<T> single_power(I k) const { return single[k - behind]; }
    std::complex<T> power(I k) const {
        I b = (k - 1) / L;
        if ((k - 1) % L == 0 && 2 * b < I(first.size())) return {first[2 * b], first[2 * b + 1]};
        return std::complex<T>(powers[k]);
    }
};
template <class T> INLINE Lanes<T> mirrored(Lanes<T> a) {
    using Place = Reversed<LANES<T>>;
    return {picked<T, Place>(a.re, a.re), -picked<T, Place>(a.im, a.im)};
}

// Z to 2 X (forward, where Z has been halved), or X to Z, for `count` rows; x and y may be the same. What X says for two
// frequencies is scaled by `pairs`, a power of two: to scale Z by it comes to the same.
template <class T, bool FORWARD>
void change_halves(const T* x, I x_step, T* y, I y_step, I count, I h, T pairs) {
    constexpr I L = LANES<T>;
    const auto held = kept<Halves<T>>(h);
    const Halves<T>& table = *held;
    auto block = [&](const T* from, T* to, I k) INLINE_LAMBDA {
        I opposite = h - k - L + 1;
        Lanes<T> a = numbers_at(from + 2 * k, L, false), b = mirrored(numbers_at(from + 2 * opposite, L, false));
        std::complex<T> w = table.power(k);
        Lanes<T> turn = turned(table.within, w.real(), w.imag());
        Lanes<T> sum = (a + b) * pairs, d = (a - b) * pairs;
        d = FORWARD ? quarter_turned(turned(d, turn.re, turn.im))
                    : quarter_turned(turned(d, -turn.re, turn.im));
        put_numbers(to + 2 * k, sum + d, L, false);
        put_numbers(to + 2 * opposite, mirrored(sum - d), L, false);
    };
    auto rest = [&](const T* from, T* to) {
        T a = from[0], b = FORWARD ? from[1] : from[2 * h];
        to[0] = FORWARD ? 2 * (a + b) : a + b;
        to[1] = FORWARD ? 0 : a - b;
        if (FORWARD) {
            to[2 * h] = 2 * (a - b);
            to[2 * h + 1] = 0;
        }
        for (I k = 1 + table.blocks * L; 2 * k <= h; k++) {
            std::complex<T> z(from[2 * k], from[2 * k + 1]), o(from[2 * (h - k)], -from[2 * (h - k) + 1]);
            std::complex<T> w = table.single_power(k), s = (z + o) * pairs, d = (z - o) * pairs;
            w = FORWARD ? std::complex<T>(w.imag(), -w.real()) : std::complex<T>(w.imag(), w.real());
            d = {d.real() * w.real() - d.imag() * w.imag(), d.real() * w.imag() + d.imag() * w.real()};
            to[2 * k] = s.real() + d.real();
            to[2 * k + 1] = s.imag() + d.imag();
            to[2 * (h - k)] = s.real() - d.real();
            to[2 * (h - k) + 1] = d.imag() - s.imag();
        }
    };
    I pieces = table.blocks + 1;
    parallel(count * pieces, rows_grain(L, 4), [&](I begin, I end) {
        for (I i = begin; i < end; i++) {
            const T* from = x + 2 * (i / pieces) * x_step;
            T* to = y + 2 * (i / pieces) * y_step;
            if (i % pieces) block(from, to, 1 + (i % pieces - 1) * L);
            else rest(from, to);
        }
    });
}

// The same for numbers that lie in lanes.
template <class T, bool FORWARD>
INLINE void change_halves_in_lanes(const Lanes<T>* x, Lanes<T>* y, const Halves<T>& table, T pairs) {
    I h = table.n;
    V<T> a = x[0].re, b = FORWARD ? x[0].im : x[h].re, none{};
    y[0] = FORWARD ? Lanes<T>{2 * (a + b), none} : Lanes<T>{a + b, a - b};
    if (FORWARD) y[h] = {2 * (a - b), none};
    for (I k = 1; 2 * k <= h; k++) {
        Lanes<T> z = x[k], o = {x[h - k].re, -x[h - k].im}, s = (z + o) * pairs, d = (z - o) * pairs;
        std::complex<T> w = table.single_power(k);
        d = quarter_turned(FORWARD ? turned(d, w.real(), w.imag()) : turned(d, -w.real(), w.imag()));
        y[k] = s + d;
        y[h - k] = {s.re - d.re, d.im - s.im};
    }
}
template <class T> bool are_short(const Rows<T>& a) {
    return a.n <= SHORT && a.count >= LANES<T> / 2 && without_small_factors(a.n) == 1;
}

// Real numbers, two of which are one complex number of the rows, to half their spectrum, and back.
template <class T> void real_rows(const Rows<T>& a, T pairs) {
    if (are_short(a)) {
        const auto held = kept<Halves<T>>(a.n);
        const Halves<T>& table = *held;
        return short_rows(a, 0, [](Lanes<T>* from, Lanes<T>*) INLINE_LAMBDA { return from; }, 1,
                          [&](Lanes<T>* from, Lanes<T>* to) INLINE_LAMBDA {
                              change_halves_in_lanes<T, true>(from, to, table, pairs);
                              return to;
                          });
    }
    rows(a);
    change_halves<T, true>(a.y, a.y_step, a.y, a.y_step, a.count, a.n, pairs);
}
template <class T> void rows_of_halves(const Rows<T>& a, T pairs) {
    if (are_short(a)) {
        const auto held = kept<Halves<T>>(a.n);
        const Halves<T>& table = *held;
        return short_rows(a, 1, [&](Lanes<T>* from, Lanes<T>* to) INLINE_LAMBDA {
            for (I k = 0; k <= a.n; k++) std::swap(from[k].re, from[k].im);  // as they were before they were read
            change_halves_in_lanes<T, false>(from, to, table, pairs);
            for (I k = 0; k < a.n; k++) std::swap(to[k].re, to[k].im);
            return to;
        }, 0, [](Lanes<T>* from, Lanes<T>*) INLINE_LAMBDA { return from; });
    }
    change_halves<T, false>(a.x, a.x_step, a.y, a.y_step, a.count, a.n, pairs);
    rows(Rows<T>{a.y, a.y, a.count, a.n, a.y_step, a.y_step, a.scale, true});
}

// Of an odd length, rows of real numbers are made complex, some together. Two of them in one complex row would take half
// the time, but what is large or not finite in one would show in the other.
template <class T, class Before, class After>
void odd_rows(I count, I n, T scale, bool backward, Before before, After after) {
    I group = std::max<I>(1, TOGETHER / n);
    parallel((count + group - 1) / group, rows_grain(group * n, 8), [&](I begin, I end) {
        std::unique_ptr<T[]> work(new T[2 * group * n]);
        for (I first = begin * group; first < std::min(end * group, count); first += group) {
            I some = std::min(group, count - first);
            for (I r = 0; r < some; r++) before(first + r, work.get() + 2 * r * n);
            rows(Rows<T>{work.get(), work.get(), some, n, n, n, scale, backward});
            for (I r = 0; r < some; r++) after(work.get() + 2 * r * n, first + r);
        }
    });
}

// Those that are shorter than a vector, as many at a time as there are lanes: f(i, passes, one, other) does group i,
// with two buffers. How many rows are done; some may be left.
template <class T> bool are_tiny(I n) { return n > 1 && n < LANES<T> && without_small_factors(n) == 1; }
template <class T, class F> I odd_rows_in_lanes(I count, I n, F&& f) {
    constexpr I L = LANES<T>;
    const auto held = kept<Passes<T>>(n);
    const Passes<T>& passes = *held;
    parallel(count / L, rows_grain(n * L, 8), [&](I begin, I end) {
        auto one = buffer<T>(n), other = buffer<T>(n);
        for (I i = begin; i < end; i++) f(i, passes, one.get(), other.get());
    });
    return count / L * L;
}
template <class T> I odd_real_rows_in_lanes(const T* x, T* y, I count, I n, T scale, T pairs) {
    constexpr I L = LANES<T>;
    I h = n / 2 + 1;
    return odd_rows_in_lanes<T>(count, n, [=, held = kept<Shuffles<T>>(n), other_held = kept<Shuffles<T>>(h)](
                                              I i, const Passes<T>& passes, Lanes<T>* one, Lanes<T>* other) {
        const Shuffles<T>&apart = *held, &together = *other_held;
        V<T> given[L] = {}, numbers[L] = {};
        for (I j = 0; j < n; j++) given[j] = loaded(x + (i * n + j) * L);
        apart(apart.apart, given, numbers);
        for (I j = 0; j < n; j++) one[j] = {numbers[j], V<T>{}};
        Lanes<T>* found = passes(one, other);
        Lanes<T>* in_rows = found == one ? other : one;
        found[0].im = V<T>{};
        for (I k = 1; k < h; k++) found[k] = found[k] * pairs;
        together(together.together, found, in_rows);
        for (I j = 0; j < h; j++) put_numbers(y + 2 * (i * h + j) * L, {in_rows[j].re * scale, in_rows[j].im * scale}, L, false);
    });
}
// Going back, real and imaginary parts are exchanged before and after.
template <class T> I odd_halves_in_lanes(const T* x, T* y, I count, I n, T scale, T pairs) {
    constexpr I L = LANES<T>;
    I h = n / 2 + 1;
    return odd_rows_in_lanes<T>(count, n, [=, held = kept<Shuffles<T>>(h), other_held = kept<Shuffles<T>>(n)](
                                              I i, const Passes<T>& passes, Lanes<T>* one, Lanes<T>* other) {
        const Shuffles<T>&apart = *held, &together = *other_held;
        for (I j = 0; j < h; j++) other[j] = numbers_at(x + 2 * (i * h + j) * L, L, true);
        apart(apart.apart, other, one);
        one[0].re = V<T>{};
        for (I k = 1; k < h; k++) {
            one[k] = one[k] * pairs;
            one[n - k] = {-one[k].re, one[k].im};
        }
        const Lanes<T>* found = passes(one, other);
        V<T> numbers[L] = {}, in_rows[L] = {};
        for (I j = 0; j < n; j++) numbers[j] = found[j].im * scale;
        together(together.together, numbers, in_rows);
        for (I j = 0; j < n; j++) stored(y + (i * n + j) * L, in_rows[j]);
    });
}
template <class T> void odd_real_rows(const T* x, T* y, I count, I n, T scale, T pairs) {
    I h = n / 2 + 1, done = are_tiny<T>(n) ? odd_real_rows_in_lanes(x, y, count, n, scale, pairs) : 0;
    x += done * n, y += 2 * done * h, count -= done;
    odd_rows<T>(count, n, scale, false, [=](I row, T* to) {
        for (I k = 0; k < n; k++) to[2 * k] = x[row * n + k], to[2 * k + 1] = 0;
    }, [=](const T* z, I row) {
        T* to = y + 2 * row * h;
        to[0] = z[0], to[1] = 0;
        for (I k = 2; k < 2 * h; k++) to[k] = z[k] * pairs;
    });
}
template <class T> void odd_rows_of_halves(const T* x, T* y, I count, I n, T scale, T pairs) {
    I h = n / 2 + 1, done = are_tiny<T>(n) ? odd_halves_in_lanes(x, y, count, n, scale, pairs) : 0;
    x += 2 * done * h, y += done * n, count -= done;
    odd_rows<T>(count, n, scale, true, [=](I row, T* z) {
        const T* half = x + 2 * row * h;
        z[0] = half[0], z[1] = 0;
        for (I k = 1; k < h; k++) {
            T re = half[2 * k] * pairs, im = half[2 * k + 1] * pairs;
            z[2 * k] = z[2 * (n - k)] = re;
            z[2 * k + 1] = im, z[2 * (n - k) + 1] = -im;
        }
    }, [=](const T* z, I row) {
        for (I k = 0; k < n; k++) y[row * n + k] = z[2 * k];
    });
}

// ---------------------------------------------------------------- arrays

// Transforms of an array over the dimensions whose bits are set in `dims`, the last one first.
template <class T, class Shape>
void over_dims(const T* from, T* to, const Shape& shape, I dims, double scale, bool backward) {
    for (int d = shape.ndim - 1; d >= 0 && shape.size; d--) {
        if (!(dims >> d & 1)) continue;
        I n = shape.dim(d), inner = shape.span(d + 1, shape.ndim);
        Rows<T> all{from, to, shape.span(0, d), n, n, n, T(scale), backward};
        if (inner == 1) rows(all);
        else columns(all, inner);
        from = to;
        scale = 1;
    }
}
template <class Shape> void require_lengths(const Shape& shape, I dims) {
    require(dims >= 0 && dims >> shape.ndim == 0, "no such dimensions");
    for (int d = 0; d < shape.ndim; d++) {
        if (!(dims >> d & 1)) continue;
        require(shape.dim(d) > 0, "there are no numbers");
        if (d + 1 == shape.ndim) continue;
        require(without_small_factors(shape.dim(d)) == 1, "the length of a column has large factors");
        require(shape.dim(d) <= MOST_IN_LANES, "a column is too long");
    }
}
// Real numbers and half their spectrum.
template <class Real, class Half> void require_half(const Real& real, const Half& half, I dims) {
    int last = real.ndim - 1;
    require(last >= 0 && half.ndim == real.ndim, "the arrays have different ranks");
    for (int d = 0; d < last; d++) require(real.dim(d) == half.dim(d), "the arrays have different shapes");
    require(half.dim(last) == real.dim(last) / 2 + 1, "half a spectrum has another length");
    require_lengths(real, dims | I(1) << last);
}

// What plain sums over the dimensions whose bits are set are multiplied by: PyTorch has numbers for the ways of scaling.
template <class Shape> double scale_of(const Shape& shape, I dims, I normalization) {
    require(normalization >= 0 && normalization < 3, "no such normalization");
    double count = 1;
    for (int d = 0; d < shape.ndim; d++)
        if (dims >> d & 1) count *= double(shape.dim(d));
    return normalization == 0 ? 1 : normalization == 1 ? 1 / std::sqrt(count) : 1 / count;
}

template <class T>
void complex_spectrum(In<std::complex<T>> x, Out<std::complex<T>> y, I dims, I normalization, bool forward) {
    require(same_shape(x, y), "the result has another shape");
    require(dims != 0, "no dimensions");
    require_lengths(x, dims);
    over_dims(reinterpret_cast<const T*>(x.data), reinterpret_cast<T*>(y.data), x, dims, scale_of(x, dims, normalization), !forward);
}

// Over the last dimension, and those of `dims`.
template <class T>
void half_spectrum(In<T> x, Out<std::complex<T>> y, I dims, I normalization, double pairs) {
    require_half(x, y, dims);
    if (!x.size) return;
    int last = x.ndim - 1;
    I n = x.dim(last), h = n / 2, count = x.size / n;
    T *to = reinterpret_cast<T*>(y.data), scale = T(scale_of(x, dims | I(1) << last, normalization));
    if (n % 2) odd_real_rows(x.data, to, count, n, scale, T(pairs));
    else real_rows(Rows<T>{x.data, to, count, h, h, h + 1, scale / 2, false}, T(pairs));
    over_dims(to, to, y, dims & ~(I(1) << last), 1, false);
}
template <class T> void real_of_half(In<std::complex<T>> x, Out<T> y, I dims, I normalization, double pairs) {
    require_half(y, x, dims);
    if (!y.size) return;
    int last = y.ndim - 1;
    I n = y.dim(last), h = n / 2, count = y.size / n;
    T scale = T(scale_of(y, dims | I(1) << last, normalization));
    const T* from = reinterpret_cast<const T*>(x.data);
    std::unique_ptr<T[]> changed;
    dims &= ~(I(1) << last);
    if (dims) {
        changed.reset(new T[2 * x.size]);
        over_dims(from, changed.get(), x, dims, 1, true);
        from = changed.get();
    }
    if (n % 2) odd_rows_of_halves(from, y.data, count, n, scale, T(pairs));
    else rows_of_halves(Rows<T>{from, y.data, count, h, h + 1, h, scale, true}, T(pairs));
}

// The plain sums of rows whose length is a prime. A power of a generator stands at each place but the
// first, so that what is left is a convolution: `powers` are these places, `factors` the spectrum of
// the roots in their order, and `places` say where each result stands.
template <class T>
void prime_fourier(In<std::complex<T>> x, Out<std::complex<T>> y, In<std::int64_t> powers, In<std::int64_t> places,
                   In<std::complex<T>> factors) {
    using C = std::complex<T>;
    require(same_shape(x, y) && x.ndim, "the result has another shape");
    I n = x.dim(x.ndim - 1), m = n - 1;
    require(m > 0 && without_small_factors(m) == 1, "a length has large factors");
    require(powers.size == m && factors.size == m && places.size == n, "the lists have other lengths");
    for (I k = 0; k < m; k++) require(powers.data[k] >= 0 && powers.data[k] < n, "no such place");
    for (I k = 0; k < n; k++) require(places.data[k] >= 0 && places.data[k] < m, "no such place");
    I count = x.size / n;
    if (!count) return;
    constexpr I GROUP = 16;  // rows at a time, which stay in the cache
    parallel((count + GROUP - 1) / GROUP, rows_grain(GROUP * n, 16), [&](I begin, I end) {
        std::unique_ptr<C[]> work(new C[GROUP * m]);
        T* numbers = reinterpret_cast<T*>(work.get());
        for (I first = begin * GROUP; first < std::min(end * GROUP, count); first += GROUP) {
            I some = std::min(GROUP, count - first);
            const C* from = x.data + first * n;
            C* to = y.data + first * n;
            for (I r = 0; r < some; r++)
                for (I k = 0; k < m; k++) work[r * m + k] = from[r * n + powers.data[k]];
            rows(Rows<T>{numbers, numbers, some, m, m, m, T(1), false});
            for (I r = 0; r < some; r++) {
                C* row = work.get() + r * m;
                to[r * n] = from[r * n] + row[0];
                multiply(numbers + 2 * r * m, reinterpret_cast<const T*>(factors.data), numbers + 2 * r * m, m);
                row[0] += from[r * n];
            }
            rows(Rows<T>{numbers, numbers, some, m, m, m, T(1), true});
            for (I r = 0; r < some; r++)
                for (I k = 1; k < n; k++) to[r * n + k] = work[r * m + places.data[k]];
        }
    });
}

}  // namespace

KERNELS({"complex_spectrum", bind<complex_spectrum<float>, complex_spectrum<double>>},
        {"prime_fourier", bind<prime_fourier<float>, prime_fourier<double>>},
        {"half_spectrum", bind<half_spectrum<float>, half_spectrum<double>>},
        {"real_of_half", bind<real_of_half<float>, real_of_half<double>>})
