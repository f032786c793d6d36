// Special functions, most of them computed in double whatever their arguments are. The coefficients are
// Chebyshev fits made for this file; those in double for float alone leave an error of 1e-9 or less.
#include "binding.hpp"
#include "maths.hpp"

namespace {

template <class T, class F> INLINE void each(In<T> x, Out<T> y, F f) {
    require(same_shape(x, y), "the result has another shape");
    parallel(x.size, GRAIN / 16, [=](I begin, I end) {
        SIMD for (I i = begin; i < end; i++) y[i] = narrow<T>(Wide<T>(f(double(wide(x[i])))));
    });
}

constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double NO_NUMBER = std::numeric_limits<double>::quiet_NaN();

// log(x) = k log(2) + log(1 + f), with s = f / (2 + f): twice the area tangent of s.
// What twice the area tangent of s has beyond 2 s, over s³, in z = s².
INLINE double area_tangent(double z) {
    constexpr double p[] = {0.666666666666666665, 0.40000000000000877,  0.285714285708036118, 0.222222223917139174,
                            0.181817956401329063, 0.153862397028146582, 0.132687731386568852, 0.130866261478401021};
    return polynomial(z, p);
}
INLINE double log_(double x) {
    bool subnormal = x < 0x1p-1022;
    double f, k = exponent(subnormal ? x * 0x1p54 : x, f) - (subnormal ? 54 : 0), s = f / (2 + f), z = s * s;
    // 2 s is f - s f, which leaves f as it is.
    double found = k * 0x1.62e42fee00000p-1 + (f - (s * (f - z * area_tangent(z)) - k * 0x1.a39ef35793c76p-33));
    found = x > 0 ? found : x == 0 ? -INFINITE : NO_NUMBER;
    return x == INFINITE ? x : found;
}
// The logarithm of the odds x / (1 - x), both parts being brought to 1 + f and 1 + h: s is (f - h) / (2 + f + h).
// Where the odds are near 1 it is 2 x - 1, to all digits.
INLINE float area_tangent(float z) {
    constexpr float p[] = {0.6666666665f, 0.4000001077f, 0.2857030572f, 0.2226471121f, 0.1746470247f, 0.2078761686f};
    return polynomial(z, p);
}
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

// erf(x) for |x| up to 1: x times a polynomial in x².
INLINE double small_erf(double x) {
    constexpr double p[] = {1.12837916709551257377,      -0.376126389031837480557,   0.112837916709548786662,
                            -0.0268661706450767932482,   0.00522397762481801446725,  -0.000854832698083378990518,
                            0.000120553311116427109225,  -0.0000149255952668311815652, 0.0000016461000484121368033,
                            -1.63503127010546950107e-7,  1.46597752740474358138e-8,  -1.13728488567916736704e-9,
                            5.95717614774891140443e-11};
    return x * polynomial(x * x, p);
}
// exp(a²) erfc(a) for a from 0.5 on: a polynomial in t = (a - 3) / (a + 3), over 1 + 2 a.
INLINE double scaled_erfc(double a) {
    constexpr double even[] = {1.25300805826972965, -0.0475622943534511257, -0.119273663415274676,
                               -0.0237705149197293497, 0.00188869037555550401, -0.000105159936509724601,
                               4.9501735605214486e-6, -7.33686426065499042e-7, 3.61113265058160541e-7,
                               -1.46421088299955684e-7, 4.40479787513383207e-8, -7.76388791793093802e-9};
    constexpr double odd[] = {-0.135621106124581205, 0.129645158702764642, 0.0683080273438264914,
                              0.00252939181882477925, -0.000779832301446208099, 0.000125099554262711179,
                              -0.0000201015087067458305, 3.47541234653355805e-6, -6.23070240469064264e-7,
                              1.10679964267452206e-7, -2.03020238950069117e-8, 3.40679934703256325e-9};
    a = a > 1e150 ? 1e150 : a;
    double below = 1 / ((a + 3) * (1 + 2 * a)), t = (a - 3) * (1 + 2 * a) * below;
    return (a + 3) * below * (polynomial(t * t, even) + t * polynomial(t * t, odd));
}
// exp(±a²), the square being taken in two parts, of which the first is exact.
template <int SIGN> INLINE double exp_of_square(double a) {
    double head = bits_as<double>(bits_as<std::uint64_t>(a) & ~std::uint64_t(0x7ffffff));
    double rest = SIGN * (a - head) * (a + head);
    return exp_(SIGN * head * head) * (1 + rest * (1 + rest * (0.5 + rest * (1. / 6))));
}
// erfc(a) for a from 0.5 on.
INLINE double upper_erfc(double a) {
    a = a > 28 ? 28 : a;  // where it is 0
    return exp_of_square<-1>(a) * scaled_erfc(a);
}
INLINE double erf_(double x) {
    double a = std::fabs(x), near = small_erf(x), far = std::copysign(1 - upper_erfc(a), x);
    return a >= 1 ? far : near;
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
INLINE double erfc_(double x) {
    double a = std::fabs(x), near = 1 - small_erf(x), far = upper_erfc(a);
    far = x < 0 ? 2 - far : far;
    return a >= 0.5 ? far : near;
}
// For float, whose square is exact.
INLINE double short_erfc(double x) {
    constexpr double near[] = {1.12837916708240948,    -0.37612638525650692,   0.112837740131795381,
                               -0.0268631430322493867, 0.00520041372433549267, -0.000769453427914230718};
    constexpr double scaled[] = {1.25300805798973802, -0.135621109014518525, -0.0475622598724357587,
                                 0.129645258217316803, -0.119274377770416872, 0.068307189123279854,
                                 -0.0237649295245518286, 0.0025312383336561157, 0.00186845758606324618,
                                 -0.000776015646343441149, -0.0000706934728778828973, 0.000106032206044027202,
                                 -0.0000176808665333728876};
    double a = std::fabs(x);
    a = a > 28 ? 28 : a;
    double s = a * a, below = 1 / ((a + 3) * (1 + 2 * a)), t = (a - 3) * (1 + 2 * a) * below;
    double far = exp_(-s) * (a + 3) * below * polynomial(t, scaled);
    far = x < 0 ? 2 - far : far;
    return a >= 0.5 ? far : 1 - x * polynomial(s, near);
}
template <class T> INLINE double erfc_of(double x) { return sizeof(T) == 4 ? short_erfc(x) : erfc_(x); }
INLINE double erfcx_(double x) {
    double a = std::fabs(x), growth = exp_of_square<1>(a > 28 ? 28 : a);
    double near = growth * (1 - small_erf(x)), far = scaled_erfc(a);
    far = a > 1e150 ? 0.56418958354775628695 / a : far;
    far = x < 0 ? 2 * growth - far : far;
    return a >= 0.5 ? far : near;
}
// Below -1 the logarithm of the scaled function; above, that of one minus the other side's probability.
INLINE double log_ndtr_(double x) {
    double v = x * 0.70710678118654752440, a = std::fabs(v);
    double other = 0.5 * (v >= 0.5 ? upper_erfc(a) : 1 - small_erf(v));
    double of = x < -1 ? 0.5 * scaled_erfc(a) : 1 - other, found = log_(of);
    return x < -1 ? found - 0.5 * x * x : -((other - (1 - of)) / of - found);
}
// With w = -log(1 - x²) it is x times a polynomial in w up to 6; for float by another one from there on, for
// double by one in the square root of w and a step that makes up for its error.
constexpr double ERFINV_CENTRE[] = {0.88622692569609655, 0.232013652961094814, 0.0115494623963473144,
                                        -0.00233549967775734661, -0.000127412275675631007, 0.0000461034912565176269,
                                        2.17908841659954406e-6, -9.49159090083753828e-7, -1.2203597375135853e-7,
                                        6.11315553882816294e-8, -8.49224289771251016e-9, 5.57342907800177182e-10,
                                        -1.48549089551891173e-11};
template <bool FLOAT> INLINE double erfinv_(double x) {
    constexpr double tail[] = {0.923018001858423303, 0.183005470576921967, 0.0405482602442393125,
                               -0.0121983506454223315, 0.00192939290291903126, -0.000204571711330485712,
                               0.0000153537501419163915, -8.23408410778521649e-7, 3.10065169107690824e-8,
                               -7.81134530143737333e-10, 1.18439058602164254e-11, -8.18227518069764876e-14};
    constexpr double long_tail[] = {-2.04656126360841403, 11.3110811591835267, -18.4546070826826523,
                                    17.621361688415107, -10.6186626040826177, 4.36228058799465996,
                                    -1.26864628523558872, 0.265076832002397022, -0.0396730142935270333,
                                    0.00416040414575448899, -0.000290790993248547387, 0.0000121819503744100575,
                                    -2.31588316545413751e-7};  // up to w = 37, with 3e-8
    double a = std::fabs(x), rest = (1 - a) * (1 + a), w = FLOAT ? -short_log(rest) : -log_(rest), far;
    if constexpr (FLOAT) far = polynomial(w, tail); else far = polynomial(std::sqrt(w), long_tail);
    double y = a * (w > 6 ? far : polynomial(w, ERFINV_CENTRE));
    if constexpr (!FLOAT) {  // one step of Halley's
        double growth = exp_(y * y) * 0.88622692545275801365;
        double off = y >= 0.5 ? (1 - a) * growth - 0.88622692545275801365 * scaled_erfc(y)
                              : (small_erf(y) - a) * growth;
        y = y - off / (1 + y * off);
    }
    y = a < 1 ? y : a == 1 ? INFINITE : NO_NUMBER;
    return x < 0 ? -y : y;
}
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
    double a = y * 0.70710678118654752440;
    constexpr double ROOT_TWO_PI = 2.50662827463100050242;
    double far = 0.5 * scaled_erfc(a) - exp_(a * a + log_(q)), near = 0.5 * (x - small_erf(a)) * exp_(a * a);
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
    double y = erfinv_<false>(x);
    return 0.88622692545275801365 * exp_(y * y);
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
    each(x, y, [](double v) INLINE_LAMBDA { return 0.5 * erfc_of<T>(v * -0.70710678118654752440); });
}
template <class T> void entr(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA {
        double found = -v * (sizeof(T) == 4 ? short_log(v) : log_(v));
        return v < 0 ? -INFINITE : v == 0 ? 0 : v == INFINITE ? -v : found;
    });
}

