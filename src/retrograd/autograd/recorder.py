"""What a profiler writes down while it is on: calls of ops and functions, nodes, named blocks.

A recorder is a switch of the mode (``Mode.profile``), so that ordinary calls know nothing of it:
the general path hands it calls of ops, the engine nodes, and :mod:`.measured_functions` the rest.
"""

from __future__ import annotations

import os
import sys
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from functools import partial
from itertools import accumulate, pairwise
from math import prod
from time import perf_counter_ns
from types import CodeType
from typing import Any
from weakref import ref

from ..backend import xp
from ..backend.interface import is_array
from ..base.call_sites import PACKAGE, Site, is_internal
from ..base.modes import MODE
from ..core.engine import memory_of
from ..core.extensions import TRACED_TYPES
from ..core.op import Op
from ..core.tensor import Tensor
from .event_names import name_of
from .profiler_util import MEMORY_EVENT_NAME, EventList, FunctionEvent, RecordScope

_INSIDE: ContextVar[str] = ContextVar("retrograd.profiled_function", default="")
"""The function that runs: the op that it is made of is no event besides, if it has its name."""

_CODE_OF_MODULES = os.path.join(PACKAGE, "nn", "modules", "_calling.py")
_EVALUATE = "autograd::engine::evaluate_function: "


