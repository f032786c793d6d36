// Elementwise expressions of arrays of one size: a list of steps, each done for a block of elements
// that stays in the cache. The steps round as NumPy's own functions do, one by one.
#include <memory>
#include <vector>

#include "binding.hpp"
#include "maths.hpp"

namespace {

constexpr I LENGTH = 2048;  // elements of a block
enum Kind : std::uint8_t {
    ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATE, EXP, SQRT, ABSOLUTE, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, ZEROED, KINDS
};

struct Step {
    std::uint8_t kind, to, a, b;  // `a` and `b` are operands, `to` is one that is written
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
            std::unique_ptr<T[]> memory(new T[(2 * read + blocks) * LENGTH]);
            auto own = [&](std::size_t k) { return memory.get() + (k < read ? 2 * k : k + read) * LENGTH; };
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

// compute(steps, constants, times, blocks, out, *arrays): four bytes for each step; a number for each
// array, how many elements of the result in a row meet one of its own.
PyObject* py_compute(PyObject*, PyObject* const* args, Py_ssize_t count) {
    constexpr Py_ssize_t BEFORE = 4;  // the arrays
    if (count < BEFORE + 2) {
        PyErr_SetString(PyExc_TypeError, "steps, constants, times, blocks, out and arrays are needed");
        return nullptr;
    }
    std::vector<Argument> given(count - BEFORE);
    bool done = false;
    try {
        Py_ssize_t size;
        char* bytes;
        if (PyBytes_AsStringAndSize(args[0], &bytes, &size) < 0) throw Failed{};
        require(size % 4 == 0, "a step has four bytes");
        std::vector<Step> steps(size / 4);
        std::memcpy(steps.data(), bytes, size);
        std::vector<double> constants = numbers_of<double>(args[1]);
        std::vector<I> times = numbers_of<I>(args[2]);
        require(times.size() == given.size() - 1, "there is a number for each array");
        Argument blocks_given;
        blocks_given.object = args[3];
        I blocks = Taking<I>::made(blocks_given), read = I(constants.size() + times.size()), all = read + blocks + 1;
        require(blocks >= 0 && all <= 255, "too many operands");
        for (const Step& step : steps)
            require(step.kind < KINDS && step.a < all && step.b < all && step.to >= read && step.to < all, "a step that cannot be taken");
        std::vector<Argument*> arrays;
        for (std::size_t i = 0; i < given.size(); i++) {
            given[i].object = args[BEFORE + i];
            if (!given[i].take_array(i ? Taking<In<float>>::flags : Taking<Out<float>>::flags)) throw Failed{};
            if (i) arrays.push_back(&given[i]);
            require(given[i].dtype == given[0].dtype, "the arrays have different dtypes");
        }
        if (given[0].dtype == 'f') compute<float>(steps, constants, arrays, times, int(blocks), given[0]);
        else if (given[0].dtype == 'd') compute<double>(steps, constants, arrays, times, int(blocks), given[0]);
        else require(false, "arrays of float32 or float64 are needed");
        done = true;
    } catch (const Failed&) {
    } catch (const Refused& refused) {
        PyErr_SetString(PyExc_ValueError, refused.reason);
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    }
    for (Argument& each : given) each.release();
    return done ? Py_NewRef(args[BEFORE]) : nullptr;
}

}  // namespace

KERNELS({"compute", py_compute})
