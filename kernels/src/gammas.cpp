// The gamma function: its logarithm with its derivatives, the incomplete ones, and the zeta function.
#include "special.hpp"
#include "vectors.hpp"

namespace {

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
constexpr double STIRLING[] = {1. / 12, -1. / 360, 1. / 1260, -1. / 1680, 1. / 1188, -691. / 360360, 1. / 156,
                               -3617. / 122400};
// For double: log gamma(1 + x), with SECOND log gamma(2 + x), for |x| up to 0.5, is the product of the distances to 1
// and to 2 and a polynomial.
template <bool SECOND> INLINE Long log_gamma_near(double x) {
    constexpr double first[] = {-0.2452513685225803143, 0.1554342658639510287, -0.115146542563857695,
                                0.09223900846486404258, -0.07731816852855388989, 0.06673172823237796673,
                                -0.05877794159837892583, 0.05255632488226146239, -0.04754311942143398695,
                                0.04341087108566210577, -0.03994332503272004057, 0.03698991835462524471,
                                -0.03443669214556783165, 0.03221881504887231112, -0.03035945377828152189,
                                0.02862978653237747063, -0.02627002629444777266, 0.02490778264077449026,
                                -0.02895115703866835472, 0.02768853618419118404, -0.002432766927513608212,
                                0.002052495676344134914, -0.07792613446067909387, 0.07547948080594056726,
                                0.08532809667377311611, -0.08300985443081175705, -0.1142806060495022943,
                                0.1108589973514169839};
    constexpr double second[] = {-0.1003173016743539209, 0.0329650006211558259, -0.0123841921933713542,
                                 0.00499864116469732941, -0.002108130833949210994, 0.0009153769222493582606,
                                 -0.0004057073977684923245, 0.0001825526391803061643, -0.00008309512065991473808,
                                 0.0000381688868393039135, -0.00001766174974105317068, 8.222223538994352813e-6,
                                 -3.846729097394707904e-6, 1.807821314826997434e-6, -8.559853958872398879e-7,
                                 4.051685733425560589e-7, -1.823138405273035228e-7, 8.673205951095157233e-8,
                                 -5.919103453943036563e-8, 2.83311797555245948e-8};
    Long ratio;
    if constexpr (SECOND) ratio = long_polynomial(0.4227843350984671394, x, second);
    else ratio = long_polynomial(0.5772156649015328606, x, first);
    ratio.rest += SECOND ? 4.942915152e-18 : -4.942915152e-18;  // of Euler's constant
    Long other = sum(x, SECOND ? 1. : -1.), factors = product({x, 0}, other);
    return product(factors, ratio);
}
// Up to 8 numbers come near 2 by up to six factors; from there on it is Stirling's formula.
INLINE Long upper_log_gamma(double a) {
    double down = 0;
    Long all = {1, 0};
    for (int k = 1; k <= 6; k++) {
        double less = a - k;
        Long more = product(all, {less, 0});
        all.head = less >= 1.5 ? more.head : all.head;
        all.rest = less >= 1.5 ? more.rest : all.rest;
        down = less >= 1.5 ? k : down;
    }
    double e = a < 0.5 ? a : a < 1.5 ? a - 1 : a < 8 ? a - 2 - down : 0, z = 1 / (a < 8 ? 8 : a);
    Long log = long_log(a < 0.5 || a >= 8 ? a : a < 1.5 ? 1 : all.head), first = log_gamma_near<false>(e);
    log.rest += a < 8 ? all.rest / all.head : 0;
    Long second = log_gamma_near<true>(e), near = a < 1.5 ? first : second;
    Long small = sum(near, a < 1.5 ? Long{-log.head, -log.rest} : log);
    Long large = product(sum(a, -0.5), sum(log, {-1, 0}));
    large = sum(large, {0.41893853320467274178 + z * polynomial(z * z, STIRLING), 1.672820965e-17});
    large.rest = large.head < INFINITE ? large.rest : 0;
    return a < 8 ? small : large;
}
INLINE double long_log_gamma(double x) {
    constexpr double sine[] = {0.811742425283353611, -0.190751824122082566, 0.0261478478176119333, -0.00234608103481531573, 0.000148428787203362796,
                               -6.9758408292715951e-6, 2.53009855631340051e-7, -7.09312588162380426e-9};
    double a = x < 0 ? 1 - x : x, part = std::fabs(x - std::nearbyint(x));
    Long found = upper_log_gamma(a), square = product(part, part), inner = long_polynomial(-1.6449340668482264, square.head, sine);
    inner.rest -= 3.04067235e-17;  // of pi² / 6
    Long ratio = sum({1, 0}, product(square, inner));
    Long other = product({part, 0}, ratio), log = long_log(other.head);
    double taken = 1 - a - x, slope = log_(a - 0.5);  // which is near that of log gamma
    Long mirrored = sum(found, {log.head, log.rest + other.rest / other.head + taken * slope});
    double y = x < 0 ? (part == 0 ? INFINITE : -rounded(mirrored)) : x == 0 ? INFINITE : rounded(found);
    return a == INFINITE ? a : y;
}
// The library's, which need not say which sign gamma has: threads would write that to one place.
double careful_log_gamma(double x) {
#if defined(__unix__) || defined(__APPLE__)
    int sign;
    return lgamma_r(x, &sign);
#else
    return std::lgamma(x);
#endif
}
template <class T> void log_gamma(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA { return sizeof(T) == 4 ? log_gamma_(v) : long_log_gamma(v); });
    if constexpr (sizeof(T) == 8)  // near its negative zeros mirrored numbers cancel each other
        parallel(x.size, GRAIN, [=](I begin, I end) {
            for (I i = begin; i < end; i++)
                if (x[i] < -2 && std::fabs(y[i]) < 0x1p-5) y[i] = careful_log_gamma(x[i]);
        });
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

// ---------------------------------------------------------------- incomplete gamma functions

// log(x) - m, m being x - 1, right to the last digits near 0: log(x) is twice the area tangent of s, and 2 s - m is -m s.
INLINE double log_less(double x, double m) {
    double s = m / (2 + m), near = s * s * s * area_tangent(s * s) - m * s;
    return m > -0.29 && m < 0.41 ? near : log_(x) - m;
}
// x^a exp(-x) / gamma(a + 1). From 8 on by the ratio of x and a, and Stirling's formula. The exponent has more digits than
// its own, which a large one takes from the result, unless that is of single precision.
template <bool FLOAT> INLINE double gamma_density(double a, double x) {
    bool large = a >= 8;
    if constexpr (FLOAT) {
        double z = 1 / (large ? a : 8), far = a * log_less(x * z, (x - a) * z) - z * polynomial(z * z, STIRLING);
        double near = a * log_(x) - x - rounded(upper_log_gamma((large ? 1 : a) + 1));
        return exp_(large ? far : near) * (large ? 0.39894228040143267794 * std::sqrt(z) : 1);
    }
    double z = 1 / (large ? a : 8), next = (large ? 1 : a) + 1, taken = (large ? 1 : a) - (next - 1);
    Long log = long_log(x), of_a = long_log(large ? a : 1), gamma = upper_log_gamma(next);
    Long power = product({a, 0}, sum(log, {-of_a.head, -of_a.rest}));
    Long far = sum(sum(power, sum(a, -x)), {-z * polynomial(z * z, STIRLING), 0});
    Long near = sum(sum(power, {-x, 0}), {-gamma.head, -gamma.rest - taken * log_(a + 0.5)});
    return exact_exp(large ? far : near) * (large ? 0.39894228040143267794 * std::sqrt(z) : 1);
}

// Pairs of a and x that one method takes, and what it finds for them.
constexpr I LOT = 256;
struct Lot {
    double a[LOT], x[LOT], found[LOT];
    I places[LOT], count = 0;

