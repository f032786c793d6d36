"""The backward pass: one loop over the recorded graph.

A node is made after its inputs, so the reachable nodes in descending order of creation are a
topological order: when a node's turn comes, its whole gradient has arrived. No recursion anywhere.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from heapq import heapify, heappop, heappush
from operator import attrgetter
from types import FrameType
from typing import Any

from ..backend import xp
from ..backend.interface import is_array, library_of
from ..backend.numpy import LARGE, can_stand_for
from ..base import call_sites
from ..base.locks import new_lock
from ..base.modes import ACTIVE, GRAD_LAYOUT, MODE, RUNNING, switched
from .anomaly import Anomaly, run_checked
from .extensions import TRACED_TYPES
from .graph import LEAFS_OWN, Like, Node, Released, fit, sum_of
from .holders import note_holders
from .safe_zeros import SafeZeros, run_safely
from .saved_values import fit_tensor, output_edge
from .tensor import AccumulateGrad, Tensor, wrap_any, wrap_array

_by_age = attrgetter("seq")
_TRACED = TRACED_TYPES.keys()  # which grow as transforms are loaded
_accumulating = new_lock()
_PASSES_ON_ONE_STACK = 16
"""How many passes run inside each other before the next gets a thread, with a stack, of its own."""


def _on_new_stack(call: Callable[[], Any]) -> Any:
    """``call()`` in the present context, where it may recurse as deeply as any program may."""
    outcome: list[Any] = []

    def run_it() -> None:
        try:
            outcome[:] = True, context.run(call)
        except BaseException as error:
            outcome[:] = False, error

    context = copy_context()
    thread = threading.Thread(target=run_it, name="backward inside backward", daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:  # an interrupt, which would leave a pass running by itself
        thread.join()
        raise
    succeeded, result = outcome
    if not succeeded:
        raise result
    return result


class Schedule:
    """The nodes a backward pass runs, newest first, and which leaf is complete after which."""

    __slots__ = ("order", "leaves", "outputs", "needed", "is_plain", "_notes",
                 "_members", "callbacks", "is_unwatched", "steps", "loop", "caller", "site",
                 "targets", "given", "shown", "depth", "retains", "accumulates", "__weakref__")
    steps: list[tuple[Any, tuple[Any, ...]]]  # of a pass to targets, see :meth:`_reaching`
    site: call_sites.Site | None  # the line that asked for the pass, where it is known
    caller: FrameType | None  # the user's frame above the loop, once it was looked for
    given: dict[int, Any]
    shown: dict[int, Any]
    depth: int  # how many passes it runs inside of
    retains: bool  # whether it leaves the graph as it is
    accumulates: bool  # whether gradients go to the leaves

    def __init__(self, roots: list[Any], targets: set[Any] | None):
        leaves: list[Any] = []
        outputs: dict[Any, list[Any]] = {}
        distinct = dict.fromkeys(roots)
        order, seen = [*distinct], set(distinct)
        watched = False  # whether there are hooks
        others = 0  # edges in ``order`` that are no nodes; their age sorts them to its end
        is_chain = is_one = len(order) == 1  # found in the order of age, then, and its leaf last
        # Written out for the usual arities: this loop is a large part of a backward pass.
        for node in order:
            arity = node._arity
            if arity == 2:
                edge = node.next0
                other = node.next1
                if edge is not None:
                    if edge not in seen:
                        seen.add(edge)
                        order.append(edge)
                    if other is not None:
                        is_chain = False
                        if other not in seen:
                            seen.add(other)
                            order.append(other)
                elif other is not None and other not in seen:
                    seen.add(other)
                    order.append(other)
            elif arity == 1:
                edge = node.next0
                if edge is not None and edge not in seen:
                    seen.add(edge)
                    order.append(edge)
            elif arity > 2:
                is_chain = False
                for edge in node.edges():
                    if edge is not None and edge not in seen:
                        seen.add(edge)
                        order.append(edge)
            else:
                others += 1
                if arity == 0:
                    leaves.append(node)
                    if node._is_watched:
                        watched = True
                else:
                    is_chain = False
                    maker = node.node
                    outputs.setdefault(maker, []).append(node)
                    if maker not in seen:
                        seen.add(maker)
                        order.append(maker)
        if not (is_chain or (is_one and len(order) == len(leaves) + 1)):  # a node and its leaves
            order.sort(key=_by_age, reverse=True)
            if Node.any_renumbered:
                order = _in_order(order)
        if others:
            del order[-others:]
        self.order = order
        self.leaves = leaves
        self.outputs = outputs
        if Node.any_watched and not watched:
            watched = any(node.is_watched for node in order)
        self.targets = targets or set()
        is_checked = Anomaly.enabled or (SafeZeros.asked_for and SafeZeros.setting.get())
        self.is_plain = not (watched or targets or is_checked)
        self.is_unwatched = not (outputs or watched or is_checked)
        self.needed = None if targets is None else self._reaching(targets)
        self.callbacks: list[Callable[[], Any]] | None = None
        self.loop: FrameType | None = None  # which runs the rules, while they are recorded
        self._notes: dict[Any, Any] | None = None
        self._members: set[Any] | None = None

    @property
    def notes(self) -> dict[Any, Any]:
        """What hooks on several tensors keep while the pass runs."""
        if self._notes is None:
            self._notes = {}
        return self._notes

    def reaches(self, edge: Any) -> bool:
        """Whether the pass comes to ``edge``: its hooks are called, if only with None."""
        if edge is None:
            return False
        if self._members is None:
            self._members = {*self.order, *self.leaves}
        node = _node_of(edge)
        return node in self._members and (self.needed is None or node in self.needed)

    def user_frame(self, frame: FrameType) -> FrameType:
        """The user's frame above one inside this pass: the same for all that its rules do."""
        found = call_sites.user_frame(frame, self.loop)
        if found is not self.loop:
            return found
        if self.caller is None:
            self.caller = call_sites.user_frame(found)
        return self.caller

    def closing(self) -> dict[Any, list[Any]]:
        """Which leaves are complete after which node: PyTorch accumulates them at once.

        Those of one node are in the order of its inputs.
        """
        last: dict[Any, Any] = dict.fromkeys(self.leaves)
        for node in self.order:
            for edge in node.edges():
                if edge is not None and edge in last:
                    del last[edge]
                    last[edge] = node
        closing: dict[Any, list[Any]] = {}
        for leaf, node in last.items():
            closing.setdefault(node, []).append(leaf)
        return closing

    def _reaching(self, targets: set[Any]) -> set[Any]:
        """Every edge from which the node of some target can be reached, by whatever output.

        The nodes among them are the ``steps``, each with the edges that lead to a target (None
        for the others).
        """
        needed, outputs = {*targets, *map(_node_of, targets)}, self.outputs
        steps: list[tuple[Any, tuple[Any, ...]]] = []
        wanted: tuple[Any, ...]
        for node in reversed(self.order):
            arity = node._arity
            # Written out for the usual arities, as above.
            if arity == 2:
                first, second = node.next0, node.next1
                if first not in needed:
                    first = None
                if second not in needed:
                    second = None
                leads, wanted = first is not None or second is not None, (first, second)
            elif arity == 1:
                first = node.next0
                leads = first in needed
                wanted = (first,) if leads else (None,)
            else:
                wanted = tuple([edge if edge in needed else None for edge in node.edges()])
                leads = any([edge is not None for edge in wanted])
            if leads or node in needed:
                steps.append((node, wanted))
                needed.add(node)
                if outputs:
                    needed.update(outputs.get(node, ()))
        steps.reverse()
        self.steps = steps
        return needed


