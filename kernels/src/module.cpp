// The module: every kernel of every family, and the number of threads.
#include <vector>

#include "binding.hpp"

std::vector<Entry>& entries() {
    static std::vector<Entry> all;
    return all;
}

static char letter_of(const Py_buffer& view) {
    const char* format = view.format ? view.format : "B";
    if (format[0] == 'Z' && (format[1] == 'f' || format[1] == 'd') && format[2] == '\0')
        return char(format[1] - 'a' + 'A');
    if (format[0] == '\0' || format[1] != '\0') return '!';  // a byte order or a structure: none of ours
    if (format[0] == 'l' || format[0] == 'q') return view.itemsize == 8 ? 'q' : 'i';
    return format[0];
}

// NumPy gives no buffer of bfloat16, which comes from another package: its bits are taken instead.
static PyObject* bits_of_bfloat16(PyObject* object) {
    PyObject* dtype = PyObject_GetAttrString(object, "dtype");
    PyObject* name = dtype ? PyObject_GetAttrString(dtype, "name") : nullptr;
    bool found = name && PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, "bfloat16") == 0;
    Py_XDECREF(name);
    Py_XDECREF(dtype);
    if (!found) return nullptr;
    return PyObject_CallMethod(object, "view", "s", "int16");
}

// ---------------------------------------------------------------- NumPy's arrays

// As extensions compiled with NumPy's headers see them, of versions 1 and 2.
struct NumpyDtype {
    PyObject_HEAD
    PyObject* scalar;
    char kind, letter, byte_order, flags;
    int number;
};
struct NumpyArray {
    PyObject_HEAD
    char* data;
    int ndim;
    Py_ssize_t *shape, *strides;
    PyObject* base;
    NumpyDtype* dtype;
    int flags;
};
constexpr int IN_ROWS = 0x1, ALIGNED = 0x100, WRITABLE = 0x400, IN_ORDER = IN_ROWS | ALIGNED;
constexpr int OTHERS = 24;  // from here on dtypes are other packages', whatever their letters
static PyTypeObject* numpy_array = nullptr;  // as long as NumPy has not said

static I size_of(char letter) {
    switch (letter) {
        case '?': case 'b': case 'B': return 1;
        case 'e': case 'h': return 2;
        case 'f': case 'i': return 4;
        case 'd': case 'q': case 'F': return 8;
        case 'l': return I(sizeof(long));
        case 'D': return 16;
    }
    return 0;
}

bool Argument::look_into(int flags) {
    if (Py_TYPE(object) != numpy_array) return false;
    auto& array = *reinterpret_cast<NumpyArray*>(object);
    I size = size_of(array.dtype->letter);
    bool is_swapped = array.dtype->byte_order != '=' && array.dtype->byte_order != '|';
    if (!size || is_swapped || array.dtype->number >= OTHERS || array.ndim > MOST_DIMS || !(array.flags & ALIGNED)) return false;
    if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE && !(array.flags & WRITABLE)) return false;
    if ((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !(array.flags & IN_ROWS)) return false;
    view.buf = array.data;
    view.ndim = array.ndim;
    view.len = size;
    view.shape = dims;
    view.strides = dims + MOST_DIMS;
    // They are copied: while the kernel runs, another thread may give the array another shape.
    for (int d = 0; d < array.ndim; d++) {
        view.len *= view.shape[d] = array.shape[d];
        view.strides[d] = array.strides[d];
    }
    dtype = array.dtype->letter != 'l' ? array.dtype->letter : size == 8 ? 'q' : 'i';
    is_looked_into = true;
    Py_INCREF(object);
    return true;
}

// arrays_are(numpy_functions): of which type NumPy's arrays are, if it has them as they are known here.
static PyObject* py_arrays_are(PyObject*, PyObject* given) {
    auto table = static_cast<void**>(PyCapsule_GetPointer(given, nullptr));
    if (!table) return nullptr;
    unsigned version = reinterpret_cast<unsigned (*)()>(table[0])() >> 24;
    if (version == 1 || version == 2) numpy_array = static_cast<PyTypeObject*>(table[2]);
    return PyBool_FromLong(numpy_array != nullptr);
}

// ---------------------------------------------------------------- what conditions of kernels ask

// Of an array, or of a number of NumPy's: what it is made of, and how it lies in memory.
struct Looked {
    PyObject* dtype = nullptr;
    long flags = 0;
    Looked() = default;
    Looked(const Looked&) = delete;
    ~Looked() { Py_XDECREF(dtype); }

    bool look(PyObject* object) {  // false: an exception is set
        if (PyObject_TypeCheck(object, numpy_array)) {  // which are known wherever this is asked
            auto& array = *reinterpret_cast<NumpyArray*>(object);
            dtype = Py_NewRef(reinterpret_cast<PyObject*>(array.dtype));
            flags = array.flags;
            return true;
        }
        PyObject *all = nullptr, *number = nullptr;
        dtype = PyObject_GetAttrString(object, "dtype");
        if (dtype && (all = PyObject_GetAttrString(object, "flags")) && (number = PyObject_GetAttrString(all, "num")))
            flags = PyLong_AsLong(number);
        Py_XDECREF(all);
        Py_XDECREF(number);
        return !PyErr_Occurred();
    }
    bool has(long wanted) const { return (flags & wanted) == wanted; }
    bool is_floating() const {
        auto& known = *reinterpret_cast<NumpyDtype*>(dtype);
        if (known.byte_order != '=' && known.byte_order != '|') return false;
        if (known.number >= OTHERS) return known.kind == 'V' && known.letter == 'E';  // bfloat16
        return known.letter == 'f' || known.letter == 'd' || known.letter == 'e';
    }
};

