// Work shared among threads. `parallel` and `in_parts` are all that a kernel needs of it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>

using I = std::int64_t;

int threads();            // how many a large piece of work may use
void set_threads(int n);

using Piece = void (*)(void* work, I begin, I end);
void share(I n, I chunk, void* work, Piece piece);

// Elements of simple arithmetic from which a thread is worth waking. Builds for sanitizers wake one for a few, so that
// small arrays are shared as well.
#ifndef WORTH_A_THREAD
#define WORTH_A_THREAD (1 << 15)
#endif
constexpr I GRAIN = WORTH_A_THREAD;

// f(begin, end) on pieces of 0..n of at least `grain` each, in any order and at once. So that a cache holds several,
// and whoever comes from the other end finds something there, pieces are no larger than `most`, where `grain` allows it.
template <class F> void parallel(I n, I grain, F&& f, I most = GRAIN) {
    grain = std::max<I>(grain, 1);
    int crew = int(std::max<I>(1, std::min<I>(threads(), n / grain)));
    if (crew == 1 && n <= std::max(grain, 8 * most)) {
        if (n > 0) f(I(0), n);
        return;
    }
    // Several pieces for each thread, so that one that is held up holds up nobody else.
    I chunk = std::max(grain, std::min(most, (n + 4 * crew - 1) / (4 * crew)));
    if (chunk > 64) chunk = (chunk + 63) / 64 * 64;  // no two threads write to one line of cache
    share(n, chunk, std::addressof(f), [](void* work, I begin, I end) {
        (*static_cast<std::remove_reference_t<F>*>(work))(begin, end);
    });
}

// f(part, begin, end), the parts of 0..n having `size` each: what is added up part by part is the
// same whatever the number of threads.
template <class F> void in_parts(I n, I size, F&& f) {
    I parts = (n + size - 1) / size;
    parallel(parts, 1, [&](I begin, I end) {
        for (I part = begin; part < end; part++) f(part, part * size, std::min(n, (part + 1) * size));
    });
}

// Rows of `width` elements: how many of them are worth a thread.
inline I rows_grain(I width, I cost = 1) {
    return std::max<I>(1, GRAIN / std::max<I>(1, width * cost));
}
