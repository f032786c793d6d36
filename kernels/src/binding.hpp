// From Python to a kernel: the kernel's own signature says what is taken from each argument.
//
//     template <class T> void softmax(In<T> x, Out<T> y, I axis);
//     KERNELS({"softmax", bind<softmax<float>, softmax<double>>})
//
// makes softmax(x, y, axis): the body whose dtypes are those of the arrays runs, without the GIL if
// there is much to do, and what it writes (its `Out` arguments) is returned. Arrays come through the
// buffer protocol and the stable ABI, so that one build serves every CPython and needs no NumPy; NumPy's own,
// once it has said which type they have, are looked into, which takes a tenth of the time.
#pragma once
#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <complex>
#include <new>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"

// ---------------------------------------------------------------- dtypes

// One letter for each, as the struct module has them; E for bfloat16, which it does not know, F and D
// for complex numbers, which have two there.
template <class T> constexpr char letter = 0;
template <> inline constexpr char letter<float> = 'f';
template <> inline constexpr char letter<double> = 'd';
template <> inline constexpr char letter<float16> = 'e';
template <> inline constexpr char letter<bfloat16> = 'E';
template <> inline constexpr char letter<std::complex<float>> = 'F';
template <> inline constexpr char letter<std::complex<double>> = 'D';
template <> inline constexpr char letter<bool> = '?';
template <> inline constexpr char letter<std::uint8_t> = 'B';
template <> inline constexpr char letter<std::int8_t> = 'b';
template <> inline constexpr char letter<std::int16_t> = 'h';
template <> inline constexpr char letter<std::int32_t> = 'i';
template <> inline constexpr char letter<std::int64_t> = 'q';

// ---------------------------------------------------------------- arguments

struct Argument {
    static constexpr int MOST_DIMS = 6;  // of an array that is looked into
    PyObject* object = nullptr;
    Py_buffer view{};
    Py_ssize_t dims[2 * MOST_DIMS];  // shape and strides of such an array
    char dtype = 0;                  // 0: no array
    bool is_looked_into = false;

    Argument() = default;
    Argument(const Argument&) = delete;
    bool take_array(int flags);  // false: an exception is set
    void release() {
        if (is_looked_into) Py_DECREF(object);
        else if (dtype) PyBuffer_Release(&view);
    }

  private:
    bool look_into(int flags);  // false: a buffer is to be asked for
};

struct Failed {};  // with an exception set

template <class P> struct Taking;  // how a parameter of type P is taken

template <class A, class T, int FLAGS, bool OPTIONAL, bool RETURNED> struct TakingAny {
    static constexpr int flags = PyBUF_FORMAT | FLAGS;
    static constexpr bool is_array = true, optional = OPTIONAL, returned = RETURNED;
    static bool fits(const Argument& given) { return given.dtype == letter<T> || (OPTIONAL && !given.dtype); }
    static A made(const Argument& given) {
        A array;
        if (!given.dtype) return array;
        require(reinterpret_cast<std::uintptr_t>(given.view.buf) % alignof(T) == 0, "an array is not aligned");
        array.data = static_cast<T*>(given.view.buf);
        array.size = given.view.len / I(sizeof(T));
        array.ndim = given.view.ndim;
        array.shape = given.view.shape;
        return array;
    }
};
template <class A, class T, int FLAGS, bool OPTIONAL, bool RETURNED>
struct TakingArray : TakingAny<A, T, PyBUF_C_CONTIGUOUS | FLAGS, OPTIONAL, RETURNED> {};
template <class A, class T, int FLAGS, bool OPTIONAL, bool RETURNED>
struct TakingStrided : TakingAny<A, T, PyBUF_STRIDES | FLAGS, OPTIONAL, RETURNED> {
    static A made(const Argument& given) {
        A array = TakingAny<A, T, PyBUF_STRIDES | FLAGS, OPTIONAL, RETURNED>::made(given);
        array.bytes = given.view.strides;
        for (int d = 0; d < array.ndim; d++)
            require(array.bytes[d] % I(sizeof(T)) == 0, "an array has strides of parts of elements");
        return array;
    }
};
template <class T> struct Taking<In<T>> : TakingArray<In<T>, T, 0, false, false> {};
template <class T> struct Taking<Maybe<T>> : TakingArray<Maybe<T>, T, 0, true, false> {};
template <class T> struct Taking<Out<T>> : TakingArray<Out<T>, T, PyBUF_WRITABLE, false, true> {};
template <class T> struct Taking<MaybeOut<T>> : TakingArray<MaybeOut<T>, T, PyBUF_WRITABLE, true, true> {};
template <class T> struct Taking<InOut<T>> : TakingArray<InOut<T>, T, PyBUF_WRITABLE, false, false> {};
template <class T> struct Taking<Seen<T>> : TakingStrided<Seen<T>, T, 0, false, false> {};
template <class T> struct Taking<MaybeSeen<T>> : TakingStrided<MaybeSeen<T>, T, 0, true, false> {};
template <class T> struct Taking<Filled<T>> : TakingStrided<Filled<T>, T, PyBUF_WRITABLE, false, true> {};

