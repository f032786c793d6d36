// Elements that a mask or a triangle keeps, or replaces by zeros, bit by bit and whatever they are; choices.
#include "binding.hpp"
#include "maths.hpp"

namespace {

template <int SIZE> struct Unsigned;
template <> struct Unsigned<2> { using type = std::uint16_t; };
template <> struct Unsigned<4> { using type = std::uint32_t; };
template <> struct Unsigned<8> { using type = std::uint64_t; };

template <class T, bool KEPT> void masked(In<T> x, In<bool> mask, Out<T> y) {
    using U = typename Unsigned<sizeof(T)>::type;
    require(same_shape(x, mask) && same_shape(x, y), "the arrays have different shapes");
    parallel(x.size, GRAIN, [=](I begin, I end) {
        const T* from = x.data;
        const bool* chosen = mask.data;
        T* to = y.data;
        SIMD for (I i = begin; i < end; i++) {
            U pattern = KEPT ? U(0) - U(chosen[i]) : U(chosen[i]) - U(1);  // all ones, or none
            to[i] = bits_as<T>(U(bits_as<U>(from[i]) & pattern));
        }
    });
}

// `a` where the mask holds and `b` elsewhere, each an array or one number for all.
template <class T> void chosen(In<bool> mask, In<T> a, In<T> b, Out<T> y) {
    using U = typename Unsigned<sizeof(T)>::type;
    I n = mask.size;
    require(same_shape(mask, y), "the result has another shape");
    require((a.size == n || a.size == 1) && (b.size == n || b.size == 1), "the arrays have different sizes");
    if (!n) return;
    auto choose = [=](auto left, auto right) {
        parallel(n, GRAIN, [=](I begin, I end) {
            const bool* holds = mask.data;
            T* to = y.data;
            SIMD for (I i = begin; i < end; i++) {
                U pattern = U(0) - U(holds[i]);  // no branch, whatever the mask
                to[i] = bits_as<T>(U((bits_as<U>(left(i)) & pattern) | (bits_as<U>(right(i)) & ~pattern)));
            }
        });
    };
    auto each = [](const T* data) { return [=](I i) INLINE_LAMBDA { return data[i]; }; };
    auto same = [](const T* data) { return [x = *data](I) INLINE_LAMBDA { return x; }; };
    if (a.size == n && b.size == n) choose(each(a.data), each(b.data));
    else if (a.size == n) choose(each(a.data), same(b.data));
    else if (b.size == n) choose(same(a.data), each(b.data));
    else choose(same(a.data), same(b.data));
}

// Of every matrix what lies on one side of a diagonal, and on it.
template <class T> void triangle(In<T> x, Out<T> y, I diagonal, bool upper) {
    require(x.ndim > 1 && same_shape(x, y), "the arrays are no matrices of one shape");
    if (!x.size) return;
    I rows = x.dim(x.ndim - 2), columns = x.dim(x.ndim - 1);
    diagonal = std::min(std::max(diagonal, -rows), columns);
    parallel(x.size / columns, rows_grain(columns), [=](I begin, I end) {
        for (I row = begin; row < end; row++) {
            const T* from = x.data + row * columns;
            T* to = y.data + row * columns;
            I middle = std::min(std::max<I>(row % rows + diagonal + !upper, 0), columns);
            if (upper) {
                std::fill(to, to + middle, T{});
                std::copy(from + middle, from + columns, to + middle);
            } else {
                std::copy(from, from + middle, to);
                std::fill(to + middle, to + columns, T{});
            }
        }
    });
}

}  // namespace

KERNELS({"zeroed", FOR_FLOATS(masked, false)}, {"kept", FOR_FLOATS(masked, true)},
        {"triangle", FOR_FLOATS(triangle)}, {"chosen", bind<chosen<float>, chosen<double>>})