// ---------------------------------------------------------------- log gamma and its derivatives

// For float. Near 2 log gamma is e = x - 2 times a polynomial in e, and smaller numbers come there by one or
// two factors; from 2.5 on it is Stirling's formula. Negative ones are mirrored.
INLINE double log_gamma_(double x) {
    constexpr double near_two[] = {0.422784335098448634, 0.322467033424121899, -0.0673523010459478843,
                                   0.0205808084243834267, -0.00738555149134728451, 0.00289051054777985773,
                                   -0.00119274287131886035, 0.00050966434596422195, -0.00022327966351536557,
                                   0.0000995160982727565404, -0.0000442067410906264311, 0.0000201697870195840541,
                                   -0.0000114539435050601862, 5.31932151320478288e-6};
    constexpr double stirling[] = {0.0833333333333143923, -0.0027777777585093069, 0.000793647494420522618,
                                   -0.00059501501109803973, 0.000833922919339733442, -0.00175424273647687187,
                                   0.00419451856624609418, -0.00808557573288812271, 0.0080831661744503907};
    constexpr double sine[] = {0.999999999999949651, -1.64493406682848771, 0.811742424019472163,
                               -0.190751793760075528, 0.0261475002422049882, -0.00234403574368594815,
                               0.000142441154615096797};  // sin(pi x) / (pi x)
    double a = x < 0 ? 1 - x : x;
    double factors = a < 0.5 ? a * (a + 1) : a < 1.5 ? a : 1, e = a < 0.5 ? a : a < 1.5 ? a - 1 : a - 2;
    double log = log_(a < 2.5 ? factors : a), z = 1 / a;
    double small = e * polynomial(e, near_two) - log;
    double large = (a - 0.5) * log - a + 0.91893853320467274178 + z * polynomial(z * z, stirling);
    double found = a < 2.5 ? small : large, part = std::fabs(x - std::nearbyint(x));
    found = x < 0 ? -log_(part * polynomial(part * part, sine)) - found : found;
    return a == INFINITE ? a : found;
}
// For double the same with more terms; up to 8 numbers come near 2 by up to six factors.
INLINE double long_log_gamma(double x) {
    constexpr double even[] = {0.422784335098467139, -0.0673523010531981394, -0.00738555102866815368,
                               -0.00119275391200102263, -0.000223154750745203673, -0.0000449263511038333311,
                               -9.43845871624281117e-6, -2.0449201467015115e-6, -4.30355876035996121e-7,
                               -1.34128197585172855e-7};
    constexpr double odd[] = {0.322467033424113218, 0.020580808427784569, 0.00289051033073873699,
                              0.000509669524885309606, 0.0000994575090988939157, 0.0000205072674160577876,
                              4.37437491691513072e-6, 9.57866333411475771e-7, 2.03048067516152279e-7,
                              6.37904750761977372e-8};
    constexpr double stirling[] = {1. / 12, -1. / 360, 1. / 1260, -1. / 1680, 1. / 1188, -691. / 360360, 1. / 156,
                                   -3617. / 122400};
    constexpr double sine[] = {1.0, -1.64493406684822644, 0.811742425283353611, -0.190751824122082566,
                               0.0261478478176119333, -0.00234608103481531573, 0.000148428787203362796,
                               -6.9758408292715951e-6, 2.53009855631340051e-7, -7.09312588162380426e-9};
    double a = x < 0 ? 1 - x : x, down = 0, product = 1;
    for (int k = 1; k <= 6; k++) {
        double less = a - k;
        product = less >= 1.5 ? product * less : product;
        down = less >= 1.5 ? k : down;
    }
    double factors = a < 0.5 ? a * (a + 1) : a < 1.5 ? a : product;
    double e = a < 0.5 ? a : a < 1.5 ? a - 1 : a < 8 ? a - 2 - down : 0;
    double log = log_(a < 8 ? factors : a), z = 1 / (a < 8 ? 8 : a);
    double small = e * (polynomial(e * e, even) + e * polynomial(e * e, odd)) + (a < 1.5 ? -log : log);
    double large = (a - 0.5) * (log - 1) + (0.41893853320467274178 + z * polynomial(z * z, stirling));
    double found = a < 8 ? small : large, part = std::fabs(x - std::nearbyint(x));
    double mirrored = -log_(part * polynomial(part * part, sine)) - found;
    found = x < 0 ? (part == 0 ? INFINITE : mirrored) : found;
    return a == INFINITE ? a : found;
}
template <class T> void log_gamma(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA { return sizeof(T) == 4 ? log_gamma_(v) : long_log_gamma(v); });
}

