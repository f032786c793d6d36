// Arrays as others of another floating dtype.
#include "binding.hpp"
#include "maths.hpp"
#include "vectors.hpp"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace {

#if defined(__F16C__)
// The processor's own conversion between float and half precision, a vector at a time.
#if defined(__AVX512F__)
constexpr I HALVES = 16;
INLINE void converted_at(const float* from, float16* to) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_maskz_cvtps_ph(__mmask16(-1), _mm512_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT)); }
INLINE void converted_at(const float16* from, float* to) { _mm512_storeu_ps(to, _mm512_maskz_cvtph_ps(__mmask16(-1), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)))); }
#else
constexpr I HALVES = 8;
INLINE void converted_at(const float* from, float16* to) { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT)); }
INLINE void converted_at(const float16* from, float* to) { _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)))); }
#endif

INLINE I up_to_whole_lines(const float* from, const float16*) { return up_to_line(from); }
INLINE I up_to_whole_lines(const float16*, const float* to) { return up_to_line(to); }

// Fewer elements than a vector has are done in one as well, so that all are rounded by the same instruction.
template <class From, class To> void few_halves(const From* from, To* to, I n) {
    if (!n) return;
    From given[HALVES] = {};
    To found[HALVES];
    std::copy_n(from, n, given);
    converted_at(given, found);
    std::copy_n(found, n, to);
}
// No vector of floats lies on two lines of the cache.
template <class From, class To> void halves(const From* from, To* to, I n) {
    I i = std::min(n, up_to_whole_lines(from, to) % HALVES);
    few_halves(from, to, i);
    for (; i + HALVES <= n; i += HALVES) converted_at(from + i, to + i);
    few_halves(from + i, to + i, n - i);
}
template <class From, class To> constexpr bool by_processor =
    (std::is_same_v<From, float> && std::is_same_v<To, float16>) || (std::is_same_v<From, float16> && std::is_same_v<To, float>);
#else
template <class From, class To> constexpr bool by_processor = false;
template <class From, class To> void halves(const From*, To*, I) {}
#endif

template <class From, class To> void converted(In<From> x, Out<To> y) {
    require(same_shape(x, y), "the result has another shape");
    parallel(x.size, GRAIN, [=](I begin, I end) {
        const From* from = x.data;
        To* to = y.data;
        if constexpr (by_processor<From, To>) return halves(from + begin, to + begin, end - begin);
        SIMD for (I i = begin; i < end; i++) {
            if constexpr (is_narrow<From> || std::is_same_v<From, float>) to[i] = narrow<To>(Wide<To>(wide(from[i])));
            else to[i] = To(from[i]);
        }
    });
}

}  // namespace

// Rounding to half precision from anything wider than float would be rounding twice.
KERNELS({"converted", bind<converted<float, float16>, converted<float, bfloat16>, converted<float, double>, converted<float16, float>,
                           converted<bfloat16, float>, converted<double, float>, converted<bool, float>, converted<bool, double>,
                           converted<std::int64_t, float>, converted<std::int64_t, double>>})