def _in_order(edges: list[Any]) -> list[Any]:
    """The same edges, a node after all that lead to it and else by its number, which users set."""
    waiting = Counter(_node_of(edge) for known in edges if isinstance(known, Node)
                      for edge in known.edges() if edge is not None)
    ready = [(-edge.seq, place, edge) for place, edge in enumerate(edges)
             if isinstance(edge, Node) and not waiting[edge]]
    heapify(ready)
    ordered = []
    while ready:
        node = heappop(ready)[2]
        ordered.append(node)
        for edge in map(_node_of, node.edges()):
            waiting[edge] -= 1
            if not waiting[edge] and isinstance(edge, Node):
                heappush(ready, (-edge.seq, len(ordered), edge))
    return [*ordered, *[edge for edge in edges if not isinstance(edge, Node)]]


def _node_of(edge: Any) -> Any:
    return edge.node if edge is not None and edge.is_output else edge


def run(roots: list[Any], gradients: list[Any], retain: bool, recorded: bool,
        targets: list[Any] | None, accumulate: bool,
        schedule: Schedule | None = None) -> dict[Any, Any]:
    """Send ``gradients`` (raw, or tensors if ``recorded``) down from ``roots``.

    With ``targets`` (edges) only what leads to them is run, and what arrives there is returned;
    otherwise, or with ``accumulate``, it goes into the leaves' ``.grad``. A ``schedule`` made
    for the same roots and targets can be used again.
    """
    if schedule is None:
        schedule = Schedule(roots, None if targets is None else set(targets))
    outer = RUNNING.get()
    schedule.depth = 0 if outer is None else outer.depth + 1
    if schedule.depth and not schedule.depth % _PASSES_ON_ONE_STACK:
        return _on_new_stack(partial(_run, roots, gradients, retain, recorded, targets, accumulate,
                                     schedule))
    return _run(roots, gradients, retain, recorded, targets, accumulate, schedule)


