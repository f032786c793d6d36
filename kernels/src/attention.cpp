// Attention without the matrix of scores: some queries meet some keys at a time, and what is kept of
// their scores is one number for each query, the logarithm of the sum of exponentials. The gradients
// find the scores again from it.
#include <vector>

#include "binding.hpp"
#include "maths.hpp"
#include "products.hpp"

namespace {

// That meet at a time; KEYS is a multiple of every strip's width.
constexpr I QUERIES = 64, CAUSAL_QUERIES = 32, KEYS = 128;
constexpr I SHARED = 512;              // queries for which keys and values are copied once
constexpr I FEW = 16;                  // pairs of a query and a key for which they are not worth copying

// Scores that are hidden are minus infinity.
template <class T> struct Task {
    using W = Wide<T>;
    Seen<T> query, key, value;
    MaybeSeen<T> added;    // to the scores
    MaybeSeen<bool> shown;
    bool causal;
    W scale;
    int lead;  // dimensions before the last two
    I heads, queries, keys, width, depth, at_once;

    Task(const Seen<T>& query, const Seen<T>& key, const Seen<T>& value, const MaybeSeen<T>& added,
         const MaybeSeen<bool>& shown, bool causal, double scale)
        : query(query), key(key), value(value), added(added), shown(shown), causal(causal), scale(W(scale)), lead(query.ndim - 2) {
        require(lead >= 0 && key.ndim == query.ndim && value.ndim == query.ndim, "the arrays have different ranks");
        heads = query.span(0, lead), queries = query.dim(lead), keys = key.dim(lead);
        width = query.dim(lead + 1), depth = value.dim(lead + 1);
        at_once = causal ? CAUSAL_QUERIES : QUERIES;
        require(key.dim(lead + 1) == width && value.dim(lead) == keys, "queries, keys and values do not fit");
        for (int d = 0; d < lead; d++)
            require(key.dim(d) == query.dim(d) && value.dim(d) == query.dim(d), "there are other heads");
        require(fits(added) && fits(shown), "the mask has another shape");
    }
    template <class A> bool fits(const A& mask) const {
        if (!mask) return true;
        if (mask.ndim != query.ndim || mask.dim(lead) != queries || mask.dim(lead + 1) != keys) return false;
        for (int d = 0; d < lead; d++)
            if (mask.dim(d) != query.dim(d)) return false;
        return true;
    }
    I seen(I last) const { return causal ? std::min(keys, last) : keys; }  // by the queries before the last one
    I rows_at_once() const { return std::min(at_once, queries); }
    I work(I rows) const { return std::max<I>(1, rows * keys * std::max<I>(1, (width + depth) / 8)); }

    // The scores of some queries, scaled, and some keys, which lie in strips.
    void scores(I head, const Matrix<W>& scaled, I first, const W* key_strips, I start, I count, W* to, I step) const {
        by_strips(scaled, key_strips + start * width, count, width * WIDTH<W>, to, step, false);
        hide(head, first, scaled.rows, start, count, to, step);
    }
    // Adds to scores, and hides some.
    void hide(I head, I first, I rows, I start, I count, W* to, I step) const {
        for (I i = 0; i < rows; i++) {
            W* row = to + i * step;
            if (causal)
                for (I j = std::max<I>(0, first + i + 1 - start); j < count; j++) row[j] = -std::numeric_limits<W>::infinity();
            if (added) {
                I right = added.step(lead + 1);
                const T* p = added.part(head, lead) + (first + i) * added.step(lead) + start * right;
                for (I j = 0; j < count; j++) row[j] += wide(p[j * right]);
            }
            if (shown) {
                I right = shown.step(lead + 1);
                const bool* p = shown.part(head, lead) + (first + i) * shown.step(lead) + start * right;
                for (I j = 0; j < count; j++) row[j] = p[j * right] ? row[j] : -std::numeric_limits<W>::infinity();
            }
        }
    }
};

template <class T> Matrix<T> rows_of(const Matrix<T>& m, I first, I count) {
    return {m.data + first * m.down, count, m.columns, m.down, m.right};
}

// Products with rows that lie where they lie, each in one piece: of rows by rows, and of numbers by rows.
template <class T, class W> void by_rows(const Matrix<W>& a, const Matrix<T>& rows, W* to, I step) {
    for (I i = 0; i < a.rows; i++)
        for (I j = 0; j < rows.rows; j++) {
            const W* p = a.data + i * a.down;
            const T* q = rows.data + j * rows.down;
            to[i * step + j] = summed<W>(a.columns, [=](I k) INLINE_LAMBDA { return p[k] * wide(q[k]); });
        }
}
template <class T, class W> void add_rows(const Matrix<W>& a, const Matrix<T>& rows, W* to, I step) {
    for (I i = 0; i < a.rows; i++)
        for (I j = 0; j < rows.rows; j++) {
            W factor = a.data[i * a.down + j], *p = to + i * step;
            const T* q = rows.data + j * rows.down;
            SIMD for (I k = 0; k < rows.columns; k++) p[k] += factor * wide(q[k]);
        }
}

template <class T, class W = Wide<T>>
void attention(Seen<T> query, Seen<T> key, Seen<T> value, MaybeSeen<T> added, MaybeSeen<bool> shown, Filled<T> out, Out<W> sums,
               bool causal, double scale) {
    Task<T> task(query, key, value, added, shown, causal, scale);
    I width = task.width, depth = task.depth, queries = task.queries, n = task.lead;
    require(out.ndim == n + 2 && out.dim(int(n)) == queries && out.dim(int(n) + 1) == depth && out.span(0, int(n)) == task.heads &&
                sums.size == task.heads * queries,
            "the results have other shapes");
    I parts = (queries + SHARED - 1) / SHARED, step = whole_strips<W>(depth);
    parallel(task.heads * parts, rows_grain(task.work(std::min(queries, SHARED))), [&](I begin, I end) {
        bool few = queries * task.keys <= FEW && key.step(int(n) + 1) == 1 && value.step(int(n) + 1) == 1;
        std::vector<W> key_strips(few ? 0 : width * whole_strips<W>(task.keys)), value_strips(few ? 0 : task.keys * step);
        I most_rows = task.rows_at_once();
        std::vector<W> scaled(most_rows * width), scores(most_rows * KEYS), totals(most_rows * step);
        for (I unit = begin; unit < end; unit++) {
            I head = unit / parts, start = unit % parts * SHARED, stop = std::min(queries, start + SHARED);
            Matrix<T> q = matrix_of(query, head), k = matrix_of(key, head), v = matrix_of(value, head);
            I most = task.seen(stop);
            if (!few) {
                in_strips<W>(rows_of(k, 0, most).turned(), key_strips.data());
                in_strips<W>(rows_of(v, 0, most), value_strips.data());
            }
            T* to = out.part(head, int(n));
            I down = out.step(int(n)), right = out.step(int(n) + 1);
            for (I first = start; first < stop; first += task.at_once) {
                I rows = std::min(task.at_once, stop - first), seen = task.seen(first + rows);
                Matrix<W> some = in_rows(rows_of(q, first, rows), task.scale, scaled.data());
                W top[QUERIES], sum[QUERIES];
                std::fill(top, top + rows, -std::numeric_limits<W>::infinity());
                std::fill(sum, sum + rows, W(0));
                std::fill(totals.begin(), totals.begin() + rows * step, W(0));
                for (I from = 0; from < seen; from += KEYS) {
                    I count = std::min(KEYS, seen - from);
                    if (few) {
                        by_rows(some, rows_of(k, from, count), scores.data(), KEYS);
                        task.hide(head, first, rows, from, count, scores.data(), KEYS);
                    } else task.scores(head, some, first, key_strips.data(), from, count, scores.data(), KEYS);
                    I whole = whole_strips<W>(count);  // what is hidden behind the last key makes for whole vectors
                    for (I i = 0; i < rows; i++) {
                        W* row = scores.data() + i * KEYS;
                        std::fill(row + count, row + whole, -std::numeric_limits<W>::infinity());
                        W high = std::max(top[i], largest<W>(whole, [=](I j) { return row[j]; }));
                        W base = high == -std::numeric_limits<W>::infinity() ? W(0) : high;
                        W found = summed<W>(whole, [=](I j) { return row[j] = falling_exp(row[j] - base); });
                        W kept = from ? falling_exp(top[i] - base) : W(0);
                        if (from && kept != 1) SIMD for (I j = 0; j < step; j++) totals[i * step + j] *= kept;
                        sum[i] = sum[i] * kept + found;
                        top[i] = high;
                    }
                    Matrix<W> weights{scores.data(), rows, count, KEYS, 1};
                    if (few) add_rows(weights, rows_of(v, from, count), totals.data(), step);
                    else by_strips(weights, value_strips.data() + from * WIDTH<W>, depth, most * WIDTH<W>, totals.data(), step, from > 0);
                }
                for (I i = 0; i < rows; i++) {
                    out_of_rows(totals.data() + i * step, step, sum[i] == 0 ? W(0) : 1 / sum[i], to + (first + i) * down, 1, depth,
                                down, right);
                    sums[head * queries + first + i] = top[i] + std::log(sum[i]);
                }
            }
        }
    });
}

template <class T, class W> void write(const W* from, I step, const Filled<T>& out, I head, I first, I rows, W factor) {
    int n = out.ndim - 2;
    I down = out.step(n);
    out_of_rows(from, step, factor, out.part(head, n) + first * down, rows, out.dim(n + 1), down, out.step(n + 1));
}

template <class T, class W = Wide<T>>
void attention_gradients(Seen<T> g, Seen<T> query, Seen<T> key, Seen<T> value, Seen<T> output, In<W> sums, MaybeSeen<T> added,
                         MaybeSeen<bool> shown, Filled<T> of_query, Filled<T> of_key, Filled<T> of_value, bool causal, double scale) {
    Task<T> task(query, key, value, added, shown, causal, scale);
    I width = task.width, depth = task.depth, queries = task.queries, keys = task.keys, n = task.lead;
    require(same_shape(query, of_query) && same_shape(key, of_key) && same_shape(value, of_value) && same_shape(g, output) &&
                g.ndim == n + 2 && g.dim(int(n)) == queries && g.dim(int(n) + 1) == depth && g.span(0, int(n)) == task.heads &&
                sums.size == task.heads * queries,
            "the arrays have other shapes");
    I wide_step = whole_strips<W>(width), deep_step = whole_strips<W>(depth), long_step = whole_strips<W>(keys);
    parallel(task.heads, rows_grain(2 * task.work(queries)), [&](I begin, I end) {
        std::vector<W> turned_keys(width * long_step), turned_values(depth * long_step), key_strips(keys * wide_step);
        I most_rows = task.rows_at_once();
        std::vector<W> key_sums(keys * wide_step), value_sums(keys * deep_step), query_sums(most_rows * wide_step);
        std::vector<W> scaled(most_rows * width), slopes(most_rows * depth);
        std::vector<W> query_strips(most_rows * wide_step), slope_strips(most_rows * deep_step);
        std::vector<W> weights(most_rows * KEYS), products(most_rows * KEYS);
        for (I head = begin; head < end; head++) {
            Matrix<T> q = matrix_of(query, head), k = matrix_of(key, head), v = matrix_of(value, head);
            Matrix<T> slope = matrix_of(g, head), o = matrix_of(output, head);
            I most = task.seen(queries);
            in_strips<W>(rows_of(k, 0, most).turned(), turned_keys.data());
            in_strips<W>(rows_of(v, 0, most).turned(), turned_values.data());
            in_strips<W>(rows_of(k, 0, most), key_strips.data());
            std::fill(key_sums.begin(), key_sums.end(), W(0));
            std::fill(value_sums.begin(), value_sums.end(), W(0));
            for (I first = 0; first < queries; first += task.at_once) {
                I rows = std::min(task.at_once, queries - first), seen = task.seen(first + rows);
                Matrix<W> some = in_rows(rows_of(q, first, rows), task.scale, scaled.data());
                Matrix<W> own = in_rows(rows_of(slope, first, rows), W(1), slopes.data());
                in_strips<W>(some, query_strips.data());
                in_strips<W>(own, slope_strips.data());
                std::fill(query_sums.begin(), query_sums.end(), W(0));
                W base[QUERIES], along[QUERIES];
                for (I i = 0; i < rows; i++) {
                    W sum = sums[head * queries + first + i];
                    base[i] = sum == -std::numeric_limits<W>::infinity() ? W(0) : sum;
                    const W* p = own.data + i * depth;
                    const T* r = o.data + (first + i) * o.down;
                    I right = o.right;
                    along[i] = summed<W>(depth, [=](I j) { return p[j] * wide(r[j * right]); });
                }
                for (I from = 0; from < seen; from += KEYS) {
                    I count = std::min(KEYS, seen - from);
                    Matrix<W> p{weights.data(), rows, count, KEYS, 1}, d{products.data(), rows, count, KEYS, 1};
                    task.scores(head, some, first, turned_keys.data(), from, count, weights.data(), KEYS);
                    by_strips(own, turned_values.data() + from * depth, count, depth * WIDTH<W>, products.data(), KEYS, false);
                    I whole = whole_strips<W>(count);
                    for (I i = 0; i < rows; i++) {
                        W *weight = weights.data() + i * KEYS, *product = products.data() + i * KEYS;
                        W shift = base[i], mean = along[i];
                        SIMD for (I j = 0; j < whole; j++) {
                            weight[j] = exp_(weight[j] - shift);
                            product[j] = weight[j] * (product[j] - mean);
                        }
                    }
                    by_strips(p.turned(), slope_strips.data(), depth, rows * WIDTH<W>, value_sums.data() + from * deep_step, deep_step, true);
                    by_strips(d.turned(), query_strips.data(), width, rows * WIDTH<W>, key_sums.data() + from * wide_step, wide_step, true);
                    by_strips(d, key_strips.data() + from * WIDTH<W>, width, most * WIDTH<W>, query_sums.data(), wide_step, true);
                }
                write(query_sums.data(), wide_step, of_query, head, first, rows, task.scale);
            }
            write(key_sums.data(), wide_step, of_key, head, 0, keys, W(1));
            write(value_sums.data(), deep_step, of_value, head, 0, keys, W(1));
        }
    });
}

}  // namespace

KERNELS({"attention", FOR_FLOATS(attention)}, {"attention_gradients", FOR_FLOATS(attention_gradients)})
