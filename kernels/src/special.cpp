// Special functions, most of them computed in double whatever their arguments are. The coefficients are
// Chebyshev fits made for this file; those in double for float alone leave an error of 1e-9 or less.
#include "special.hpp"

namespace {

// The logarithm of the odds x / (1 - x), both parts being brought to 1 + f and 1 + h: s is (f - h) / (2 + f + h).
// Where the odds are near 1 it is 2 x - 1, to all digits.
template <class T> INLINE T logit_(T x) {
    using Limits = std::numeric_limits<T>;
    constexpr bool FLOAT = sizeof(T) == 4;
    constexpr T NEAR = FLOAT ? T(1) / 3 : T(0.17);  // as far as the polynomials go
    constexpr T HI = FLOAT ? 0x1.62ep-1 : 0x1.62e42feep-1, LO = FLOAT ? 0x1.0bfbe8p-15 : 0x1.a39ef35793c76p-33;
    T other = 1 - x, centred = 2 * x - 1, f, h;
    bool subnormal = x < Limits::min(), near = std::fabs(centred) < NEAR;
    T k = exponent(subnormal ? x * T(std::uint64_t(1) << Limits::digits) : x, f) - exponent(other, h);
    k = k - (subnormal ? Limits::digits : 0);
    if constexpr (!FLOAT) {  // the quotient is brought to between sqrt(1/2) and sqrt(2) as well
        T part = f + 1, whole = h + 1, up = part > whole * T(1.4142135623730950488) ? 1 : 0;
        T down = whole > part * T(1.4142135623730950488) ? 1 : 0;
        f = part * (1 - up * T(0.5) + down) - 1, k = k + up - down;
    }
    T s = near ? centred : (f - h) / (2 + (f + h));
    k = near ? 0 : k;
    T found = k * HI + (2 * s + (s * s * s * area_tangent(s * s) + k * LO));
    found = x > 0 && x < 1 ? found : x == 0 ? -Limits::infinity() : Limits::quiet_NaN();
    return x == 1 ? Limits::infinity() : found;
}
template <class T> void logit(In<T> x, Out<T> y) {
    require(same_shape(x, y), "the result has another shape");
    parallel(x.size, GRAIN / 8, [=](I begin, I end) {
        SIMD for (I i = begin; i < end; i++) y[i] = logit_(x[i]);
    });
}
template <class T> void logit_gradient(In<T> g, In<T> x, Out<T> y) {
    require(same_shape(x, y) && same_shape(g, y), "the result has another shape");
    parallel(x.size, GRAIN, [=](I begin, I end) {
        SIMD for (I i = begin; i < end; i++) {
            // The spread is negative outside of 0 and 1. A quotient inside of the choice is not vectorised.
            T spread = x[i] * (1 - x[i]), found = g[i] / spread;
            y[i] = spread < 0 ? T(NO_NUMBER) : found;
        }
    });
}

// ---------------------------------------------------------------- the error function

INLINE double erfc_(double x) { return erfc_(Long{x, 0}); }
INLINE double erf_(double x) {
    Long rest = upper_erfc({std::fabs(x), 0});
    double most = 1 - rest.head, far = most + (1 - most - rest.head - rest.rest);
    return std::fabs(x) >= 1 ? std::copysign(far, x) : small_erf(x);
}
// For float: x times a quotient of polynomials in x², up to 4, from where on it is 1.
INLINE double short_erf(double x) {
    constexpr double above[] = {1.1283791670865231, 0.200356359716997022, 0.0581203895884189913,
                                0.00496275399380357703, 0.000513080486521734856, 0.0000217910689812162458,
                                7.52809187569634954e-7, 3.00444174668209438e-9};
    constexpr double below[] = {1.0, 0.510894533570430492, 0.121806035752537459, 0.0177201959186921932,
                                0.00171538274168813759, 0.00011152864521552074, 4.51967901819422428e-6,
                                7.32953788774382267e-8};
    double c = x > 4 ? 4 : x;
    c = c < -4 ? -4 : c;
    return c * polynomial(c * c, above) / polynomial(c * c, below);
}
// For float: exp(a²) erfc(a) for a from 0.5 on.
INLINE double short_scaled_erfc(double a) {
    constexpr double scaled[] = {1.25300805798973802, -0.135621109014518525, -0.0475622598724357587,
                                 0.129645258217316803, -0.119274377770416872, 0.068307189123279854,
                                 -0.0237649295245518286, 0.0025312383336561157, 0.00186845758606324618,
                                 -0.000776015646343441149, -0.0000706934728778828973, 0.000106032206044027202,
                                 -0.0000176808665333728876};
    double below = 1 / ((a + 3) * (1 + 2 * a)), t = (a - 3) * (1 + 2 * a) * below;
    return (a + 3) * below * polynomial(t, scaled);
}
// For float, whose square is exact.
INLINE double short_erfc(double x) {
    constexpr double near[] = {1.12837916708240948,    -0.37612638525650692,   0.112837740131795381,
                               -0.0268631430322493867, 0.00520041372433549267, -0.000769453427914230718};
    double a = std::fabs(x);
    a = a > 28 ? 28 : a;
    double s = a * a, far = exp_(-s) * short_scaled_erfc(a);
    far = x < 0 ? 2 - far : far;
    return a >= 0.5 ? far : 1 - x * polynomial(s, near);
}
template <class T> INLINE double erfc_of(double x) { return sizeof(T) == 4 ? short_erfc(x) : erfc_(x); }
INLINE double erfcx_(double x) {
    double a = std::fabs(x), c = a > 28 ? 28 : a;
    double growth = exact_exp(product(c, c)), near = growth * (1 - small_erf(x)), far = rounded(scaled_erfc(a));
    far = a > 1e150 ? 0.56418958354775628695 / a : far;
    far = x < 0 ? 2 * growth - far : far;
    return a >= 0.5 ? far : near;
}
// Below -1 the logarithm of the scaled function; above, that of one minus the other side's probability.
INLINE double log_ndtr_(double x) {
    Long v = over_root_two(x);
    double other = 0.5 * erfc_(v), of = x < -1 ? 0.5 * rounded(scaled_erfc(-v.head)) : 1 - other, found = log_(of);
    return x < -1 ? found - 0.5 * x * x : -((other - (1 - of)) / of - found);
}
// Its slope: below -1 by the scaled function alone, above by the density over the probability.
template <bool FLOAT> INLINE double log_ndtr_slope(double x) {
    constexpr double ROOT_OF_HALF = 0.70710678118654752440, LOW = 0.79788456080286535588, DENSITY = 0.39894228040143267794;
    double c = x > 40 ? 40 : x;  // where it is 0
    Long square = product(c, c);
    double bell = FLOAT ? exp_(-0.5 * square.head) : exact_exp({-0.5 * square.head, -0.5 * square.rest});
    double below = 0.5 * (FLOAT ? short_erfc(-c * ROOT_OF_HALF) : erfc_(over_root_two(-c)));
    double a = -c * ROOT_OF_HALF, scaled = FLOAT ? short_scaled_erfc(a) : rounded(scaled_erfc(a));
    double low = a > 1e150 ? -c : LOW / scaled;
    return x < -1 ? low : DENSITY * bell / below;
}
template <class T> void log_ndtr_gradient(In<T> g, In<T> x, Out<T> y) {
    require(same_shape(x, y) && same_shape(g, y), "the result has another shape");
    parallel(x.size, GRAIN / 16, [=](I begin, I end) {
        SIMD for (I i = begin; i < end; i++) y[i] = T(g[i] * log_ndtr_slope<sizeof(T) == 4>(x[i]));
    });
}
// With w = -log(1 - x²) it is x times a polynomial in w up to 6, and another one from there on, for double in the
// square root of w.
constexpr double ERFINV_CENTRE[] = {0.88622692569609655, 0.232013652961094814, 0.0115494623963473144,
                                        -0.00233549967775734661, -0.000127412275675631007, 0.0000461034912565176269,
                                        2.17908841659954406e-6, -9.49159090083753828e-7, -1.2203597375135853e-7,
                                        6.11315553882816294e-8, -8.49224289771251016e-9, 5.57342907800177182e-10,
                                        -1.48549089551891173e-11};
template <bool FLOAT> INLINE Long long_erfinv(double x) {
    constexpr double tail[] = {0.923018001858423303, 0.183005470576921967, 0.0405482602442393125,
                               -0.0121983506454223315, 0.00192939290291903126, -0.000204571711330485712,
                               0.0000153537501419163915, -8.23408410778521649e-7, 3.10065169107690824e-8,
                               -7.81134530143737333e-10, 1.18439058602164254e-11, -8.18227518069764876e-14};
    constexpr double long_centre[] = {1.623542006464829922, 0.7248912124984749210, -0.05164321698905351104,
                                      -0.02257690797655647025, 0.01579996727750407220, -0.003090090701080893196,
                                      -0.001274293528373912178, 0.0009841181239339127496, -0.0001554217340012598357,
                                      -0.0001076104736598712320, 6.559148158762430832e-5, -5.566984073222505463e-6,
                                      -9.209109135698595064e-6, 4.303132138601613739e-6, 2.963488183520967960e-8,
                                      -7.596720096329072761e-7, 2.728438549847160025e-7, 3.560275732652814425e-8,
                                      -6.295229449811261321e-8, 1.481548266810331276e-8, 7.107784741290520180e-9,
                                      -4.037219137526156439e-9, -3.186875254077468461e-10,
                                      3.979505522025604930e-10};
    constexpr double long_tail[] = {4.091965749362155360, 1.818217918301656453, 0.002311472774307548220,
                                    -0.003548009249196266803, 0.002229472703518938439, -0.001218754380282051539,
                                    0.0007488494081751644713, -0.0006256681471284515274, 0.0006414979017015297216,
                                    -0.0006385237268987291523, 0.0005333403500668863547, -0.0003318647082946500335,
                                    0.0001079696801368884426, 5.372894861730700579e-5, -0.0001132533679513572334,
                                    9.067972266386917852e-5, -3.769752105740435896e-5, -3.577746303528933643e-6,
                                    1.898176221555324158e-5, -1.435400912011925602e-5, 3.422745141039986888e-6,
                                    1.883309209021474220e-6, -8.848308738916450984e-7, 1.398530459941903853e-7,
                                    -8.925687429199102065e-7, 5.168017928673041457e-7, 3.093939471473258988e-7,
                                    -2.473089457788320279e-7, -2.398076875805939770e-8, 3.124612021922081294e-8};
    double a = std::fabs(x), rest = (1 - a) * (1 + a), w = FLOAT ? -short_log(rest) : -log_(rest), near, far;
    if constexpr (FLOAT) near = polynomial(w, ERFINV_CENTRE), far = polynomial(w, tail);
    else near = polynomial(w * (1. / 3) - 1, long_centre),
         far = polynomial((std::sqrt(w) - 4.249744871391589) * 0.555476823317257, long_tail);
    double y = a * (w > 6 ? far : near), step = 0, found = y;
    if constexpr (!FLOAT) {  // a step of Newton's gives back what the roundings took
        Long beyond = upper_erfc({y, 0});
        double off = y < 0.5 ? a - y - y * erf_beyond(y * y) : beyond.head - (1 - a) + beyond.rest;
        step = off * 0.88622692545275801365 * exp_(y * y);
        found = y + step;
    }
    double less = a < 1 ? y - found + step : 0;
    found = a < 1 ? found : a == 1 ? INFINITE : NO_NUMBER;
    return {x < 0 ? -found : found, x < 0 ? -less : less};
}
template <bool FLOAT> INLINE double erfinv_(double x) { return long_erfinv<FLOAT>(x).head; }
template <class T> void erf(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA { return sizeof(T) == 4 ? short_erf(v) : erf_(v); });
}
template <class T> void erfcx(In<T> x, Out<T> y) { each(x, y, [](double v) INLINE_LAMBDA { return erfcx_(v); }); }
template <class T> void log_ndtr(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA { return log_ndtr_(v); });
}
template <class T> void erfinv(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA { return erfinv_<sizeof(T) == 4>(v); });
}
// For float: with w = -log(4 p (1 - p)) the same, times the root of 2; from 6 on sqrt(w) by a polynomial in 1 / sqrt(w).
INLINE double ndtri_(double p) {
    constexpr double tail[] = {1.4093185082294668, 0.378442379469581813, -16.7142282743234141, 334.490065142377603,
                               -4895.5415463288582, 52319.2533559860385, -416801.63644938916, 2513601.13094834285,
                               -11556808.4548878409, 40483947.1356419921, -107129828.978740275, 210271731.850502431,
                               -296345387.928975523, 283204040.929170907, -164195043.82506901, 43572061.174730584};
    double rest = 4 * p * (1 - p), w = -short_log(rest), root = std::sqrt(w), x = std::fabs(2 * p - 1);
    double y = x * (w > 6 ? root * polynomial(1 / root, tail) : 1.41421356237309504880 * polynomial(w, ERFINV_CENTRE));
    y = p > 0 && p < 1 ? y : p == 0 || p == 1 ? INFINITE : NO_NUMBER;
    return p < 0.5 ? -y : y;
}
// For double: the same, to the smallest numbers there are, and one step of Halley's.
INLINE double long_ndtri(double p) {
    constexpr double tail[] = {1.41426124822937966, -0.0123637735588403735, -2.56739642734169459, 23.587935865478175,
                               -257.681527315516681, 2582.04413286980099, -20675.7511442737259, 127478.533254442147,
                               -593951.979417567285, 2053234.96493364528, -5132132.20397736319, 8891874.41941170048,
                               -9873768.84094287845, 5838374.38706189489, -651846.670133830403, -726198.933791702072};
    double q = p < 0.5 ? p : 1 - p, w = -log_(4 * q * (1 - q)), root = std::sqrt(w), x = std::fabs(2 * p - 1);
    double y = x * (w > 6 ? root * polynomial(1 / root, tail) : 1.41421356237309504880 * polynomial(w, ERFINV_CENTRE));
    Long v = over_root_two(y), scaled = scaled_erfc(v.head);
    constexpr double ROOT_TWO_PI = 2.50662827463100050242, TWO_TO_200 = 0x1p200, ITS_LOG = 138.6294361119890618835;
    double a = v.head, more = SLOPE_OF_ERF * v.rest;
    bool tiny = q < 0x1p-900;  // whose inverse may be too large
    Long square = product(a, a), growth = long_exp({square.head - (tiny ? ITS_LOG : 0), square.rest});
    Long own = product(tiny ? q * TWO_TO_200 : q, growth.head);
    double far = (0.5 * scaled.head - own.head) + (0.5 * (scaled.rest - more) - own.rest - q * growth.rest);
    double near = 0.5 * (x - a - a * erf_beyond(a * a) - more) * growth.head;
    double off = ROOT_TWO_PI * (a >= 0.5 ? far : near);
    y = y + off / (1 - 0.5 * off * y);
    y = p > 0 && p < 1 ? y : p == 0 || p == 1 ? INFINITE : NO_NUMBER;
    return p < 0.5 ? -y : y;
}
template <class T> void ndtri(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA { return sizeof(T) == 4 ? ndtri_(v) : long_ndtri(v); });
}
// Half the root of pi times exp(y²), y being erfinv(x). With w as above it is a function that varies little
// over exp(-w), which is 1 - x²: for float nothing has to be inverted, and nothing is lost near 1.
INLINE double erfinv_slope(double x) {
    Long y = long_erfinv<false>(x), square = product(y, y);
    bool inner = std::fabs(x) < 1;  // elsewhere there is no rest
    double found = 0.88622692545275801365 * exact_exp({square.head, inner ? square.rest : 0});
    return x != x ? x : inner || std::fabs(x) == 1 ? found : NO_NUMBER;
}
INLINE float erfinv_slope(float x) {
    constexpr float centre[] = {0.576032803f, -0.0778444462f, 0.0125169129f, -0.00175780353f, 0.000200409155f,
                                -1.76691336e-05f, 1.15990683e-06f, -6.83909007e-08f, 5.04760967e-09f};
    constexpr float tail[] = {0.310273519f, -0.0143207867f, 0.000966233673f, -7.12460885e-05f, 5.42211844e-06f,
                              -4.14172975e-07f, 3.08241718e-08f, -2.18364417e-09f, 1.5415528e-10f, -1.03670409e-11f,
                              4.06360754e-13f};
    float a = std::fabs(x), rest = (1 - a) * (1 + a), f, k = exponent(rest, f), s = f / (2 + f);
    float w = -(k * 0.693147181f + (2 * s + s * s * s * area_tangent(s * s)));
    float y = (w > 5 ? polynomial(w - 10.5f, tail) : polynomial(w - 2.5f, centre)) / rest;
    return a < 1 ? y : a == 1 ? float(INFINITE) : float(NO_NUMBER);
}
template <class T> void erfinv_gradient(In<T> g, In<T> x, Out<T> y) {
    require(same_shape(x, y) && same_shape(g, y), "the result has another shape");
    parallel(x.size, GRAIN / 16, [=](I begin, I end) {
        SIMD for (I i = begin; i < end; i++) y[i] = g[i] * erfinv_slope(x[i]);
    });
}
template <class T> void erfc(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA { return erfc_of<T>(v); });
}
template <class T> void ndtr(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA {
        return 0.5 * (sizeof(T) == 4 ? short_erfc(v * -0.70710678118654752440) : erfc_(over_root_two(-v)));
    });
}
template <class T> void entr(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA {
        double found = -v * (sizeof(T) == 4 ? short_log(v) : log_(v));
        return v < 0 ? -INFINITE : v == 0 ? 0 : v == INFINITE ? -v : found;
    });
}