def _run(roots: list[Any], gradients: list[Any], retain: bool, recorded: bool,
         targets: list[Any] | None, accumulate: bool, schedule: Schedule) -> dict[Any, Any]:
    """:func:`run` on the present stack."""
    mode = MODE.get()
    if recorded and mode.autocast is not None:  # a gradient keeps its input's dtype
        with switched(autocast=None):
            return _run(roots, gradients, retain, True, targets, accumulate, schedule)
    # Inside a transform gradients are its data, or become it on their way.
    inside = not recorded and (ACTIVE.get() or not _TRACED.isdisjoint(map(type, gradients)))
    if inside and not (schedule.is_unwatched and schedule.needed is not None):
        with switched(grad=False):
            return _run(roots, [wrap_any(g) for g in gradients], retain, True, targets, accumulate,
                        schedule)
    captured: dict[Any, Any] = {}
    grads: dict[Any, Any] = {}
    for edge, gradient in zip(roots, gradients):
        grads[edge] = sum_of(grads[edge], gradient) if edge in grads else gradient
    # Two frames up is whoever called ``run``, in this package.
    schedule.site = None if retain or not schedule.order else call_sites.here(4)
    released = None if schedule.site is None else Released(schedule.site)
    profile, ledger = mode.profile, mode.ledger
    if profile is not None:
        profile.meet(gradients)
    finish = (_Leaves if profile is None or not accumulate else _MeasuredLeaves)(
        grads, captured, None if targets is None else schedule.targets, recorded, accumulate,
        schedule)
    errors, outer = xp.error_state(), RUNNING.get()
    schedule.retains, schedule.accumulates, schedule._notes = retain, accumulate, None
    # Memory that others may hold, by its id: who asked for the pass, and who was shown a gradient
    # on its way (hooks, custom functions).
    schedule.given, schedule.shown = {}, {}
    try:
        xp.quieten(xp.QUIET)
        RUNNING.set(schedule)
        if accumulate and not recorded:
            for gradient in gradients:
                if is_array(gradient):
                    memory = memory_of(gradient)
                    schedule.given[id(memory)] = memory
        if schedule.is_plain and not recorded and not retain and profile is None:
            if released is not None:
                _run_plain(schedule, grads, released)
            finish.all(schedule.leaves)
        elif schedule.is_unwatched and schedule.needed is not None:
            if inside:
                from ..transforms.backward import pull_data

                with switched(grad=False):
                    _run_to_targets(schedule, grads, captured, released, False,
                                    _measured(pull_data, profile))
            else:
                _run_to_targets(schedule, grads, captured, released, recorded,
                                profile and profile.running(_replay if recorded else _pull))
            if accumulate:
                finish.all(schedule.leaves)
            else:  # and without hooks
                for edge in schedule.targets:
                    if (g := grads.get(edge)) is not None:
                        captured[edge] = g
        else:
            if len(roots) == 1 and schedule.needed is not None and roots[0] not in schedule.needed:
                _call_hooks_alone(roots[0], grads, recorded)
            _run_any(schedule, grads, captured, set(targets or ()), recorded, released, finish,
                     _measured(_run_node, profile))
        for callback in schedule.callbacks or ():  # which may queue further ones
            callback()
    except MemoryError as error:
        note_holders(error, schedule.order)
        raise
    finally:
        try:
            xp.quieten(errors)
        finally:
            RUNNING.set(outer)
            if recorded:
                schedule.loop = schedule.caller = None
    if ledger is not None:
        ledger.settle()
    return captured


