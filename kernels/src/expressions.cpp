// Elementwise expressions of arrays of one size: a list of steps, each done for a block of elements
// that stays in the cache. The steps round as NumPy's own functions do, one by one.
#include <memory>
#include <vector>

#include "special.hpp"
#include "steps.hpp"

namespace {

constexpr I LENGTH = 512;  // elements of a block
// Blocks of memory, each of which begins with a line of the cache.
template <class T> struct Blocks {
    static constexpr I LINE = 64 / I(sizeof(T));
    std::unique_ptr<T[]> memory;
    T* first;
    I length;

    Blocks(I count, I length) : memory(new T[count * length + LINE]), length(length) {
        first = memory.get() + (64 - reinterpret_cast<std::uintptr_t>(memory.get()) % 64) % 64 / I(sizeof(T));
    }
    T* operator[](I k) const { return first + k * length; }
};

template <class T> using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T> INLINE T mask(bool chosen) { return bits_as<T>(chosen ? ~Bits<T>(0) : Bits<T>(0)); }
template <class T> INLINE T outside(T x, T mask) { return bits_as<T>(Bits<T>(bits_as<Bits<T>>(x) & ~bits_as<Bits<T>>(mask))); }

// Where there are elements for which f is not made, they are done again, one by one.
template <class T, class F, class Usual, class Exact> INLINE void each_usual(T* to, const T* a, const T* b, I n, F f, Usual is_usual, Exact exact) {
    if (to == a || to == b) {  // which are needed again
        T found[LENGTH];
        each_usual(found, a, b, n, f, is_usual, exact);
        return void(std::copy_n(found, n, to));
    }
    int unusual = 0;
    _Pragma("omp simd reduction(|:unusual)") for (I i = 0; i < n; i++) {
        to[i] = f(a[i], b[i]);
        unusual |= !is_usual(a[i], b[i]);
    }
    if (!unusual) return;
    for (I i = 0; i < n; i++)
        if (!is_usual(a[i], b[i])) to[i] = exact(a[i], b[i]);
}

// exp(y log(x)) in double; powers of what is not a positive number are left to the library.
template <class T> void take_power(T* to, const T* a, const T* b, I n) {
    [[maybe_unused]] constexpr T INFINITE = std::numeric_limits<T>::infinity();
    auto exact = [](T x, T y) { return std::pow(x, y); };
    if constexpr (sizeof(T) == 4)
        each_usual(to, a, b, n, [](T x, T y) INLINE_LAMBDA { return T(exp_(double(y) * short_log(double(x)))); },
                   [](T x, T y) INLINE_LAMBDA { return (x > 0) & (x < INFINITE) & (std::fabs(y) < INFINITE); }, exact);
    else for (I i = 0; i < n; i++) to[i] = exact(a[i], b[i]);
}

// The quotient is found by a reciprocal of single precision, and may be one too large or too small; what is
// left is exact in double, since products of so few bits are.
template <class T> void take_fmod(T* to, const T* a, const T* b, I n) {
    auto exact = [](T x, T y) { return std::fmod(x, y); };
    if constexpr (sizeof(T) == 4)
        each_usual(to, a, b, n, [](T x, T y) INLINE_LAMBDA {
            double d = std::fabs(double(y)), size = std::fabs(double(x));
            double left = size - std::trunc(size * double(1 / std::fabs(y))) * d;
            left = left < 0 ? left + d : left;
            return std::copysign(T(left >= d ? left - d : left), x);
        }, [](T x, T y) INLINE_LAMBDA {
            T size = std::fabs(y);
            return (std::fabs(double(x)) < double(size) * 0x1p22) & (size >= T(0x1p-125)) & (size <= T(0x1p125));
        }, exact);
    else for (I i = 0; i < n; i++) to[i] = exact(a[i], b[i]);
}

// Functions of angles, which are small ones as a rule.
template <class T, class F, class Exact> INLINE void of_angles(T* to, const T* a, I n, F f, Exact exact) {
    if constexpr (sizeof(T) == 4)
        each_usual(to, a, a, n, [=](T x, T) INLINE_LAMBDA { return f(x); },
                   [](T x, T) INLINE_LAMBDA { return !(std::fabs(x) > LARGEST_ANGLE); }, [=](T x, T) { return exact(x); });
    else for (I i = 0; i < n; i++) to[i] = exact(a[i]);
}

// Functions that are made for float, and those of the library.
#define FUNCTION(KIND, made, exact) \
    case KIND: \
        if constexpr (sizeof(T) == 4) return each(to, n, [](T x) INLINE_LAMBDA { return made(x); }, a); \
        else return each(to, n, [](T x) { return exact(x); }, a);

template <class T> void take(Step step, T* to, Operand<T> a, Operand<T> b, Operand<T> c, I n) {
    switch (step.kind) {
        case ADD: return each(to, n, [](T x, T y) INLINE_LAMBDA { return x + y; }, a, b);
        case SUBTRACT: return each(to, n, [](T x, T y) INLINE_LAMBDA { return x - y; }, a, b);
        case MULTIPLY: return each(to, n, [](T x, T y) INLINE_LAMBDA { return x * y; }, a, b);
        case DIVIDE: return each(to, n, [](T x, T y) INLINE_LAMBDA { return x / y; }, a, b);
        case NEGATE: return each(to, n, [](T x) INLINE_LAMBDA { return -x; }, a);
        case EXP: return each(to, n, [](T x) INLINE_LAMBDA { return exp_(x); }, a);
        case SQRT: return each(to, n, [](T x) INLINE_LAMBDA { return std::sqrt(x); }, a);
        case ABSOLUTE: return each(to, n, [](T x) INLINE_LAMBDA { return std::fabs(x); }, a);
        case LESS: return each(to, n, [](T x, T y) INLINE_LAMBDA { return mask<T>(x < y); }, a, b);
        case LESS_EQUAL: return each(to, n, [](T x, T y) INLINE_LAMBDA { return mask<T>(x <= y); }, a, b);
        case GREATER: return each(to, n, [](T x, T y) INLINE_LAMBDA { return mask<T>(x > y); }, a, b);
        case GREATER_EQUAL: return each(to, n, [](T x, T y) INLINE_LAMBDA { return mask<T>(x >= y); }, a, b);
        case ZEROED: return each(to, n, [](T x, T y) INLINE_LAMBDA { return outside(x, y); }, a, b);
        case COPY: return each(to, n, [](T x) INLINE_LAMBDA { return x; }, a);
        case SIGN: return each(to, n, [](T x) INLINE_LAMBDA { return T(x > 0) - T(x < 0); }, a);
        case MAXIMUM: return each(to, n, [](T x, T y) INLINE_LAMBDA { return x > y || x != x ? x : y; }, a, b);
        case MINIMUM: return each(to, n, [](T x, T y) INLINE_LAMBDA { return x < y || x != x ? x : y; }, a, b);
        case CHOSEN: return each(to, n, [](T x, T y, T z) INLINE_LAMBDA { return bits_as<Bits<T>>(y) ? x : z; }, a, b, c);
        case EQUAL: return each(to, n, [](T x, T y) INLINE_LAMBDA { return mask<T>(x == y); }, a, b);
        case NOT_EQUAL: return each(to, n, [](T x, T y) INLINE_LAMBDA { return mask<T>(x != y); }, a, b);
        case AND: return each(to, n, [](T x, T y) INLINE_LAMBDA { return bits_as<T>(Bits<T>(bits_as<Bits<T>>(x) & bits_as<Bits<T>>(y))); }, a, b);
        case OR: return each(to, n, [](T x, T y) INLINE_LAMBDA { return bits_as<T>(Bits<T>(bits_as<Bits<T>>(x) | bits_as<Bits<T>>(y))); }, a, b);
        case XOR: return each(to, n, [](T x, T y) INLINE_LAMBDA { return bits_as<T>(Bits<T>(bits_as<Bits<T>>(x) ^ bits_as<Bits<T>>(y))); }, a, b);
        case NOT: return each(to, n, [](T x) INLINE_LAMBDA { return bits_as<T>(Bits<T>(~bits_as<Bits<T>>(x))); }, a);
        case NUMBER: return each(to, n, [](T x) INLINE_LAMBDA { return bits_as<Bits<T>>(x) ? T(1) : T(0); }, a);
        case FLOOR: return each(to, n, [](T x) INLINE_LAMBDA { return std::floor(x); }, a);
        case CEIL: return each(to, n, [](T x) INLINE_LAMBDA { return std::ceil(x); }, a);
        case TRUNC: return each(to, n, [](T x) INLINE_LAMBDA { return std::trunc(x); }, a);
        case RINT: return each(to, n, [](T x) INLINE_LAMBDA { return std::nearbyint(x); }, a);
        case COPYSIGN: return each(to, n, [](T x, T y) INLINE_LAMBDA { return std::copysign(x, y); }, a, b);
        FUNCTION(LOG, log_, std::log)
        case LOG1P: return each(to, n, [](T x) INLINE_LAMBDA { return log1p_(x); }, a);
        FUNCTION(EXPM1, expm1_, std::expm1)
        FUNCTION(TANH, exact_tanh, std::tanh)
        FUNCTION(EXP2, exp2_, std::exp2)
        FUNCTION(LOG2, log2_, std::log2)
        FUNCTION(LOG10, log10_, std::log10)
        FUNCTION(ASIN, asin_, std::asin)
        FUNCTION(ACOS, acos_, std::acos)
        FUNCTION(ATAN, atan_, std::atan)
        FUNCTION(COSH, cosh_, std::cosh)
        case SIN: return of_angles(to, a.data, n, [](float x) INLINE_LAMBDA { return sine_<0>(x); }, [](T x) { return std::sin(x); });
        case COS: return of_angles(to, a.data, n, [](float x) INLINE_LAMBDA { return sine_<1>(x); }, [](T x) { return std::cos(x); });
        case TAN: return of_angles(to, a.data, n, [](float x) INLINE_LAMBDA { return tangent(x); }, [](T x) { return std::tan(x); });
        case ATAN2:
            return each(to, n, [](T y, T x) INLINE_LAMBDA {
                if constexpr (sizeof(T) == 4) return atan2_(y, x);
                else return std::atan2(y, x);
            }, a, b);
        case POWER: return take_power(to, a.data, b.data, n);
        case FMOD: return take_fmod(to, a.data, b.data, n);
        case HYPOT:
            return each(to, n, [](T x, T y) INLINE_LAMBDA {
                constexpr T INFINITE = std::numeric_limits<T>::infinity();
                if constexpr (sizeof(T) == 8) return std::hypot(x, y);
                T length = T(std::sqrt(double(x) * x + double(y) * y));
                return (std::fabs(x) == INFINITE) | (std::fabs(y) == INFINITE) ? INFINITE : length;
            }, a, b);
        case FMAX: return each(to, n, [](T x, T y) INLINE_LAMBDA { return x > y || y != y ? x : y; }, a, b);
        case FMIN: return each(to, n, [](T x, T y) INLINE_LAMBDA { return x < y || y != y ? x : y; }, a, b);
    }
}

// ---------------------------------------------------------------- pairs

bool reads(const Step& step, std::uint8_t operand) {
    return step.a == operand || step.b == operand || ((step.kind == CHOSEN || step.kind == PAIR) && step.c == operand) ||
           (step.kind == PAIR && step.d == operand);
}
bool is_comparison(std::uint8_t kind) { return kind >= LESS && kind <= GREATER_EQUAL; }

// What a step does with an operand that one step before it found; NO_PAIR: no pair is made for that.
Second second_of(const Step& step, std::uint8_t found, bool of_comparison) {
    bool left = step.a == found, right = step.b == found;
    if (of_comparison) {
        if (!right || left || (step.kind == CHOSEN && step.c == found)) return NO_PAIR;
        return step.kind == CHOSEN ? CHOOSES : step.kind == ZEROED ? DROPS : step.kind == AND ? KEEPS : NO_PAIR;
    }
    if (step.kind == ABSOLUTE || step.kind == SQRT) return step.kind == SQRT ? ROOT : SIZE;
    if (left == right) return NO_PAIR;
    switch (step.kind) {
        case ADD: return PLUS;
        case SUBTRACT: return left ? MINUS : SUBTRACTED_FROM;
        case MULTIPLY: return TIMES;
        case DIVIDE: return left ? DIVIDED_BY : DIVISOR_OF;
        case MAXIMUM: return left ? LEFT_MAXIMUM : RIGHT_MAXIMUM;
        case MINIMUM: return left ? LEFT_MINIMUM : RIGHT_MINIMUM;
        default: return NO_PAIR;
    }
}

// The same steps, with pairs for those whose result one later step alone reads. `is_passing(operand)` says
// that nobody looks at an operand afterwards.
template <class F> std::vector<Step> paired(std::vector<Step> steps, F is_passing) {
    for (std::size_t i = 0; i < steps.size(); i++) {
        Step first = steps[i];
        bool of_comparison = is_comparison(first.kind);
        if (!of_comparison && first.kind > DIVIDE) continue;
        if (!is_passing(first.to)) continue;
        std::size_t j = i + 1;
        auto hinders = [&](const Step& step) { return step.to == first.to || step.to == first.a || step.to == first.b; };
        while (j < steps.size() && !reads(steps[j], first.to) && !hinders(steps[j])) j++;
        if (j == steps.size() || !reads(steps[j], first.to)) continue;
        Step& last = steps[j];
        Second second = second_of(last, first.to, of_comparison);
        std::size_t k = j + 1;
        if (last.to != first.to)
            while (k < steps.size() && !reads(steps[k], first.to) && steps[k].to != first.to) k++;
        if (second == NO_PAIR || (last.to != first.to && k < steps.size() && reads(steps[k], first.to))) continue;
        bool is_alone = second == SIZE || second == ROOT;
        std::uint8_t other = is_alone ? first.a : last.a == first.to ? last.b : last.a;
        last = {PAIR, last.to, first.a, first.b, other, first.kind, second, second == CHOOSES ? last.c : other};
        steps.erase(steps.begin() + I(i));
        i--;
    }
    return steps;
}

template <class T> INLINE void take_step(const Step& step, const Operand<T>* operands, I n) {
    Operand<T> a = operands[step.a], b = operands[step.b], c = operands[step.c];
    T* to = const_cast<T*>(operands[step.to].data);  // which was taken as writable
    if (step.kind == PAIR) take_pair(step, to, a, b, c, operands[step.d], n);
    else take(step, to, a, b, c, n);
}

// ---------------------------------------------------------------- expressions

// An array of which element i of the result meets element i / times % size: every element is met
// `times` times in a row, and the whole of it over and over. Truth values become masks.
template <class T> struct Source {
    const T* data;
    const bool* truth;  // in the place of `data`
    I size, times;
    bool is_whole;  // has an element of its own for each of the result

    // The elements of a block. Those that do not lie side by side are put into `memory`, of which
    // there are two blocks; where it holds them for every block, they are put there once.
    const T* block(T* memory, I start, I length, I most) const {
        if (is_whole) return data + start;
        if (size == 1) return memory;
        if (times == 1) {
            I first = start % size;
            if (!truth && first + length <= size) return data + first;
            if (size <= most) return memory + first;
        }
        for (I i = 0; i < length;) {
            I run = times == 1 ? size - (start + i) % size : times - (start + i) % times;
            run = std::min(run, length - i);
            I from = (start + i) / times % size;
            if (times == 1) copy(from, run, memory + i);
            else std::fill_n(memory + i, run, element(from));
            i += run;
        }
        return memory;
    }
    void prepare(T* memory, I most, I numbers) const {
        if (size == 1) std::fill_n(memory, numbers, element(0));
        else if (times == 1 && size <= most)
            for (I i = 0; i < 2 * most; i += size) copy(0, std::min(size, 2 * most - i), memory + i);
    }
    T element(I i) const { return truth ? mask<T>(truth[i]) : data[i]; }
    void copy(I from, I count, T* to) const {
        if (!truth) return void(std::copy_n(data + from, count, to));
        const bool* holds = truth + from;
        SIMD for (I i = 0; i < count; i++) to[i] = bits_as<T>(Bits<T>(Bits<T>(0) - Bits<T>(holds[i])));
    }
};

// How long a block is: up to the next line of the cache, from where on no vector is written to two of them.
template <class T> INLINE I whole_lines(T* to, I most) {
    I left = up_to_line(to);
    return left ? left : most;
}

// Operands are numbered: constants, then arrays, then what is found on the way, the result being the
// last of all.
template <class T>
void compute(const std::vector<Step>& steps, const std::vector<double>& constants, const std::vector<Argument*>& arrays,
             const std::vector<I>& times, int blocks, Argument& out) {
    bool is_truth = out.dtype == '?';
    I n = out.view.len / (is_truth ? 1 : I(sizeof(T)));
    if (!n) return;
    std::vector<T> numbers(constants.begin(), constants.end());
    std::vector<Source<T>> sources;
    for (const T& number : numbers) sources.push_back({&number, nullptr, 1, 1, false});
    for (std::size_t k = 0; k < arrays.size(); k++) {
        auto fits = [&](I size) {
            require(size && times[k] > 0 && n % size == 0 && n / size % times[k] == 0, "the arrays have sizes that do not fit");
            return size;
        };
        if (arrays[k]->dtype == '?') {
            In<bool> x = Taking<In<bool>>::made(*arrays[k]);
            sources.push_back({nullptr, x.data, fits(x.size), times[k], false});
        } else {
            In<T> x = Taking<In<T>>::made(*arrays[k]);
            sources.push_back({x.data, nullptr, fits(x.size), times[k], x.size == n});
        }
    }
    T* to = is_truth ? nullptr : Taking<Out<T>>::made(out).data;
    bool* truth = is_truth ? Taking<Out<bool>>::made(out).data : nullptr;
    std::size_t read = sources.size();
    // One step leaves nothing behind in the cache that the next one needs. Where nothing but numbers lies in
    // blocks, it is taken for all elements at once.
    bool is_short = steps.size() == 1 && (steps[0].kind <= CHOSEN || steps[0].kind == PAIR);
    bool is_plain = is_short && !is_truth && std::all_of(sources.begin(), sources.end(), [](auto& x) { return x.is_whole || x.size == 1; });
    const I most = is_plain ? LANES<T> : is_short ? 4 * LENGTH : LENGTH;
    without_lock([&] {
        parallel(n, GRAIN / 2, [&](I begin, I end) {
            // Each thread has its own blocks.
            Blocks<T> memory(2 * read + blocks + is_truth, most);
            auto own = [&](std::size_t k) { return memory[k < read ? 2 * k : k + read]; };
            std::vector<Operand<T>> operands(read + blocks + 1);
            for (std::size_t k = 0; k < operands.size(); k++) operands[k] = {nullptr, k >= read || sources[k].size > 1};
            for (std::size_t k = read; k < read + blocks + is_truth; k++) operands[k].data = own(k);
            for (std::size_t k = 0; k < read; k++) sources[k].prepare(own(k), most, is_short ? LANES<T> : most);
            for (I start = begin, length; start < end; start += length) {
                length = std::min(whole_lines(is_truth ? nullptr : to + start, is_plain ? n : most), end - start);
                for (std::size_t k = 0; k < read; k++) operands[k].data = sources[k].block(own(k), start, length, most);
                if (!is_truth) operands.back().data = to + start;
                for (const Step& step : steps) take_step(step, operands.data(), length);
                if (!is_truth) continue;
                const T* found = operands.back().data;
                SIMD for (I i = 0; i < length; i++) truth[start + i] = bits_as<Bits<T>>(found[i]) != 0;
            }
        });
    });
}

// A tuple of numbers.
template <class N> std::vector<N> numbers_of(PyObject* given) {
    std::vector<N> found;
    Py_ssize_t count = PyTuple_Size(given);
    if (count < 0) throw Failed{};
    for (Py_ssize_t i = 0; i < count; i++) {
        Argument number;
        number.object = PyTuple_GetItem(given, i);
        found.push_back(Taking<N>::made(number));
    }
    return found;
}

// Steps of four bytes have no third operand but what they write to.
std::vector<Step> steps_of(PyObject* given, Py_ssize_t width = 4) {
    Py_ssize_t size;
    char* bytes;
    if (PyBytes_AsStringAndSize(given, &bytes, &size) < 0) throw Failed{};
    require(size % width == 0, "a step has four bytes, or five");
    std::vector<Step> steps(size / width);
    for (std::size_t k = 0; k < steps.size(); k++) {
        std::memcpy(&steps[k], bytes + k * width, width);
        if (width == 4) steps[k].c = steps[k].to;
    }
    return steps;
}

I number_of(PyObject* given) {
    Argument number;
    number.object = given;
    return Taking<I>::made(number);
}

// Runs f on arrays of one dtype, the first `written` of them to be written; false: an exception is set.
// With TRUTH there may be arrays of truth values among them.
template <bool TRUTH = false, class F> bool run_on(PyObject* const* objects, Py_ssize_t count, F f) {
    std::vector<Argument> given(count);
    bool done = false;
    char dtype = 0;
    try {
        f([&](Py_ssize_t written) {
            for (Py_ssize_t i = 0; i < count; i++) {
                given[i].object = objects[i];
                if (!given[i].take_array(i < written ? Taking<Out<float>>::flags : Taking<In<float>>::flags)) throw Failed{};
                if (TRUTH && given[i].dtype == '?') continue;
                if (!dtype) dtype = given[i].dtype;
                require(given[i].dtype == dtype, "the arrays have different dtypes");
            }
            require(dtype == 'f' || dtype == 'd', "arrays of float32 or float64 are needed");
            return given.data();
        });
        done = true;
    } catch (const Failed&) {
    } catch (const Refused& refused) {
        PyErr_SetString(PyExc_ValueError, refused.reason);
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    }
    for (Argument& each : given) each.release();
    return done;
}

// compute(steps, constants, times, blocks, out, *arrays): four bytes for each step; a number for each
// array, how many elements of the result in a row meet one of its own. `evaluated` has steps of five
// bytes and of all kinds, and takes truth values too.
template <bool ALL> PyObject* py_compute(PyObject*, PyObject* const* args, Py_ssize_t count) {
    constexpr Py_ssize_t BEFORE = 4;  // the arrays
    if (count < BEFORE + 2) {
        PyErr_SetString(PyExc_TypeError, "steps, constants, times, blocks, out and arrays are needed");
        return nullptr;
    }
    bool done = run_on<ALL>(args + BEFORE, count - BEFORE, [&](auto taken) {
        std::vector<Step> steps = steps_of(args[0], ALL ? 5 : 4);
        std::vector<double> constants = numbers_of<double>(args[1]);
        std::vector<I> times = numbers_of<I>(args[2]);
        require(I(times.size()) == count - BEFORE - 1, "there is a number for each array");
        I blocks = number_of(args[3]), read = I(constants.size() + times.size()), all = read + blocks + 1;
        require(blocks >= 0 && all <= 255, "too many operands");
        for (const Step& step : steps)
            require(step.kind < (ALL ? KINDS : COPY) && step.a < all && step.b < all && step.c < all && step.to >= read && step.to < all,
                    "a step that cannot be taken");
        steps = paired(std::move(steps), [=](I operand) { return operand >= read && operand < read + blocks; });
        Argument* out = taken(1);
        std::vector<Argument*> arrays;
        bool is_single = out->dtype == 'f';
        for (Py_ssize_t i = 1; i < count - BEFORE; i++) {
            arrays.push_back(out + i);
            is_single |= out[i].dtype == 'f';
        }
        (is_single ? compute<float> : compute<double>)(steps, constants, arrays, times, int(blocks), *out);
    });
    return done ? Py_NewRef(args[BEFORE]) : nullptr;
}

// ---------------------------------------------------------------- updates

constexpr I OPERANDS = 256, BLOCK_BYTES = 1024;

// Operands are numbered: arrays, then what is found on the way; constants from the last number downwards.
template <class T>
void update(const std::vector<Step>& steps, const std::vector<double>& constants, I blocks, const Argument* arrays, I count) {
    constexpr I MOST = BLOCK_BYTES / I(sizeof(T));
    I n = arrays[0].view.len / I(sizeof(T));
    std::vector<const T*> starts;
    for (I k = 0; k < count; k++) {
        In<T> x = Taking<In<T>>::made(arrays[k]);
        require(x.size == n, "the arrays have different sizes");
        starts.push_back(x.data);
    }
    without_lock([&] {
        parallel(n, GRAIN / 4, [&](I begin, I end) {
            Blocks<T> memory(blocks + I(constants.size()), MOST);
            Operand<T> operands[OPERANDS];
            for (I k = 0; k < blocks; k++) operands[count + k] = {memory[k], 1};
            for (std::size_t k = 0; k < constants.size(); k++) {
                std::fill_n(memory[blocks + k], MOST, T(constants[k]));
                operands[OPERANDS - 1 - k] = {memory[blocks + k], 0};
            }
            for (I start = begin, length; start < end; start += length) {
                length = std::min(whole_lines(starts[0] + start, MOST), end - start);
                for (I k = 0; k < count; k++) operands[k] = {starts[k] + start, 1};
                for (const Step& step : steps) take_step(step, operands, length);
            }
        });
    });
}

// update(steps, constants, blocks, written, *arrays): the steps are taken for each element of arrays of one
// size, and write to the first `written` of them.
PyObject* py_update(PyObject*, PyObject* const* args, Py_ssize_t count) {
    constexpr Py_ssize_t BEFORE = 4;
    if (count < BEFORE + 1) {
        PyErr_SetString(PyExc_TypeError, "steps, constants, blocks, written and arrays are needed");
        return nullptr;
    }
    bool done = run_on(args + BEFORE, count - BEFORE, [&](auto taken) {
        std::vector<Step> steps = steps_of(args[0]);
        std::vector<double> constants = numbers_of<double>(args[1]);
        I arrays = count - BEFORE, blocks = number_of(args[2]), written = number_of(args[3]), numbers = OPERANDS - I(constants.size());
        require(blocks >= 0 && blocks <= OPERANDS && arrays + blocks <= numbers, "too many operands");
        require(written >= 0 && written <= arrays, "there are not so many arrays");
        auto is_read = [&](I k) { return k < arrays + blocks || k >= numbers; };
        for (const Step& step : steps)
            require(step.kind <= CHOSEN && is_read(step.a) && is_read(step.b) && (step.to < written || (step.to >= arrays && step.to < arrays + blocks)),
                    "a step that cannot be taken");
        steps = paired(std::move(steps), [=](I operand) { return operand >= arrays && operand < arrays + blocks; });
        Argument* given = taken(written);
        (given->dtype == 'f' ? update<float> : update<double>)(steps, constants, blocks, given, arrays);
    });
    if (!done) return nullptr;
    Py_RETURN_NONE;
}

}  // namespace

KERNELS({"compute", py_compute<false>}, {"evaluated", py_compute<true>}, {"update", py_update})
