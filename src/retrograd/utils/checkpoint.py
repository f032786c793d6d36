"""Checkpointing: keep a function's inputs instead of its intermediate values, and compute it again
when backward needs them.

The variant without re-entrance is a pair of saved-tensor hooks: what would be saved is replaced by
a number, and the first number that backward asks for runs the function again, whose saved values
answer all of them.
"""

from __future__ import annotations

import contextlib
import enum
from collections import Counter
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, Self

from .._ops import OpOverloadPacket
from ..autograd.backward import backward as run_backward
from ..autograd.function import Function
from ..base import trees
from ..base.call_sites import here
from ..base.missing_names import suggest_names as _suggest_names
from ..base.modes import MODE, RUNNING, numbered, switched
from ..base.warning import warn
from ..core.cuts import REMEMBERS_ALL
from ..core.graph import INFERENCE, Version, stale
from ..core.saved_values import PackedValue, describe_origin
from ..core.tensor import Tensor, wrap_any
from ..random import get_rng_state, set_rng_state


class CheckpointError(RuntimeError):
    """The function did not do the same when it was run again."""


class _Enough(Exception):
    """All that backward needs has been recomputed."""


def noop_context_fn() -> tuple[Any, Any]:
    """No special contexts around the two runs."""
    return contextlib.nullcontext(), contextlib.nullcontext()


_overridden: dict[str, bool | None] = {"early_stop": None, "debug": None}


@contextlib.contextmanager
def _overriding(option: str, value: bool | None) -> Iterator[None]:
    previous, _overridden[option] = _overridden[option], value
    try:
        yield
    finally:
        _overridden[option] = previous


def set_checkpoint_early_stop(enable: bool) -> Any:
    """Whether recomputation stops as soon as it has what is needed, for checkpoints made inside."""
    return _overriding("early_stop", enable)


def set_checkpoint_debug_enabled(enabled: bool | None) -> Any:
    """Whether checkpoints say more when the two runs differ."""
    return _overriding("debug", enabled)


def _check_hooks_are_allowed() -> None:
    """Raise where hooks on saved tensors, which hold a checkpoint's values, are disabled."""
    message = MODE.get().hooks_disabled
    if message is not None:
        raise RuntimeError(message)


@contextlib.contextmanager
def _drawing_from(state: Any) -> Iterator[None]:
    """Random numbers from a saved state, if there is one, and afterwards as if none were drawn."""
    now = None if state is None else get_rng_state()
    try:
        if state is not None:
            set_rng_state(state)
        yield
    finally:
        if now is not None:
            set_rng_state(now)


def checkpoint(function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None,
               context_fn: Callable[[], Any] = noop_context_fn, determinism_check: str = "default",
               debug: bool = False, early_stop: bool = True, **kwargs: Any) -> Any:
    """``function(*args, **kwargs)`` without keeping its intermediate values for backward."""
    if use_reentrant is None:
        warn("torch.utils.checkpoint: the use_reentrant parameter should be passed "
             "explicitly. Starting in PyTorch 2.9, calling checkpoint without "
             "use_reentrant will raise an exception. use_reentrant=False is recommended, "
             "but if you need to preserve the current default behavior, you can pass "
             "use_reentrant=True. Refer to docs for more details on the differences "
             "between the two variants.", UserWarning)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when "
                             "use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    if not MODE.get().grad:
        return function(*args, **kwargs)
    for value in args:  # they are saved, whether or not the function saves anything
        if isinstance(value, Tensor) and value._vc is INFERENCE:
            INFERENCE.check()
    logs = None
    if debug if _overridden["debug"] is None else _overridden["debug"]:
        if context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        logs = (_Log(), _Log())
    if _overridden["early_stop"] is not None:
        early_stop = _overridden["early_stop"]
    return _Frame(function, args, kwargs, preserve, context_fn, determinism_check, early_stop,
                  logs).run()


def checkpoint_sequential(functions: Any, segments: int, input: Any,
                          use_reentrant: bool | None = None, **kwargs: Any) -> Any:
    """Run a sequence of functions in ``segments`` parts, each checkpointed but the last."""
    if use_reentrant is None:
        warn("torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter "
             "should be passed explicitly. In version 2.9 we will raise an exception if "
             "use_reentrant is not passed. use_reentrant=False is recommended, but if you "
             "need to preserve the current default behavior, you can pass "
             "use_reentrant=True. Refer to docs for more details on the differences "
             "between the two variants.", UserWarning)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)
    length = len(steps) // segments
    start = 0
    for _ in range(segments - 1):
        input = checkpoint(_in_turn(steps[start:start + length]), input,
                           use_reentrant=use_reentrant, preserve_rng_state=preserve)
        start += length
    return _in_turn(steps[start:])(input)


