// Memory for large arrays that begins with a line of the cache. Whatever serves NumPy serves here too, and
// is asked for a line more than is needed.
//
// malloc's blocks begin a quarter of a line behind one: every vector would lie on two lines, which takes a
// third longer where memory is all that counts.
#include <cstring>

#include "binding.hpp"

namespace {

// NumPy's own structures, as version 1 of them is laid out (NEP 49).
struct Allocator {
    void* context;
    void* (*malloc)(void* context, std::size_t size);
    void* (*calloc)(void* context, std::size_t count, std::size_t size);
    void* (*realloc)(void* context, void* block, std::size_t size);
    void (*free)(void* context, void* block, std::size_t size);
};
struct Handler {
    char name[127];
    std::uint8_t version;
    Allocator allocator;
};
constexpr int SET_HANDLER = 304, GET_HANDLER = 305;  // places in NumPy's table of functions
constexpr const char* CAPSULE = "mem_handler";

constexpr std::size_t LINE = 64, LARGE_BLOCK = 1 << 16;

// Before each array lies where its block begins. Nothing else tells large arrays from small ones: NumPy frees an
// array that holds nothing as one of a byte.
struct alignas(16) Note {
    void* block;
};
constexpr std::size_t BESIDE = sizeof(Note), MORE = LINE + BESIDE;

Note* note_of(void* array) { return static_cast<Note*>(array) - 1; }
// The place of an array of that size in its block, which has BESIDE or, if it is large, MORE bytes besides.
void* place_in(void* block, std::size_t size) {
    auto first = reinterpret_cast<std::uintptr_t>(block);
    return reinterpret_cast<void*>(size < LARGE_BLOCK ? first + BESIDE : (first + MORE) / LINE * LINE);
}
std::size_t whole(std::size_t size) { return size + (size < LARGE_BLOCK ? BESIDE : MORE); }
void* noted(void* block, std::size_t size) {
    if (!block) return nullptr;
    void* array = place_in(block, size);
    note_of(array)->block = block;
    return array;
}

const Allocator& usual(void* context) { return *static_cast<const Allocator*>(context); }

void* allocate(void* context, std::size_t size) {
    const Allocator& from = usual(context);
    return size > SIZE_MAX - MORE ? nullptr : noted(from.malloc(from.context, whole(size)), size);
}
void* allocate_zeros(void* context, std::size_t count, std::size_t size) {
    const Allocator& from = usual(context);
    std::size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - MORE) return nullptr;
    return noted(from.calloc(from.context, whole(bytes), 1), bytes);
}
void release(void* context, void* array, std::size_t size) {
    const Allocator& to = usual(context);
    if (array) to.free(to.context, note_of(array)->block, whole(size));
}
void* reallocate(void* context, void* array, std::size_t size) {
    const Allocator& from = usual(context);
    if (!array) return allocate(context, size);
    if (size > SIZE_MAX - MORE) return nullptr;
    void* block = note_of(array)->block;
    auto left_out = static_cast<char*>(array) - static_cast<char*>(block);
    block = from.realloc(from.context, block, size + MORE);
    if (!block) return nullptr;
    std::memmove(place_in(block, size), static_cast<char*>(block) + left_out, size);  // lines may begin elsewhere in it now
    return noted(block, size);
}

Allocator before;  // which goes on serving
Handler handler{"retrograd", 1, {&before, allocate, allocate_zeros, reallocate, release}};

// align_large_arrays(numpy_functions, wanted): whether arrays of this context are given such memory now, which
// they are if NumPy's own allocator served it before.
PyObject* py_align_large_arrays(PyObject*, PyObject* const* args, Py_ssize_t count) {
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "NumPy's table of functions and whether it is wanted are needed");
        return nullptr;
    }
    auto table = static_cast<void**>(PyCapsule_GetPointer(args[0], nullptr));
    int wanted = table ? PyObject_IsTrue(args[1]) : -1;
    if (wanted < 0) return nullptr;
    auto set_handler = reinterpret_cast<PyObject* (*)(PyObject*)>(table[SET_HANDLER]);
    auto get_handler = reinterpret_cast<PyObject* (*)()>(table[GET_HANDLER]);
    PyObject* serving = get_handler();
    if (!serving) return nullptr;
    auto present = static_cast<Handler*>(PyCapsule_GetPointer(serving, CAPSULE));
    Py_DECREF(serving);  // the context keeps it
    if (!present) return nullptr;
    bool is_aligned = std::strcmp(present->name, handler.name) == 0;
    if (is_aligned == bool(wanted) || (wanted && std::strcmp(present->name, "default_allocator") != 0))
        return PyBool_FromLong(is_aligned);
    PyObject* capsule = nullptr;
    if (wanted) {
        if (!before.malloc) before = present->allocator;
        capsule = PyCapsule_New(&handler, CAPSULE, nullptr);
        if (!capsule) return nullptr;
    }
    PyObject* old = set_handler(capsule);
    Py_XDECREF(capsule);
    if (!old) return nullptr;
    Py_DECREF(old);
    return PyBool_FromLong(wanted);
}

}  // namespace

KERNELS({"align_large_arrays", py_align_large_arrays})
