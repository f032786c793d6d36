// Eigenvectors of symmetric matrices: reflections make one tridiagonal, that is halved and joined again, and its vectors
// are taken back through the reflections.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "binding.hpp"
#include "maths.hpp"
#include "panels.hpp"
#include "transposing.hpp"
#include "triangles.hpp"

namespace {

// ---------------------------------------------------------------- to a tridiagonal matrix

// The lower triangle of a matrix lies in rows, in squares as high and wide as a vector: those on the diagonal are
// whole. Its last row is reflected to have one element beside the diagonal, then the last but one. What a reflection
// adds to the rows above is added when the product of those with the next one is wanted: they are read once for both.
template <class W> struct Reduction {
    static constexpr int AT_ONCE = std::min<int>(4, LANES<W>);  // rows of which all factors are in registers
    W* a;
    I n, step;
    Aligned<W> v = Aligned<W>(step), w = Aligned<W>(step), next = Aligned<W>(step), product = Aligned<W>(step);

    W* row(I i) const { return a + i * step; }
    // Of some rows, up to the end of their square.
    void rows(I top, I first, V<W>* sums) {
        V<W> sum[AT_ONCE] = {}, own_v[AT_ONCE], own_w[AT_ONCE], own_next[AT_ONCE];
        W *to[AT_ONCE], *along = product.data();
        const W *all_v = v.data(), *all_w = w.data(), *all_next = next.data();
        for (int r = 0; r < AT_ONCE; r++) {
            to[r] = row(first + r);
            own_v[r] = V<W>{} + v[first + r], own_w[r] = V<W>{} + w[first + r], own_next[r] = V<W>{} + next[first + r];
        }
        for (I left = 0; left <= top; left += LANES<W>) {
            V<W> part_v = loaded(all_v + left), part_w = loaded(all_w + left), part_next = loaded(all_next + left), below = {};
            UNROLLED for (int r = 0; r < AT_ONCE; r++) {
                V<W> now = loaded(to[r] + left) - part_w * own_v[r] - part_v * own_w[r];
                stored(to[r] + left, now);
                sum[r] += now * part_next;
                below += now * own_next[r];
            }
            if (left < top) stored(along + left, loaded(along + left) + below);
        }
        for (int r = 0; r < AT_ONCE; r++) sums[r] = sum[r];
    }
    // Rows before `end`, less v w' + w v', and their product with the next reflection.
    void pass(I end) {
        std::fill(product.begin(), product.end(), W(0));
        for (I top = 0; top < end; top += LANES<W>) {
            V<W> sums[LANES<W>] = {};
            for (I r = 0; r < LANES<W>; r += AT_ONCE) rows(top, top + r, sums + r);
            turn<W>(sums);
            V<W> whole = loaded(product.data() + top);
            UNROLLED for (I c = 0; c < LANES<W>; c++) whole += sums[c];
            stored(product.data() + top, whole);
        }
    }
    // The reflection that leaves the last of n numbers alone, which becomes `found`: its vector is in `next`. Where squares
    // would be too small or too large, the numbers are divided by the largest.
    W reflection(const W* x, I n, W& found) {
        W most = 1, sum = squares(x, n - 1, most);
        std::fill(next.begin(), next.end(), W(0));
        next[n - 1] = 1;
        found = x[n - 1];
        if (!(sum > std::numeric_limits<W>::min() / std::numeric_limits<W>::epsilon() && sum < std::numeric_limits<W>::max() / 4)) {
            most = 0;
            for (I i = 0; i < n - 1; i++) most = std::max(most, std::fabs(x[i]));
            if (most == 0) return 0;
            most = std::max(most, std::fabs(x[n - 1]));
            sum = squares(x, n - 1, most);
        }
        W last = x[n - 1] / most, length = -std::copysign(std::sqrt(sum + last * last), last), first = last - length;
        for (I i = 0; i < n - 1; i++) next[i] = x[i] / most / first;
        found = length * most;
        return (length - last) / length;
    }
    static W squares(const W* x, I n, W most) {
        W sum = 0;
        if (most == 1) _Pragma("omp simd reduction(+ : sum)") for (I i = 0; i < n; i++) sum += x[i] * x[i];
        else for (I i = 0; i < n; i++) sum += x[i] / most * (x[i] / most);
        return sum;
    }
    void run(W* diagonal, W* beside, W* factors) {
        for (I i = n - 1; i > 0; i--) {
            W* own = row(i);
            SIMD for (I j = 0; j <= i; j++) own[j] -= v[i] * w[j] + w[i] * v[j];
            diagonal[i] = own[i], v[i] = w[i] = 0;
            std::fill(own + i, own + step, W(0));
            W factor = factors[i] = reflection(own, i, beside[i - 1]);
            pass(i);
            W along = 0;
            _Pragma("omp simd reduction(+ : along)") for (I j = 0; j < i; j++) along += product[j] * next[j];
            SIMD for (I j = 0; j < i; j++) {
                own[j] = v[j] = next[j];
                w[j] = factor * (product[j] - factor * along / 2 * next[j]);
            }
        }
        diagonal[0] = a[0] - 2 * v[0] * w[0], factors[0] = 0;
        std::fill(a, a + step, W(0));
    }
};

// The lower triangle of a matrix in rows, with squares on the diagonal that are whole, divided by a power of two; which
// one, or zero if it is not finite.
template <class W> W lower_rows(const Matrix<W>& from, W* to, I step) {
    I n = from.rows;
    W most = 0;
    bool finite = true;
    if (from.down == 1) transpose(from.data, to, n, n, from.right, step);
    for (I i = 0; i < n; i++) {
        W* row = to + i * step;
        if (from.down != 1) for (I j = 0; j <= i; j++) row[j] = from.data[i * from.down + j * from.right];
        for (I j = 0; j <= i; j++) {
            W size = std::fabs(row[j]);
            finite &= size <= std::numeric_limits<W>::max();
            most = size > most ? size : most;
        }
    }
    W unit = !finite ? W(0) : most > 0 ? std::ldexp(W(1), std::ilogb(most)) : W(1);
    if (!finite) return unit;
    for (I i = 0; i < n; i++) {
        W* row = to + i * step;
        SIMD for (I j = 0; j <= i; j++) row[j] /= unit;
        std::fill(row + i + 1, row + step, W(0));
        for (I k = i / LANES<W> * LANES<W>; k < i; k++) to[k * step + i] = row[k];
    }
    std::fill(to + n * step, to + step * step, W(0));
    return unit;
}

// ---------------------------------------------------------------- of a tridiagonal matrix

// Eigenvalues of diag(d) + rho z z', d ascending and no z zero: each lies between two of d, the last one beyond the last,
// and is known by its distance from the nearer one.
template <class W> struct Secular {
    I count;
    const W *d, *squares;  // of z
    W inverse, reach;      // of rho; and how far from the last of d the last root may be
    W *shift, *root;       // the one of d that is nearer, and the distance from it

    struct Sums {
        V<W> left = {}, left_slope = {}, right = {}, right_slope = {};
    };
    // What is on both sides of the roots from `first` on, at their present places.
    Sums sums(I first, V<W> from, V<W> at, V<W> number) const {
        Sums found;
        auto add = [&](I j, V<W>& value, V<W>& slope) INLINE_LAMBDA {
            V<W> part = 1 / ((d[j] - from) - at), term = squares[j] * part;
            value += term, slope += term * part;
        };
        I last = std::min(count, first + LANES<W>);
        for (I j = 0; j <= first; j++) add(j, found.left, found.left_slope);
        for (I j = first + 1; j < last; j++) {
            V<W> part = 1 / ((d[j] - from) - at), term = squares[j] * part, zero = {};
            auto left = number >= W(j);
            found.left += left ? term : zero, found.left_slope += left ? term * part : zero;
            found.right += left ? zero : term, found.right_slope += left ? zero : term * part;
        }
        for (I j = last; j < count; j++) add(j, found.right, found.right_slope);
        return found;
    }
    void find(I first) const {
        V<W> number, low = {}, high, own, next, own_square, next_square, zero = {};
        for (I c = 0; c < LANES<W>; c++) {
            I i = std::min(first + c, count - 1);
            bool inner = i + 1 < count;
            number[c] = W(i), own[c] = d[i], next[c] = inner ? d[i + 1] : d[i] + reach;
            own_square[c] = squares[i], next_square[c] = inner ? squares[i + 1] : 0;
        }
        auto inner = next_square > zero;
        V<W> gap = next - own, from = own, at = gap / 2;
        Sums sum = sums(first, from, at, number);
        V<W> value = inverse + sum.left + sum.right;
        // From the left where the function is positive half way, and from the right where it is not.
        auto is_left = (value >= zero) | ~inner;
        from = is_left ? from : next, at = is_left ? at : -at;
        low = is_left ? (value >= zero ? zero : at) : at, high = is_left ? (value >= zero ? at : gap) : zero;
        V<W> left = own - from, right = next - from;
        V<W> s = own_square, t = next_square, c = value - s / (left - at) - t / (right - at);
        auto running = number == number;
        for (int turn = 0; turn < 60; turn++) {
            V<W> to_left = left - at, to_right = right - at;
            V<W> a = c * (to_left + to_right) + s + t, b = to_left * to_right * value, under = a * a - 4 * b * c;
            V<W> wide = under > zero ? under : zero;
            for (I k = 0; k < LANES<W>; k++) wide[k] = std::sqrt(wide[k]);
            V<W> step = a <= zero ? (a - wide) / (2 * c) : 2 * b / (a + wide);
            step = inner ? step : to_left * value / (c == zero ? value : c);
            V<W> moved = at + step, middle = (low + high) / 2;
            moved = (moved > low) & (moved < high) ? moved : middle;
            V<W> change = moved - at, size = at < zero ? -at : at;
            change = change < zero ? -change : change;
            at = running ? moved : at;
            running &= change > std::numeric_limits<W>::epsilon() * size;
            sum = sums(first, from, at, number);
            value = inverse + sum.left + sum.right;
            low = value < zero ? at : low, high = value < zero ? high : at;
            V<W> whole = inverse - sum.left + sum.right, error = value < zero ? -value : value;
            running &= error > std::numeric_limits<W>::epsilon() * 4 * whole;
            bool more = false;
            for (I k = 0; k < LANES<W>; k++) more |= running[k] != 0;
            if (!more) break;
            to_left = left - at, to_right = right - at;
            s = to_left * to_left * sum.left_slope, t = to_right * to_right * sum.right_slope;
            c = value - to_left * sum.left_slope - to_right * sum.right_slope;
        }
        for (I k = 0; k < std::min(LANES<W>, count - first); k++) shift[first + k] = from[k], root[first + k] = at[k];
    }
};

constexpr I LEAST = 24;  // rows of a matrix that is not halved

// Rows of `vectors` are eigenvectors. A matrix is cut into halves and a part of rank one; of these its eigenvectors are made.
template <class W> struct Halving {
    I n;
    W *d, *e, *vectors;
    std::atomic<bool> failed{false};

    W* vector(I i) const { return vectors + i * n; }
    static constexpr W EPSILON = std::numeric_limits<W>::epsilon() / 2;

    // By implicit steps of QR with Wilkinson's shifts, of rows from `first` up to `last`.
    void solve_directly(I first, I last) {
        for (I i = first; i < last; i++) vector(i)[i] = 1;
        I end = last - 1, left = 60 * (last - first);
        while (end > first) {
            I begin = end;
            while (begin > first && std::fabs(e[begin - 1]) > EPSILON * (std::fabs(d[begin - 1]) + std::fabs(d[begin])) + std::numeric_limits<W>::min()) begin--;
            if (begin == end) end--;
            else if (left--) step(begin, end, first, last);
            else {
                failed = true;
                return;
            }
        }
        for (I i = first; i < last; i++) {
            I least = std::min_element(d + i, d + last) - d;
            if (least == i) continue;
            std::swap(d[i], d[least]);
            std::swap_ranges(vector(i) + first, vector(i) + last, vector(least) + first);
        }
    }
    // The length of a vector, and its direction.
    static W length_of(W x, W y, W& c, W& s) {
        W most = std::max(std::fabs(x), std::fabs(y));
        c = 1, s = 0;
        if (most == 0) return 0;
        x /= most, y /= most;
        W length = std::sqrt(x * x + y * y);
        c = x / length, s = y / length;
        return length * most;
    }
    // A rotation that brings in the shift, and those that take what it left behind along the diagonal: from its larger
    // end, so that small elements at the other one keep their digits.
    void step(I begin, I end, I first, I last) {
        bool upwards = std::fabs(d[end]) > std::fabs(d[begin]);
        I start = upwards ? end : begin, stop = upwards ? begin : end, way = upwards ? -1 : 1;
        auto beside = [&](I k) -> W& { return e[upwards ? k - 1 : k]; };  // between a row and the next one
        W half = (d[stop - way] - d[stop]) / 2, corner = beside(stop - way);
        W c, s, shift = corner / (half + std::copysign(length_of(half, corner, c, s), half)) * corner;
        W x = d[start] - (d[stop] - shift), below = beside(start);
        for (I k = start; k != stop; k += way) {
            I next = k + way;
            W length = length_of(x, below, c, s);
            W between = beside(k), turned = s * (d[next] - d[k]) + 2 * c * between;
            if (k != start) beside(k - way) = length;
            d[k] += s * turned, d[next] -= s * turned;
            x = beside(k) = c * turned - between;
            if (next != stop) below = s * beside(next), beside(next) *= c;
            rotate(vector(k), vector(next), c, s, first, last);
        }
    }
    static void rotate(W* a, W* b, W c, W s, I first, I last) {
        SIMD for (I j = first; j < last; j++) {
            W x = a[j], y = b[j];
            a[j] = c * x + s * y, b[j] = c * y - s * x;
        }
    }

    // Of a matrix whose halves are known: they are joined by rho z z'.
    void join(I first, I middle, I last) {
        I size = last - first;
        W beside = e[middle - 1], rho = 2 * std::fabs(beside), most = 0;
        Aligned<W> z(size);
        std::vector<int> sides(size);  // which halves of a vector are not zero
        std::vector<I> order(size), kept, gone;
        for (I i = 0; i < size; i++) {
            bool upper = first + i < middle;
            z[i] = (upper ? vector(first + i)[middle - 1] : std::copysign(W(1), beside) * vector(first + i)[middle]) / std::sqrt(W(2));
            sides[i] = upper ? 1 : 2, order[i] = i;
            most = std::max({most, std::fabs(d[first + i]), std::fabs(z[i])});
        }
        W* own = d + first;
        std::inplace_merge(order.begin(), order.begin() + (middle - first), order.end(), [&](I i, I j) { return own[i] < own[j]; });
        W limit = 8 * EPSILON * most;
        I last_kept = -1;  // it may still be joined with the next one
        for (I i : order) {
            if (rho * std::fabs(z[i]) <= limit) {
                gone.push_back(i);
                continue;
            }
            if (last_kept >= 0) {
                I other = last_kept;
                W length = std::sqrt(z[i] * z[i] + z[other] * z[other]), c = z[i] / length, s = z[other] / length;
                if (std::fabs((own[i] - own[other]) * c * s) <= limit) {
                    W a = own[other], b = own[i];
                    z[i] = length, own[other] = a * c * c + b * s * s, own[i] = a * s * s + b * c * c;
                    rotate(vector(first + i), vector(first + other), c, s, first, last);
                    sides[i] = sides[other] = sides[i] | sides[other];
                    gone.push_back(other);
                } else kept.push_back(other);
            }
            last_kept = i;
        }
        if (last_kept >= 0) kept.push_back(last_kept);
        combine(first, middle, last, rho, z, sides, kept, gone);
    }
    void combine(I first, I middle, I last, W rho, const Aligned<W>& z, const std::vector<int>& sides, const std::vector<I>& kept,
                 const std::vector<I>& gone) {
        I size = last - first, count = kept.size(), room = whole_vectors<W>(count);
        Aligned<W> poles(room), squares(room), shift(room), root(room), found(room);
        W length = 0;
        std::vector<I> parts[2];
        for (I i = 0; i < count; i++) {
            poles[i] = d[first + kept[i]], squares[i] = z[kept[i]] * z[kept[i]], length += squares[i];
            for (int side = 0; side < 2; side++) if (sides[kept[i]] >> side & 1) parts[side].push_back(i);
        }
        Secular<W> equation{count, poles.data(), squares.data(), 1 / rho, rho * length * (1 + 16 * EPSILON), shift.data(), root.data()};
        auto in_vectors = [&](I cost, auto&& f) {
            parallel(room / LANES<W>, rows_grain(count * LANES<W>, cost), [&](I begin, I end) {
                for (I i = begin * LANES<W>; i < end * LANES<W>; i += LANES<W>) f(i);
            });
        };
        in_vectors(16, [&](I i) { equation.find(i); });
        // What z has to be for the roots to be exact: their vectors are at right angles then.
        in_vectors(4, [&](I i) {
            V<W> pole = loaded(poles.data() + i), product = V<W>{} - 1, zero = {};
            for (I j = 0; j < count; j++) {
                V<W> between = pole - poles[j];
                product *= ((pole - shift[j]) - root[j]) / (between == zero ? zero + 1 : between);
            }
            for (I k = 0; k < std::min(LANES<W>, count - i); k++) found[i + k] = std::copysign(std::sqrt(product[k]), z[kept[i + k]]);
        });
        Aligned<W> factors[2];
        for (int side = 0; side < 2; side++) factors[side].resize(count * parts[side].size());
        in_vectors(4, [&](I block) {
            Aligned<W> row(room);
            for (I i = block; i < std::min(count, block + LANES<W>); i++) {
                W sum = 0;
                for (I j = 0; j < room; j += LANES<W>) stored(row.data() + j, loaded(found.data() + j) / ((loaded(poles.data() + j) - shift[i]) - root[i]));
                _Pragma("omp simd reduction(+ : sum)") for (I j = 0; j < count; j++) sum += row[j] * row[j];
                for (int side = 0; side < 2; side++) {
                    I width = parts[side].size();
                    for (I j = 0; j < width; j++) factors[side][i * width + j] = row[parts[side][j]] / std::sqrt(sum);
                }
            }
        });
        std::vector<W> values(size);
        std::vector<I> order(size);
        for (I i = 0; i < size; i++) values[i] = i < count ? shift[i] + root[i] : d[first + gone[i - count]], order[i] = i;
        // By merges, which stay inside of the array even where a value is no number.
        std::stable_sort(order.begin(), order.end(), [&](I i, I j) { return values[i] < values[j]; });
        I strips = parts_of(middle - first, WIDTH<W>);
        parallel(strips + parts_of(last - middle, WIDTH<W>), 1, [&](I begin, I end) {
            Aligned<W> known(size * WIDTH<W>), made(size * WIDTH<W>);
            for (I i = begin; i < end; i++) {
                int side = i >= strips;
                I left = side ? middle + (i - strips) * WIDTH<W> : first + i * WIDTH<W>, some = some_of(side ? last : middle, left, WIDTH<W>);
                I width = parts[side].size();
                for (I j = 0; j < width; j++) std::copy_n(vector(first + kept[parts[side][j]]) + left, some, known.data() + j * WIDTH<W>);
                by_strip<W, false>({factors[side].data(), count, width, width, 1}, known.data(), made.data(), WIDTH<W>, false);
                for (I j = count; j < size; j++) std::copy_n(vector(first + gone[j - count]) + left, some, made.data() + j * WIDTH<W>);
                for (I j = 0; j < size; j++) std::copy_n(made.data() + order[j] * WIDTH<W>, some, vector(first + j) + left);
            }
        });
        for (I j = 0; j < size; j++) d[first + j] = values[order[j]];
    }
    void run() {
        I parts = 1;
        while (n > parts * LEAST) parts *= 2;
        auto bound = [&](I i) { return i * n / parts; };
        for (I i = 1; i < parts; i++) d[bound(i) - 1] -= std::fabs(e[bound(i) - 1]), d[bound(i)] -= std::fabs(e[bound(i) - 1]);
        parallel(parts, 1, [&](I begin, I end) {
            for (I i = begin; i < end; i++) solve_directly(bound(i), bound(i + 1));
        });
        for (I together = 2; together <= parts && !failed; together *= 2)
            parallel(parts / together, 1, [&](I begin, I end) {
                for (I i = begin; i < end; i++) join(bound(i * together), bound(i * together + together / 2), bound((i + 1) * together));
            });
    }
};

// ---------------------------------------------------------------- and back

// Some reflections that are applied at once, as many as a strip has columns.
template <class W> struct Reflections {
    I some, length;  // of vectors
    const W *vectors, *factors;
    I step;
    Aligned<W> columns, products;  // of the vectors: times their factors, with one another

    Reflections(const W* vectors, const W* factors, I some, I length, I step)
        : some(some), length(length), vectors(vectors), factors(factors), step(step), columns(length * WIDTH<W>, W(0)), products(some * WIDTH<W>) {
        transpose(vectors, columns.data(), length, some, step, WIDTH<W>);
        by_strip<W, false>({vectors, some, length, step, 1}, columns.data(), products.data(), WIDTH<W>, false);
        for (I i = 0; i < some * WIDTH<W>; i++) products[i] *= factors[i / WIDTH<W>];
    }
    // One after the other of the columns in a strip.
    void apply(W* strip, W* memory) const {
        by_strip<W, false>({vectors, some, length, step, 1}, strip, memory, WIDTH<W>, false);
        for (I i = 0; i < some * WIDTH<W>; i++) memory[i] *= -factors[i / WIDTH<W>];
        Strip<2, W>{{products.data(), some, some, WIDTH<W>, 1}, memory, WIDTH<W>, true}.substitute_all();
        by_strip<W, false>({columns.data(), length, some, WIDTH<W>, 1}, memory, strip, WIDTH<W>, true);
    }
};

// The columns of `to` become the product of the reflections that made a matrix tridiagonal and rows that are given.
template <class W> void turn_back(const W* vectors, const W* factors, I step, const W* rows, W* to, I n) {
    std::vector<Reflections<W>> blocks;
    for (I first = 0; first < n; first += WIDTH<W>) {
        I some = some_of(n, first, WIDTH<W>);
        blocks.emplace_back(vectors + first * step, factors + first, some, first + some - 1, step);
    }
    parallel(parts_of(n, WIDTH<W>), rows_grain(n * n, WIDTH<W> / 4), [&](I begin, I end) {
        Aligned<W> strip(n * WIDTH<W>), memory(WIDTH<W> * WIDTH<W>);
        for (I left = begin * WIDTH<W>; left < std::min(n, end * WIDTH<W>); left += WIDTH<W>) {
            I some = some_of(n, left, WIDTH<W>);
            in_strips<W>(Matrix<W>{rows + left * n, n, some, 1, n}, strip.data());
            for (const Reflections<W>& block : blocks) block.apply(strip.data(), memory.data());
            out_of_rows(strip.data(), WIDTH<W>, W(1), to + left, n, some, n, I(1));
        }
    });
}

// Eigenvalues, ascending, and eigenvectors of symmetric matrices, of which one triangle is read; whether none are found.
template <class W> void symmetric_eigenvectors(Seen<W> a, Out<W> values, Out<W> vectors, Out<std::int32_t> failed, bool lower) {
    int d = a.ndim;
    require(d > 1 && same_shape(a, vectors) && a.dim(d - 2) == a.dim(d - 1), "the vectors have another shape");
    I n = a.dim(d - 1), count = a.span(0, d - 2), step = whole_vectors<W>(n);
    require(values.size == count * n && failed.size == count, "there is no place for the values");
    if (n) parallel(count, 1, [&](I begin, I end) {
        Aligned<W> reflections(step * step), factors(n), e(n), rows;
        for (I i = begin; i < end; i++) {
            Matrix<W> from = matrix_of(a, i);
            W* own = values.data + i * n;
            W unit = lower_rows(lower ? from : from.turned(), reflections.data(), step);
            failed[i] = unit == 0;
            if (failed[i]) continue;
            Reduction<W>{reflections.data(), n, step}.run(own, e.data(), factors.data());
            rows.assign(n * n, W(0));
            Halving<W> halving{n, own, e.data(), rows.data()};
            halving.run();
            failed[i] = halving.failed;
            for (I k = 0; k < n; k++) own[k] *= unit;
            turn_back(reflections.data(), factors.data(), step, rows.data(), vectors.data + i * n * n, n);
        }
    });
}

}  // namespace

KERNELS({"symmetric_eigenvectors", bind<symmetric_eigenvectors<float>, symmetric_eigenvectors<double>>})
