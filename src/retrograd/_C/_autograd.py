"""Saved tensors and their hooks, by the names of PyTorch's compiled module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..autograd import kineto_available
from ..autograd.graph import saved_tensors_hooks
from ..base.modes import MODE, RUNNING
from ..core.saved_values import LoneSavedTensor, SavedTensor
from ..core.tensor import Tensor


def _make_saved_tensor(tensor: Tensor, is_output: bool) -> SavedTensor:
    """``tensor`` kept as a node would keep it, by the hooks that are set."""
    return LoneSavedTensor(tensor, is_output)


def _saved_tensors_hooks_is_enabled() -> bool:
    return MODE.get().hooks_disabled is None


def _saved_tensors_hooks_get_disabled_error_message() -> str | None:
    return MODE.get().hooks_disabled


def _saved_tensors_hooks_disable(error_message: str) -> None:
    MODE.set(MODE.get().but(hooks_disabled=error_message))


def _saved_tensors_hooks_enable() -> None:
    MODE.set(MODE.get().but(hooks_disabled=None))


def _push_saved_tensors_default_hooks(pack_hook: Any, unpack_hook: Any) -> None:
    saved_tensors_hooks(pack_hook, unpack_hook).__enter__()


def _pop_saved_tensors_default_hooks() -> None:
    MODE.set(MODE.get().but(saved_hooks=MODE.get().saved_hooks[:-1]))


def _top_saved_tensors_default_hooks(ignore_is_tracing: bool) -> Any:
    """The innermost pair of hooks."""
    hooks = MODE.get().saved_hooks
    return hooks[-1] if hooks else None


def _unsafe_set_version_counter(tensors: Sequence[Tensor], versions: Sequence[int]) -> None:
    """Let each tensor's memory be at a version, whatever was written to it."""
    for version in versions:
        if version < 0:
            raise RuntimeError(f"Cannot set a version_counter to a value below 0: {version}")
    for tensor, version in zip(tensors, versions, strict=True):
        tensor._counter().n = version


def _get_current_graph_task_keep_graph() -> bool:
    """Whether the running backward pass leaves its graph as it is; True outside of one."""
    schedule = RUNNING.get()
    return schedule is None or schedule.retains


__all__ = ["SavedTensor", "kineto_available"]
