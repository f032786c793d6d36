"""Profiles of training loops: which steps are measured, and what becomes of each trace."""

from __future__ import annotations

import enum
import json
import os
import socket
import time
from collections.abc import Callable, Iterable
from typing import Any, Self

from ..autograd import profiler as _measuring
from ..autograd.profiler_util import EventList
from ..base.warning import warn


class ProfilerActivity(enum.Enum):
    """What may be measured; here there is only the first."""

    CPU = 0
    XPU = 1
    CUDA = 2
    HPU = 3
    MTIA = 4
    PrivateUse1 = 5


class ProfilerAction(enum.Enum):
    """What is done in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def supported_activities() -> set[ProfilerActivity]:
    """What can be measured: the processor."""
    return {ProfilerActivity.CPU}


def schedule(*, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0,
             skip_first_wait: int = 0) -> Callable[[int], ProfilerAction]:
    """What to do in each step: cycles of ``wait``, ``warmup`` and ``active`` steps.

    >>> plan = torch.profiler.schedule(wait=1, warmup=1, active=2)
    >>> [plan(step).name for step in range(4)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE']
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} "
            f"(need >= 0), active={active} (need > 0), repeat={repeat} (need >= 0), "
            f"skip_first={skip_first} (need >= 0).")
    if not warmup:
        warn("Profiler won't be using warmup, this can skew profiler results")
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step += (wait if skip_first_wait else 0) - skip_first
        if repeat and step // cycle >= repeat:
            return ProfilerAction.NONE
        place = step % cycle
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(dir_name: str, worker_name: str | None = None,
                              use_gzip: bool = False) -> Callable[[_KinetoProfile], None]:
    """A function for ``on_trace_ready`` that writes each trace to a folder of TensorBoard's."""

    def write(prof: _KinetoProfile) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError("Can't create directory: " + dir_name) from error
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        ending = ".gz" if use_gzip else ""
        prof.export_chrome_trace(os.path.join(
            dir_name, f"{worker}.{time.time_ns()}.pt.trace.json{ending}"))

    return write


class _KinetoProfile:
    """A profile that is started and stopped by calls."""

    def __init__(self, *, activities: Iterable[ProfilerActivity] | None = None,
                 record_shapes: bool = False, profile_memory: bool = False,
                 with_stack: bool = False, with_flops: bool = False, with_modules: bool = False,
                 experimental_config: Any = None, execution_trace_observer: Any = None,
                 acc_events: bool = False, custom_trace_id_callback: Any = None,
                 post_processing_timeout_s: float | None = None) -> None:
        if execution_trace_observer is not None:
            raise RuntimeError("retrograd writes no execution traces; export_chrome_trace(path) "
                               "writes what happened when")
        self.activities = supported_activities() if activities is None else set(activities)
        if not self.activities:
            raise AssertionError("No valid profiler activities found")
        if ProfilerActivity.CPU not in self.activities:
            warn("nothing is measured: there is no device but the processor, and "
                 "ProfilerActivity.CPU was not asked for")
        self.record_shapes, self.with_flops = record_shapes, with_flops
        self.profile_memory, self.with_stack = profile_memory, with_stack
        self.with_modules, self.acc_events = with_modules, acc_events
        self.profiler: _measuring.profile | None = None
        self._metadata: dict[str, Any] = {}

    def start(self) -> None:
        """Begin to measure."""
        self.prepare_trace()
        self.start_trace()

    def stop(self) -> None:
        """Stop measuring."""
        self.stop_trace()

    def prepare_trace(self) -> None:
        """Make what a trace is written to; one that goes on after a break keeps its events."""
        if self.profiler is None or not self.acc_events:
            self.profiler = _measuring.profile(
                ProfilerActivity.CPU in self.activities, record_shapes=self.record_shapes,
                with_flops=self.with_flops, profile_memory=self.profile_memory,
                with_stack=self.with_stack, with_modules=self.with_modules,
                acc_events=self.acc_events)

    def start_trace(self) -> None:
        """Begin to write the trace."""
        self._running("starting")._start()

    def stop_trace(self) -> None:
        """Stop writing the trace."""
        if self.profiler is not None:
            self.profiler.__exit__(None, None, None)

    def _running(self, doing: str) -> _measuring.profile:
        if self.profiler is None:
            raise AssertionError(f"Profiler must be initialized before {doing}")
        return self.profiler

    def export_chrome_trace(self, path: str) -> None:
        """Write what happened when, for Chrome's trace viewer; compressed if it ends in .gz."""
        self._running("exporting chrome trace").export_chrome_trace(path, self._metadata)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write a line for each stack, with its time."""
        self._running("exporting stacks").export_stacks(path, metric)

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[ProfilerActivity]
                                  ) -> None:
        """Stop measuring for a while, or go on."""
        if self.profiler is not None:
            self.profiler.toggle_collection_dynamic(enable, activities)

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False, *, group_by_line: bool = False,
                     group_by_module: bool = False) -> EventList:
        """The calls of each op as one; also by line of the program, or by module."""
        return self._running("getting key averages").key_averages(
            group_by_input_shape, group_by_stack_n, group_by_overload_name,
            group_by_line=group_by_line, group_by_module=group_by_module)

    def events(self) -> EventList:
        """What was measured, in the order of time."""
        return self._running("accessing events").function_events

    def add_metadata(self, key: str, value: str) -> None:
        """Put a text into the trace."""
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Put something into the trace that is written in JSON."""
        self._metadata[key] = json.loads(value)

    preset_metadata_json = add_metadata_json

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """PyTorch's picture of memory over time: refused."""
        raise RuntimeError("retrograd draws no memory over time: with profile_memory=True, "
                           "events() and key_averages() say what each call took and gave back")