def current_schedule() -> Schedule:
    """The schedule of the backward pass that is running; hooks are the only callers."""
    schedule = RUNNING.get()
    if schedule is None:
        raise RuntimeError("no backward pass is running")
    return schedule


def note_shown(data: Any) -> None:
    """Note that somebody outside the pass may hold a gradient: no leaf may keep its memory."""
    schedule = RUNNING.get()
    if schedule is not None and is_array(data):
        memory = memory_of(data)
        schedule.shown[id(memory)] = memory  # held, so that no other array gets its id


def memory_of(array: Any) -> Any:
    """What stands for an array's memory: two arrays share some only if theirs is the same."""
    library = library_of(array)
    return array if library.owns_memory(array) else library.storage_of(array)


def queue_callback(callback: Callable[[], Any]) -> None:
    """Have ``callback`` called when the backward pass that is running has ended."""
    schedule = RUNNING.get()
    if schedule is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    if schedule.callbacks is None:
        schedule.callbacks = []
    schedule.callbacks.append(callback)


def _run_plain(schedule: Schedule, grads: dict[Any, Any], released: Released) -> None:
    """The loop for the usual case: raw arrays, no hooks."""
    pop, outputs = grads.pop, schedule.outputs
    for node in schedule.order:
        g = _gather(node, outputs[node], grads) if outputs and node in outputs else pop(node, None)
        if g is not None or node.runs_undefined:
            node.pass_on(g, released, grads)


def _run_to_targets(schedule: Schedule, grads: dict[Any, Any], captured: dict[Any, Any],
                    released: Released | None, recorded: bool,
                    run_rules: Callable[..., Any] | None) -> None:
    """The loop of an ordinary ``grad``: only what leads to the targets, and no hooks.

    Rules are run by ``run_rules``, or as the node has them.
    """
    targets = schedule.targets
    if recorded:
        schedule.loop, schedule.caller = sys._getframe(), None
    for node, wanted in schedule.steps:
        g = grads.pop(node, None)
        if g is None and not node.runs_undefined:
            continue
        if node in targets:
            captured[node] = g
            if not any(w is not None for w in wanted):
                continue
        if run_rules is not None:
            results = run_rules(node, g, wanted)
        elif recorded:
            results = node.replay(g, *wanted) if node._arity > 1 else (node.replay(g),)
        else:
            results = node.pull(g, *wanted) if node._arity > 1 else (node.pull(g),)
        if released is not None:
            node.release(released)
        for edge, result in zip(wanted, results, strict=False):
            if edge is not None and result is not None:
                grads[edge] = sum_of(grads[edge], result) if edge in grads else result


def _pull(node: Any, g: Any, wanted: tuple[Any, ...]) -> Any:
    return (node.pull(g),) if node._arity == 1 else node.pull(g, *wanted)


def _replay(node: Any, g: Any, wanted: tuple[Any, ...]) -> Any:
    return (node.replay(g),) if node._arity == 1 else node.replay(g, *wanted)


def _run_any(schedule: Schedule, grads: dict[Any, Any], captured: dict[Any, Any],
             wanted_at: set[Any], recorded: bool, released: Released | None,
             finish: _Leaves, run_node: Callable[..., Any]) -> None:
    """The loop with everything: hooks, targets, several outputs, recording, anomaly mode."""
    needed, outputs, closing = schedule.needed, schedule.outputs, schedule.closing()
    last = {*map(_node_of, wanted_at)} if schedule.accumulates else set()
    if recorded:
        schedule.loop, schedule.caller = sys._getframe(), None
    for leaf in closing.get(None, ()):
        finish(leaf)
    for node in schedule.order:
        if needed is not None and node not in needed:
            grads.pop(node, None)
            continue
        g = _gather(node, outputs[node], grads) if node in outputs else grads.pop(node, None)
        watched = Node.any_watched and node.is_watched
        arrived, edges = g, node.edges()
        wanted = [None if e is None or (needed is not None and e not in needed) else e
                  for e in edges]
        if watched:
            g = arriving(node, g, recorded)
        ends_here = needed is not None and all(edge is None for edge in wanted)
        if wanted_at:
            # As in PyTorch ``grad`` gives what its hooks made of a tensor's gradient, unless the
            # pass goes on from there: then it gives what the hooks were given.
            goes_on = not (schedule.accumulates or ends_here)
            _capture(node, arrived if goes_on else g, outputs.get(node), captured, wanted_at)
        if (node in last or not ends_here) and (g is not None or watched or node.runs_undefined):
            if watched and node.prehooks is not None:
                g = before(node, g, recorded)
            is_idle = (ends_here or g is None) and not node.runs_undefined
            results: Any = (None,) * len(edges) if is_idle \
                else run_node(node, g, wanted, recorded)
            if released is not None:
                node.release(released)
            if watched and node.posthooks is not None:
                results = after(node, results, g, recorded)
            for edge, result in zip(wanted, results, strict=False):
                if edge is None or result is None:
                    continue
                known = grads.get(edge)
                grads[edge] = result if known is None else sum_of(known, result)
        if node in closing:
            for leaf in closing[node]:
                finish(leaf)


