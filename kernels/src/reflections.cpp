// Reflections that make a triangle of a larger matrix, and their product. Columns lie in one piece; a few of
// them are reflected one by one, and all others by the product of those reflections, I - V T V'.
#include <cmath>
#include <limits>

#include "binding.hpp"
#include "maths.hpp"
#include "products.hpp"
#include "transposing.hpp"

namespace {

constexpr I BLOCK = 16;   // reflections that are taken at once; a multiple of all widths of vectors
constexpr int ASIDE = 4;  // columns that are reflected at once

// The sums of N vectors' lanes.
template <int N, class W> INLINE void add_up(const V<W>* vectors, W* to) {
    constexpr I L = LANES<W>;
    if constexpr (N % L == 0) {
        for (int first = 0; first < N; first += L) {
            V<W> rows[L], sum = {};
            UNROLLED for (I i = 0; i < L; i++) rows[i] = vectors[first + i];
            turn<W>(rows);
            UNROLLED for (I i = 0; i < L; i++) sum += rows[i];
            stored(to + first, sum);
        }
        return;
    }
    for (int n = 0; n < N; n++) {
        W lanes[L];
        stored(lanes, vectors[n]);
        UNROLLED for (I half = L / 2; half; half /= 2)
            UNROLLED for (I i = 0; i < half; i++) lanes[i] += lanes[i + half];
        to[n] = lanes[0];
    }
}

// What is left of C columns without the part along B vectors v: x -= u (v' x) * factor.
template <int B, int C, class W>
INLINE void take(const W* v, const W* u, I apart, W* x, I step, I begin, I end, W factor) {
    constexpr int ROUND = B < 4 ? B : 4;
    W along[B * C];
    for (int b = 0; b < B; b += ROUND) {
        V<W> sum[ROUND * C] = {};
        for (I i = begin; i < end; i += LANES<W>) {
            V<W> part[C];
            UNROLLED for (int c = 0; c < C; c++) part[c] = loaded(x + c * step + i);
            UNROLLED for (int r = 0; r < ROUND; r++) {
                V<W> own = loaded(v + (b + r) * apart + i);
                UNROLLED for (int c = 0; c < C; c++) sum[r * C + c] += own * part[c];
            }
        }
        add_up<ROUND * C>(sum, along + b * C);
    }
    for (W& part : along) part *= factor;
    for (I i = begin; i < end; i += LANES<W>) {
        V<W> part[C];
        UNROLLED for (int c = 0; c < C; c++) part[c] = loaded(x + c * step + i);
        for (int b = 0; b < B; b++) {
            V<W> own = loaded(u + b * apart + i);
            UNROLLED for (int c = 0; c < C; c++) part[c] -= own * along[b * C + c];
        }
        UNROLLED for (int c = 0; c < C; c++) stored(x + c * step + i, part[c]);
    }
}
template <int B, class W> void take_all(const W* v, const W* u, I apart, W* x, I columns, I begin, I end, W factor) {
    I j = 0;
    for (; j + ASIDE <= columns; j += ASIDE) take<B, ASIDE>(v, u, apart, x + j * apart, apart, begin, end, factor);
    for (; j < columns; j++) take<B, 1>(v, u, apart, x + j * apart, apart, begin, end, factor);
}

template <class W> struct Reflections {
    I rows, apart = whole_vectors<W>(rows);
    Aligned<W> v = Aligned<W>(BLOCK * apart), u = Aligned<W>(BLOCK * apart);

    // The length of a column from row k on with the sign that its first element does not have; 0 if it is zero below.
    static W length(const W* x, I k, I rows) {
        constexpr W LEAST = sizeof(W) == 4 ? W(0x1p-80) : W(0x1p-900);
        W own = x[k], square = own * own, sum = 0, most = 0;
        _Pragma("omp simd reduction(+ : sum)") for (I i = k + 1; i < rows; i++) sum += x[i] * x[i];
        if (sum > LEAST && square + sum < 1 / LEAST) return -std::copysign(std::sqrt(square + sum), own);
        for (I i = k + 1; i < rows; i++) {  // squares may be lost or infinite
            W size = std::fabs(x[i]);
            most = size > most || size != size ? size : most;
        }
        if (most == 0) return 0;
        most = std::max(most, std::fabs(own));
        sum = 0;
        for (I i = k; i < rows; i++) sum += (x[i] / most) * (x[i] / most);
        return -std::copysign(most * std::sqrt(sum), own);
    }
    // Makes zeros of column k below its row k, where the vector of the reflection remains; that is also v[b].
    W reflect(W* x, I k, I b) {
        W found = length(x, k, rows), own = x[k];
        W* vector = v.data() + b * apart;
        std::fill(vector, vector + apart, W(0));
        if (found == 0) return 0;
        W less = own - found, inverse = 1 / less;
        vector[k] = 1;
        if (std::fabs(less) >= std::numeric_limits<W>::min()) SIMD for (I i = k + 1; i < rows; i++) vector[i] = x[i] *= inverse;
        else for (I i = k + 1; i < rows; i++) vector[i] = x[i] /= less;
        x[k] = found;
        return (found - own) / found;
    }
    // u, by which the product of `count` reflections from row `first` on, or of their transposes, is I - u v'.
    void join(I first, I count, const W* tau, bool transposed) {
        W t[BLOCK][BLOCK] = {};
        for (I b = 0; b < count; b++) {
            V<W> sums[BLOCK] = {};
            W along[BLOCK];
            for (I i = first; i < apart; i += LANES<W>) {
                V<W> own = loaded(v.data() + b * apart + i);
                for (I j = 0; j < b; j++) sums[j] += loaded(v.data() + j * apart + i) * own;
            }
            add_up<int(BLOCK)>(sums, along);
            for (I j = 0; j < b; j++)
                for (I k = j; k < b; k++) t[j][b] -= tau[b] * t[j][k] * along[k];
            t[b][b] = tau[b];
        }
        for (I b = 0; b < BLOCK; b++) {
            W* own = u.data() + b * apart;
            I low = transposed ? b : 0, high = transposed ? count : std::min(count, b + 1);
            for (I i = first; i < apart; i += LANES<W>) {
                V<W> sum = {};
                for (I j = low; j < high; j++) sum += loaded(v.data() + j * apart + i) * (transposed ? t[b][j] : t[j][b]);
                stored(own + i, sum);
            }
        }
    }
    // Columns from x on, less what the joined reflections take from them.
    void turn(W* x, I columns, I first) {
        parallel((columns + ASIDE - 1) / ASIDE, rows_grain(ASIDE * (rows - first), BLOCK), [=](I begin, I end) {
            I left = begin * ASIDE;
            take_all<int(BLOCK)>(v.data(), u.data(), apart, x + left * apart, std::min(columns, end * ASIDE) - left, first, apart, W(1));
        });
    }
    void forget(I from) { std::fill(v.begin() + from * apart, v.end(), W(0)); }

    void factor(W* a, I columns, W* tau) {
        I steps = std::min(rows, columns);
        for (I first = 0; first < steps; first += BLOCK) {
            I count = std::min(BLOCK, steps - first), rest = columns - first - BLOCK;
            for (I b = 0; b < count; b++) {
                I k = first + b;
                tau[k] = reflect(a + k * apart, k, b);
                if (tau[k] == 0) continue;
                take_all<1>(v.data() + b * apart, v.data() + b * apart, apart, a + (k + 1) * apart, std::min(columns, first + BLOCK) - k - 1, first,
                            apart, tau[k]);
            }
            if (rest <= 0) continue;
            forget(count);
            join(first, count, tau + first, true);
            turn(a + (first + BLOCK) * apart, rest, first);
        }
    }
    // The first columns of the product of reflections whose vectors lie in `packed`, to `q`, which begins as zeros.
    template <class At> void multiply(At at, I steps, const W* tau, W* q, I columns) {
        for (I j = 0; j < columns; j++) q[j * apart + j] = 1;
        for (I first = (steps - 1) / BLOCK * BLOCK; first >= 0; first -= BLOCK) {
            I count = std::min(BLOCK, steps - first);
            forget(0);
            for (I b = 0; b < count; b++) {
                W* own = v.data() + b * apart;
                own[first + b] = 1;
                for (I i = first + b + 1; i < rows; i++) own[i] = at(i, first + b);
            }
            join(first, count, tau + first, false);
            turn(q + first * apart, columns - first, first);
        }
    }
};

// Of every matrix f(its number), where there is a thread's work in each.
template <class F> void one_by_one(I count, I rows, I columns, F f) {
    parallel(count, rows_grain(rows * columns, std::max<I>(1, columns / 16)), [&](I begin, I end) {
        for (I number = begin; number < end; number++) f(number);
    });
}

// R with the vectors of the reflections below it, column by column, and the factors of these, as LAPACK has them.
template <class W> void reflections_by_columns(Seen<W> a, Out<W> packed, Out<W> tau) {
    int n = a.ndim;
    require(n > 1 && packed.ndim == n, "the reflections have another shape");
    I rows = a.dim(n - 2), columns = a.dim(n - 1), steps = std::min(rows, columns), count = a.span(0, n - 2);
    require(packed.dim(n - 2) == columns && packed.dim(n - 1) == rows && packed.span(0, n - 2) == count && tau.size == count * steps,
            "the reflections have another shape");
    one_by_one(count, rows, columns, [&](I number) {
        Reflections<W> work{rows};
        Matrix<W> from = matrix_of(a, number);
        Aligned<W> memory(columns * work.apart);
        if (from.right == 1) transpose(from.data, memory.data(), columns, rows, from.down, work.apart);
        else
            for (I j = 0; j < columns; j++)
                for (I i = 0; i < rows; i++) memory[j * work.apart + i] = from.data[i * from.down + j * from.right];
        work.factor(memory.data(), columns, tau.data + number * steps);
        for (I j = 0; j < columns; j++) std::copy_n(memory.data() + j * work.apart, rows, packed.data + (number * columns + j) * rows);
    });
}

// The first columns of the product of reflections, one after the other.
template <class W> void reflected_identity_by_columns(Seen<W> packed, In<W> tau, Out<W> q) {
    int n = q.ndim;
    require(n > 1 && packed.ndim == n && tau.ndim == n - 1, "the reflections have another shape");
    I rows = q.dim(n - 1), columns = q.dim(n - 2), steps = tau.dim(n - 2), count = q.span(0, n - 2);
    require(packed.dim(n - 2) == rows && packed.dim(n - 1) >= steps && columns >= steps && columns <= rows
            && packed.span(0, n - 2) == count && tau.size == count * steps, "the reflections have another shape");
    one_by_one(count, rows, columns, [&](I number) {
        Reflections<W> work{rows};
        Matrix<W> from = matrix_of(packed, number);
        Aligned<W> memory(columns * work.apart);
        work.multiply([=](I i, I j) INLINE_LAMBDA { return from.data[i * from.down + j * from.right]; }, steps,
                      tau.data + number * steps, memory.data(), columns);
        for (I j = 0; j < columns; j++) std::copy_n(memory.data() + j * work.apart, rows, q.data + (number * columns + j) * rows);
    });
}

}  // namespace

KERNELS({"reflections_by_columns", bind<reflections_by_columns<float>, reflections_by_columns<double>>},
        {"reflected_identity_by_columns", bind<reflected_identity_by_columns<float>, reflected_identity_by_columns<double>>})