class Recorder:
    """The events of one profiler; it hands them to those around it as well."""

    accumulation = "torch::autograd::AccumulateGrad"

    def __init__(self, outer: Recorder | None, shapes: bool, memory: bool, stack: bool,
                 modules: bool, flops: bool):
        self.outer = outer
        self.is_on = True
        self.is_paused = False
        # What one of those around it asks for is kept as well.
        self.keeps_shapes: bool = shapes or flops or (outer is not None and outer.keeps_shapes)
        self.keeps_memory: bool = memory or (outer is not None and outer.keeps_memory)
        self.keeps_stack: bool = stack or (outer is not None and outer.keeps_stack)
        self.keeps_modules: bool = modules or (outer is not None and outer.keeps_modules)
        self.found: list[dict[str, Any]] = []
        self.memory: _Memory | None = None
        if self.keeps_memory:
            self.memory = (outer and outer.memory) or _Memory()
            if memory:
                self.memory.told.append(self)
        # When bytes were taken or given back, in which thread and how many.
        self.changes: list[tuple[int, int, int]] = []
        # Where the calls were whose nodes a backward pass may run.
        self.forward: dict[int, dict[str, Any]] = {}

    # ---- what is measured

    def op(self, op: Op, call: Callable[..., Any], args: tuple[Any, ...], suffix: str = "") -> Any:
        """Run a call of an op, which is an event unless the function around it is that already."""
        if not self.is_on:
            self._leave()
        name = name_of(op) + suffix
        return call() if name == _INSIDE.get() else self._measured(name, call, args)

    def function(self, name: str, plain: Callable[..., Any], args: tuple[Any, ...],
                 kwargs: dict[str, Any]) -> Any:
        """Run a function made of ops."""
        before = _INSIDE.get()
        if name == before:
            return plain(*args, **kwargs)
        try:
            _INSIDE.set(name)
            return self._measured(name, lambda: plain(*args, **kwargs), args, kwargs)
        finally:
            _INSIDE.set(before)

    def block(self, name: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run a part of the program that has a name of its own."""
        start = perf_counter_ns()
        try:
            return call(*args, **kwargs)
        finally:
            self.note(name, start, perf_counter_ns(), RecordScope.USER_SCOPE)

    def _measured(self, name: str, call: Callable[[], Any], args: tuple[Any, ...],
                  kwargs: dict[str, Any] | None = None) -> Any:
        result, start = None, perf_counter_ns()
        try:
            result = call()
            return result
        finally:
            end = perf_counter_ns()
            inputs = (*args, *kwargs.values()) if kwargs else args
            details: dict[str, Any] = {}
            if self.keeps_shapes:
                details["input_shapes"] = [_shape(value) for value in args]
                details["concrete_inputs"] = [None if _has_tensors(v) else v for v in args]
                details["kwinputs"] = {k: v for k, v in (kwargs or {}).items()
                                       if not _has_tensors(v)}
                details["flops"] = _flops(name, details["input_shapes"], result)
            if self.memory is not None:
                self.memory.see(result, inputs, end)
            if self.keeps_stack or self.keeps_modules:
                details |= self._place(sys._getframe(1))
            seq = _sequence_number(result, inputs)
            if seq >= 0:
                details["sequence_nr"] = seq
                self.forward[seq] = {"fwd_thread": threading.get_ident(), **{
                    k: details[k] for k in ("stack", "modules") if k in details}}
            self.note(name, start, end, RecordScope.FUNCTION, **details)

    def node(self, name: str, seq: int, site: Site | None, call: Callable[..., Any],
             *args: Any) -> Any:
        """Run what a node does in a backward pass."""
        result, outer = None, perf_counter_ns()
        start = perf_counter_ns()
        try:
            result = call(*args)
            return result
        finally:
            end = perf_counter_ns()
            details: dict[str, Any] = {"sequence_nr": seq, **self.forward.get(
                seq, {"stack": ((site.code, site.line),)} if site and self.keeps_stack else {})}
            if self.memory is not None:
                # A gradient that nobody has met yet was added up on the way here.
                sums = [value for value in args if not isinstance(value, Tensor)]
                self.memory.see(sums, (), outer)
                self.memory.see(result, args, end)
            self.note(name, start, end, RecordScope.BACKWARD_FUNCTION, **details)
            self.note(_EVALUATE + name, outer, perf_counter_ns(), RecordScope.FUNCTION, **details)

    def running(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """The function that runs a node, measured."""
        def measured(node: Any, *rest: Any) -> Any:
            code = getattr(node, "code", None)
            return self.node(node.name(), node.seq, code and Site(code, node.lasti), run, node,
                             *rest)

        return measured

    def meet(self, values: Any) -> None:
        """Be shown values that were there before."""
        if self.memory is not None:
            self.memory.see((), values, 0)

    def _leave(self) -> None:
        """Take a recorder that has ended out of a context that was copied while it was on."""
        alive: Recorder | None = self
        while alive is not None and not alive.is_on:
            alive = alive.outer
        MODE.set(MODE.get().but(profile=alive))

    # ---- what is written down

    def note(self, name: str, start: int, end: int, scope: RecordScope, **details: Any) -> None:
        """Add an event."""
        event = {"name": name, "start": start, "end": end, "scope": scope,
                 "thread": threading.get_ident(), **details}
        recorder: Recorder | None = self
        while recorder is not None:
            if recorder.is_on and not recorder.is_paused:
                recorder.found.append(event)
            recorder = recorder.outer

    def _place(self, frame: Any) -> dict[str, Any]:
        """The lines of the program that led here, and the modules that are being called."""
        stack: list[tuple[CodeType, int]] = []
        modules: list[Any] = []
        while frame is not None:
            code = frame.f_code
            if self.keeps_stack and not is_internal(code.co_filename):
                stack.append((code, frame.f_lineno))
            if self.keeps_modules and _calls_module(code):
                module = frame.f_locals.get("self")
                if not modules or modules[-1] is not module:
                    modules.append(module)
            frame = frame.f_back
        return {"stack": tuple(stack), "modules": _path(modules[::-1])}

    def events(self, start: int, use_shapes: bool, **options: Any) -> EventList:
        """The events so far, in the order of time; times are counted from ``start``."""
        threads: dict[int | None, int] = {None: 0}
        made = EventList(**options)
        found = self._with_memory() if self.changes else self.found
        for number, event in enumerate(sorted(found, key=lambda e: (e["start"], -e["end"]))):
            name = event["name"]
            made.append(FunctionEvent(
                id=number, name="ProfilerStep*" if name.startswith("ProfilerStep#") else name,
                trace_name=name, overload_name="",
                thread=threads.setdefault(event["thread"], len(threads)),
                fwd_thread=threads.setdefault(event.get("fwd_thread"), len(threads)),
                start_us=(event["start"] - start) / 1000, end_us=(event["end"] - start) / 1000,
                scope=int(event["scope"]), sequence_nr=event.get("sequence_nr", -1),
                input_shapes=event.get("input_shapes", []) if use_shapes else [],
                concrete_inputs=event.get("concrete_inputs", []),
                kwinputs=event.get("kwinputs", {}), flops=event.get("flops", 0),
                stack=[f"{code.co_filename}({line}): {code.co_name}"
                       for code, line in event.get("stack", ())],
                module_hierarchy=event.get("modules", ""),
                cpu_memory_usage=event.get("cpu_memory_usage", 0),
                is_user_annotation=event["scope"] is RecordScope.USER_SCOPE))
        made._build_tree()
        return made

    def _with_memory(self) -> Iterable[dict[str, Any]]:
        """The events with the bytes each took, less those it gave back; and those of no event."""
        for thread in {event["thread"] for event in self.found} | {c[1] for c in self.changes}:
            changes = sorted([(time, count) for time, of, count in self.changes if of == thread])
            times = [time for time, _ in changes]
            until = [0, *accumulate([count for _, count in changes])]
            seen = 0  # changes that belong to events, or lie before them
            for event in sorted([event for event in self.found if event["thread"] == thread],
                                key=lambda event: event["start"]):
                first = bisect_left(times, event["start"])
                after = bisect_right(times, event["end"])
                yield {**event, "cpu_memory_usage": until[after] - until[first]}
                yield from _alone(thread, changes[seen:first])
                seen = max(seen, after)
            yield from _alone(thread, changes[seen:])


# ---------------------------------------------------------------- memory


class _Memory:
    """Tells recorders when calls take memory, and when it is given back.

    Memory is watched from the first call that it meets, as an argument or as a result.
    """

    def __init__(self) -> None:
        self.told: list[Recorder] = []
        self.watched: dict[int, ref[Any]] = {}

    def see(self, result: Any, inputs: Any, time: int) -> None:
        """Look at the results and the arguments of a call that ended at a time."""
        for value in _tensors(inputs):
            self._watch(value)
        taken = sum([self._watch(value) for value in _tensors(result)])
        if taken:
            self._tell(time, taken)

    def _watch(self, value: Any) -> int:
        """Watch the memory of a tensor or an array; the bytes of it that were not known."""
        new = 0
        for memory in _memory(value):
            known = self.watched.get(id(memory))
            if known is None or known() is not memory:
                size = memory._data.nbytes if isinstance(memory, Tensor) else memory.nbytes
                self.watched[id(memory)] = ref(memory, partial(self._gone, id(memory), size))
                new += size
        return new

    def _gone(self, key: int, size: int, reference: ref[Any]) -> None:
        if self.watched.get(key) is reference:
            del self.watched[key]
            self._tell(perf_counter_ns(), -size)

    def _tell(self, time: int, count: int) -> None:
        for recorder in self.told:
            if recorder.is_on and not recorder.is_paused:
                recorder.changes.append((time, threading.get_ident(), count))


def _memory(value: Any) -> Iterable[Any]:
    """What holds the memory of a tensor or an array; of a transform's data that of all its parts.

    Of a single number that is its tensor: NumPy's scalars cannot be watched.
    """
    data = value._data if isinstance(value, Tensor) else value
    if type(data) in TRACED_TYPES:
        for part in getattr(type(data), "__slots__", ()):
            for inner in _tensors(getattr(data, part)):
                yield from _memory(inner)
    elif is_array(data):
        yield memory_of(data)
    elif xp.is_scalar(data) and isinstance(value, Tensor):
        yield value


def _alone(thread: int, changes: Iterable[tuple[int, int]]) -> Iterable[dict[str, Any]]:
    """Events of memory that was taken or given back between calls."""
    for time, count in changes:
        yield {"name": MEMORY_EVENT_NAME, "start": time, "end": time, "thread": thread,
               "scope": RecordScope.FUNCTION, "cpu_memory_usage": count}


# ---------------------------------------------------------------- details of a call


def _tensors(value: Any) -> Iterable[Any]:
    """The tensors and arrays in a value."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, Tensor) or is_array(value) or type(value) in TRACED_TYPES:
        yield value


def _has_tensors(value: Any) -> bool:
    return next(iter(_tensors(value)), None) is not None


def _shape(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [_shape(item) for item in value] if any(map(_shape, value)) else []
    return list(value.shape) if isinstance(value, Tensor) else []


def _sequence_number(result: Any, inputs: Iterable[Any]) -> int:
    """The number of the node that a call made, or -1."""
    for tensor in _tensors(result):
        node: Any = getattr(tensor, "_edge", None)
        if getattr(node, "is_output", False):
            node = node.node
        seq = getattr(node, "seq", None)
        if isinstance(seq, int) and seq >= 0 and not isinstance(node, Tensor) and all(
                tensor is not given for given in inputs):
            return seq
    return -1


_PRODUCTS = {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::matmul",
             "aten::linear", "aten::mv", "aten::dot"}


def _flops(name: str, shapes: list[Any], result: Any) -> int:
    """Multiplications and additions of the calls that cost most, as PyTorch counts them."""
    if not isinstance(result, Tensor) or not shapes:
        return 0
    if name in ("aten::add", "aten::mul"):
        return prod(shapes[0])
    if name in _PRODUCTS:
        left = shapes[1 if name in ("aten::addmm", "aten::baddbmm") else 0]
        return 2 * result.numel() * (left[-1] if left else 1)
    if name.startswith("aten::conv") and len(shapes) > 1 and "transpose" not in name:
        return 2 * result.numel() * prod(shapes[1][1:])
    return 0


class _ModuleCalls(dict[CodeType, bool]):
    """Whether code is that by which modules are called."""

    def __missing__(self, code: CodeType) -> bool:
        self[code] = code.co_filename == _CODE_OF_MODULES and code.co_name == "__call__"
        return self[code]


_calls_module = _ModuleCalls().__getitem__


def _path(modules: list[Any]) -> str:
    """Modules, outermost first, each under the name it has in the one before."""
    names = [f"TOP({type(modules[0]).__name__})"] if modules else []
    for outer, module in pairwise(modules):
        name = next((n for n, inner in outer.named_modules() if inner is module), "?")
        names.append(f"{name}({type(module).__name__})")
    return ".".join(names)


# ---------------------------------------------------------------- processes


def _forget_in_child() -> None:
    """A forked process is not what was to be measured."""
    mode = MODE.get()
    if mode.profile is not None:
        MODE.set(mode.but(profile=None))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