def _call_hooks_alone(root: Any, grads: dict[Any, Any], recorded: bool) -> None:
    """As in PyTorch the hooks of a single output hear of its gradient, though nobody needs it."""
    node = _node_of(root)
    if not isinstance(node, Node):
        leaf_hooks(node, grads[root], recorded)
    elif node.is_watched:
        arriving(node, _gather(node, [root], dict(grads)) if root.is_output else grads[root],
                 recorded)


LOOPS = {_run_plain.__code__, _run_to_targets.__code__, _run_any.__code__}
"""Each calls the node that it runs ``node``."""


def _measured(run_node: Callable[..., Any], profile: Any) -> Callable[..., Any]:
    """What runs a node, also while a profiler is on."""
    return run_node if profile is None else profile.running(run_node)


def _run_node(node: Node, g: Any, wanted: list[Any], recorded: bool) -> tuple[Any, ...]:
    """The gradients of a node's inputs."""
    asked = wanted if node._arity > 1 else ()
    run_it = run_safely if SafeZeros.asked_for and SafeZeros.setting.get() else _run_rules
    if Anomaly.enabled:
        results = run_checked(run_it, node, g, asked, recorded)
    else:
        results = run_it(node, g, asked, recorded)
    return results if isinstance(results, tuple) else (results,)


def _run_rules(node: Any, g: Any, wanted: Any, recorded: bool) -> Any:
    return node.replay(g, *wanted) if recorded else node.pull(g, *wanted)


def _gather(node: Any, edges: list[Any], grads: dict[Any, Any]) -> Any:
    """The gradients of a node's several outputs, None where none arrived."""
    if node.outputs == 1:
        return grads.pop(edges[0], None)
    gathered = None
    for edge in edges:
        g = grads.pop(edge, None)
        if g is not None:
            if gathered is None:
                gathered = [None] * node.outputs
            gathered[edge.nr] = g
    return gathered


def _capture(node: Any, g: Any, edges: list[Any] | None, captured: dict[Any, Any],
             wanted_at: set[Any]) -> None:
    """Keep what arrived at the edges that were asked for."""
    if g is None:
        return
    for edge in edges or (node,):
        if edge in wanted_at:
            captured[edge] = g[edge.nr] if isinstance(g, list) else g


def add_arrays(a: Any, b: Any) -> Any:
    if type(a) in TRACED_TYPES or type(b) in TRACED_TYPES:
        with switched(grad=False):
            return (wrap_any(a) + wrap_any(b))._data
    return a + b


# ---------------------------------------------------------------- hooks


def as_tensor_gradient(g: Any, recorded: bool) -> Any:
    """A gradient as hooks see it, who may keep it."""
    if recorded or g is None:
        return g
    note_shown(g)
    return wrap_any(g)


def raw_gradient(tensor: Any) -> Any:
    """What hooks made of a gradient, which they may have kept."""
    if tensor is None:
        return None
    note_shown(tensor._data)
    return tensor._data


def _as_tensors(node: Node, g: Any, recorded: bool) -> list[Any]:
    several = g if isinstance(g, list) else [None] * node.outputs if g is None else [g]
    return [as_tensor_gradient(x, recorded) for x in several]


def _as_gradient(node: Node, tensors: list[Any], recorded: bool) -> Any:
    """What the engine passes on: raw unless ``recorded``, a list for several outputs."""
    if all(t is None for t in tensors):
        return None
    values = tensors if recorded else [raw_gradient(t) for t in tensors]
    return values if node.outputs > 1 else values[0]