// For x > 0. Between 1 and 2 the distance to its zero times a polynomial, and a number further on or back for
// those below 3; from there on Bernoulli's numbers, up to 10 behind ten terms of the sum of 1 / (x + k), which is the slope of
// the product of all x + k over that product.
INLINE double upper_digamma(double x) {
    constexpr double even[] = {0.951055876031832893, 0.240542484240774219, 0.0949887244549412133,
                               0.040760833812420736, 0.0179072524394511994, 0.00792694464640379604,
                               0.00351900640150227605, 0.00155663174744868393, 0.000723326627928755416,
                               0.000227233166098737588, 0.000259684821264307466};
    constexpr double odd[] = {-0.423627421281460505, -0.148404923053908857, -0.0619221332730645317,
                              -0.0269757967561382488, -0.0119082180015686448, -0.00527996487325740421,
                              -0.00234526763254076904, -0.00103763740984186047, -0.000482199053056678888,
                              -0.000151485868367733659, -0.000173122618027273933};
    constexpr double bernoulli[] = {1. / 12, -1. / 120, 1. / 252, -1. / 240, 1. / 132, -691. / 32760, 1. / 12};
    bool near = x < 3, few = x < 10;
    double c = x < 1 ? x + 1 : x < 2 ? x : x - 1, u = c - 1.5;
    double found = ((c - 0x1.762d86356be3fp+0) - 0x1.b86a722197829p-54) * (polynomial(u * u, even) + u * polynomial(u * u, odd));
    double product = 1, slope = 0, factor = few ? x : 10;
    for (int k = 0; k < 10; k++) {
        slope = slope * (factor + k) + product;
        product = product * (factor + k);
    }
    slope = x < 1 ? 1 : x < 2 ? 0 : near ? -1 : few ? slope : 0;
    double sum = slope / (x < 1 ? x : near ? c : product);
    double z = 1 / (few ? x + 10 : x), s = z * z;
    double far = log_(few ? x + 10 : x) - 0.5 * z - s * polynomial(s, bernoulli);
    return (near ? found : far) - sum;
}
// Negative numbers are mirrored: pi / tan(pi x) is a polynomial in r² over r, the distance to a whole number.
INLINE double digamma_(double x) {
    constexpr double cotangent[] = {0.999999999999999972, -3.28986813369640291, -2.16464646743715755,
                                    -2.03468612222389632, -2.00815481926081675, -2.00198522165827541,
                                    -2.00058607389807559, -1.99859092413963616, -2.01757120800583973,
                                    -1.85699263287448859, -2.83046113395131627, 1.38371444316589845,
                                    -11.3198826252205719, 14.0091363327063978, -16.0104415643819275};
    double found = upper_digamma(x < 0 ? 1 - x : x), r = x - std::nearbyint(x);
    double mirrored = found - polynomial(r * r, cotangent) / r;
    found = x < 0 ? (r == 0 ? NO_NUMBER : mirrored) : found;
    return x == 0 ? std::copysign(INFINITE, -x) : found;
}
template <class T> void digamma(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA { return digamma_(v); });
}