def _in_turn(steps: list[Any]) -> Callable[[Any], Any]:
    def run(value: Any) -> Any:
        for step in steps:
            value = step(value)
        return value

    return run


# ---------------------------------------------------------------- without re-entrance


class _Holder:
    """Stands for one saved value of a checkpointed function."""

    __slots__ = ("frame", "number", "about", "__weakref__")

    def __init__(self, frame: _Frame, number: int, about: Any):
        self.frame, self.number, self.about = frame, number, about

    def held_tensors(self) -> list[Any]:
        """What is kept in the place of the value, and of all others of the call."""
        return [held for held in (*self.frame.leaves, self.frame.state)
                if isinstance(held, (Tensor, PackedValue))]


class _Frame:
    """One checkpointed call."""

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any],
                 preserve: bool, context_fn: Any, determinism_check: str, early_stop: bool,
                 logs: tuple[_Log, _Log] | None = None):
        if determinism_check not in ("default", "none"):
            raise ValueError("determinism_check should be one of ['default', 'none'], but got "
                             f"{determinism_check}")
        self.function = function
        self.check = determinism_check == "default"
        self.early_stop, self.logs = early_stop, logs
        self.state = get_rng_state() if preserve else None
        self.contexts = context_fn() if logs is None else logs
        self.count = 0
        self.abouts: list[Any] = []
        self.is_complete = False
        leaves, self.structure = trees.flatten((args, kwargs))
        hooks = MODE.get().saved_hooks
        # Inside another checkpoint the inputs are its intermediate values: it keeps them its way.
        self.leaves = [PackedValue(leaf, hooks[-1]) if hooks and isinstance(leaf, Tensor)
                       and leaf.requires_grad else leaf for leaf in leaves]
        self.edges = [leaf._edge if isinstance(leaf, Tensor) else None for leaf in leaves]
        self.versions = [_version_of(leaf) for leaf in leaves]
        self.site = here(3)
        self.given = leaves

    def name(self) -> str:
        """What the error of an overwritten input calls this call."""
        return "checkpoint"

    def run(self) -> Any:
        _check_hooks_are_allowed()
        args, kwargs = trees.unflatten(self.given, self.structure)
        self.given = []
        self.autocast = MODE.get().autocast
        hooks = (*MODE.get().saved_hooks, (self.pack, self.unpack))
        with self.contexts[0], switched(saved_hooks=hooks), numbered() as self.levels:
            result = self.function(*args, **kwargs)
        self.is_complete = True
        return result

    def pack(self, tensor: Tensor) -> _Holder:
        number = self.count
        self.count += 1
        about = (tuple(tensor.shape), tensor.dtype, tensor.device)
        self.abouts.append(about)
        return _Holder(self, number, about)

    def unpack(self, holder: _Holder) -> Tensor:
        group, run = GraphExecGroup._get_current_group(), RUNNING.get()
        # Values of a recomputation are for the backward pass, or the group, that asked for it.
        notes: dict[Any, Any] = {} if run is None else run.notes
        if group is not None:
            notes = group.notes
        if self not in notes:
            values: dict[int, Tensor] = {}
            notes[self] = values
            try:
                self.recompute(values)
            except CheckpointError as error:
                if self.logs is not None:
                    raise CheckpointError(_both_runs(*self.logs)) from error
                raise
        if holder.number not in notes[self]:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already "
                f"unpacked once. {'' if group is None else _OVERLAP}If you are calling "
                "ctx.saved_tensors in backward, make sure to do so only once. Otherwise please "
                "open an issue with details on your use case.")
        return notes[self].pop(holder.number)

    def recompute(self, values: dict[int, Tensor]) -> None:
        """Run the function again and collect what it saves."""
        seen = [0]

        def collect(tensor: Tensor) -> Tensor:
            number = seen[0]
            seen[0] += 1
            if number >= self.count and not self.early_stop:
                if not self.is_complete:  # a backward pass inside the function: there is more
                    return tensor
                raise CheckpointError("torch.utils.checkpoint: trying to save more tensors during "
                                      "recomputation than during the original forward pass.\n"
                                      + _TIP)
            values[number] = tensor._off_graph() if tensor.requires_grad else tensor
            if self.early_stop and seen[0] == self.count:
                raise _Enough
            return tensor

        _check_hooks_are_allowed()
        leaves = [self.input(*known) for known in zip(self.leaves, self.edges, self.versions,
                                                      strict=True)]
        args, kwargs = trees.unflatten(leaves, self.structure)
        with contextlib.suppress(_Enough), _drawing_from(self.state), numbered(self.levels), \
                self.contexts[1], \
                switched(grad=True, inference=False, autocast=self.autocast,
                         saved_hooks=((collect, lambda kept: kept),)):
            self.function(*args, **kwargs)
        if seen[0] != self.count and self.is_complete:
            raise CheckpointError("torch.utils.checkpoint: A different number of tensors was saved "
                                  "during the original forward and recomputation.\nNumber of "
                                  f"tensors saved during forward: {self.count}\nNumber of tensors "
                                  f"saved during recomputation: {seen[0]}.\n{_TIP}")
        if self.check:
            self.compare(values)

    def input(self, leaf: Any, edge: Any, version: int | None) -> Any:
        """One argument as it was given; an error if it was overwritten since."""
        if isinstance(leaf, PackedValue):
            out = leaf.unpack()._off_graph()
            out._edge = edge
            return out
        if version is not None and leaf._version != version:
            stale(self, describe_origin(edge), version, leaf._vc, leaf.shape, leaf.dtype)
        return leaf

    def compare(self, values: dict[int, Tensor]) -> None:
        different = []
        for number, tensor in values.items():
            about = (tuple(tensor.shape), tensor.dtype, tensor.device)
            if about != self.abouts[number]:
                different.append(f"tensor at position {number}:\nsaved metadata: "
                                 f"{_shown(self.abouts[number])}\nrecomputed metadata: "
                                 f"{_shown(about)}\n")
        if different:
            raise CheckpointError("torch.utils.checkpoint: Recomputed values for the following "
                                  "tensors have different metadata than during the forward pass.\n"
                                  + "".join(different) + ".\n" + _TIP)