def arriving(node: Node, g: Any, recorded: bool) -> Any:
    """Hooks on a node's output tensors, in order; ``retain_grad`` sees what they made of it."""
    if node.tensor_hooks is None and node.retained is None:
        return g
    gradients = _as_tensors(node, g, recorded)
    with switched(grad=recorded):
        for nr, hooks in list((node.tensor_hooks or {}).items()):
            for hook in list(hooks.values()):
                gradients[nr] = apply_tensor_hook(hook, gradients[nr])
        for nr, reference in (node.retained or {}).items():
            tensor = reference()
            if tensor is not None and gradients[nr] is not None:
                retain(tensor, gradients[nr], recorded)
    return _as_gradient(node, gradients, recorded)


def before(node: Node, g: Any, recorded: bool) -> Any:
    """Pre-hooks of a node, on the gradients it is about to receive."""
    every = _as_tensors(node, g, recorded)
    shown = _differentiable_outputs(node)
    gradients = tuple([every[nr] for nr in shown])
    with switched(grad=recorded):
        for hook in list((node.prehooks or {}).values()):
            changed = hook(gradients)
            if changed is not None:
                gradients = checked_hook_result(hook, gradients, changed)
    for nr, gradient in zip(shown, gradients, strict=True):
        every[nr] = gradient
    return _as_gradient(node, every, recorded)


def _differentiable_outputs(node: Any) -> Any:
    """The outputs of which a node's hooks are told: indices, for one, have no gradient."""
    found = node.op.differentiable if hasattr(node, "op") else None
    return range(node.outputs) if found is None else found


def checked_hook_result(hook: Any, given: tuple[Any, ...], changed: Any) -> tuple[Any, ...]:
    """What a node hook returned, which must be like what it was given."""
    if not isinstance(changed, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(changed).__name__}'")
    if len(changed) != len(given):
        raise RuntimeError(f"hook '{hook_name(hook)}' has returned an incorrect number of values "
                           f"(got {len(changed)}, but expected {len(given)})")
    for old, new in zip(given, changed, strict=True):
        check_hook_result(hook, old, new)
    return changed


def retain(tensor: Tensor, gradient: Tensor, recorded: bool) -> None:
    if tensor._grad is None:
        tensor._grad = gradient if recorded else wrap_any(copy_of(gradient._data))
    else:
        tensor._grad = tensor._grad + gradient


def copy_of(data: Any) -> Any:
    return data.copy() if is_array(data) else data


def apply_tensor_hook(hook: Any, gradient: Tensor | None) -> Tensor | None:
    changed = hook(gradient)
    if changed is None:
        return gradient
    check_hook_result(hook, gradient, changed)
    return changed


def check_hook_result(hook: Any, old: Tensor | None, new: Any) -> None:
    if new is None:
        return
    if not isinstance(new, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(new).__name__}'")
    if old is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if old._data.dtype != new._data.dtype:
        raise RuntimeError(f"hook '{hook_name(hook)}' has changed the type of value (was "
                           f"torch.{old.dtype.alias}Tensor got torch.{new.dtype.alias}Tensor)")
    if old._data.shape != new._data.shape:
        raise RuntimeError(f"hook '{hook_name(hook)}' has changed the size of value")


def hook_name(hook: Any) -> str:
    return getattr(hook, "__name__", "<unknown>")


def after(node: Node, results: Any, g: Any, recorded: bool) -> tuple[Any, ...]:
    """Post-hooks of a node, on the gradients it computed."""
    if not isinstance(results, tuple):
        results = (results,)
    found = [as_tensor_gradient(r, recorded) for r in results]
    shown = node._shown_inputs(len(found))
    inputs = tuple([found[place] for place in shown])
    every = _as_tensors(node, g, recorded)
    outputs = tuple([every[nr] for nr in _differentiable_outputs(node)])
    with switched(grad=recorded):
        for hook in list((node.posthooks or {}).values()):
            changed = hook(inputs, outputs)
            if changed is not None:
                inputs = checked_hook_result(hook, inputs, changed)
    for place, gradient in zip(shown, inputs, strict=True):
        found[place] = gradient
    return tuple(found if recorded else [raw_gradient(t) for t in found])


# ---------------------------------------------------------------- leaves