// Whether all are floating arrays of the first one's dtype with these flags; any but the first may be None.
static int all_floating(PyObject* const* args, Py_ssize_t count, long flags) {
    Looked first;
    if (!first.look(args[0])) return -1;
    if (!first.has(flags) || !first.is_floating()) return 0;
    for (Py_ssize_t i = 1; i < count; i++) {
        if (args[i] == Py_None) continue;
        Looked other;
        if (!other.look(args[i])) return -1;
        if (other.dtype != first.dtype || !other.has(flags)) return 0;
    }
    return 1;
}
static PyObject* said(int found) { return found < 0 ? nullptr : PyBool_FromLong(found); }

template <long FLAGS> PyObject* py_all_floating(PyObject*, PyObject* const* args, Py_ssize_t count) {
    if (count) return said(all_floating(args, count, FLAGS));
    PyErr_SetString(PyExc_TypeError, "an array is needed");
    return nullptr;
}

static PyObject* py_in_order(PyObject*, PyObject* const* args, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; i++) {
        if (args[i] == Py_None) continue;
        Looked array;
        if (!array.look(args[i])) return nullptr;
        if (!array.has(IN_ORDER)) Py_RETURN_FALSE;
    }
    Py_RETURN_TRUE;
}

static PyObject* py_indexed(PyObject*, PyObject* const* args, Py_ssize_t count) {
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "an array and an index are needed");
        return nullptr;
    }
    for (int i = 0; i < 2; i++)
        if (!PyObject_TypeCheck(args[i], numpy_array) || !reinterpret_cast<NumpyArray*>(args[i])->ndim) Py_RETURN_FALSE;
    auto& index = *reinterpret_cast<NumpyArray*>(args[1]);
    char letter = index.dtype->letter;
    bool is_wide = letter == 'q' || (letter == 'l' && sizeof(long) == 8);
    if (!is_wide || index.dtype->byte_order != '=' || (index.flags & IN_ORDER) != IN_ORDER) Py_RETURN_FALSE;
    return said(all_floating(args, 1, IN_ORDER));
}

bool Argument::take_array(int flags) {
    if (look_into(flags)) return true;
    if (PyObject_GetBuffer(object, &view, flags) == 0) {
        dtype = letter_of(view);
        return true;
    }
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject* bits = bits_of_bfloat16(object);
    if (bits && PyObject_GetBuffer(bits, &view, flags) == 0) dtype = 'E';
    Py_XDECREF(bits);  // the view keeps it
    if (dtype) {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
        return true;
    }
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    return false;
}

static PyObject* py_set_threads(PyObject*, PyObject* count) {
    long n = PyLong_AsLong(count);
    if (n == -1 && PyErr_Occurred()) return nullptr;
    set_threads(int(n));
    Py_RETURN_NONE;
}

static PyObject* py_threads(PyObject*, PyObject*) { return PyLong_FromLong(threads()); }

static std::vector<PyMethodDef> methods;
static PyModuleDef definition;

#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)

PyMODINIT_FUNC JOINED(PyInit__, VARIANT)() {
    methods = {{"set_threads", py_set_threads, METH_O, "How many threads a kernel may use."},
               {"threads", py_threads, METH_NOARGS, "How many threads a kernel may use."},
               {"in_order", PyCFunction(reinterpret_cast<void (*)()>(py_in_order)), METH_FASTCALL,
                "Whether arrays lie row by row; any may be None."},
               {"ready", PyCFunction(reinterpret_cast<void (*)()>(py_all_floating<IN_ORDER>)), METH_FASTCALL,
                "Whether arrays lie row by row and are of the first one's floating dtype; any other may be None."},
               {"strided", PyCFunction(reinterpret_cast<void (*)()>(py_all_floating<ALIGNED>)), METH_FASTCALL,
                "Whether arrays are aligned and of the first one's floating dtype."},
               {"indexed", PyCFunction(reinterpret_cast<void (*)()>(py_indexed)), METH_FASTCALL,
                "Whether an array is ready, and an index one of numbers in order."},
               {"arrays_are", py_arrays_are, METH_O, "Which type NumPy's arrays are of, by its table of functions."}};
    for (const Entry& entry : entries())
        methods.push_back({entry.name, PyCFunction(reinterpret_cast<void (*)()>(entry.function)), METH_FASTCALL, nullptr});
    methods.push_back({});
    definition = {PyModuleDef_HEAD_INIT, "retrograd_kernels", nullptr, -1, methods.data(),
                  nullptr, nullptr, nullptr, nullptr};
    return PyModule_Create(&definition);
}