def _shown(about: Any) -> dict[str, Any]:
    from ..core.tensor import Size

    return {"shape": Size(about[0]), "dtype": about[1], "device": about[2]}


def _version_of(leaf: Any) -> int | None:
    """The version of an argument, where there is one to compare with later."""
    return leaf._version if isinstance(leaf, Tensor) and leaf._vc is not INFERENCE else None


_OVERLAP = ("Performing two backward calls that overlap (i.e. require the same saved activation in "
            "order to compute gradients) is not allowed while under the "
            "torch.utils.checkpoint.GraphExecGroup context. ")


class GraphExecGroup:
    """Backward passes inside this block recompute each checkpoint once for all of them.

    No two of them may need the same saved value.
    """

    _current: ContextVar[GraphExecGroup | None] = ContextVar("retrograd.graph_exec_group",
                                                             default=None)

    def __init__(self) -> None:
        self.notes: dict[Any, Any] = {}

    def __enter__(self) -> Self:
        if self._current.get() is not None:
            raise RuntimeError("GraphExecGroup contexts cannot be nested. Already inside group "
                               f"{self._current.get()}")
        self._current.set(self)
        return self

    def __exit__(self, *exc: object) -> None:
        self._current.set(None)
        self.notes.clear()

    @classmethod
    def _get_current_group(cls) -> GraphExecGroup | None:
        return cls._current.get()


_TIP = """
Tip: To see a more detailed error message, either pass `debug=True` to
`torch.utils.checkpoint.checkpoint(...)` or wrap the code block
with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to
enable checkpoint\u2011debug mode globally.
"""


class Intercepting:
    """A context that computes every op, by whatever computed them outside it."""

    def __enter__(self) -> None:
        self.outer = MODE.get().intercept
        self.mode = switched(intercept=self)
        self.mode.__enter__()

    def __exit__(self, *exc: Any) -> None:
        self.mode.__exit__(*exc)

    def compute(self, op: Any, values: list[Any], compute: Any) -> Any:
        return compute(op, values) if self.outer is None else \
            self.outer.compute(op, values, compute)

    def made(self, result: Any) -> None:
        """What an op returns, after it was computed."""
        if self.outer is not None:
            self.outer.made(result)


