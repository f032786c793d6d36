// LU factors of matrices of some size. A matrix lies in strips of columns, as wide as two vectors. Half of the strips
// are factored, and so are the others after threads have taken multiples of the first ones from them.
#pragma once
#include <cmath>
#include <limits>

#include "maths.hpp"
#include "panels.hpp"
#include "transposing.hpp"
#include "triangles.hpp"

constexpr I ROWS_IN_CACHE = 64;  // of a strip, while multiples of others are taken from them

template <class W> struct Elimination {
    I rows, columns;
    std::int32_t* pivots;
    I steps = std::min(rows, columns), strips = parts_of(columns, WIDTH<W>);
    std::int32_t zero = 0;  // the first pivot that is, from one
    Unset<W> memory = Unset<W>(strips * rows * WIDTH<W>);

    W* row(I strip, I i) { return memory.data() + (strip * rows + i) * WIDTH<W>; }
    void swap(I strip, I step) {
        W *a = row(strip, step), *b = row(strip, pivots[step] - 1);
        for (I c = 0; a != b && c < WIDTH<W>; c += LANES<W>) {
            V<W> kept = loaded(a + c);
            stored(a + c, loaded(b + c));
            stored(b + c, kept);
        }
    }
    // The columns of a strip one after the other, of which multiples of the pivots' columns are taken.
    void factor(I strip) {
        I first = strip * WIDTH<W>, some = some_of(steps, first, WIDTH<W>), high = rows - first, apart = whole_vectors<W>(high);
        Aligned<W> columns((WIDTH<W> + 1) * apart, W(0));
        W* factors = columns.data() + WIDTH<W> * apart;
        transpose(row(strip, first), columns.data(), WIDTH<W>, high, WIDTH<W>, apart);
        for (I k = 0; k < some; k++) {
            W* own = columns.data() + k * apart;
            I best = largest(own, k, apart);
            pivots[first + k] = std::int32_t(first + best + 1);
            W pivot = own[best], inverse = 1 / pivot;
            if (pivot == 0) {
                if (!zero) zero = std::int32_t(first + k + 1);
                continue;
            }
            for (I c = 0; best != k && c < WIDTH<W>; c++) std::swap(columns[c * apart + k], columns[c * apart + best]);
            if (std::fabs(pivot) >= std::numeric_limits<W>::min()) SIMD for (I i = k + 1; i < high; i++) factors[i] = own[i] *= inverse;
            else for (I i = k + 1; i < high; i++) factors[i] = own[i] /= pivot;
            for (I c = k + 1; c < WIDTH<W>; c++) subtract(columns.data() + c * apart, factors, k, apart);
        }
        transpose(columns.data(), row(strip, first), high, WIDTH<W>, apart, WIDTH<W>);
    }
    // The place of the largest number from k on; what is no number is the largest only where it stands there.
    static I largest(const W* column, I k, I end) {
        W own = std::fabs(column[k]);
        V<W> most = V<W>{} + own;
        I i = k;
        for (; i + LANES<W> <= end; i += LANES<W>) {
            V<W> x = loaded(column + i), size = x < 0 ? -x : x;
            most = size > most ? size : most;
        }
        W found = own;
        for (I c = 0; c < LANES<W>; c++) found = most[c] > found ? most[c] : found;
        for (; i < end; i++) found = std::fabs(column[i]) > found ? std::fabs(column[i]) : found;
        for (i = k; own < found && std::fabs(column[i]) != found;) i++;
        return i;
    }
    // A column's own element in row k times the factors, from the rows below that.
    static void subtract(W* column, const W* factors, I k, I end) {
        W known = column[k];
        I start = (k + 1) / LANES<W> * LANES<W>;
        for (I i = k + 1; i < std::min(end, start + LANES<W>); i++) column[i] -= known * factors[i];
        for (I i = start + LANES<W>; i < end; i += LANES<W>) stored(column + i, loaded(column + i) - known * loaded(factors + i));
    }
    // Takes the multiples of the rows of some strips, which are factored, from another one.
    void reduce(I strip, I from, I to, Unset<W>& negative) {
        I first = from * WIDTH<W>, last = std::min(steps, to * WIDTH<W>);
        negative.resize((last - first) * WIDTH<W>);
        for (I step = first; step < last; step++) swap(strip, step);
        for (I s = from; s < to; s++) {
            I top = s * WIDTH<W>, end = std::min(last, top + WIDTH<W>);
            Strip<2, W>{{row(s, top), end - top, end - top, WIDTH<W>, 1}, row(strip, top), WIDTH<W>, true}.substitute_all();
            for (I i = top * WIDTH<W>; i < end * WIDTH<W>; i += LANES<W>) stored(negative.data() + i - first * WIDTH<W>, -loaded(row(strip, 0) + i));
            take(strip, s, end, last, negative.data() + (top - first) * WIDTH<W>);
        }
        for (I i = last; i < rows; i += ROWS_IN_CACHE)
            for (I s = from; s < to; s++)
                take(strip, s, i, std::min(rows, i + ROWS_IN_CACHE), negative.data() + (s - from) * WIDTH<W> * WIDTH<W>);
    }
    void take(I strip, I known, I begin, I end, const W* negative) {
        Matrix<W> factors{row(known, begin), end - begin, some_of(steps, known * WIDTH<W>, WIDTH<W>), WIDTH<W>, 1};
        by_strip<W, false>(factors, negative, row(strip, begin), WIDTH<W>, true);
    }
    void reduce_all(I begin, I end, I from, I to) {
        parallel(end - begin, rows_grain(rows * WIDTH<W> * (to - from), WIDTH<W> / 4), [&](I first, I last) {
            Unset<W> negative;
            for (I s = first; s < last; s++) reduce(begin + s, from, to, negative);
        });
    }
    void factor(I from, I to) {
        if (to - from < 2) return factor(from);
        I count = to - from, middle = to - std::min(count - 1, (count + 2) / 4 * 2);  // an even number is left for two threads
        factor(from, middle);
        reduce_all(middle, to, from, middle);
        factor(middle, to);
        for (I s = from; s < middle; s++)
            for (I step = middle * WIDTH<W>; step < std::min(steps, to * WIDTH<W>); step++) swap(s, step);
    }
    // All of it; `to` takes the factors row by row.
    void run(const Matrix<W>& given, W* to) {
        I whole = parts_of(steps, WIDTH<W>);
        parallel(strips, rows_grain(rows * WIDTH<W>), [&](I begin, I end) {
            I first = begin * WIDTH<W>;
            in_strips<W>(Matrix<W>{given.data + first * given.right, rows, std::min(columns, end * WIDTH<W>) - first, given.down, given.right},
                         row(begin, 0));
        });
        if (whole) factor(0, whole);
        if (whole < strips) reduce_all(whole, strips, 0, whole);
        parallel(strips, rows_grain(rows * WIDTH<W>), [&](I begin, I end) {
            for (I s = begin; s < end; s++) {
                I left = s * WIDTH<W>;
                out_of_rows(row(s, 0), WIDTH<W>, W(1), to + left, rows, some_of(columns, left, WIDTH<W>), columns, I(1));
            }
        });
    }
};
