// Elementwise expressions of arrays of one size: a list of steps, each done for a block of elements
// that stays in the cache. The steps round as NumPy's own functions do, one by one.
#include <memory>
#include <vector>

#include "binding.hpp"
#include "maths.hpp"

namespace {

constexpr I LENGTH = 2048;  // elements of a block
enum Kind : std::uint8_t { ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATE, EXP, SQRT, ABSOLUTE, KINDS };

struct Step {
    std::uint8_t kind, to, a, b;  // `a` and `b` are operands, `to` is one that is written
};

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
    }
}

// Operands are numbered: constants, then arrays, then blocks for what is found on the way, the result
// being the last of all. An array of one element stands for all of them.
template <class T> struct Operand {
    T* data;
    bool moves;  // from block to block
};

template <class T>
void evaluate(const std::vector<Step>& steps, const std::vector<double>& constants, const std::vector<Argument*>& arrays, int blocks, Argument& out) {
    using Reading = Taking<In<T>>;
    I n = out.view.len / I(sizeof(T));
    std::vector<const T*> sources;
    std::vector<bool> whole;
    for (Argument* array : arrays) {
        In<T> x = Reading::made(*array);
        require(x.size == n || x.size == 1, "the arrays have different sizes");
        sources.push_back(x.data);
        whole.push_back(x.size == n);
    }
    T* to = Taking<Out<T>>::made(out).data;
    std::size_t first = constants.size(), found = first + arrays.size();
    without_lock([&] {
        parallel(n, GRAIN / 2, [&](I begin, I end) {
            // Each thread has its own blocks; those of constants are filled once.
            std::unique_ptr<T[]> memory(new T[(found + blocks) * LENGTH]);
            std::vector<Operand<T>> operands;
            for (std::size_t k = 0; k < found + blocks; k++) operands.push_back({memory.get() + k * LENGTH, false});
            for (std::size_t k = 0; k < first; k++) std::fill_n(operands[k].data, LENGTH, T(constants[k]));
            for (std::size_t k = 0; k < arrays.size(); k++) {
                if (whole[k]) operands[first + k] = {const_cast<T*>(sources[k]) + begin, true};
                else std::fill_n(operands[first + k].data, LENGTH, *sources[k]);
            }
            operands.push_back({to + begin, true});
            for (I start = begin; start < end; start += LENGTH) {
                I length = std::min(LENGTH, end - start);
                for (Step step : steps) take(step, operands[step.to].data, operands[step.a].data, operands[step.b].data, length);
                for (Operand<T>& operand : operands)
                    if (operand.moves) operand.data += LENGTH;
            }
        });
    });
}

// evaluate(steps, constants, blocks, out, *arrays): four bytes for each step, a tuple of numbers.
PyObject* py_evaluate(PyObject*, PyObject* const* args, Py_ssize_t count) {
    if (count < 5) {
        PyErr_SetString(PyExc_TypeError, "steps, constants, blocks, out and arrays are needed");
        return nullptr;
    }
    std::vector<Argument> given(count - 3);
    bool done = false;
    try {
        Py_ssize_t size;
        char* bytes;
        if (PyBytes_AsStringAndSize(args[0], &bytes, &size) < 0) throw Failed{};
        require(size % 4 == 0, "a step has four bytes");
        std::vector<Step> steps(size / 4);
        std::memcpy(steps.data(), bytes, size);
        std::vector<double> constants;
        Py_ssize_t numbers = PyTuple_Size(args[1]);
        if (numbers < 0) throw Failed{};
        for (Py_ssize_t i = 0; i < numbers; i++) {
            constants.push_back(PyFloat_AsDouble(PyTuple_GetItem(args[1], i)));
            if (PyErr_Occurred()) throw Failed{};
        }
        Argument blocks_given;
        blocks_given.object = args[2];
        I blocks = Taking<I>::made(blocks_given), read = numbers + I(count) - 4, all = read + blocks + 1;
        require(blocks >= 0 && all <= 255, "too many operands");
        for (const Step& step : steps)
            require(step.kind < KINDS && step.a < all && step.b < all && step.to >= read && step.to < all, "a step that cannot be taken");
        std::vector<Argument*> arrays;
        for (std::size_t i = 0; i < given.size(); i++) {
            given[i].object = args[3 + i];
            if (!given[i].take_array(i ? Taking<In<float>>::flags : Taking<Out<float>>::flags)) throw Failed{};
            if (i) arrays.push_back(&given[i]);
            require(given[i].dtype == given[0].dtype, "the arrays have different dtypes");
        }
        if (given[0].dtype == 'f') evaluate<float>(steps, constants, arrays, int(blocks), given[0]);
        else if (given[0].dtype == 'd') evaluate<double>(steps, constants, arrays, int(blocks), given[0]);
        else require(false, "arrays of float32 or float64 are needed");
        done = true;
    } catch (const Failed&) {
    } catch (const Refused& refused) {
        PyErr_SetString(PyExc_ValueError, refused.reason);
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    }
    for (Argument& each : given) each.release();
    return done ? Py_NewRef(args[3]) : nullptr;
}

}  // namespace

KERNELS({"evaluate", py_evaluate})
