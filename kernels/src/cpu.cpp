// Which of the builds of the kernels this processor can run.
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

static PyObject* variant(PyObject*, PyObject*) {
#if defined(__x86_64__)
    auto has_v4 = [] {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    };
    auto has_v3 = [] {  // those with avx2 and fma have f16c, movbe and lzcnt too
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
               __builtin_cpu_supports("bmi2");
    };
    __builtin_cpu_init();
    return PyUnicode_FromString(has_v3() ? has_v4() ? "v4" : "v3" : __builtin_cpu_supports("sse4.2") ? "v2" : "none");
#else
    return PyUnicode_FromString("portable");
#endif
}

static PyMethodDef methods[] = {{"variant", variant, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "cpu", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};
PyMODINIT_FUNC PyInit__cpu() { return PyModule_Create(&definition); }
