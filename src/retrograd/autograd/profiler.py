"""Profiling: how long each op took, forward and backward, how often it ran and what it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ContextDecorator
from time import perf_counter_ns
from typing import Any, Self

from ..base.missing_names import suggest_names as _suggest_names
from ..base.modes import MODE, enter
from ..base.warning import warn
from .measured_functions import watch
from .profiler_util import (
    MEMORY_EVENT_NAME,
    OUT_OF_MEMORY_EVENT_NAME,
    DeviceType,
    EventList,
    FunctionEvent,
    FunctionEventAvg,
    RecordScope,
)
from .recorder import Recorder


class profile:
    """A block whose calls are measured.

    ``record_shapes`` keeps the shapes of arguments, ``profile_memory`` the memory that tensors
    take and give back, ``with_stack`` the lines of the program that led to a call,
    ``with_modules`` the modules it ran in and ``with_flops`` the arithmetic of the costliest ops.
    Blocks may be nested; threads are measured if they run in a copy of this block's context.

    >>> with torch.autograd.profiler.profile() as prof:
    ...     y = torch.ones(3) * 2
    >>> [event.name for event in prof.function_events]
    ['aten::ones', 'aten::mul']
    """

    def __init__(self, enabled: bool = True, *, use_cuda: bool = False,
                 use_device: str | None = None, record_shapes: bool = False,
                 with_flops: bool = False, profile_memory: bool = False, with_stack: bool = False,
                 with_modules: bool = False, use_kineto: bool = False, use_cpu: bool = True,
                 experimental_config: Any = None, acc_events: bool = False,
                 custom_trace_id_callback: Callable[[], str] | None = None,
                 post_processing_timeout_s: float | None = None):
        self.enabled = enabled
        self.entered = False
        self.record_shapes, self.with_flops = record_shapes, with_flops
        self.profile_memory, self.with_stack = profile_memory, with_stack
        self.with_modules, self.acc_events = with_modules, acc_events
        self.use_cpu, self.use_device = use_cpu, None
        self.profiling_start_time_ns = self.profiling_end_time_ns = 0
        self._recorder: Recorder | None = None
        self._events: EventList | None = None
        for device in {use_device, "cuda" if use_cuda else None} - {None, "cpu"}:
            warn(f"{str(device).upper()} is not available, disabling {str(device).upper()} "
                 "profiling")

    def __enter__(self) -> Self:
        if not self.enabled:
            return self
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.entered = True
        self._start()
        return self

    def _start(self) -> None:
        if not self.enabled:
            return
        recorder = Recorder(MODE.get().profile, self.record_shapes, self.profile_memory,
                            self.with_stack, self.with_modules, self.with_flops)
        try:
            watch.begin(recorder)
            if self._recorder is None:
                self.profiling_start_time_ns = perf_counter_ns()
            else:
                recorder.found, recorder.changes = self._recorder.found, self._recorder.changes
            self._recorder = recorder
            enter(MODE, MODE.get().but(profile=recorder))
        except BaseException:
            self._end(recorder)
            raise

    def __exit__(self, *exc: object) -> None:
        recorder = self._recorder
        if recorder is not None and recorder.is_on:
            try:
                self._end(recorder)
            except BaseException:  # an interrupt: what it left undone is done now
                self._end(recorder)
                raise

    def _end(self, recorder: Recorder) -> None:
        """Switch off what is still on."""
        if recorder.is_on:
            self.profiling_end_time_ns = perf_counter_ns()
        recorder.is_on, self._events = False, None
        if recorder.memory is not None and recorder in recorder.memory.told:
            recorder.memory.told.remove(recorder)
        mode = MODE.get()
        if mode.profile is recorder:  # other switches may have been changed for good
            MODE.set(mode.but(profile=recorder.outer))
        watch.end(recorder)

    @property
    def function_events(self) -> EventList:
        """What was measured, in the order of time."""
        options: Any = {"profile_memory": self.profile_memory, "with_flops": self.with_flops}
        if self._recorder is None:
            return EventList(**options)
        if self._events is None or self._recorder.is_on:
            self._events = self._recorder.events(self.profiling_start_time_ns, self.record_shapes,
                                                 **options)
        return self._events

    def __repr__(self) -> str:
        return repr(self.function_events) if self._recorder is not None \
            else "<unfinished torch.autograd.profile>"

    def __str__(self) -> str:
        return self.table() if self._recorder is not None \
            else "<unfinished torch.autograd.profile>"

    def table(self, sort_by: str | None = None, row_limit: int = 100,
              max_src_column_width: int | None = 75, max_name_column_width: int | None = 55,
              max_shapes_column_width: int | None = 80, header: str | None = None,
              top_level_events_only: bool = False) -> str:
        """A table with a row for each call."""
        return self.function_events.table(sort_by, row_limit, max_src_column_width,
                                          max_name_column_width, max_shapes_column_width, header,
                                          top_level_events_only)

    def export_chrome_trace(self, path: str, metadata: dict[str, Any] | None = None) -> None:
        """Write what happened when, for Chrome's trace viewer."""
        self.function_events.export_chrome_trace(path, metadata)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write a line for each stack, with its time."""
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self.function_events.export_stacks(path, metric)

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False, *, group_by_line: bool = False,
                     group_by_module: bool = False) -> EventList:
        """The calls of each op as one: see :meth:`.EventList.key_averages`."""
        for asked, kept, option in ((group_by_line, self.with_stack, "with_stack"),
                                    (group_by_module, self.with_modules, "with_modules")):
            if asked and not kept:
                raise ValueError(f"this table needs what profile({option}=True) keeps")
        return self.function_events.key_averages(
            group_by_input_shape, group_by_stack_n, group_by_overload_name,
            group_by_line=group_by_line, group_by_module=group_by_module)

    def total_average(self) -> FunctionEventAvg:
        """All calls as one."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all calls in microseconds, each moment counted once."""
        return self.function_events.self_cpu_time_total

    def toggle_collection_dynamic(self, enabled: bool, activities: Iterable[Any]) -> None:
        """Stop measuring for a while, or go on."""
        if self._recorder is not None:
            self._recorder.is_paused = not enabled


