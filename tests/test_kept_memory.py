"""How much freed memory is kept, that it goes back, and where large arrays begin."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import pytest

import retrograd as torch
from retrograd.backend.numpy import memory, native

glibc = pytest.mark.skipif(memory._malloc() is None, reason="only glibc's malloc can be asked")

kernels = pytest.mark.skipif(
    memory._malloc() is None or "align_large_arrays" not in native.kernels,
    reason="large arrays begin where malloc has them")


def in_a_process(code: str, **environment: str) -> str:
    inherited = {k: v for k, v in os.environ.items()
                 if k != "GLIBC_TUNABLES" and not k.startswith(("MALLOC_", "RETROGRAD_"))}
    ran = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True,
                         text=True, env={**inherited, **environment})
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


STEPS = """
import gc, resource
import retrograd as torch

def resident():
    row = next(row for row in open("/proc/self/status") if row.startswith("VmRSS"))
    return int(row.split()[1]) >> 10

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

x = torch.ones(1024, 1024, requires_grad=True)
def step():
    parts = [x.exp() for _ in range(8)]
    sum(part.tanh().sum() for part in parts).backward()
    x.grad = None

step(); step()
before = faults()
for _ in range(3):
    step()
each = (faults() - before) // 3
held = resident()
gc.collect()
print(each, held - resident(), torch.memory.kept() >> 20)
"""


@glibc
def test_steps_reuse_memory_and_a_full_collection_gives_it_back():
    faults, given_back, kept = map(int, in_a_process(STEPS).split())
    assert faults < 100 and kept > 0
    assert given_back >= 30  # eight results of 4 MB and the gradients on the way


@glibc
def test_it_can_be_switched_off():
    faults, _, kept = map(int, in_a_process(STEPS, RETROGRAD_KEEP_MEMORY="0").split())
    assert kept == 0 and faults > 1000
    assert in_a_process("import retrograd as t; t.memory.keep(0); t.ones(2).exp(); "
                        "print(t.memory.kept())") == "0"
    # Whoever has set malloc is not overruled.
    assert in_a_process("import retrograd as t; print(t.memory.kept())",
                        MALLOC_TRIM_THRESHOLD_="131072") == "0"


ALIGNED = """
import numpy as np
import retrograd as torch
x = torch.tensor(np.ones((256, 256)))
made = {"tensor": x, "sin": x.sin(), "zeros": torch.zeros(256, 256), "product": x @ x,
        "half": x.half(), "random": torch.rand(256, 256), "columns": x.t().contiguous()}
print(*[name for name, y in made.items() if y.data_ptr() % 64] or ["none"])
"""


@kernels
def test_large_arrays_begin_with_a_line_of_the_cache():
    assert in_a_process(ALIGNED) == "none"
    # As malloc has it, which would have to be lucky seven times.
    assert in_a_process(ALIGNED, RETROGRAD_KEEP_MEMORY="0") != "none"


RESIZED = """
import numpy as np
import retrograd as torch
torch.tensor(np.ones(3))
name = np._core.multiarray.get_handler_name
draw, before = np.random.default_rng(0), {}
for length in draw.integers(0, 200_000, 400).tolist():
    for key in draw.integers(0, 12, 3).tolist():
        if key not in before:
            before[key] = np.arange(float(length)), length
            continue
        array, known = before.pop(key)
        array.resize(length, refcheck=False)
        assert (array[:known] == np.arange(float(min(known, length)))).all()
        assert not array[known:].any()
        assert min(known, length) < 8192 or array.ctypes.data % 64 == 0
        if key % 3:
            array[:] = np.arange(float(length))
            before[key] = array, length
torch.memory.keep(0)
print(name(), name(next(iter(before.values()))[0]))
del before
torch.memory.keep(1 << 20)
print(name())
"""


@kernels
def test_arrays_of_such_memory_grow_shrink_and_outlive_the_setting():
    assert in_a_process(RESIZED).split() == ["default_allocator", "retrograd", "retrograd"]


OTHERS = """
import ctypes, numpy as np
import retrograd as torch
functions = ctypes.pythonapi.PyCapsule_GetPointer
functions.restype, functions.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
table = ctypes.cast(functions(np._core._multiarray_umath._ARRAY_API, None),
                    ctypes.POINTER(ctypes.c_void_p))
