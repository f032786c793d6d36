"""Questions about the backward pass that is being run."""

from __future__ import annotations

import itertools
import sys
from typing import Any

from ..autograd.grad_mode import is_multithreading_enabled
from ..base.modes import RUNNING
from ..core import engine
from ..core.graph import Node
from ..core.tensor import AccumulateGrad

_numbers = itertools.count()


def _current_graph_task_id() -> int:
    """A number of the running pass's own; -1 outside of one."""
    schedule = RUNNING.get()
    if schedule is None:
        return -1
    if _numbers not in schedule.notes:
        schedule.notes[_numbers] = next(_numbers)
    return schedule.notes[_numbers]


def _current_autograd_node() -> Any:
    """The node whose gradients are being computed.

    The engine keeps no note of it: its loops call it ``node``, and are found on the stack.
    """
    frame = sys._getframe(1) if RUNNING.get() is not None else None
    while frame is not None:
        if frame.f_code in engine.LOOPS:
            return frame.f_locals.get("node")
        frame = frame.f_back
    return None


def _current_graph_task_execution_order() -> list[Any]:
    """The nodes of the running pass, in the order in which they are run."""
    schedule = RUNNING.get()
    if schedule is None:
        raise RuntimeError("_current_graph_task_execution_order should only be called during the "
                           "backward pass")
    if is_multithreading_enabled():
        raise RuntimeError(
            "get_current_graph_task_execution_order expects the current backward to be executed "
            "with multithreading disabled, e.g. by running:\n\n>>> with "
            "torch.autograd.set_multithreading_enabled(False):\n...     torch.autograd.grad(...)\n")
    closing = schedule.closing()
    order = []
    for node in (None, *schedule.order):
        if node is not None and (schedule.needed is None or node in schedule.needed):
            order.append(node)
        order += [leaf._accumulator() for leaf in closing.get(node, ())
                  if schedule.reaches(leaf)]
    return order


def _will_engine_execute_node(node: Any) -> bool:
    """Whether the running pass computes gradients at ``node``."""
    if not isinstance(node, Node):
        raise RuntimeError("_will_engine_execute_node expects an grad_fn, but got "
                           f"{type(node).__name__}")
    schedule = RUNNING.get()
    if schedule is None:
        raise RuntimeError("_get_should_execute_nodes should only be called during the backward "
                           "pass")
    if not isinstance(node, AccumulateGrad):
        return schedule.reaches(node)
    if not schedule.accumulates:
        raise RuntimeError("A leaf node was passed to _will_engine_execute_node but we are "
                           "currently running autograd.grad(). This is currently not supported.")
    return schedule.reaches(node.variable)
