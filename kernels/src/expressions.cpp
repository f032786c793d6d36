// Elementwise expressions of arrays of one size: a list of steps, each done for a block of elements
// that stays in the cache. The steps round as NumPy's own functions do, one by one.
#include <memory>
#include <vector>

#include "binding.hpp"
#include "maths.hpp"

namespace {

constexpr I LENGTH = 512;  // elements of a block
enum Kind : std::uint8_t {
    ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATE, EXP, SQRT, ABSOLUTE, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, ZEROED,
    COPY, SIGN, MAXIMUM, MINIMUM, CHOSEN, KINDS  // those after ZEROED in updates alone
};

struct Step {
    std::uint8_t kind, to, a, b;  // `a` and `b` are operands, `to` is one that is written
};

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

template <class T, class F> INLINE void each(T* to, const T* a, const T* b, I n, F f) {
    SIMD for (I i = 0; i < n; i++) to[i] = f(a[i], b[i]);
}

template <class T> void take(Step step, T* to, const T* a, const T* b, I n) {
    switch (step.kind) {
        case ADD: return each(to, a, b, n, [](T x, T y) INLINE_LAMBDA { return x + y; });
        case SUBTRACT: return each(to, a, b, n, [](T x, T y) INLINE_LAMBDA { return x - y; });
        case MULTIPLY: return each(to, a, b, n, [](T x, T y) INLINE_LAMBDA { return x * y; });
        case DIVIDE: return each(to, a, b, n, [](T x, T y) INLINE_LAMBDA { return x / y; });
        case NEGATE: return each(to, a, a, n, [](T x, T) INLINE_LAMBDA { return -x; });
        case EXP: return each(to, a, a, n, [](T x, T) INLINE_LAMBDA { return exp_(x); });
        case SQRT: return each(to, a, a, n, [](T x, T) INLINE_LAMBDA { return std::sqrt(x); });
        case ABSOLUTE: return each(to, a, a, n, [](T x, T) INLINE_LAMBDA { return std::fabs(x); });
        case LESS: return each(to, a, b, n, [](T x, T y) INLINE_LAMBDA { return mask<T>(x < y); });
        case LESS_EQUAL: return each(to, a, b, n, [](T x, T y) INLINE_LAMBDA { return mask<T>(x <= y); });
        case GREATER: return each(to, a, b, n, [](T x, T y) INLINE_LAMBDA { return mask<T>(x > y); });
        case GREATER_EQUAL: return each(to, a, b, n, [](T x, T y) INLINE_LAMBDA { return mask<T>(x >= y); });
        case ZEROED: return each(to, a, b, n, [](T x, T y) INLINE_LAMBDA { return outside(x, y); });
        case COPY: return each(to, a, a, n, [](T x, T) INLINE_LAMBDA { return x; });
        case SIGN: return each(to, a, a, n, [](T x, T) INLINE_LAMBDA { return T(x > 0) - T(x < 0); });
        case MAXIMUM: return each(to, a, b, n, [](T x, T y) INLINE_LAMBDA { return x > y || x != x ? x : y; });
        case MINIMUM: return each(to, a, b, n, [](T x, T y) INLINE_LAMBDA { return x < y || x != x ? x : y; });
        case CHOSEN:  // `to` stays what it is outside of the mask
            SIMD for (I i = 0; i < n; i++) to[i] = bits_as<Bits<T>>(b[i]) ? a[i] : to[i];
            return;
    }
}

// An array of which element i of the result meets element i / times % size: every element is met
// `times` times in a row, and the whole of it over and over.
template <class T> struct Source {
    const T* data;
    I size, times;

    // The elements of a block. Those that do not lie side by side are put into `memory`, of which
    // there are two blocks; where it holds them for every block, they are put there once.
    const T* block(T* memory, I start, I length) const {
        if (size == 1) return memory;
        if (times == 1) {
            I first = start % size;
            if (first + length <= size) return data + first;
            if (size <= LENGTH) return memory + first;
        }
        for (I i = 0; i < length;) {
            I run = times == 1 ? size - (start + i) % size : times - (start + i) % times;
            run = std::min(run, length - i);
            const T* from = data + (start + i) / times % size;
            if (times == 1) std::copy_n(from, run, memory + i);
            else std::fill_n(memory + i, run, *from);
            i += run;
        }
        return memory;
    }
    void prepare(T* memory) const {
        if (size == 1) std::fill_n(memory, LENGTH, *data);
        else if (times == 1 && size <= LENGTH)
            for (I i = 0; i < 2 * LENGTH; i += size) std::copy_n(data, std::min(size, 2 * LENGTH - i), memory + i);
    }
};

// Operands are numbered: constants, then arrays, then what is found on the way, the result being the
// last of all.
template <class T>
void compute(const std::vector<Step>& steps, const std::vector<double>& constants, const std::vector<Argument*>& arrays,
             const std::vector<I>& times, int blocks, Argument& out) {
    I n = out.view.len / I(sizeof(T));
    if (!n) return;
    std::vector<T> numbers(constants.begin(), constants.end());
    std::vector<Source<T>> sources;
    for (const T& number : numbers) sources.push_back({&number, 1, 1});
    for (std::size_t k = 0; k < arrays.size(); k++) {
        In<T> x = Taking<In<T>>::made(*arrays[k]);
        require(x.size && times[k] > 0 && n % x.size == 0 && n / x.size % times[k] == 0, "the arrays have sizes that do not fit");
        sources.push_back({x.data, x.size, times[k]});
    }
    T* to = Taking<Out<T>>::made(out).data;
    std::size_t read = sources.size();
    without_lock([&] {
        parallel(n, GRAIN / 2, [&](I begin, I end) {
            // Each thread has its own blocks.
            Blocks<T> memory(2 * read + blocks, LENGTH);
            auto own = [&](std::size_t k) { return memory[k < read ? 2 * k : k + read]; };
            std::vector<T*> operands(read + blocks + 1);
            for (std::size_t k = 0; k < read + blocks; k++) operands[k] = own(k);
            for (std::size_t k = 0; k < read; k++) sources[k].prepare(own(k));
            for (I start = begin; start < end; start += LENGTH) {
                I length = std::min(LENGTH, end - start);
                for (std::size_t k = 0; k < read; k++) operands[k] = const_cast<T*>(sources[k].block(own(k), start, length));
                operands.back() = to + start;
                for (Step step : steps) take(step, operands[step.to], operands[step.a], operands[step.b], length);
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

std::vector<Step> steps_of(PyObject* given) {
    Py_ssize_t size;
    char* bytes;
    if (PyBytes_AsStringAndSize(given, &bytes, &size) < 0) throw Failed{};
    require(size % 4 == 0, "a step has four bytes");
    std::vector<Step> steps(size / 4);
    std::memcpy(steps.data(), bytes, size);
    return steps;
}

I number_of(PyObject* given) {
    Argument number;
    number.object = given;
    return Taking<I>::made(number);
}

// Runs f on arrays of one dtype, the first `written` of them to be written; false: an exception is set.
template <class F> bool run_on(PyObject* const* objects, Py_ssize_t count, F f) {
    std::vector<Argument> given(count);
    bool done = false;
    try {
        f([&](Py_ssize_t written) {
            for (Py_ssize_t i = 0; i < count; i++) {
                given[i].object = objects[i];
                if (!given[i].take_array(i < written ? Taking<Out<float>>::flags : Taking<In<float>>::flags)) throw Failed{};
                require(given[i].dtype == given[0].dtype, "the arrays have different dtypes");
            }
            require(given[0].dtype == 'f' || given[0].dtype == 'd', "arrays of float32 or float64 are needed");
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
// array, how many elements of the result in a row meet one of its own.
PyObject* py_compute(PyObject*, PyObject* const* args, Py_ssize_t count) {
    constexpr Py_ssize_t BEFORE = 4;  // the arrays
    if (count < BEFORE + 2) {
        PyErr_SetString(PyExc_TypeError, "steps, constants, times, blocks, out and arrays are needed");
        return nullptr;
    }
    bool done = run_on(args + BEFORE, count - BEFORE, [&](auto taken) {
        std::vector<Step> steps = steps_of(args[0]);
        std::vector<double> constants = numbers_of<double>(args[1]);
        std::vector<I> times = numbers_of<I>(args[2]);
        require(I(times.size()) == count - BEFORE - 1, "there is a number for each array");
        I blocks = number_of(args[3]), read = I(constants.size() + times.size()), all = read + blocks + 1;
        require(blocks >= 0 && all <= 255, "too many operands");
        for (const Step& step : steps)
            require(step.kind <= ZEROED && step.a < all && step.b < all && step.to >= read && step.to < all, "a step that cannot be taken");
        Argument* out = taken(1);
        std::vector<Argument*> arrays;
        for (Py_ssize_t i = 1; i < count - BEFORE; i++) arrays.push_back(out + i);
        (out->dtype == 'f' ? compute<float> : compute<double>)(steps, constants, arrays, times, int(blocks), *out);
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
    std::vector<T*> starts;
    for (I k = 0; k < count; k++) {
        In<T> x = Taking<In<T>>::made(arrays[k]);
        require(x.size == n, "the arrays have different sizes");
        starts.push_back(const_cast<T*>(x.data));  // those that steps write to were taken as writable
    }
    without_lock([&] {
        parallel(n, GRAIN / 4, [&](I begin, I end) {
            Blocks<T> memory(blocks + I(constants.size()), MOST);
            T* operands[OPERANDS];
            for (I k = 0; k < blocks; k++) operands[count + k] = memory[k];
            for (std::size_t k = 0; k < constants.size(); k++)
                std::fill_n(operands[OPERANDS - 1 - k] = memory[blocks + k], MOST, T(constants[k]));
            for (I start = begin; start < end; start += MOST) {
                for (I k = 0; k < count; k++) operands[k] = starts[k] + start;
                for (Step step : steps) take(step, operands[step.to], operands[step.a], operands[step.b], std::min(MOST, end - start));
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
            require(step.kind < KINDS && is_read(step.a) && is_read(step.b) && (step.to < written || (step.to >= arrays && step.to < arrays + blocks)),
                    "a step that cannot be taken");
        Argument* given = taken(written);
        (given->dtype == 'f' ? update<float> : update<double>)(steps, constants, blocks, given, arrays);
    });
    if (!done) return nullptr;
    Py_RETURN_NONE;
}

}  // namespace

KERNELS({"compute", py_compute}, {"update", py_update})