class _Log(Intercepting):
    """Writes down every op and its line, for the error of a debugged checkpoint."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __enter__(self) -> None:
        self.lines.clear()
        super().__enter__()

    def compute(self, op: Any, values: list[Any], compute: Any) -> Any:
        result = super().compute(op, values, compute)
        shapes = ", ".join(str(list(v.shape)) for v in values if hasattr(v, "shape"))
        self.lines.append(f"{op.name}({shapes})\n  {here(2)}")
        return result


def _both_runs(first: _Log, second: _Log) -> str:
    return (" An error happened while unpacking tensors; dumping logs of latest computation\n"
            "because you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.\n"
            "Scroll all the way down for guidance on how to navigate these logs.\n\n"
            "Operations executed during the original forward:\n\n" + "\n".join(first.lines) +
            "\n\nOperations executed during recomputation:\n\n" + "\n".join(second.lines) +
            "\n\nYou are seeing this error because you passed `debug=True` to checkpoint and the "
            "two runs did not save the same tensors; the first line in which the lists above "
            "differ is where they parted.\n")


# ---------------------------------------------------------------- with re-entrance


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The devices of the arguments, and the states of their random generators: of the CPU none."""
    return [], []


def set_device_states(devices: list[int], states: list[Tensor], *, device_type: str | None = None
                      ) -> None:
    """Give devices the states of their random generators back."""
    if devices:
        raise RuntimeError(f"there is no device but the CPU, and so none of the numbers {devices}")


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Copies of the inputs outside the graph, requiring grad as the originals do."""
    if not isinstance(inputs, tuple):
        raise RuntimeError("Only tuple of tensors is supported. Got Unsupported input type: "
                           f"{type(inputs).__name__}")
    return tuple([x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x
                  for x in inputs])


def check_backward_validity(inputs: Any) -> None:
    """Warn if no input could receive a gradient."""
    if not any(isinstance(x, Tensor) and x.requires_grad for x in inputs):
        warn("None of the inputs have requires_grad=True. Gradients will be None",
             UserWarning)


class CheckpointFunction(Function):
    """Runs a function without a graph, and again with one inside backward."""

    @staticmethod
    def forward(ctx: Any, function: Any, preserve: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.function, ctx.autocast = function, MODE.get().autocast
        ctx.state = get_rng_state() if preserve else None
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        before = REMEMBERS_ALL.get()
        try:
            REMEMBERS_ALL.set(True)
            with switched(grad=False):
                outputs = function(*args)
        finally:
            REMEMBERS_ALL.set(before)
        # Gradients reach what lies behind these all the same: see ``explain``.
        ctx.cuts_inside = [out._cut for out in trees.flatten(outputs)[0]
                           if isinstance(out, Tensor) and out._cut is not None]
        return outputs

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        schedule = RUNNING.get()
        if schedule is not None and schedule.needed is not None:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument.")
        args = list(ctx.others)
        for place, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[place] = tensor
        inner = detach_variable(tuple(args))
        with _drawing_from(ctx.state), switched(grad=True, autocast=ctx.autocast):
            outputs = ctx.function(*inner)
        if isinstance(outputs, Tensor):
            outputs = (outputs,)
        live = [(o, g) for o, g in zip(outputs, gradients, strict=True)
                if isinstance(o, Tensor) and o.requires_grad]
        if not live:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not "
                               "necessary")
        run_backward([o for o, _ in live], [g for _, g in live])
        return (None, None, *[x.grad if isinstance(x, Tensor) else None for x in inner])


# ---------------------------------------------------------------- selective checkpointing


class CheckpointPolicy(enum.Enum):
    """What to do with one op's result inside a selectively checkpointed function."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4