class _Leaves:
    """Finishes a leaf whose whole gradient has arrived."""

    __slots__ = ("grads", "captured", "targets", "recorded", "accumulate", "holders", "schedule")

    def __init__(self, grads: dict[Any, Any], captured: dict[Any, Any], targets: Any,
                 recorded: bool, accumulate: bool, schedule: Schedule):
        self.grads, self.captured, self.targets = grads, captured, targets
        self.recorded, self.accumulate, self.schedule = recorded, accumulate, schedule
        self.holders: dict[int, int] | None = None  # empty if each has one alone

    def all(self, leaves: list[Any]) -> None:
        """Finish the leaves of a pass whose nodes have all run."""
        if self.accumulate and not self.recorded:
            # By the array alone: a part of one is copied, and nothing comes between two leaves.
            arrays = [*map(id, self.grads.values())]
            self.holders = Counter(arrays) if len(set(arrays)) < len(arrays) else {}
            if not self.holders and self.targets is None and self.__class__ is _Leaves:
                leaves = self._let_keep(leaves)
        for leaf in leaves:
            self(leaf)

    def _let_keep(self, leaves: list[Any]) -> list[Any]:
        """Let leaves keep their gradients as they are, where that is all there is to do.

        This is what calls from here to :func:`settled` come to in the usual case. Returns the
        leaves for which there is more to do.
        """
        grads, given, shown = self.grads, self.schedule.given, self.schedule.shown
        others = []
        with _accumulating:
            for leaf in leaves:
                g: Any = grads.get(leaf)
                if can_stand_for(g, leaf._data) and leaf._grad is None \
                        and not leaf._is_watched and leaf._edge is not None \
                        and leaf._grad_dtype is LEAFS_OWN \
                        and id(g) not in given and id(g) not in shown:
                    leaf._grad = wrap_array(g)
                else:
                    others.append(leaf)
        return others

    def is_shared(self, array: Any) -> bool:
        """Whether others hold an array that owns its memory: who gave it, or other gradients.

        Nobody else can, unless he was shown it: a rule returns what it was given, a part of that,
        or new memory.
        """
        if id(array) in self.schedule.given:
            return True
        if self.holders is not None:
            return self.holders.get(id(array), 0) > 0
        # Amid the pass; of many gradients under way it would take longer to ask than to copy.
        return len(self.grads) > 64 or any(
            is_array(g) and memory_of(g) is array for g in self.grads.values())

    def __call__(self, leaf: Tensor) -> None:
        g = self.grads.pop(leaf, None)
        if self.holders:
            self.holders[id(g)] -= 1
        if self.targets is not None and leaf not in self.targets:
            return
        if leaf._is_watched:
            self._with_hooks(leaf, g)
        elif g is not None:
            if not self.accumulate:
                self.captured[leaf] = g
            elif leaf._edge is not None:  # which was not frozen since it was used
                accumulate_into(leaf, g, self.recorded, self)

    def _with_hooks(self, leaf: Tensor, g: Any) -> None:
        """The same, and hooks: those of a leaf that no gradient reached are called with None."""
        recorded = self.recorded
        if leaf._hooks:
            g = leaf_hooks(leaf, g, recorded)
        if not self.accumulate:
            if g is not None:
                self.captured[leaf] = g
            return
        if leaf._edge is None:
            return
        node = leaf._accumulator() if leaf._node_hooks is not None else None
        if node is not None and node.prehooks:
            g = before(node, g, recorded)
        if g is not None:
            accumulate_into(leaf, g, recorded, self)
        if leaf._post_hooks:
            post_accumulate_hooks(leaf, recorded)
        if node is not None and node.posthooks:
            after(node, (), g, recorded)


class _MeasuredLeaves(_Leaves):
    """The same, while a profiler is on."""

    __slots__ = ()

    def __call__(self, leaf: Tensor) -> None:
        profile = MODE.get().profile
        profile.node(profile.accumulation, -1, None, self._finish, leaf)

    def _finish(self, leaf: Tensor) -> Tensor | None:
        super().__call__(leaf)
        return leaf._grad


def leaf_hooks(leaf: Tensor, g: Any, recorded: bool) -> Any:
    gradient = as_tensor_gradient(g, recorded)
    with switched(grad=recorded):
        for hook in list((leaf._hooks or {}).values()):
            gradient = apply_tensor_hook(hook, gradient)
    return gradient if recorded else raw_gradient(gradient)


def post_accumulate_hooks(leaf: Tensor, recorded: bool) -> None:
    with switched(grad=recorded):
        for hook in list((leaf._post_hooks or {}).values()):
            returned = hook(leaf)
            if isinstance(returned, Tensor):
                raise RuntimeError("Tensor post accumulate grad hooks should return None.")
            if returned is not None:
                raise TypeError(f"expected Variable, but hook returned "
                                f"'{type(returned).__name__}'")