// For x > 0: ten terms of the sum of 1 / (x + k)², two at a time, and Bernoulli's numbers for the others.
INLINE double upper_trigamma(double x) {
    constexpr double bernoulli[] = {1. / 6, -1. / 30, 1. / 42, -1. / 30, 5. / 66, -691. / 2730, 7. / 6};
    double sum = 0;
    for (int k = 0; k < 10; k += 2) {
        double a = x + k, b = a + 1, ab = a * b;
        sum += (a * a + b * b) / (ab * ab);
    }
    bool large = x > 20;
    double z = 1 / (large ? x : x + 10), s = z * z;
    return (large ? 0 : sum) + z + 0.5 * s + z * s * polynomial(s, bernoulli);
}
template <class T> void trigamma(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA { return upper_trigamma(v); });
    parallel(x.size, GRAIN, [=](I begin, I end) {
        constexpr double PI = 3.14159265358979323846;
        for (I i = begin; i < end; i++) {
            double v = wide(x[i]);
            if (!(v <= 0)) continue;
            double part = v - std::nearbyint(v), sine = std::sin(PI * part) / PI;
            y[i] = narrow<T>(Wide<T>(part == 0 || std::isinf(v) ? std::numeric_limits<double>::infinity()
                                                               : 1 / (sine * sine) - upper_trigamma(1 - v)));
        }
    });
}