class profile(_KinetoProfile):
    """A block of which all, or the steps that a schedule says, are measured.

    ``on_trace_ready`` is called with the profile after each stretch of measured steps; :meth:`step`
    tells it that a step has ended.

    >>> with torch.profiler.profile(record_shapes=True) as prof:
    ...     y = torch.ones(2, 3) @ torch.ones(3, 4)
    >>> [(e.key, e.count) for e in prof.key_averages()]
    [('aten::ones', 2), ('aten::matmul', 1), ('aten::mm', 1)]
    """

    def __init__(self, *, activities: Iterable[ProfilerActivity] | None = None,
                 schedule: Callable[[int], ProfilerAction] | None = None,
                 on_trace_ready: Callable[..., Any] | None = None, record_shapes: bool = False,
                 profile_memory: bool = False, with_stack: bool = False, with_flops: bool = False,
                 with_modules: bool = False, experimental_config: Any = None,
                 execution_trace_observer: Any = None, acc_events: bool = False,
                 use_cuda: bool | None = None, custom_trace_id_callback: Any = None,
                 post_processing_timeout_s: float | None = None) -> None:
        if use_cuda is not None:
            warn("`use_cuda` is deprecated, use `activities` argument instead", FutureWarning)
        super().__init__(activities=activities, record_shapes=record_shapes,
                         profile_memory=profile_memory, with_stack=with_stack,
                         with_flops=with_flops, with_modules=with_modules,
                         experimental_config=experimental_config, acc_events=acc_events,
                         execution_trace_observer=execution_trace_observer)
        self.record_steps = schedule is not None
        self.schedule = schedule or (lambda step: ProfilerAction.RECORD)
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action = self.schedule(0)
        self.step_rec_fn: _measuring.record_function | None = None
        self._is_recording = False

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin with the first step."""
        try:
            self._turn(None, self.current_action)
            self._begin_step()
        except BaseException:
            self.stop_trace()
            raise

    def stop(self) -> None:
        """End the last step."""
        try:
            self._end_step()
        finally:
            self._turn(self.current_action, None)

    def step(self) -> None:
        """End a step and begin the next."""
        self._end_step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        self._turn(before, self.current_action)
        self._begin_step()

    def _begin_step(self) -> None:
        if self.record_steps:
            self.step_rec_fn = _measuring.record_function(f"ProfilerStep#{self.step_num}")
            self.step_rec_fn.__enter__()

    def _end_step(self) -> None:
        if self.step_rec_fn is not None:
            self.step_rec_fn.__exit__(None, None, None)
            self.step_rec_fn = None

    def _turn(self, before: ProfilerAction | None, now: ProfilerAction | None) -> None:
        """Go from what one step does to what the next does; None is outside of all steps."""
        if self._is_recording and (before is ProfilerAction.RECORD_AND_SAVE
                                   or now not in _RECORDING):
            self._is_recording = False
            self.stop_trace()
            is_ready = before is ProfilerAction.RECORD_AND_SAVE or now is None
            if is_ready and self.on_trace_ready is not None:
                self.on_trace_ready(self)
        if now in _RECORDING and not self._is_recording:
            self.prepare_trace()
            self.start_trace()
            self._is_recording = True


__all__ = ["ProfilerAction", "ProfilerActivity", "profile", "schedule", "supported_activities",
           "tensorboard_trace_handler"]