def accumulate_into(leaf: Tensor, g: Any, recorded: bool, leaves: _Leaves) -> None:
    """``leaf.grad += g``, in place unless the backward pass is itself recorded."""
    if recorded and isinstance(g, Tensor):
        keep_graph = MODE.get().grad
        with _accumulating, switched(grad=True):
            old = leaf._grad
            if leaf._grad_dtype is not LEAFS_OWN:
                g = fit_tensor(g, Like(g._data.shape, leaf._grad_dtype))
            if not keep_graph and type(g._data) in TRACED_TYPES:
                g = g.detach()  # ``.grad`` keeps no tangents
            leaf._grad = recorded_copy(g, leaf._data) if old is None else old + g
        return
    if type(g) in TRACED_TYPES:
        g = wrap_any(g).detach()._data  # ``.grad`` keeps no tangents
        note_shown(g)  # the dual number holds it too
    if leaf._grad_dtype is not LEAFS_OWN:
        g = fit(g, Like(g.shape, leaf._grad_dtype))
    with _accumulating:
        old = leaf._grad
        if old is None:
            kept, is_written = settled(g, leaf._data, leaves)
            grad = wrap_any(kept)
            if is_written:
                grad._counter().n = 1
            leaf._grad = grad
        elif is_array(old._data) and type(g) not in TRACED_TYPES \
                and not library_of(old._data).has_overlap(old._data):
            if g.dtype is not old._data.dtype:
                g = library_of(g).cast(g, old._data.dtype)
            counter = old._counter()
            code, lasti = leaves.schedule.site or call_sites.here(2)
            fill = adding(old._data, g) if g.size >= LARGE else None
            if fill is not None:
                # No interrupt comes between these stores and the end of the kernel's call.
                counter.n, counter.code, counter.lasti = counter.n + 1, code, lasti
                fill()
                return
            try:
                old._data += g  # and without a call, after which an interrupt may come:
            except TypeError:
                old._data[...] = sum_of(old._data, g)
            counter.n, counter.code, counter.lasti = counter.n + 1, code, lasti
        else:
            with switched(grad=False):
                leaf._grad = wrap_any(add_arrays(old._data, g))


def adding(target: Any, gradient: Any) -> Any:
    """The call of a kernel that adds a large gradient to another; None where there is none."""
    from ..backend.numpy import expressions  # loads the kernels

    return expressions.adding(target, gradient)


def recorded_copy(g: Tensor, like: Any) -> Tensor:
    """A gradient with a graph as ``.grad`` may keep it."""
    if type(g._data) in TRACED_TYPES:
        return g.clone()
    return wrap_any(empty_as(like, g._data)).copy_(g)


def empty_as(like: Any, g: Any) -> Any:
    """New memory for ``g``, laid out as the leaf is."""
    library = library_of(g)
    if is_array(like) and library.is_dense(like):
        return library.empty_like(like, dtype=g.dtype)
    return library.empty(g.shape, g.dtype)


def settled(g: Any, like: Any, leaves: _Leaves) -> tuple[Any, bool]:
    """A gradient as ``.grad`` may keep it: memory of its own, laid out as the leaf is.

    And whether it was written there: PyTorch counts a copy as a write. What was only shown to
    somebody is copied in case he kept it, which PyTorch would see, and counts as untouched.
    """
    library = library_of(g)
    is_own = library.can_stand_for(g, like)
    if is_own and not leaves.is_shared(g) and id(g) not in leaves.schedule.shown:
        return g, False  # the usual case, in few calls
    if not library.is_array(g):
        return library.as_array(g) if library.is_scalar(g) else g, False
    if not library.is_array(like):
        return g.copy(), True
    as_leaf = GRAD_LAYOUT.get()
    fits = (is_own or (not as_leaf and library.owns_memory(g))) and not leaves.is_shared(g)
    if fits and id(g) not in leaves.schedule.shown:
        return g, False
    if as_leaf and library.is_contiguous(like):
        return library.copied(g) if library.is_contiguous(g) else library.in_rows(g), not fits
    out = empty_as(like if as_leaf else g, g)
    out[...] = g
    return out, not fits


__all__ = ["AccumulateGrad", "output_edge", "run"]
