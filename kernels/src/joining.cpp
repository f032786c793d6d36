// Arrays side by side: as many as a list holds, which the signature of a kernel cannot say.
#include <cstring>

#include "binding.hpp"
#include "maths.hpp"

namespace {

// Whether `part` has the dtype of `whole` and the shape of one of its slices.
bool is_slice(const Argument& part, const Argument& whole) {
    if (part.dtype != whole.dtype || part.dtype == '!' || part.view.ndim != whole.view.ndim - 1) return false;
    for (int d = 0; d < part.view.ndim; d++)
        if (part.view.shape[d] != whole.view.shape[d + 1]) return false;
    return true;
}

// Sets an exception if an array is no slice of `whole`, or not in order.
bool take_parts(PyObject* list, const Argument& whole, std::vector<Argument>& parts) {
    for (std::size_t i = 0; i < parts.size(); i++) {
        PyObject* item = PySequence_GetItem(list, Py_ssize_t(i));
        parts[i].object = item;
        bool taken = item && parts[i].take_array(PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) && is_slice(parts[i], whole);
        Py_XDECREF(item);  // which is kept as long as its memory is used
        if (!taken) return false;
    }
    return true;
}

// stacked(list, out): arrays of one shape, one after another along a new first dimension.
PyObject* stacked(PyObject*, PyObject* const* args, Py_ssize_t count) {
    Argument whole;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "a list and what is written are needed");
        return nullptr;
    }
    whole.object = args[1];
    Py_ssize_t n = PySequence_Size(args[0]);
    if (n < 0) return nullptr;
    bool fits = whole.take_array(PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE);  // not so for 8-bit floats
    std::vector<Argument> parts(n);
    fits = fits && whole.view.ndim > 0 && whole.view.shape[0] == n && take_parts(args[0], whole, parts);
    if (fits && whole.view.len) {
        char* to = static_cast<char*>(whole.view.buf);
        I bytes = I(whole.view.len / n);
        auto copy = [&] {
            parallel(I(n), rows_grain(bytes), [&](I begin, I end) {
                for (I i = begin; i < end; i++) std::memcpy(to + i * bytes, parts[i].view.buf, bytes);
            });
        };
        if (whole.view.len < MUCH) copy();
        else without_lock(copy);
    }
    for (Argument& part : parts) part.release();
    whole.release();
    if (fits) return Py_NewRef(args[1]);
    PyErr_Clear();
    PyErr_SetString(PyExc_IndexError, "the arrays are not alike, not in order, or of a dtype that no kernel knows");
    return nullptr;
}

}  // namespace

KERNELS({"stacked", stacked})