    void add(double of, double at, I place) {
        a[count] = of, x[count] = at, places[count++] = place;
    }
    // Up to whole groups of vectors, by its last pair.
    I filled_up(I group) {
        I full = (count + group - 1) / group * group;
        for (I i = count; i < full; i++) a[i] = a[count - 1], x[i] = x[count - 1];
        return full;
    }
};
constexpr I D = LANES<double>, GROUP = 2 * D;  // two vectors at once, since a step waits for the one before it
static_assert(LOT % GROUP == 0);

// The lower function: the density times the sum of x^n / ((a + 1) ... (a + n)), from its last term to its first, as a
// quotient both parts of which are scaled by 1 / (a + n).
template <bool FLOAT> void take_series(Lot& lot) {
    for (I i = 0, full = lot.filled_up(GROUP); i < full; i += GROUP) {
        double most = 0;
        _Pragma("omp simd reduction(max:most)") for (I j = i; j < i + GROUP; j++) {
            double x = lot.x[j], ratio = x / lot.a[j];
            double near = (FLOAT ? 9 : 14) + (FLOAT ? 6.5 : 9) * std::sqrt(x);
            double far = 3 + (FLOAT ? 11 : 20) * (1 + ratio) / (1 - ratio);
            double own = ratio < 0.99 && far < near ? far : near;
            most = own > most ? own : most;
        }
        I n = I(most);
        V<double> a[2], scale[2], x[2], above[2], below[2];
        for (int v = 0; v < 2; v++) {
            a[v] = loaded(lot.a + i + v * D);
            scale[v] = 1 / (a[v] + double(n));
            x[v] = loaded(lot.x + i + v * D) * scale[v];
            above[v] = below[v] = V<double>{} + 1;
        }
        for (I k = n; k >= 1; k--)
            for (int v = 0; v < 2; v++) {
                below[v] *= (a[v] + double(k)) * scale[v];
                above[v] = below[v] + x[v] * above[v];
            }
        for (int v = 0; v < 2; v++) stored(lot.found + i + v * D, above[v] / below[v]);
    }
    SIMD for (I i = 0; i < lot.count; i++) lot.found[i] *= gamma_density<FLOAT>(lot.a[i], lot.x[i]);
}

// The upper function: a times the density, over Legendre's continued fraction, from its last step to its first: the
// quotient of neighbours in a recurrence, which is scaled by a power of two near 1 / x.
template <bool FLOAT> void take_fraction(Lot& lot) {
    for (I i = 0, full = lot.filled_up(GROUP); i < full; i += GROUP) {
        double most = 0, first[GROUP], scales[GROUP];
        _Pragma("omp simd reduction(max:most)") for (I j = 0; j < GROUP; j++) {
            constexpr std::uint64_t EXPONENT = 0x7ff0000000000000, TWICE_THAT_OF_ONE = 0x7fe0000000000000;
            double x = lot.x[i + j] < 1e300 ? lot.x[i + j] : 1e300;  // from where on the density is 0
            double root = (FLOAT ? 3 : 4) * std::sqrt(x), bound = FLOAT ? 28 : 40;
            scales[j] = bits_as<double>(TWICE_THAT_OF_ONE - (bits_as<std::uint64_t>(x) & EXPONENT));
            first[j] = x - 1 - lot.a[i + j];
            double own = (FLOAT ? 38 : 103) / x + (root < bound ? root : bound);
            most = own > most ? own : most;
        }
        V<double> a[2], r[2], b[2], p[2], q[2];
        for (int v = 0; v < 2; v++) {
            a[v] = loaded(lot.a + i + v * D), r[v] = loaded(scales + v * D), b[v] = loaded(first + v * D);
            q[v] = V<double>{}, p[v] = q[v] + 1;
        }
        for (I n = I(most) + 4; n >= 1; n--)
            for (int v = 0; v < 2; v++) {
                V<double> next = (b[v] + double(2 * n)) * r[v] * p[v] + (a[v] - double(n)) * (double(n) * r[v]) * r[v] * q[v];
                q[v] = p[v], p[v] = next;
            }
        for (int v = 0; v < 2; v++) stored(lot.found + i + v * D, q[v] / p[v] * r[v] * a[v]);
    }
    SIMD for (I i = 0; i < lot.count; i++) lot.found[i] *= gamma_density<FLOAT>(lot.a[i], lot.x[i]);
}

// The upper function for x up to 1.1: 1 - x^a / gamma(a + 1), and what the terms of the series in -x but the first add.
template <bool FLOAT> void take_small(Lot& lot) {
    constexpr int TERMS = FLOAT ? 12 : 19;
    constexpr double ratio[] = {-0.1430580028723624926, 0.3416429813808810351, -0.06634939544580535106,
                                0.01787379924764414158, -0.005500359095189786627, 0.001816277129171183782,
                                -0.0006259045268800862100, 0.0002218482491462788952, -8.020086181864185418e-5,
                                2.941826597277675741e-5, -1.091176708815430667e-5, 4.083182304919185023e-6,
                                -1.538612140349233325e-6, 5.832891945188070658e-7, -2.229458772767285848e-7,
                                8.541923471777690389e-8, -3.173494568145261968e-8, 1.212452365286358490e-8,
                                -5.815852696206466971e-9, 2.329554306956931178e-9, -1.565503101449979577e-10,
                                3.081890505039786142e-11, -2.971807463311908130e-10, 1.213948437206448821e-10};
    SIMD for (I i = 0; i < lot.count; i++) {
        double a = lot.a[i], x = lot.x[i], above = 0, below = 1, power = 1;
        _Pragma("GCC unroll 32") for (int k = 1; k <= TERMS; k++) {  // the sum of (-x)^k / (k! (a + k))
            power *= -x / k;
            above = above * (a + k) + power * below;
            below *= a + k;
        }
        // The ratio is that of log(gamma(a + 1)) and a.
        double exponent = a * (log_(x) - polynomial(a * (16. / 11) - 1, ratio)), factor;
        std::uint64_t k;
        double rest = reduced_exp(exponent < -740 ? -740 : exponent, k);
        factor = power_of_two(k);
        double less = rest * factor + (factor - 1);  // than x^a / gamma(a + 1) is 1
        lot.found[i] = -less - (less + 1) * a * (above / below);
    }
}

// For large a, and x not far from it: Temme's expansion. The area beyond x is the normal one beyond `distance`, and the
// density times a series in 1 / a with coefficients that are series in the distance.
INLINE double uniform_tail(double a, double x) {
    constexpr double c0[] = {-0.3333333333333333333, 0.08333333333333333333, -0.01481481481481481481,
                             0.001157407407407407407, 0.0003527336860670194004, -0.0001787551440329218107,
                             0.00003919263178522437782, -2.185448510679992161e-6, -1.854062210715159961e-6,
                             8.296711340953086005e-7, -1.76659527368260793e-7, 6.70785354340149858e-9,
                             1.026180978424030804e-8, -4.382036018453353187e-9, 9.147699582236790234e-10};
    constexpr double c1[] = {-0.001851851851851851852, -0.003472222222222222222, 0.002645502645502645503,
                             -0.0009902263374485596708, 0.0002057613168724279835, -4.018775720164609053e-7,
                             -0.00001809855033448997784, 7.649160916081110085e-6, -1.6120900894563446e-6,
                             4.647127802807434342e-9, 1.378633446915720959e-7, -5.752545603517704964e-8,
                             1.195162859977814732e-8};
    constexpr double c2[] = {0.004133597883597883598, -0.00268132716049382716, 0.0007716049382716049383,
                             2.009387860082304527e-6, -0.0001073665322636516052, 0.00005292344882912012542,
                             -0.00001276063518861872771, 3.423578734096138074e-8, 1.372195730906293321e-6,
                             -6.298992138380055023e-7, 1.428061420606424179e-7};
    constexpr double c3[] = {0.000649434156378600823, 0.000229472093621399177, -0.0004691894943952557121,
                             0.000267720632062838853, -0.00007561801671883976411, -2.396505113867296652e-7,
                             0.00001108265411534730236, -5.674952826991596567e-6, 1.423090073243588391e-6};
    constexpr double c4[] = {-0.0008618882909167116986, 0.0007840392217200666275, -0.0002990724803031901797,
                             -1.463845257884341818e-6, 0.00006641498215465122187, -0.00003968365047179434664,
                             0.0000113757269706784191};
    constexpr double c5[] = {-0.0003367985533663581503, -0.00006972813758365857774, 0.0002772753244959392079,
                             -0.000199325705161888477, 0.00006797780477937207839};
    constexpr double c6[] = {0.0005313079364639922232, -0.0005921664373536938829, 0.0002708782096718044828};
    double m = (x - a) / a, half = -log_less(x / a, m), far = std::sqrt(2 * half), z = 1 / a, distance = m < 0 ? -far : far;
    double series = polynomial(distance, c6);
    series = series * z + polynomial(distance, c5);
    series = series * z + polynomial(distance, c4);
    series = series * z + polynomial(distance, c3);
    series = series * z + polynomial(distance, c2);
    series = series * z + polynomial(distance, c1);
    series = series * z + polynomial(distance, c0);
    double density = exp_(-a * half), along = std::sqrt(a * half);
    double normal = along < 0.5 ? 1 - small_erf(along) : density * rounded(scaled_erfc(along));
    series = density * series * (0.39894228040143267794 * std::sqrt(z));
    return 0.5 * normal + (m < 0 ? -series : series);
}
void take_uniform(Lot& lot) {
    SIMD for (I i = 0; i < lot.count; i++) lot.found[i] = uniform_tail(lot.a[i], lot.x[i]);
}

// The lower function where a or x is 0, infinite, or no number.
INLINE double lower_at_ends(double a, double x) {
    if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == INFINITE && x == INFINITE)) return NO_NUMBER;
    return a == 0 || x == INFINITE ? 1 : 0;
}