// ---------------------------------------------------------------- orthogonal polynomials

// Degree n of a family whose degree 0 is 1, degree 1 is first(x), and degree k + 1 is step(k, x, q, p) of
// degrees k and k - 1, which are kept for a block of numbers.
template <class T, class First, class Step> void by_recurrence(In<T> x, Out<T> y, I n, First first, Step step) {
    parallel(x.size, GRAIN / (n + 1), [=](I begin, I end) {
        constexpr I BLOCK = 512;
        T before[BLOCK];
        for (I start = begin; start < end; start += BLOCK) {
            I count = std::min(BLOCK, end - start);
            const T* from = x.data + start;
            T *p = before, *q = y.data + start;
            SIMD for (I i = 0; i < count; i++) {
                p[i] = 1;
                q[i] = n ? first(from[i]) : T(1);
            }
            for (I k = 1; k < n; k++)
                SIMD for (I i = 0; i < count; i++) {
                    T next = step(T(k), from[i], q[i], p[i]);
                    p[i] = q[i];
                    q[i] = next;
                }
        }
    });
}
template <class T> void orthogonal(In<T> x, Out<T> y, I n, I family) {
    require(same_shape(x, y), "the result has another shape");
    require(n >= 0 && family >= 0 && family < 8, "no such polynomial");
    auto doubled = [](T, T x, T q, T p) INLINE_LAMBDA { return (x + x) * q - p; };
    T factor = family ? T(2) : T(1), offset = family == 2 ? T(-1) : family == 3 ? T(1) : T(0);  // t, u, v and w
    if (family < 4)
        by_recurrence(x, y, n, [=](T x) INLINE_LAMBDA { return x * factor + offset; }, doubled);
    else if (family == 4)
        by_recurrence(x, y, n, [](T x) INLINE_LAMBDA { return x + x; },
                      [](T k, T x, T q, T p) INLINE_LAMBDA { return 2 * (x * q - k * p); });
    else if (family == 5)
        by_recurrence(x, y, n, [](T x) INLINE_LAMBDA { return x; },
                      [](T k, T x, T q, T p) INLINE_LAMBDA { return x * q - k * p; });
    else if (family == 6)
        by_recurrence(x, y, n, [](T x) INLINE_LAMBDA { return 1 - x; },
                      [](T k, T x, T q, T p) INLINE_LAMBDA { return ((2 * k + 1 - x) * q - k * p) / (k + 1); });
    else
        by_recurrence(x, y, n, [](T x) INLINE_LAMBDA { return x; },
                      [](T k, T x, T q, T p) INLINE_LAMBDA { return ((2 * k + 1) * x * q - k * p) / (k + 1); });
}

}  // namespace

KERNELS({"erf", bind<erf<float>, erf<double>>}, {"erfc", bind<erfc<float>, erfc<double>>},
        {"erfcx", bind<erfcx<float>, erfcx<double>>}, {"erfinv", bind<erfinv<float>, erfinv<double>>},
        {"log_ndtr", bind<log_ndtr<float>, log_ndtr<double>>},
        {"log_ndtr_gradient", bind<log_ndtr_gradient<float>, log_ndtr_gradient<double>>}, {"logit", bind<logit<float>, logit<double>>},
        {"logit_gradient", bind<logit_gradient<float>, logit_gradient<double>>},
        {"ndtri", bind<ndtri<float>, ndtri<double>>},
        {"ndtr", bind<ndtr<float>, ndtr<double>>}, {"entr", bind<entr<float>, entr<double>>},
        {"erfinv_gradient", bind<erfinv_gradient<float>, erfinv_gradient<double>>},
        {"orthogonal", bind<orthogonal<float>, orthogonal<double>>})