// ---------------------------------------------------------------- Bessel functions

// For float: the modified ones of the first kind, also times exp(-|x|). Up to 8 a polynomial in x²; from there
// on one in 1 / x, times exp(x) / sqrt(x).
template <int ORDER, bool SCALED> INLINE double bessel_i(double x) {
    constexpr double small[2][13] = {
        {1.00000000000586118, 0.249999999969052662, 0.0156250000270481082, 0.000434027768499578807,
         6.78168567928701552e-6, 6.78166656004350941e-8, 4.70962115275890577e-10, 2.40227160277329271e-12,
         9.40251606105922674e-15, 2.86202006000879663e-17, 7.73396022541713994e-20, 1.05749420235267342e-22,
         4.7732171658938451e-25},
        {0.500000000000202257, 0.0624999999989320575, 0.00260416666760011794, 0.0000542534719019831467,
         6.78168459791147629e-7, 5.65139732460359719e-9, 3.36397145493840335e-11, 1.50156948072906108e-13,
         5.22015006647113457e-16, 1.43637369321250851e-18, 3.46245502301342982e-21, 4.70871507799042727e-24,
         1.7599167975856805e-26}};
    constexpr double large[2][9] = {
        {0.398942280390744539, 0.0498677976601706005, 0.0280481405272615695, 0.0293994278404108208,
         0.0387038131070383946, 0.1907002071781292, -0.517853628816933185, 1.69231296913820843, 13.6562806632872145},
        {0.398942280411742487, -0.149603367303096814, -0.0467486611080126048, -0.0410781992006721838,
         -0.0518955738489052951, -0.200441330736755935, 0.325403102099363266, -0.614147948579729224,
         -18.0510671735191348}};
    double a = std::fabs(x), growth = exp_(SCALED ? -a : a), z = 1 / a;
    double near = polynomial(a * a, small[ORDER]) * (ORDER ? a : 1) * (SCALED ? growth : 1);
    double far = polynomial(z, large[ORDER]) * std::sqrt(z) * (SCALED ? 1 : growth);
    double found = a < 8 ? near : far;
    return ORDER && x < 0 ? -found : found;
}
template <class T, int ORDER, bool SCALED> void modified_bessel(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA { return bessel_i<ORDER, SCALED>(v); });
}