// The smaller one of the lower and the upper function is computed, as well as can be known before.
template <class T> void incomplete_gamma(In<T> a, In<T> x, Out<T> y, bool upper) {
    require((a.size == y.size || a.size == 1) && (x.size == y.size || x.size == 1), "the result has another shape");
    I a_step = a.size == 1 ? 0 : 1, x_step = x.size == 1 ? 0 : 1;
    parallel(y.size, GRAIN / 64, [=](I begin, I end) {
        constexpr bool FLOAT = sizeof(T) == 4;
        Lot series, fraction, small, uniform;
        for (I start = begin; start < end; start += LOT) {
            series.count = fraction.count = small.count = uniform.count = 0;
            for (I i = start; i < std::min(end, start + LOT); i++) {
                double of = double(a[i * a_step]), at = double(x[i * x_step]);
                if (!(of > 0 && at > 0 && of < INFINITE && at < INFINITE)) {
                    double lower = lower_at_ends(of, at);
                    y[i] = T(upper ? 1 - lower : lower);
                    continue;
                }
                bool near = of >= 100 && std::fabs(at - of) < 0.3 * of;
                bool below = at < 0.25 ? -of * std::log(at) > 0.69314718055994530942 : of > at + 0.25;
                (near ? uniform : below ? series : at < 1.1 ? small : fraction).add(of, at, i);
            }
            if (series.count) take_series<FLOAT>(series);
            if (fraction.count) take_fraction<FLOAT>(fraction);
            if (small.count) take_small<FLOAT>(small);
            if (uniform.count) take_uniform(uniform);
            for (const Lot* lot : {&series, &fraction, &small, &uniform})
                for (I j = 0; j < lot->count; j++) {
                    bool lower = lot == &series || (lot == &uniform && lot->x[j] < lot->a[j]);
                    y[lot->places[j]] = T(lower == upper ? 1 - lot->found[j] : lot->found[j]);
                }
        }
    });
}