class record_function(ContextDecorator):
    """A block, or a decorated function, that is an event of its own in a profile.

    >>> with torch.autograd.profiler.profile() as prof:
    ...     with torch.autograd.profiler.record_function("double"):
    ...         y = torch.ones(3) * 2
    >>> prof.function_events[0].name
    'double'
    """

    def __init__(self, name: str, args: str | None = None):
        self.name, self.args = name, args
        self._open: list[tuple[Recorder | None, int]] = []
        self.run_callbacks_on_exit = True

    def _recreate_cm(self) -> record_function:
        return record_function(self.name, self.args)

    def __enter__(self) -> Self:
        if not isinstance(self.name, str):
            raise RuntimeError("profiler::_record_function_enter_new() Expected a value of type "
                               f"'str' for argument 'name' but instead found type "
                               f"'{type(self.name).__name__}'.")
        self._open.append((MODE.get().profile, perf_counter_ns()))
        return self

    def __exit__(self, *exc: object) -> None:
        recorder, start = self._open.pop()
        if recorder is not None and self.run_callbacks_on_exit:
            recorder.note(self.name, start, perf_counter_ns(), RecordScope.USER_SCOPE)

    def _call_end_callbacks_on_future(self, fut: Any) -> Any:
        """Let the event end when a future does."""
        if not self.run_callbacks_on_exit:
            raise RuntimeError("_call_end_callbacks_on_future can only be called once.")
        self.run_callbacks_on_exit = False
        recorder, start = self._open[-1]

        def done(_: Any) -> None:
            if recorder is not None:
                recorder.note(self.name, start, perf_counter_ns(), RecordScope.USER_SCOPE)

        fut.add_done_callback(done)
        return fut


class _Emitting:
    """A block whose calls another program is told of; there is no such program here."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False):
        self.enabled, self.record_shapes = enabled, record_shapes

    def __enter__(self) -> Self:
        if self.enabled:
            self._refuse()
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def _refuse(self) -> None:
        raise NotImplementedError


class emit_nvtx(_Emitting):
    """A block whose calls are shown by NVIDIA's profilers: refused, there is no such device."""

    def _refuse(self) -> None:
        raise AssertionError("Torch not compiled with CUDA enabled")


class emit_itt(_Emitting):
    """A block whose calls are shown by Intel's VTune: refused, its library is not used here."""

    def _refuse(self) -> None:
        raise RuntimeError("retrograd does not speak to Intel's profilers; "
                           "torch.profiler.profile(...).export_chrome_trace(path) writes a trace")


def load_nvprof(path: str) -> EventList:
    """PyTorch's reader of nvprof's traces: refused, nothing here writes them."""
    raise RuntimeError("retrograd reads no traces of nvprof: it runs on no device that has them")


def kineto_available() -> bool:
    """Whether PyTorch's tracing library is there, which it is not."""
    return False


__all__ = ["DeviceType", "EventList", "FunctionEvent", "FunctionEventAvg", "MEMORY_EVENT_NAME",
           "OUT_OF_MEMORY_EVENT_NAME", "emit_itt", "emit_nvtx", "kineto_available", "load_nvprof",
           "profile", "record_function"]

_suggest_names(__name__)
