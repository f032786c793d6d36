// Vectors as wide as the processor has them, and how many of them it holds at a time.
#pragma once
#include <new>
#include <vector>

#include "arrays.hpp"

#if defined(__AVX512F__)
constexpr int VECTOR_BYTES = 64, MOST_ROWS = 8, COLUMNS = 3;
#elif defined(__AVX__)
constexpr int VECTOR_BYTES = 32, MOST_ROWS = 4, COLUMNS = 2;
#else
constexpr int VECTOR_BYTES = 16, MOST_ROWS = 4, COLUMNS = 2;
#endif
// Loops over registers.
#define UNROLLED _Pragma("GCC unroll 16")

template <class W> struct Vector {
    typedef W type __attribute__((vector_size(VECTOR_BYTES)));
    static constexpr I lanes = VECTOR_BYTES / I(sizeof(W));
};
template <class W> using V = typename Vector<W>::type;
template <class W> constexpr I LANES = Vector<W>::lanes;
template <class W> INLINE V<W> loaded(const W* from) {
    V<W> v;
    std::memcpy(&v, from, sizeof v);
    return v;
}
template <class W> INLINE void stored(W* to, V<W> v) { std::memcpy(to, &v, sizeof v); }
// In a register, where a compiler would rather load it again for each use.
template <class V> INLINE V kept(V v) {
#if defined(__x86_64__)
    asm("" : "+v"(v));
#elif defined(__aarch64__)
    asm("" : "+w"(v));
#endif
    return v;
}
// How many elements there are up to the next line of the cache.
template <class T> INLINE I up_to_line(const T* p) { return I(-reinterpret_cast<std::uintptr_t>(p) % 64 / sizeof(T)); }
// f(start, stop) on the elements of `to` before its first whole line, and on all others: of those no vector is
// written to two lines.
template <class T, class F> INLINE void by_lines(const T* to, I begin, I end, F&& f) {
    for (I start = begin, stop = std::min(end, begin + up_to_line(to + begin)); start < end; start = stop, stop = end) f(start, stop);
}
template <class W> I whole_vectors(I n) { return (n + LANES<W> - 1) / LANES<W> * LANES<W>; }

// Memory that begins with a line of the cache: no vector of it lies on two lines.
template <class W> struct Lines {
    using value_type = W;
    Lines() = default;
    template <class U> Lines(const Lines<U>&) {}
    W* allocate(std::size_t n) { return static_cast<W*>(::operator new(n * sizeof(W), std::align_val_t(64))); }
    void deallocate(W* memory, std::size_t) { ::operator delete(memory, std::align_val_t(64)); }
    template <class U> bool operator==(const Lines<U>&) const { return true; }
    template <class U> bool operator!=(const Lines<U>&) const { return false; }
};
template <class W> using Aligned = std::vector<W, Lines<W>>;
// The same, with whatever was there before.
template <class W> struct UnsetLines : Lines<W> {
    UnsetLines() = default;
    template <class U> UnsetLines(const UnsetLines<U>&) {}
    template <class U> void construct(U* place) { ::new (static_cast<void*>(place)) U; }
};
template <class W> using Unset = std::vector<W, UnsetLines<W>>;
