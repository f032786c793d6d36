// Elements that a mask keeps, or replaces by zeros, bit by bit and whatever they are.
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

}  // namespace

KERNELS({"zeroed", FOR_FLOATS(masked, false)}, {"kept", FOR_FLOATS(masked, true)})
