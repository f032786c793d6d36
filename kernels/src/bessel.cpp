// Bessel functions of orders 0 and 1, and Airy's. The coefficients are Chebyshev fits made for this file.
#include "special.hpp"

namespace {

// ---------------------------------------------------------------- in double precision, for float

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
constexpr double TWO_OVER_PI = 0.63661977236758134308;
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
    double found = a < 7 ? near : size * cosine(SECOND ? angle - HALF_PI : angle);
    if constexpr (SECOND) return x > 0 ? found : x == 0 ? -INFINITE : NO_NUMBER;
    return ORDER ? std::copysign(1.0, x) * found : found;
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

// ---------------------------------------------------------------- in double precision

// The same functions with more terms. Polynomials that do not stay near the series are in a variable from -1 to 1.
template <int ORDER, bool SCALED> INLINE double long_bessel_i(double x) {
    constexpr double small_0[] = {1.000000000000000000, 0.2499999999999999962, 0.01562500000000000564,
                                  0.0004340277777777744365, 6.781684027778819737e-6, 6.781684027758071751e-8,
                                  4.709502797313532514e-10, 2.402807547397441793e-12, 9.385967122738159011e-15,
                                  2.896902786535183810e-17, 7.242279070839279970e-20, 1.496282158060077254e-22,
                                  2.598786220717598017e-25, 3.829388454278671575e-28, 5.032875772398411479e-31,
                                  4.600650617496926746e-34, 8.489079967240371601e-37};
    constexpr double small_1[] = {0.4999999999999999991, 0.06250000000000000708, 0.002604166666666657279,
                                  5.425347222222714020e-5, 6.781684027764253275e-7, 5.651403356706253313e-9,
                                  3.363930566883962350e-11, 1.501754736890468606e-13, 5.214425116664550394e-16,
                                  1.448455551256544808e-18, 3.291825570012893877e-21, 6.237026297224545661e-24,
                                  9.956903092564813162e-27, 1.408977785612294043e-29, 1.380579477192139138e-32,
                                  2.717003032172176978e-35};
    constexpr double large_0[] = {0.4021765094450080772, 0.003360551983667861554, 0.0001362160743919305078,
                                  1.114303379093203784e-5, 1.483847565827924839e-6, 2.973598588567392405e-7,
                                  8.872219737904053804e-8, 3.932584334552951818e-8, 2.154837797479159665e-8,
                                  7.554691881248808325e-9, -6.747657956107523978e-9, -1.340891754008973991e-8,
                                  -5.404771567579957958e-9, 7.552583062123384771e-9, 7.430464650325425941e-9,
                                  -3.505966530879331774e-9, -5.953569438264890769e-9, 1.520081695392423145e-9,
                                  3.637954635901114484e-9, -5.715843864202708568e-10, -1.618980683624681856e-9,
                                  1.527920269498156828e-10, 4.577087631643622924e-10, -2.026060428741362664e-11,
                                  -6.067631570603006402e-11};
    constexpr double large_1[] = {0.3893984590258723285, -0.009749577193235736203, -0.0002192357638338892837,
                                  -1.503854720056721667e-5, -1.834910132698094706e-6, -3.483855761044294716e-7,
                                  -1.000128829486488353e-7, -4.312917729178349203e-8, -2.337392820814263902e-8,
                                  -8.427766093735184116e-9, 6.734464815301592028e-9, 1.403423878206718348e-8,
                                  5.974437608040263898e-9, -7.642394134363561237e-9, -7.888351507862077160e-9,
                                  3.426234149007795911e-9, 6.242741219786445192e-9, -1.438725053304101401e-9,
                                  -3.794670896208339394e-9, 5.295625441161261058e-10, 1.684898447970514636e-9,
                                  -1.401162517977062676e-10, -4.758818838703853506e-10, 1.851511882885295694e-11,
                                  6.305965197150056711e-11};
    double a = std::fabs(x), c = a > LARGEST ? LARGEST : a, u = 16 / a - 1;
    Long growth = long_exp({SCALED ? -c : c, 0}), square = product(c, c);
    Long near = ORDER ? product(long_sum<6>(square, small_1), {c, 0}) : long_sum<6>(square, small_0);
    Long far = quotient(ORDER ? long_sum<1>({u, 0}, large_1) : long_sum<1>({u, 0}, large_0), long_root(c));
    bool close = a < 8;
    Long plain = chosen(close, near, far), scaled = product(plain, growth);
    double found = close == SCALED ? rounded(scaled) : rounded(plain);
    found = growth.head == INFINITE ? INFINITE : found;
    found = a <= LARGEST ? found : SCALED && a == INFINITE ? 0 : NO_NUMBER;
    return ORDER && x < 0 ? -found : found;
}
// Up to 1, so that nothing but positive numbers is added to the logarithm's part of order 0.
template <int ORDER, bool SCALED> INLINE double long_bessel_k(double x) {
    constexpr double LOG_TWO = 0.6931471805599453, FIRST = -0.11593151565841245;  // Euler's constant less that logarithm
    constexpr double first_0[] = {0.9999999999999999997, 0.2500000000000000371, 0.01562499999999922026,
                                  0.0004340277777840135206, 6.781684003292239240e-6, 6.781689247514712995e-8,
                                  4.708886675635939333e-10, 2.440629728186381114e-12};
    constexpr double first_1[] = {0.5000000000000000000, 0.06250000000000000206, 0.002604166666666623402,
                                  5.425347222256822696e-5, 6.781684014190740393e-7, 5.651406253128773747e-9,
                                  3.363588616287136226e-11, 1.522751519230884671e-13};
    constexpr double small_0[] = {0.2500000000000000000, 0.02343750000000000032, 0.0007957175925925857982,
                                  1.412850839125804251e-5, 1.548484517542066334e-7, 1.153828640223883742e-9,
                                  6.229599611980721862e-12, 2.583956383913962528e-14};
    constexpr double small_1[] = {0.03860783245076519237, -0.04204902094362820767,
                                  -0.002837111983971190997, -7.493042824391861910e-5, -1.089219993079692502e-6,
                                  -1.011085696717137185e-8, -6.666132630247410808e-11};
    constexpr double large_0[] = {1.208558539382403826, 0.05190414200069999359, -0.009047854303702591816,
                                  0.002344354038358350921, -0.0005746200406120816735, 0.0001627828239142229447,
                                  -4.352561030573414891e-5, 1.301058077751788777e-5, -3.591146076556745409e-6,
                                  1.124959290771670477e-6, -3.100965839806837011e-7, 1.030788810023524172e-7,
                                  -2.709428204283140195e-8, 1.010648736235061059e-8, -2.456178778199419862e-9,
                                  9.410401647338067898e-10, -4.393277348366467955e-12, 2.529236237000490200e-10,
                                  -1.038759637594346411e-10, -5.341859910939585517e-11, 3.480480677025220587e-11,
                                  2.534820467036602202e-11};
    constexpr double large_1[] = {1.397008927112629466, -0.1775377338208504447, 0.04365061563750177775,
                                  -0.01263540807917401064, 0.003692846928791479882, -0.001126934887703774176,
                                  0.0003441268508157925979, -0.0001077177396599939075, 3.355631079959308120e-5,
                                  -1.067320222157633903e-5, 3.358387440031245261e-6, -1.082001735571778335e-6,
                                  3.415011215266923074e-7, -1.117071265040740792e-7, 3.509484865154410799e-8,
                                  -1.152304562817014566e-8, 3.545142163764700419e-9, -1.432391640208303594e-9,
                                  3.871398566902980704e-10, -2.882765054384615352e-11, 3.314891343861267014e-11,
                                  -5.114219968446544996e-11};
    double c = x > LARGEST ? LARGEST : x, z = c * c, u = 2 * ((c - 1) / (c + 1)) - 1;
    Long growth = long_exp({SCALED ? c : -c, 0}), near, log = long_log(c);
    if constexpr (ORDER) {
        // One and what is smaller than that, over x.
        double more = z * ((log.head - LOG_TWO) * polynomial(z, first_1) + polynomial(z, small_1)), head = 1 + more;
        near = quotient({head, 1 - head + more}, {c, 0});
    } else {
        Long part = product(sum(log, {FIRST, -3.778e-19}), long_sum<1>({z, 0}, first_0));
        near = sum(z * polynomial(z, small_0), -part.head);
        near.rest -= part.rest;
    }
    Long far = quotient(ORDER ? long_sum<1>({u, 0}, large_1) : long_sum<1>({u, 0}, large_0), long_root(c));
    bool close = x < 1;
    Long plain = chosen(close, near, far), scaled = product(plain, growth);
    double found = close == SCALED ? rounded(scaled) : rounded(plain);
    found = plain.head == INFINITE ? INFINITE : found;  // of an infinite number there is no rest
    found = x > 0 ? found : x == 0 ? INFINITE : NO_NUMBER;
    return x == INFINITE ? 0 : found;
}

// What sin(r) / r, for r up to a quarter of a turn, has beyond 1, over r², in z = r².
INLINE double sine_beyond(double z) {
    constexpr double p[] = {-0.1666666666666666508, 0.008333333333333164781,
                            -0.0001984126984120104394, 2.755731920991685005e-6, -2.505210676879483446e-8,
                            1.605893465783102884e-10, -7.642861936646993554e-13, 2.719812988297762343e-15};
    return polynomial(z, p);
}
// a - turns pi + shift, for a up to FAR: a is reduced before the shift is added, so that no digit of either is lost.
INLINE double reduced(double a, double turns, double shift) {
    double r = a - turns * 0x1.921fb54400000p+1;
    return (r - turns * 0x1.0b4611a600000p-33) + (shift - turns * 0x1.3198a2e037073p-68);
}
// cos(a + shift), by the sine of the distance to its nearest zero.
INLINE double wave(double a, double shift) {
    double shifted = ((a + shift) * 0.31830988618379067154 - 0.5) + 0x1.8p52, turns = (shifted - 0x1.8p52) + 0.5;
    double r = reduced(a, turns, shift), found = r + r * (r * r * sine_beyond(r * r));
    return bits_as<double>(bits_as<std::uint64_t>(found) ^ ~bits_as<std::uint64_t>(shifted) << 63);  // even turns
}

// From 8 on: the size of a wave, and what is added to a to make its angle.
template <int ORDER> INLINE double long_tilt(double a, double& size) {
    constexpr double modulus_0[] = {0.7974998186297520728, -0.0003800698974490658051, 4.506774608792839558e-6,
                                    -1.546341494055294666e-7, 9.787877119914682241e-9, -9.346366219567401605e-10,
                                    1.202173908596463073e-10, -1.938391383179601168e-11, 3.646090964645160506e-12,
                                    -7.938070534285872502e-13, 2.706489089988534895e-13, -8.040979541453672769e-14};
    constexpr double modulus_1[] = {0.7990442065634052331, 0.001150783021443343904, -8.611413590939345040e-6,
                                    2.365360118700684307e-7, -1.340686613007168737e-8, 1.204377415276077665e-9,
                                    -1.491473491755275397e-10, 2.343725283822555897e-11, -4.331680463124015508e-12,
                                    9.303510482716774608e-13, -3.117674505776836250e-13, 9.175993258428289518e-14};
    constexpr double phase_0[] = {-0.1245034586713875719, 0.0004850978502333054527, -1.085825476752744288e-5,
                                  5.359525972515387852e-7, -4.339696550454777221e-8, 4.968284841428357605e-9,
                                  -7.354877685030270748e-10, 1.330035325964352048e-10, -2.818129718421152906e-11,
                                  6.399477962781760345e-12, -1.645165220879511357e-12, 7.777912671866082916e-13,
                                  -2.689342672259366990e-13};
    constexpr double phase_1[] = {0.3737398682792586362, -0.001239470667438447150, 1.979074382760651396e-5,
                                  -8.039686406433924753e-7, 5.886120256116354197e-8, -6.365955074678654216e-9,
                                  9.092659102497073232e-10, -1.604300728405362787e-10, 3.338664887272984247e-11,
                                  -7.495268756039991890e-12, 1.908161568705884474e-12, -8.866822222682499066e-13,
                                  3.042518864186726196e-13};
    double z = 1 / a, u = 128 * z * z - 1;
    size = std::sqrt(z) * (ORDER ? polynomial(u, modulus_1) : polynomial(u, modulus_0));
    double phase = ORDER ? polynomial(u, phase_1) : polynomial(u, phase_0);
    return z * phase - (ORDER ? 2.35619449019234492885 : 0.78539816339744830962);
}
// Up to 8: two zeros, from which x² keeps its distance to all digits, and a polynomial for the rest.
template <int ORDER> INLINE Long long_near_j(double a) {
    constexpr double p[] = {0.001143493774376254563, -0.002119794289479691997, 0.001563643164593166206,
                            -0.0006415390646406123144, 0.0001697720071399784286, -3.157342540223544245e-5,
                            4.366932324640683574e-6, -4.677128021300745055e-7, 3.998839345472477249e-8,
                            -2.794862967832912810e-9, 1.627648949180639886e-10, -8.023472601933257602e-12,
                            3.392329893710467488e-13, -1.248296704274365459e-14, 4.006894801372051649e-16};
    constexpr double q[] = {0.0001949893698589562370, -0.0002697522746716368063, 0.0001586001679936985842,
                            -5.408003239085505692e-5, 1.224217365301786984e-5, -1.989093515914256745e-6,
                            2.442522260616394793e-7, -2.352192254577852086e-8, 1.826854808288501569e-9,
                            -1.169693252178347505e-10, 6.284676985256088834e-12, -2.875530868558851973e-13,
                            1.138446554306881938e-14, -3.910422882613337837e-16};
    constexpr Long zeros[2][2] = {{{5.783185962946784, 4.1232473435062e-16}, {30.471262343662087, -2.36653448575066e-16}},
                                  {{14.681970642123893, -9.8581778257932941e-17}, {49.2184563216946, 5.08635406943634e-16}}};
    constexpr Long first = zeros[ORDER][0], second = zeros[ORDER][1];
    constexpr double p_rests[] = {5.353e-20, -1.11847e-19, 9.22178e-20, -8.9876e-21, -1.29485e-20};
    constexpr double q_rests[] = {-9.03507e-21, -2.38652e-20, 8.94129e-21, 5.4116e-22, 5.08651e-22};
    Long z = product(a, a), u = line(1. / 32, z, -1);
    Long rest = ORDER ? product(long_sum(u, q, q_rests), {a, 0}) : long_sum(u, p, p_rests);
    return product(product(sum(z, -first), sum(z, -second)), rest);
}
template <int ORDER> INLINE double long_near_y(double a) {
    constexpr double o[] = {-0.07380429510868722120, 0.1776060168690670324, -0.01607396802593793776,
                            0.0005386026668608083671, -9.495005204467957323e-6, 1.035847599448196434e-7,
                            -7.693078632499173200e-10, 4.143539318582424970e-12, -1.692917477607863518e-14,
                            5.401499975942314888e-17, -1.263211800938897011e-19};
    constexpr double p[] = {-0.4661627431354131544, -0.3157182906194049825, 1.179799134850335811,
                            -0.2161897322895805676, -0.3630022772948667297, 0.2369997756336856964,
                            -0.07130585197939811916, 0.01350493948230509342, -0.001805079292959482864,
                            0.0001813538001196492098, -1.427410274828380292e-5, 9.067795673944480412e-7,
                            -4.756166114281017698e-8, 2.097326359025264696e-9, -7.920105058701812194e-11,
                            2.572185253000783292e-12};
    constexpr double q[] = {0.07075985882118005414, -0.2433774307919311379, 0.02336757172099347930,
                            0.2350720920666975449, -0.1963983985993020392, 0.07854786922242531493,
                            -0.01962875683311711076, 0.003422490739918849696, -0.0004438173434420146875,
                            4.467433012646364939e-5, -3.601000022590457905e-6, 2.380493042051417798e-7,
                            -1.315314736709495130e-8, 6.169688029066964784e-10, -2.499531546171248864e-11,
                            8.760001143977853130e-13};
    // All digits are kept: what is added may leave little.
    constexpr double o_rests[] = {-3.32547e-18, -1.35934e-17, -9.55641e-19, 3.54775e-20};
    constexpr double q_rests[] = {4.70258e-18, -4.11851e-19, -1.07198e-18, -1.74176e-18, -1.27207e-17};
    Long z = product(a, a), along = product(long_log(a), long_near_j<ORDER>(a)), more;
    if constexpr (ORDER) {
        Long inverse = quotient({1, 0}, {a, 0});
        along = sum(along, -inverse), more = product(long_sum(line(1. / 32, z, -1), q, q_rests), {a, 0});
    } else more = chosen(a < 3, long_sum(z, o, o_rests), long_sum<1>({(2 * z.head - 73) * (1. / 55), 0}, p));
    Long found = sum(product(along, {TWO_OVER_PI, -3.93573533503649739e-17}), more);
    return std::fabs(found.head) < INFINITE ? rounded(found) : found.head;
}
template <int ORDER, bool SECOND> INLINE double long_bessel(double x) {
    double a = std::fabs(x), size, shift = long_tilt<ORDER>(a, size) - (SECOND ? HALF_PI : 0);
    double found = a < 8 ? (SECOND ? long_near_y<ORDER>(a) : rounded(long_near_j<ORDER>(a))) : size * wave(a, shift);
    if constexpr (SECOND) return x > 0 ? found : x == 0 ? -INFINITE : NO_NUMBER;
    return ORDER ? std::copysign(1.0, x) * found : found;
}
template <int ORDER, bool SECOND> double far_bessel(double x) {
    double a = std::fabs(x), size, shift = long_tilt<ORDER>(a, size);
    double found = size * (SECOND ? std::sin(a + shift) : std::cos(a + shift));
    return ORDER && x < 0 ? -found : found;
}

// 2/3 a^(3/2), whose last digits matter as soon as it is large.
INLINE Long long_airy_zeta(double a, double root) {
    Long power = product({a, 0}, {root, -product_rest(root, root, a) / (2 * root)});
    return product(power, {2. / 3, 3.7007434154171885e-17});
}
// Airy's function from -4 to -1 is a polynomial, and from there to 1 another one.
INLINE double long_airy_tilt(double zeta, double& size) {
    constexpr double modulus[] = {0.5638540935592951240, -0.0003272668666161951092, 7.663189854874981017e-6,
                                  -4.935312115871850073e-7, 5.518447037994800087e-8, -8.794004953033246056e-9,
                                  1.795809624486443634e-9, -4.406501515922494194e-10, 1.237322449890152110e-10,
                                  -3.876095009143586078e-11, 1.508014838770420986e-11, -6.137654559267843181e-12,
                                  5.155104765026424259e-13, 1.255075100290994985e-13, 1.127790123938112689e-12,
                                  -6.145901518267227127e-13};
    constexpr double phase[] = {-0.06885047106940569746, 0.0005665993688294229867, -2.473910149513175498e-5,
                                2.242622020705762528e-6, -3.141963779042459056e-7, 5.896085487589454044e-8,
                                -1.365271005412555381e-8, 3.707983172319487570e-9, -1.141112293161573483e-9,
                                3.774482598068765192e-10, -1.347705855969079990e-10, 7.183154666476900368e-11,
                                -3.536813456559413176e-11, -4.368913798824894991e-12, 5.366963239585448249e-12,
                                8.770599401245332100e-12, -5.201865245777553426e-12};
    double z = 1 / zeta, u = z * z * (512. / 9) - 1;
    size = polynomial(u, modulus);
    return z * polynomial(u, phase) - 0.78539816339744830962;
}
INLINE double long_airy(double x) {
    constexpr double lower[] = {-0.1123250676929660901, 1.018279101397191472, 0.3159142528864673769,
                                -1.017819508137154124, 0.1383061912274166764, 0.3395722668380025110,
                                -0.1404371055203495495, -0.03436453822593292476, 0.03457169855376757790,
                                -0.003898259785321438897, -0.003449401330973702094, 0.001260065451599203461,
                                4.732007536871865561e-5, -0.0001200616592228313475, 2.190419962221110425e-5,
                                3.976668173668532372e-6, -2.201910781045983130e-6, 1.892997141497861926e-7,
                                8.450811999109948571e-8, -2.467256485981644577e-8, 3.166079096604683268e-10,
                                9.463359941495490389e-10, -1.407687731940168546e-10};
    constexpr double middle[] = {0.3550280538878172393, -0.2588194037928068279, -1.829935462206064347e-18,
                                 0.05917134231463798037, -0.02156828364940050686, -3.126431294069930163e-14,
                                 0.001972378077153787973, -0.0005135305628303880631, 4.793096980142917574e-15,
                                 2.739413887196522448e-5, -5.705895162756590515e-6, 2.780307321210575495e-12,
                                 2.075314013726150206e-7, -3.658055035619868698e-8, -5.023939846368358332e-14,
                                 9.922090688884745572e-10, -1.523629933786383871e-10, -2.015835389362076557e-12,
                                 3.216072279820172928e-12};
    constexpr double upper[] = {0.2750884686879625174, 0.008528099154226629281, -0.002031364646872507755,
                                0.0006707823341552251948, -0.0002199193755452101986, 7.921478244098596145e-5,
                                -2.830457726753086184e-5, 1.066362317514853600e-5, -3.969516652960544368e-6,
                                1.538662667677968957e-6, -5.861185858773913195e-7, 2.319335646023983936e-7,
                                -8.953507716948617831e-8, 3.627106733247077908e-8, -1.401491299467823405e-8,
                                5.457064425107016963e-9, -2.204348427854169433e-9, 1.242154213671736229e-9,
                                -3.822113698414657972e-10, -3.561132039520094047e-11, -3.746442748227555188e-11,
                                8.746411185603039504e-11, -1.751493535211058665e-11};
    double a = std::fabs(x), root = std::sqrt(a), size;
    Long power = long_airy_zeta(a, root);
    double zeta = power.head, shift = long_airy_tilt(zeta, size) + power.rest, w = (zeta - 1) / (zeta + 1);
    double above = exact_exp({-zeta, -power.rest}) * polynomial((w - 0.4) * (1 / 0.6), upper);
    double found = (x > 0 ? above : size * wave(zeta, shift)) / std::sqrt(root);
    double near = x < -1 ? polynomial(x * (2. / 3) + 5. / 3, lower) : polynomial(x, middle);
    found = x >= 1 || x <= -4 ? found : near;
    return a < INFINITE ? found : NO_NUMBER;
}
double far_airy(double x) {
    double root = std::sqrt(-x), zeta = -x * root * (2. / 3), size, shift = long_airy_tilt(zeta, size);
    return size * std::cos(zeta + shift) / std::sqrt(root);
}

// sin(x) / x, which is 1 at zero and 0 at infinity: of a large x, by its distance from a multiple of pi to all digits.
INLINE double sine_over(double x) {
    double a = std::fabs(x), shifted = a * 0.31830988618379067154 + 0x1.8p52, turns = shifted - 0x1.8p52;
    bool far = a > 1;
    Long r = sum(a - turns * 0x1.921fb54400000p+1, turns * -0x1.0b4611a600000p-33);
    r.rest -= turns * 0x1.3198a2e037073p-68;
    double d = far ? r.head : a, z = d * d, beyond = d * (z * sine_beyond(z)), head = d + beyond;
    Long sine{head, d - head + beyond + (far ? r.rest * (1 - 0.5 * z) : 0)};
    double found = rounded(quotient(sine, {a, 0}));
    found = bits_as<double>(bits_as<std::uint64_t>(found) ^ bits_as<std::uint64_t>(far ? shifted : 0) << 63);  // odd turns
    return a == 0 ? 1 : a == INFINITE ? 0 : found;
}

// ---------------------------------------------------------------- of arrays

template <class T, int ORDER, bool SCALED> void modified_bessel(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA {
        return sizeof(T) == 4 ? bessel_i<ORDER, SCALED>(v) : long_bessel_i<ORDER, SCALED>(v);
    });
}
template <class T, int ORDER, bool SCALED> void modified_bessel_k(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA {
        return sizeof(T) == 4 ? bessel_k<ORDER, SCALED>(v) : long_bessel_k<ORDER, SCALED>(v);
    });
}
// Those whose angles are large, once more.
template <class T, class Is, class F> void each_far(In<T> x, Out<T> y, Is is_far, F f) {
    parallel(x.size, GRAIN, [=](I begin, I end) {
        for (I i = begin; i < end; i++)
            if (is_far(double(x[i]))) y[i] = T(f(double(x[i])));
    });
}
template <class T, int ORDER, bool SECOND> void bessel(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA {
        return sizeof(T) == 4 ? bessel_<ORDER, SECOND>(v) : long_bessel<ORDER, SECOND>(v);
    });
    each_far(x, y, [](double v) { return SECOND ? v >= FAR : std::fabs(v) >= FAR; }, far_bessel<ORDER, SECOND>);
}
template <class T> void airy_ai(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA { return sizeof(T) == 4 ? airy_(v) : long_airy(v); });
    each_far(x, y, [](double v) { return v < -2000 && v > -INFINITE; }, far_airy);  // whose angles are below FAR
}
template <class T> void sine_ratio(In<T> x, Out<T> y) {
    each(x, y, [](double v) INLINE_LAMBDA { return sine_over(v); });
    each_far(x, y, [](double v) { return std::fabs(v) >= FAR && std::fabs(v) < INFINITE; },
             [](double v) { return std::sin(v) / v; });
}

