// Arrays as kernels see them: where they are, how large, and of which type. They lie in memory row
// by row, but for those that have strides. The binding (binding.hpp) makes them of Python's buffers and
// looks at their dtypes.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "threads.hpp"

// What a kernel was given does not fit together. Kernels check before they touch memory.
struct Refused {
    enum Kind { VALUE, INDEX } kind;
    const char* reason;
};
inline void require(bool condition, const char* reason) {
    if (!condition) throw Refused{Refused::VALUE, reason};
}
inline void require_index(bool condition, const char* reason) {
    if (!condition) throw Refused{Refused::INDEX, reason};
}

template <class T> struct Array {
    T* data = nullptr;
    I size = 0;
    int ndim = 0;
    const std::ptrdiff_t* shape = nullptr;

    explicit operator bool() const { return data != nullptr; }
    T& operator[](I i) const { return data[i]; }
    I dim(int axis) const { return shape[axis]; }
    // How many elements the dimensions from `first` up to `last` have.
    I span(int first, int last) const {
        I n = 1;
        for (int d = first; d < last; d++) n *= shape[d];
        return n;
    }
};
template <class T> struct In : Array<const T> {};     // read
template <class T> struct Maybe : Array<const T> {};  // read, or None
template <class T> struct Out : Array<T> {};          // written, and returned
template <class T> struct MaybeOut : Array<T> {};     // written where it is no None, and returned
template <class T> struct InOut : Array<T> {};        // read and written

template <class T> struct Strided : Array<T> {
    const std::ptrdiff_t* bytes = nullptr;  // from one element to the next, by dimension

    I step(int axis) const { return bytes[axis] / I(sizeof(T)); }
    // Where the part begins that has number `index` in the first `dims` dimensions.
    T* part(I index, int dims) const {
        I offset = 0;
        for (int d = dims - 1; d > 0; d--) {
            offset += index % this->shape[d] * step(d);
            index /= this->shape[d];
        }
        return this->data + (dims ? offset + index * step(0) : 0);
    }
};
template <class T> struct Seen : Strided<const T> {};       // read
template <class T> struct MaybeSeen : Strided<const T> {};  // read, or None
template <class T> struct Filled : Strided<T> {};           // written, and returned

template <class A, class B> bool same_shape(const A& a, const B& b) {
    if (a.ndim != b.ndim) return false;
    for (int d = 0; d < a.ndim; d++)
        if (a.shape[d] != b.shape[d]) return false;
    return true;
}

// ---------------------------------------------------------------- numbers stored in 16 bits

// Kernels compute with Wide<T>: float for these two, T itself for any other.
struct bfloat16 {
    std::uint16_t bits;
};
struct float16 {
    std::uint16_t bits;
};
template <class T> struct WideOf {
    using type = T;
};
template <> struct WideOf<bfloat16> {
    using type = float;
};
template <> struct WideOf<float16> {
    using type = float;
};
template <class T> using Wide = typename WideOf<T>::type;
template <class T> constexpr bool is_narrow = !std::is_same_v<T, Wide<T>>;

#define INLINE inline __attribute__((always_inline))
#define INLINE_LAMBDA __attribute__((always_inline))

template <class To, class From> INLINE To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

INLINE float wide(float x) { return x; }
INLINE double wide(double x) { return x; }
INLINE float wide(bfloat16 x) { return bits_as<float>(std::uint32_t(x.bits) << 16); }
INLINE float wide(float16 x) {
    // The exponent is moved by a product, which makes subnormal numbers right as well.
    std::uint32_t magnitude = std::uint32_t(x.bits & 0x7fff) << 13;
    std::uint32_t found = bits_as<std::uint32_t>(bits_as<float>(magnitude) * 0x1p112f);
    found = magnitude >= 0x0f800000u ? magnitude | 0x7f800000u : found;  // infinite, or no number
    return bits_as<float>(found | std::uint32_t(x.bits & 0x8000) << 16);
}

template <class T> INLINE T narrow(Wide<T> x) { return x; }
template <> INLINE bfloat16 narrow<bfloat16>(float x) {
    std::uint32_t bits = bits_as<std::uint32_t>(x);
    std::uint32_t even = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return {std::uint16_t(x != x ? (bits >> 16 & 0x8000) | 0x7fc0 : even)};
}
template <> INLINE float16 narrow<float16>(float x) {
    std::uint32_t bits = bits_as<std::uint32_t>(x), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    std::uint32_t normal = (size - (112u << 23) + 0xfff + (size >> 13 & 1)) >> 13;
    // Below the normal numbers the sum with a half has its last bit where theirs is.
    std::uint32_t small = bits_as<std::uint32_t>(bits_as<float>(size) + 0.5f) - 0x3f000000u;
    std::uint32_t found = size < 0x38800000u ? small : normal;
    found = size >= 0x477ff000u ? 0x7c00u : found;
    found = size > 0x7f800000u ? 0x7e00u : found;
    return {std::uint16_t(sign | found)};
}