// For float: of both kinds, orders 0 and 1. Up to 7 polynomials in x², with a logarithm for the second kind; from
// there on a wave, whose size and phase are polynomials in 1 / x².
template <int ORDER> INLINE double tilted(double a, double& size) {
    constexpr double modulus_0[] = {0.797884560784303371, -0.0498677205654326227, 0.0825554102221607897,
                                    -0.424518577767035354, 3.71486267522823153, -26.8177371331018413};
    constexpr double modulus_1[] = {0.797884560804852705, 0.149603345201785365, -0.154270192876150458,
                                    0.63988593055087073, -5.75003350207378094, 66.8292441481526112,
                                    -519.527376368340356};
    constexpr double phase_0[] = {-0.12499999999820181, 0.0651041557572484447, -0.209558781687163693,
                                  1.63323956942955564, -22.4293135493586706, 400.835046286232486,
                                  -6294.25563941069583, 53050.4512501385522};
    constexpr double phase_1[] = {0.374999999975365983, -0.164062446817201807, 0.370863790555986506,
                                  -2.35884638985339468, 28.8152580770274227, -464.215419252529728,
                                  6505.85786876620659, -48727.1381648868992};
    double z = 1 / a, u = z * z;
    size = std::sqrt(z) * (ORDER ? polynomial(u, modulus_1) : polynomial(u, modulus_0));
    double phase = ORDER ? polynomial(u, phase_1) : polynomial(u, phase_0);
    return a + (z * phase - (ORDER ? 2.35619449019234492885 : 0.78539816339744830962));
}
constexpr double FAR = 1e5;  // up to which angles are reduced by a multiple of pi in two parts
INLINE double cosine(double angle) {
    constexpr double p[] = {0.999999999999998057, -0.499999999999899206, 0.0416666666658087069,
                            -0.00138888888610595429, 0.0000248015828668535798, -2.7556935203436092e-7,
                            2.08583107399030271e-9, -1.10078657750855588e-11};
    double shifted = angle * 0.31830988618379067154 + 0x1.8p52, turns = shifted - 0x1.8p52;
    double r = angle - turns * 0x1.921fb54440000p+1;
    r = r - turns * 0x1.68c234c4c6629p-38;
    double found = polynomial(r * r, p);
    return bits_as<double>(bits_as<std::uint64_t>(found) ^ bits_as<std::uint64_t>(shifted) << 63);  // odd turns
}
INLINE double near_j0(double z) {
    constexpr double p[] = {0.00567469332512960311, -0.000251202354043216346, 4.7843560692307768e-6,
                            -5.31788445603439072e-8, 3.93580230592952942e-10, -2.09292869610589511e-12,
                            8.40412748276567489e-15, -2.6239532468527068e-17, 6.25069633125697546e-20,
                            -9.13709351177713823e-23};
    return (z - 5.7831859629467845212) * (z - 30.471262343662086399) * polynomial(z, p);
}
INLINE double near_j1(double a, double z) {
    constexpr double p[] = {0.499999999999997335, -0.0624999999999818062, 0.00260416666664602982,
                            -5.42534722129558346e-05, 6.7816840060981508e-07, -5.65140305421580115e-09,
                            3.3639278613157584e-11, -1.5017384385139511e-13, 5.21375473190918726e-16,
                            -1.44654360964323171e-18, 3.255064379461951e-21, -5.76835771661594053e-24,
                            6.43017330582132385e-27};
    return a * polynomial(z, p);
}
constexpr double HALF_TURN = 1.57079632679489661923, TWO_OVER_PI = 0.63661977236758134308;
INLINE double near_y0(double a, double z) {
    constexpr double p[] = {-0.0738042951086843035, 0.177606016869045341, -0.0160739680259108023,
                            0.000538602666847533577, -9.49500520141139909e-06, 1.0358475971705955e-07,
                            -7.69307924682548206e-10, 4.14356103536503307e-12, -1.69324791248883615e-14,
                            5.43022309103935942e-17, -1.40177581691203601e-19, 2.95089050503925811e-22,
                            -4.90691046085535764e-25, 5.13444375803639391e-28};
    return TWO_OVER_PI * short_log(a) * near_j0(z) + polynomial(z, p);
}
INLINE double near_y1(double a, double z) {
    constexpr double p[] = {-0.196057090646237442, 0.0543486881605060243, -0.00295530533607636387,
                            7.1642687498398803e-05, -9.92674061647515258e-07, 8.93187958031136088e-09,
                            -5.64802417143777196e-11, 2.64947905025022607e-13, -9.59137384128058748e-16,
                            2.76126567845995042e-18, -6.46782969583933854e-21, 1.24705277608124434e-23,
                            -1.91791167406593881e-26, 1.87828998699804927e-29};
    return TWO_OVER_PI * (short_log(a) * near_j1(a, z) - 1 / a) + a * polynomial(z, p);
}
template <int ORDER, bool SECOND> INLINE double bessel_(double x) {
    double a = std::fabs(x), z = a * a, size, angle = tilted<ORDER>(a, size), near;
    if constexpr (SECOND) near = ORDER ? near_y1(a, z) : near_y0(a, z);
    else near = ORDER ? near_j1(a, z) : near_j0(z);
    double found = a < 7 ? near : size * cosine(SECOND ? angle - HALF_TURN : angle);
    if constexpr (SECOND) return x > 0 ? found : x == 0 ? -INFINITE : NO_NUMBER;
    return ORDER ? std::copysign(1.0, x) * found : found;
}
template <class T, int ORDER, bool SECOND> void bessel(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA { return bessel_<ORDER, SECOND>(v); });
    parallel(x.size, GRAIN, [=](I begin, I end) {
        for (I i = begin; i < end; i++) {
            double a = std::fabs(double(x[i])), size;
            if (!(a >= FAR) || (SECOND && x[i] < 0)) continue;
            double angle = tilted<ORDER>(a, size), found = size * (SECOND ? std::sin(angle) : std::cos(angle));
            y[i] = T(ORDER && x[i] < 0 ? -found : found);
        }
    });
}