// The same of pi x, which is rounded before; at infinity it is no number.
template <class T> void sinc(In<T> x, Out<T> y) {
    auto angle = [](double v) INLINE_LAMBDA { return double(T(3.14159265358979323846) * T(v)); };
    each(x, y, [=](double v) INLINE_LAMBDA { return sine_over(angle(v)); });
    each_far(x, y, [=](double v) { return std::fabs(angle(v)) >= FAR; },
             [=](double v) { return std::sin(angle(v)) / angle(v); });
}

}  // namespace

KERNELS({"sinc", bind<sinc<float>, sinc<double>>},
        {"i0", bind<modified_bessel<float, 0, false>, modified_bessel<double, 0, false>>},
        {"i0e", bind<modified_bessel<float, 0, true>, modified_bessel<double, 0, true>>},
        {"i1", bind<modified_bessel<float, 1, false>, modified_bessel<double, 1, false>>},
        {"i1e", bind<modified_bessel<float, 1, true>, modified_bessel<double, 1, true>>},
        {"bessel_j0", bind<bessel<float, 0, false>, bessel<double, 0, false>>},
        {"bessel_j1", bind<bessel<float, 1, false>, bessel<double, 1, false>>},
        {"bessel_y0", bind<bessel<float, 0, true>, bessel<double, 0, true>>},
        {"bessel_y1", bind<bessel<float, 1, true>, bessel<double, 1, true>>},
        {"modified_bessel_k0", bind<modified_bessel_k<float, 0, false>, modified_bessel_k<double, 0, false>>},
        {"modified_bessel_k1", bind<modified_bessel_k<float, 1, false>, modified_bessel_k<double, 1, false>>},
        {"scaled_modified_bessel_k0", bind<modified_bessel_k<float, 0, true>, modified_bessel_k<double, 0, true>>},
        {"scaled_modified_bessel_k1", bind<modified_bessel_k<float, 1, true>, modified_bessel_k<double, 1, true>>},
        {"airy_ai", bind<airy_ai<float>, airy_ai<double>>}, {"sine_ratio", bind<sine_ratio<float>, sine_ratio<double>>})