struct TakingNumber {
    static constexpr int flags = 0;
    static constexpr bool is_array = false, optional = false, returned = false;
    static bool fits(const Argument&) { return true; }
};
template <> struct Taking<I> : TakingNumber {
    static I made(const Argument& given) {
        long long found = PyLong_AsLongLong(given.object);
        if (found == -1 && PyErr_Occurred()) throw Failed{};
        return I(found);
    }
};
template <> struct Taking<double> : TakingNumber {
    static double made(const Argument& given) {
        double found = PyFloat_AsDouble(given.object);
        if (found == -1 && PyErr_Occurred()) throw Failed{};
        return found;
    }
};
template <> struct Taking<bool> : TakingNumber {
    static bool made(const Argument& given) {
        int found = PyObject_IsTrue(given.object);
        if (found < 0) throw Failed{};
        return found;
    }
};

// ---------------------------------------------------------------- calls

// Runs f, and lets other threads run Python meanwhile. When the interpreter ends, a thread that wants
// to come back to it is ended instead, by unwinding its stack: so there is nothing of Python's to be
// done in a destructor from here up.
template <class F> void without_lock(F&& f) {
    PyThreadState* state = PyEval_SaveThread();
    try {
        f();
    } catch (const Refused&) {
        PyEval_RestoreThread(state);
        throw;
    } catch (const std::bad_alloc&) {
        PyEval_RestoreThread(state);
        throw;
    }
    PyEval_RestoreThread(state);
}
constexpr Py_ssize_t MUCH = 1 << 16;  // bytes of all arrays together from which the lock is let go

template <class... P> struct Signature {
    static constexpr std::size_t count = sizeof...(P);

    template <std::size_t... i> static bool fits(const Argument* given, std::index_sequence<i...>) {
        return (Taking<P>::fits(given[i]) && ...);
    }
    template <std::size_t... i>
    static void run(void (*kernel)(P...), const Argument* given, std::index_sequence<i...>) {
        std::tuple<P...> made{Taking<P>::made(given[i])...};
        Py_ssize_t bytes = ((given[i].dtype ? given[i].view.len : 0) + ...);
        if (bytes < MUCH) std::apply(kernel, made);
        else without_lock([&] { std::apply(kernel, made); });
    }
    template <std::size_t... i> static void take(Argument* given, PyObject* const* args, std::index_sequence<i...>) {
        ([&] {
            given[i].object = args[i];
            if (Taking<P>::is_array && !(Taking<P>::optional && args[i] == Py_None) && !given[i].take_array(Taking<P>::flags)) throw Failed{};
        }(), ...);
    }
    static PyObject* written(PyObject* const* args) {
        constexpr int outs = (int(Taking<P>::returned) + ...);
        constexpr bool returned[] = {Taking<P>::returned...};
        if (outs == 0) Py_RETURN_NONE;
        PyObject* all = outs == 1 ? nullptr : PyTuple_New(outs);
        if (outs != 1 && !all) return nullptr;
        for (std::size_t i = 0, place = 0; i < count; i++) {
            if (!returned[i]) continue;
            if (outs == 1) return Py_NewRef(args[i]);
            PyTuple_SetItem(all, place++, Py_NewRef(args[i]));
        }
        return all;
    }
};
template <class... P> Signature<P...> signature_of(void (*)(P...));

template <auto Kernel> bool runs(const Argument* given) {
    using S = decltype(signature_of(Kernel));
    constexpr auto each = std::make_index_sequence<S::count>{};
    if (!S::fits(given, each)) return false;
    S::run(Kernel, given, each);
    return true;
}

// The Python function of a kernel: `First` and `Rest` are its bodies for different dtypes.
template <auto First, auto... Rest> PyObject* bind(PyObject*, PyObject* const* args, Py_ssize_t count) {
    using S = decltype(signature_of(First));
    if (count != Py_ssize_t(S::count)) {
        PyErr_Format(PyExc_TypeError, "%zd arguments are needed, not %zd", Py_ssize_t(S::count), count);
        return nullptr;
    }
    Argument given[S::count];
    PyObject* result = nullptr;
    try {
        S::take(given, args, std::make_index_sequence<S::count>{});
        if (runs<First>(given) || (runs<Rest>(given) || ...)) result = S::written(args);
        else PyErr_SetString(PyExc_TypeError, "there is no kernel for arrays of these dtypes");
    } catch (const Failed&) {
    } catch (const Refused& refused) {
        PyErr_SetString(refused.kind == Refused::INDEX ? PyExc_IndexError : PyExc_ValueError, refused.reason);
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    }
    for (Argument& each : given) each.release();
    return result;
}

// ---------------------------------------------------------------- the table

using Binding = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t);
struct Entry {
    const char* name;
    Binding function;
};
std::vector<Entry>& entries();
struct Family {
    Family(std::initializer_list<Entry> kernels) { entries().insert(entries().end(), kernels); }
};
// A kernel f<T, ...> for every floating type.
#define OF_TYPE(f, T, ...) f<T __VA_OPT__(,) __VA_ARGS__>
#define FOR_FLOATS(f, ...) \
    bind<OF_TYPE(f, float, __VA_ARGS__), OF_TYPE(f, double, __VA_ARGS__), OF_TYPE(f, bfloat16, __VA_ARGS__), OF_TYPE(f, float16, __VA_ARGS__)>
// Each file of kernels ends with its own part of the table.
#define KERNELS(...) static const Family family{__VA_ARGS__};