// For float: the modified ones of the second kind, also times exp(x). Up to 2 a polynomial in x² beside a
// logarithm; from there on one in 1 / x, times exp(-x) / sqrt(x).
template <int ORDER, bool SCALED> INLINE double bessel_k(double x) {
    constexpr double small_0[] = {-0.577215664901575387, 0.105696083775974697, 0.0144185052287944884,
                                  0.000545189974472385774, 1.02140002030377691e-05, 1.15710917741734298e-07,
                                  8.79810566727326433e-10, 5.17482887272450109e-12};
    constexpr double small_1[] = {0.999999999999997224, 0.0386078324508720011, -0.0420490209443326532,
                                  -0.00283711198205015714, -7.49304312420926295e-05, -1.08921668879034766e-06,
                                  -1.01135689959428283e-08, -6.52401693097420452e-11, -3.3339031260367105e-13};
    constexpr double large_0[] = {1.25331413729086272, -0.156664252137370591, 0.0881221112157924147,
                                  -0.091732498002752183, 0.139191851856997395, -0.266270546765822236,
                                  0.550342947279504724, -1.04517095829518869, 1.58734962135425417,
                                  -1.71014843514577231, 1.13191657844044946, -0.341766245116599809};
    constexpr double large_1[] = {1.253314137343704, 0.469992784301328292, -0.146870990983064886,
                                  0.128441738015030754, -0.179159815698646002, 0.326981601272149203,
                                  -0.658193427036591339, 1.23203647497476565, -1.85623407471362345,
                                  1.99056400393979605, -1.31374057776078845, 0.395917588621979677};
    double z = 1 / x, growth = exp_(SCALED ? x : -x), u = x * x, near, far = std::sqrt(z), half = short_log(x * 0.5);
    if constexpr (ORDER) near = half * bessel_i<1, false>(x) + z * polynomial(u, small_1), far *= polynomial(z, large_1);
    else near = polynomial(u, small_0) - half * bessel_i<0, false>(x), far *= polynomial(z, large_0);
    double found = x < 2 ? (SCALED ? near * growth : near) : SCALED ? far : far * growth;
    found = x > 0 ? found : x == 0 ? INFINITE : NO_NUMBER;
    return x == INFINITE ? 0 : found;
}
template <class T, int ORDER, bool SCALED> void modified_bessel_k(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA { return bessel_k<ORDER, SCALED>(v); });
}