class SelectiveCheckpointContext:
    """What a policy is told besides the op: its result. It is asked in the first run alone."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None):
        self.is_recompute, self.op_output = is_recompute, op_output


def create_selective_checkpoint_contexts(policy_fn_or_list: Any,
                                         allow_cache_entry_mutation: bool = False) -> Any:
    """Contexts for ``checkpoint(context_fn=...)`` that keep the results of some ops.

    ``policy_fn(ctx, op, *args)`` gets the op's function (such as ``torch.mm``, which is equal to
    ``torch.ops.aten.mm.default``); a list names the functions whose results are kept.
    """
    if isinstance(policy_fn_or_list, list):
        kept = list(policy_fn_or_list)
        for function in kept:
            if isinstance(function, OpOverloadPacket) or not callable(function):
                advice = (" Please update the OpOverloadPacket to a specific OpOverload.For "
                          "example, if you have `torch.ops.aten.mm`, change it to "
                          "`torch.ops.aten.mm.default`.") \
                    if isinstance(function, OpOverloadPacket) else ""
                raise ValueError("Expected op in `op_list` to be an OpOverload but got: "
                                 f"{function} of type {type(function)}.{advice}")

        def policy(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
            return CheckpointPolicy.MUST_SAVE if op in kept else CheckpointPolicy.PREFER_RECOMPUTE
    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    results: dict[str, list[Any]] = {}
    return _Keeping(policy, results), _Replaying(results, allow_cache_entry_mutation)


def _shown_data(value: Any) -> Any:
    """Raw data as a policy sees it."""
    if isinstance(value, tuple):
        return tuple(map(_shown_data, value))
    return wrap_any(value) if hasattr(value, "dtype") and hasattr(value, "shape") else value


def _keeps(policy: Any, op: Any, values: list[Any], result: Any) -> bool:
    context = SelectiveCheckpointContext(is_recompute=False, op_output=_shown_data(result))
    decision = policy(context, op.function, *map(_shown_data, values))
    if isinstance(decision, bool):
        return decision
    return decision in (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)


class _Kept:
    """The raw result of an op, and the counters by which a later write to it is noticed."""

    def __init__(self, result: Any):
        self.result = result
        self.versions: list[tuple[Version, int]] = []

    def watch(self, made: Any) -> None:
        for tensor in made if isinstance(made, tuple) else (made,):
            counter = tensor._counter()
            if counter is not INFERENCE:
                self.versions.append((counter, counter.n))

    def is_intact(self) -> bool:
        return all(counter.n == version for counter, version in self.versions)


_COMPUTED_AGAIN, _USED = "computed again", "used"


class _Keeping(Intercepting):
    """The first run: keep what the policy says, and note what it does not."""

    def __init__(self, policy: Any, results: dict[str, list[Any]]):
        self.policy, self.results = policy, results
        self.latest: _Kept | None = None

    def compute(self, op: Any, values: list[Any], compute: Any) -> Any:
        result = super().compute(op, values, compute)
        if not op.is_view:
            noted: Any = _COMPUTED_AGAIN
            if _keeps(self.policy, op, values, result):
                noted = self.latest = _Kept(result)
            self.results.setdefault(op.name, []).append(noted)
        return result

    def made(self, result: Any) -> None:
        if self.latest is not None:
            self.latest.watch(result)
            self.latest = None
        super().made(result)


class _Replaying(Intercepting):
    """The second run: give what was kept."""

    def __init__(self, results: dict[str, list[Any]], may_be_written: bool):
        self.results, self.may_be_written = results, may_be_written

    def __enter__(self) -> None:
        self.counts: Counter[str] = Counter()  # how often each op has been met
        super().__enter__()

    def compute(self, op: Any, values: list[Any], compute: Any) -> Any:
        if op.is_view:
            return super().compute(op, values, compute)
        place, noted = self.counts[op.name], self.results.get(op.name, [])
        self.counts[op.name] += 1
        if place >= len(noted):
            raise RuntimeError(
                f"{op.name} invocation index {place} encountered during backward but not found in "
                "storage. This can happen if the operations in the checkpointed region are "
                "nondeterministic or depend on global state that changed between forward and "
                "backward.")
        if noted[place] is _COMPUTED_AGAIN:
            return super().compute(op, values, compute)
        if noted[place] is _USED:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any "
                "region computed under selective activation checkpoint.")
        if not (self.may_be_written or noted[place].is_intact()):
            raise RuntimeError("Tensor cached during selective activation checkpoint has been "
                               "mutated")
        found, noted[place] = noted[place].result, _USED
        return found


__all__ = ["CheckpointError", "CheckpointFunction", "CheckpointPolicy", "GraphExecGroup",
           "SelectiveCheckpointContext", "check_backward_validity", "checkpoint",
           "checkpoint_sequential", "create_selective_checkpoint_contexts", "detach_variable",
           "get_device_states", "noop_context_fn", "set_checkpoint_debug_enabled",
           "set_checkpoint_early_stop", "set_device_states"]

_suggest_names(__name__)
