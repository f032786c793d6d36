"""Custom functions under forward mode: ``forward`` computes the values, ``jvp`` the tangents.

``forward`` is given its arguments without the tangents of the outermost level. What it saved or
returned of them is exchanged afterwards for the dual tensors, so that backward, which may run
inside the level or outside, meets dual numbers as for any other op.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import transforms
from ..base.modes import Mode, switched
from ..core.tensor import Tensor, wrap_any

_Forward = Callable[[tuple[Any, ...]], Any]


class _Given:
    """A value kept for ``jvp``, as it is."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor):
        self.tensor = tensor

    def unpack(self, node: Any) -> Tensor:
        return self.tensor


def run_forward(node: Any, args: tuple[Any, ...], forward: _Forward, outer: Mode) -> Any:
    """``forward(args)``, its tangents given by the function's own ``jvp``."""
    levels = {n for a in args if isinstance(a, Tensor) for n in transforms.dual_levels(a._data)}
    if not levels:
        return forward(args)
    level = max(levels)
    bare = tuple([_without(a, level) for a in args])
    given = {id(b): a for a, b in zip(args, bare, strict=True) if a is not b}
    with switched(forward_grad=len(levels) > 1):
        output = run_forward(node, bare, forward, outer)
    outputs = output if isinstance(output, tuple) else (output,)
    directions = [_tangent(a, level, node.materialize_grads) for a in args]
    results = _Results(node, given, bare, directions, level)
    try:
        slopes = _slopes(node, directions, len(outputs), outer)
    except (NotImplementedError, transforms.Unreadable):
        slopes = _of_sets(node, directions, outputs)
        if slopes is None:
            raise
    joined = tuple([results.join(i, o, s)
                    for i, (o, s) in enumerate(zip(outputs, slopes, strict=True))])
    for name in ("to_save", "saved_for_forward", "dirty_tensors"):
        tensors = getattr(node, name)
        if tensors:
            setattr(node, name, tuple([given.get(id(t), t) for t in tensors]))
    return joined if isinstance(output, tuple) else joined[0]


def _without(value: Any, level: int) -> Any:
    """An argument without its tangent at ``level``, on the same memory."""
    if not isinstance(value, Tensor) or level not in transforms.levels_of(value._data):
        return value
    bare = wrap_any(transforms.dual_part(value._data, level, "primal"))
    bare._edge = value._edge
    return bare


def _tangent(value: Any, level: int, materialize: bool) -> Any:
    if not isinstance(value, Tensor):
        return None
    data = value._data
    if level in transforms.levels_of(data):
        known = transforms.known_tangent(value, level)
        return wrap_any(transforms.dual_part(data, level, "tangent")) if known is None else known
    is_differentiable = value.is_floating_point() or value.is_complex()
    return wrap_any(transforms.zeros_like_data(data)) if materialize and is_differentiable else None


def _slopes(node: Any, directions: list[Any], count: int, outer: Mode) -> tuple[Any, ...]:
    """What the user's ``jvp`` returns."""
    node._saved = tuple([None if t is None else _Given(t._off_graph())
                         for t in node.saved_for_forward or ()])
    try:
        with switched(grad=outer.grad, forward_grad=True):
            slopes = node._forward_cls.jvp(node, *directions)
    finally:
        node._saved = ()
    slopes = slopes if isinstance(slopes, tuple) else (slopes,)
    if len(slopes) != count:
        raise RuntimeError("Function's jvp returned an invalid number of forward gradients "
                           f"(expected {count} but got {len(slopes)})")
    for position, slope in enumerate(slopes):
        if slope is not None and not isinstance(slope, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type(slope).__name__}) for grad "
                               f"output {position}.")
    return slopes


def _of_sets(node: Any, directions: list[Any], outputs: tuple[Any, ...]) -> Any:
    """Tangents that are sets of inputs need no ``jvp``: without one each output depends on all."""
    if not transforms.ROOMS:
        return None
    from ..transforms.dependencies import IndexSets, everything

    given = [d._data for d in directions if d is not None]
    if not any(isinstance(data, IndexSets) for data in given):
        return None
    title = node._forward_cls.__name__
    return tuple([wrap_any(everything(title, o._data, given))
                  if isinstance(o, Tensor) and o.is_floating_point() else None for o in outputs])


class _Results:
    """Joins the outputs of one call with their tangents."""

    def __init__(self, node: Any, given: dict[int, Tensor], bare: tuple[Any, ...],
                 directions: list[Any], level: int):
        self.given, self.level = given, level
        self.dirty = {id(t) for t in node.dirty_tensors or ()}
        self.constant = {id(t) for t in node.non_differentiable or ()}
        self.directions = {id(b): d for b, d in zip(bare, directions, strict=True)
                           if isinstance(b, Tensor)}
        self.versions = {key: d._version for key, d in self.directions.items()
                         if d is not None and not d.is_inference()}

    def join(self, position: int, output: Any, slope: Tensor | None) -> Any:
        if not isinstance(output, Tensor):
            return output
        if id(output) in self.constant or not (output.is_floating_point() or output.is_complex()):
            if slope is not None:
                raise RuntimeError(
                    f"Function's jvp returned a gradient at position {position}, but  the "
                    "corresponding forward output is not a differentiable Tensor.You should return "
                    "None at that position instead.")
            return output
        if id(output) in self.dirty:
            return self._written(output, slope)
        is_view = id(output) in self.directions or self._is_view(output)
        if is_view:
            self._check_view(output, slope)
            if id(output) in self.given:
                output = wrap_any(output._data)
            elif output._view is not None:
                output._view.base = self.given.get(id(output._view.base), output._view.base)
        if slope is not None:
            transforms.check_tangent(output, slope)
            transforms.carry_tangent(output, self.level, slope._data)
            if is_view:
                transforms.note_tangent(output, self.level, slope)
        return output

    def _check_view(self, output: Tensor, slope: Tensor | None) -> None:
        """Raise unless the tangent is a view as the value is, and of its tangent."""
        if slope is None or slope._view is None:
            raise RuntimeError("A custom Function's forward is returning a view (or an input "
                               "as-is) but the jvp is not returning a view.")
        source = output if id(output) in self.directions else output._view.base
        direction = self.directions[id(source)]
        if direction is not None and slope._view.base is not (
                direction if direction._view is None else direction._view.base):
            wanted = "the same base as the given grad input" \
                if self.given.get(id(source), source)._view is not None else "the given grad input"
            raise RuntimeError("A custom Function is returning a view but the jvp is not returning "
                               f"a view of {wanted}.")

    def _is_view(self, output: Tensor) -> bool:
        return output._view is not None and id(output._view.base) in self.directions

    def _written(self, output: Tensor, slope: Tensor | None) -> Tensor:
        if slope is not self.directions.get(id(output)) or slope is None \
                or (id(output) in self.versions
                    and slope._version == self.versions[id(output)]):
            raise RuntimeError(
                "An inplace custom Function is not modifying the forward mode gradients inplace. "
                "If the forward is modifying an input inplace, then the jvp function must modify "
                "the corresponding gradient inplace.")
        original = self.given.get(id(output), output)
        if original is output:  # it had no tangent before
            transforms.carry_tangent(output, self.level, slope._data)
        return original