// For float: Airy's function, from -3 to 1 a polynomial. With zeta = 2/3 |x|^(3/2) it is above that exp(-zeta) and
// below it a wave, each times a polynomial in 1 / zeta over the fourth root of |x|.
INLINE double airy_wave(double a, double& size) {
    constexpr double modulus[] = {0.564189583415277141, -0.0195896929576890033, 0.0310212829988562311,
                                  -0.152200927558835797, 1.21840423986730739, -9.64690701149834595,
                                  52.2764884752733394, -131.19020682250428};
    constexpr double phase[] = {-0.0694444441457934269, 0.0355253338934537408, -0.110715224343452018,
                                0.816310330312420174, -9.10071474685957682, 103.185166342799278,
                                -893.367170796389587, 4763.66861582064848, -11345.6602551814558};
    double root = std::sqrt(a), zeta = a * root * (2. / 3), z = 1 / zeta, u = z * z;
    size = polynomial(u, modulus) / std::sqrt(root);
    return zeta + (z * polynomial(u, phase) - 0.78539816339744830962);
}
INLINE double airy_(double x) {
    constexpr double middle[] = {0.3550280538861737, -0.258819403819976479, 9.52947998289488396e-11,
                                 0.0591713428855041509, -0.0215682843676467499, -3.65729150696852967e-09,
                                 0.00197237905964326495, -0.000513520362427007625, 3.46339561188086431e-09,
                                 2.73813840200618988e-05, -5.71668525779871399e-06, 4.6622670484418752e-09,
                                 2.17168625636239554e-07, -3.34126089281836835e-08, -1.89930005037550181e-09,
                                 -1.03259866806906639e-09, -9.14043976745657154e-10, -1.38140149618247536e-10,
                                 -5.60122195194387096e-12};
    constexpr double upper[] = {0.282094790756205194, -0.0195896622428763205, 0.0104643693019177732,
                                -0.0105297204698306408, 0.0144533642517850076, -0.0213252830967331324,
                                0.0282017592827838309, -0.0298767233402072452, 0.0236947342091163651,
                                -0.0133346673479242846, 0.00498906839076383984, -0.00110795034045900378,
                                0.000110220159198885843};
    double a = std::fabs(x), root = std::sqrt(a), zeta = a * root * (2. / 3), size, angle = airy_wave(a, size);
    double above = exp_(-zeta) / std::sqrt(root) * polynomial(1 / zeta, upper);
    double found = x >= 1 ? above : x > -3 ? polynomial(x, middle) : size * cosine(angle);
    return a < INFINITE ? found : NO_NUMBER;
}
template <class T> void airy_ai(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA { return airy_(v); });
    parallel(x.size, GRAIN, [=](I begin, I end) {
        for (I i = begin; i < end; i++) {
            double a = -double(x[i]), size;
            if (!(a > 2000 && a < INFINITE)) continue;  // whose angles are below FAR
            double angle = airy_wave(a, size);
            y[i] = T(size * std::cos(angle));
        }
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
        {"log_ndtr", bind<log_ndtr<float>, log_ndtr<double>>}, {"logit", bind<logit<float>, logit<double>>},
        {"logit_gradient", bind<logit_gradient<float>, logit_gradient<double>>},
        {"log_gamma", bind<log_gamma<float>, log_gamma<double>>}, {"i0", bind<modified_bessel<float, 0, false>>},
        {"i0e", bind<modified_bessel<float, 0, true>>}, {"i1", bind<modified_bessel<float, 1, false>>},
        {"i1e", bind<modified_bessel<float, 1, true>>}, {"bessel_j0", bind<bessel<float, 0, false>>},
        {"bessel_j1", bind<bessel<float, 1, false>>}, {"bessel_y0", bind<bessel<float, 0, true>>},
        {"bessel_y1", bind<bessel<float, 1, true>>}, {"modified_bessel_k0", bind<modified_bessel_k<float, 0, false>>},
        {"modified_bessel_k1", bind<modified_bessel_k<float, 1, false>>},
        {"scaled_modified_bessel_k0", bind<modified_bessel_k<float, 0, true>>},
        {"scaled_modified_bessel_k1", bind<modified_bessel_k<float, 1, true>>}, {"ndtri", bind<ndtri<float>, ndtri<double>>},
        {"airy_ai", bind<airy_ai<float>>},
        {"ndtr", bind<ndtr<float>, ndtr<double>>}, {"entr", bind<entr<float>, entr<double>>},
        {"erfinv_gradient", bind<erfinv_gradient<float>, erfinv_gradient<double>>},
        {"digamma", bind<digamma<float>, digamma<double>>}, {"orthogonal", bind<orthogonal<float>, orthogonal<double>>},
        {"trigamma", bind<trigamma<float>, trigamma<double>>})