get = ctypes.PYFUNCTYPE(ctypes.py_object)(table[305])
put = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[304])
own = ctypes.create_string_buffer(ctypes.string_at(functions(get(), b"mem_handler"), 168), 168)
own[:6] = b"users" + bytes(1)
made = ctypes.pythonapi.PyCapsule_New
made.restype, made.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
put(made(ctypes.addressof(own), b"mem_handler", None))
torch.tensor(np.ones((256, 256))).sin()
print(np._core.multiarray.get_handler_name())
"""


@kernels
def test_an_allocator_that_somebody_set_is_left_alone():
    assert in_a_process(OTHERS) == "users"


def test_importing_the_package_changes_nothing():
    assert in_a_process("import gc, sys, retrograd; "
                        "print(gc.callbacks, 'retrograd.backend.numpy.memory' in sys.modules)"
                        ) == "[] False"


@glibc
def test_how_much_is_kept():
    before = torch.memory.kept()
    try:
        torch.memory.keep(1 << 20)
        torch.memory.keep(3 << 20)
        assert torch.memory.kept() == 3 << 20
        assert gc.callbacks.count(memory._after_collection) == 1
        torch.memory.keep(0)
        assert torch.memory.kept() == 0 and memory._after_collection not in gc.callbacks
        for wrong, error in ((-1, ValueError), (1 << 31, ValueError), (2.5, TypeError),
                             (True, TypeError), ("1", TypeError)):
            with pytest.raises(error, match="keep expects"):
                torch.memory.keep(wrong)
        assert torch.memory.kept() == 0
    finally:
        torch.memory.keep(before)
    assert isinstance(torch.memory.give_back(), bool)


def test_where_malloc_cannot_be_asked_nothing_happens(monkeypatch):
    monkeypatch.setattr(memory, "_malloc", lambda: None)
    monkeypatch.setattr(memory, "_kept", None)
    assert memory.kept() == 0 and not memory.give_back()
    memory.keep(1 << 20)
    assert memory.kept() == 0


def test_the_variable_is_a_number_of_megabytes(monkeypatch):
    monkeypatch.setenv("RETROGRAD_KEEP_MEMORY", "64")
    assert memory._by_default() == 64 << 20
    monkeypatch.setenv("RETROGRAD_KEEP_MEMORY", "much")
    with pytest.raises(ValueError, match="is a number of megabytes, but got 'much'"):
        memory._by_default()


TRAINING = """
import retrograd as torch
from retrograd import nn

def resident():
    row = next(row for row in open("/proc/self/status") if row.startswith("VmRSS"))
    return int(row.split()[1])

model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.GELU(), nn.MaxPool2d(2),
                      nn.Flatten(), nn.LayerNorm(36), nn.Dropout(0.1), nn.Linear(36, 5))
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
def train(steps):
    for _ in range(steps):
        optimizer.zero_grad()
        given = torch.randn(16, 1, 8, 8)
        nn.functional.cross_entropy(model(given), given[:, 0, 0, :5].argmax(1)).backward()
        optimizer.step()

train(100)
before = resident()
train(1900)
print(resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="read from /proc")
def test_two_thousand_steps_of_training_take_no_more_memory():
    """With what native kernels and malloc hold, which Python's own counting does not see."""
    grown = int(in_a_process(TRAINING))
    assert grown < 2048, f"{grown} kB"  # a result kept by each step would be 17,000


def test_a_share_of_the_memory_is_kept_and_no_more_than_a_limit(monkeypatch):
    for name in [n for n in memory.os.environ if n.startswith(("MALLOC_", "GLIBC_", "RETROGRAD"))]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(memory, "_malloc", lambda: True)
    for pages, wanted in [(1 << 10, (1 << 22) // memory._SHARE), (1 << 40, memory._MOST)]:
        sizes = {"SC_PHYS_PAGES": pages, "SC_PAGE_SIZE": 1 << 12}
        monkeypatch.setattr(memory.os, "sysconf", sizes.__getitem__)
        assert memory._by_default() == wanted
