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

bool Argument::take_array(int flags) {
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
               {"threads", py_threads, METH_NOARGS, "How many threads a kernel may use."}};
    for (const Entry& entry : entries())
        methods.push_back({entry.name, PyCFunction(reinterpret_cast<void (*)()>(entry.function)), METH_FASTCALL, nullptr});
    methods.push_back({});
    definition = {PyModuleDef_HEAD_INIT, "retrograd_kernels", nullptr, -1, methods.data(),
                  nullptr, nullptr, nullptr, nullptr};
    return PyModule_Create(&definition);
}