// ---------------------------------------------------------------- the zeta function

// x^-s for a normal x: for float, and to more digits, of which a large s takes too many.
constexpr double MOST_S = 100;
INLINE double inverse_power(double x, double s) {
    double f, k = exponent(x, f), g = f / (2 + f), z = g * g;
    return exp_(-s * (k * 0x1.62e42fee00000p-1 + (f - (g * (f - z * area_tangent(z)) - k * 0x1.a39ef35793c76p-33))));
}
INLINE Long long_inverse_power(Long x, double s) {
    Long log = long_log(x.head), power = product({s, 0}, log);
    return long_exp({-power.head, -power.rest - s * x.rest / x.head});
}
// x^-s for a whole s and any x.
INLINE Long whole_inverse_power(Long x, double s) {
    double inverse = 1 / x.head;
    Long factor = {inverse, -inverse * (product_rest(inverse, x.head, 1) + inverse * x.rest)}, found = {1, 0};
    for (; s > 0; s = std::floor(s / 2)) {
        if (s / 2 != std::floor(s / 2)) found = product(found, factor);
        factor = product(factor, factor);
    }
    return found;
}
// Euler's and Maclaurin's formula for the sum of all terms from w^-s on, over that one: what it has beyond
// w / (s - 1) + 1 / 2, by Bernoulli's numbers over the factorials of 2, 4, ...
template <int COUNT> INLINE double beyond_integral(double s, double w) {
    constexpr double bernoulli[] = {1. / 12, -1. / 720, 1. / 30240, -1. / 1209600, 1. / 47900160,
                                    -691. / 1307674368000, 1. / 74724249600, -3617. / 10670622842880000.,
                                    43867. / 5109094217170944000., -174611. / 802857662698291200000.,
                                    77683. / 14101100039391805440000., -236364091. / 1693824136731743669452800000.};
    double z = 1 / w, factor = s * z, found = 0;
    _Pragma("GCC unroll 16") for (int j = 0; j < COUNT; j++) {
        found += factor * bernoulli[j];
        factor *= (s + (2 * j + 1)) * z * ((s + (2 * j + 2)) * z);
    }
    return found;
}
INLINE Long over_its_first(double s, Long w) {
    s = s > 2000 ? 2000 : s;  // from where on the first term is 0
    double below = s - 1, quotient = w.head / below;  // which no rounding changes, for s from 1 on
    Long found = sum(quotient, 0.5);
    found.rest += (w.rest - product_rest(quotient, below, w.head)) / below;
    return {found.head, found.rest + beyond_integral<12>(s, w.head)};
}
// Hurwitz's zeta function for s > 1 and q > 0: some terms of its sum, and the formula for the others.
constexpr int TERMS = 10;
template <class Power> INLINE Long terms_beyond(double s, Long q, Power power) {
    Long w = sum({TERMS, 0}, q);
    return product(power(w, s), over_its_first(s, w));
}
template <class Power> Long upper_zeta(double s, Long q, Power power) {
    Long found = {0, 0};
    for (int k = 0; k < TERMS; k++) {
        Long more = power(sum({double(k), 0}, q), s);
        found = sum(found, more);
        if (more.head < found.head * 0x1p-100) return found;
    }
    return sum(found, terms_beyond(s, q, power));
}
INLINE double rounded_or_infinite(Long x) { return std::fabs(x.head) < INFINITE ? rounded(x) : x.head; }
void upper_zetas(const double* s, const double* q, double* found, I count) {
    double rest[LOT];
    auto power = [](Long x, double s) INLINE_LAMBDA { return long_inverse_power(x, s); };
    SIMD for (I i = 0; i < count; i++) {
        Long beyond = terms_beyond(s[i], {q[i], 0}, power);
        found[i] = beyond.head, rest[i] = beyond.rest;
    }
    for (int k = TERMS - 1; k >= 0; k--)
        SIMD for (I i = 0; i < count; i++) {
            Long more = sum({found[i], rest[i]}, power(sum(double(k), q[i]), s[i]));
            found[i] = more.head, rest[i] = more.rest;
        }
    SIMD for (I i = 0; i < count; i++) found[i] = rounded_or_infinite({found[i], rest[i]});
}
void short_upper_zetas(const double* s, const double* q, double* found, I count) {
    constexpr int FEW = 6;
    SIMD for (I i = 0; i < count; i++) {
        double w = q[i] + FEW;
        found[i] = inverse_power(w, s[i]) * (w / (s[i] - 1) + 0.5 + beyond_integral<5>(s[i], w));
    }
    for (int k = FEW - 1; k >= 0; k--)
        SIMD for (I i = 0; i < count; i++) found[i] += inverse_power(q[i] + k, s[i]);
}
// For q < 0 and a whole s. Terms of an odd one have both signs and may cancel each other, so they are computed to
// more digits: some below 0, or all of them, which are the sum from 1 - t on less that from 1 - q on.
double lower_zeta(double s, double q) {
    auto power = [](Long x, double s) { return whole_inverse_power(x, s); };
    double steps = -std::nearbyint(q), t = q + steps;
    Long nearest = power({t, 0}, s), below = {0, 0};
    if (!(std::fabs(nearest.head) < INFINITE)) return nearest.head;
    if (steps <= 2 * TERMS)
        for (double k = steps; k > 0; k--) below = sum(below, power(sum(k, -t), s));
    else {
        Long others = upper_zeta(s, sum(1, -q), power);
        below = sum(upper_zeta(s, sum(1, -t), power), {-others.head, -others.rest});
    }
    bool odd = s / 2 != std::floor(s / 2);
    Long above = upper_zeta(s, sum(1, t), power);
    return rounded_or_infinite(sum(sum(above, odd ? Long{-below.head, -below.rest} : below), nearest));
}
constexpr double LEAST_Q = 0x1p-1000, MOST_Q = 0x1p60;  // between which nothing is lost
// For any numbers.
inline double any_zeta(double s, double q) {
    if (s == 1) return INFINITE;
    if (!(s > 1) || q != q) return NO_NUMBER;
    if (q <= 0 && q == std::floor(q)) return INFINITE;
    if (q <= 0 && s != std::floor(s)) return NO_NUMBER;
    if (q == INFINITE) return 0;
    if (s == INFINITE) return q == 1 ? 1 : q < 1 ? INFINITE : NO_NUMBER;
    if (q < 0) return lower_zeta(s, q);
    if (q > MOST_Q) return std::pow(q, 1 - s) / (s - 1);
    return rounded_or_infinite(upper_zeta(s, {q, 0}, [](Long x, double s) {
        double found = std::pow(x.head, -s);
        return Long{found, x.rest == 0 ? 0 : found * std::expm1(-s * x.rest / x.head)};
    }));
}
// A factor times the zeta function.
template <class T> void zeta(In<T> s, In<T> q, Out<T> y, double factor) {
    require((s.size == y.size || s.size == 1) && (q.size == y.size || q.size == 1), "the result has another shape");
    I s_step = s.size == 1 ? 0 : 1, q_step = q.size == 1 ? 0 : 1;
    parallel(y.size, GRAIN / 64, [=](I begin, I end) {
        double of[LOT], at[LOT], found[LOT];
        for (I start = begin; start < end; start += LOT) {
            I count = std::min(LOT, end - start);
            for (I i = 0; i < count; i++) of[i] = double(s[(start + i) * s_step]), at[i] = double(q[(start + i) * q_step]);
            sizeof(T) == 4 ? short_upper_zetas(of, at, found, count) : upper_zetas(of, at, found, count);
            for (I i = 0; i < count; i++) {
                bool usual = of[i] > 1 && of[i] <= (sizeof(T) == 4 ? 1000 : MOST_S) && at[i] > LEAST_Q && at[i] <= MOST_Q;
                y[start + i] = T(factor * (usual ? found[i] : any_zeta(of[i], at[i])));
            }
        }
    });
}

}  // namespace

KERNELS({"log_gamma", bind<log_gamma<float>, log_gamma<double>>}, {"digamma", bind<digamma<float>, digamma<double>>},
        {"trigamma", bind<trigamma<float>, trigamma<double>>}, {"zeta", bind<zeta<float>, zeta<double>>},
        {"incomplete_gamma", bind<incomplete_gamma<float>, incomplete_gamma<double>>})
