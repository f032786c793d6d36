"""``vmap``: a function of one value made into a function of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..base import trees
from ..base.call_sites import Site, here, is_internal
from ..base.errors import canonical_dim
from ..base.modes import MODE, switched
from ..base.warning import warn
from ..core.graph import INFERENCE
from ..core.tensor import Tensor
from ..random import VMAPS, default_generator
from ..transforms import CannotBatch, MappedInput, active, batch_out, levels_of
from .journal import FirstTurn, Journal


def vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error",
         *, chunk_size: int | None = None) -> Callable[..., Any]:
    """A function that maps ``func`` over one dimension of its arguments, all at once.

    A program that needs the single values (``.item()``, data-dependent branches, a write into an
    unbatched tensor) is run once for each of them, with a warning that names the line.

    ``vmap(f)(x)[i] = f(x[i])``, computed at once.

    >>> torch.func.vmap(torch.dot)(torch.ones(2, 3), torch.ones(2, 3))
    tensor([3., 3.])
    """
    _check_options(randomness, chunk_size)

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return _in_chunks(func, *_inputs(func, in_dims, args, kwargs), out_dims, randomness,
                          chunk_size, kwargs)

    return wrapped


def _check_options(randomness: str, chunk_size: int | None) -> None:
    if randomness not in ("error", "different", "same"):
        raise RuntimeError("Only allowed values for randomness are 'error', 'different', or "
                           f"'same'. Got {randomness}")
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")


def map_rows(func: Callable[..., Any], rows: list[Tensor], size: int, randomness: str = "error",
             chunk_size: int | None = None) -> Any:
    """:func:`vmap` of ``func`` on tensors that are mapped over their first dimension."""
    _check_options(randomness, chunk_size)
    dims = [0] * len(rows)
    structure = trees.TreeSpec(tuple, None, [trees.LEAF] * len(rows))
    return _in_chunks(func, rows, dims, structure, size, 0, randomness, chunk_size, {})


def _name(func: Any) -> str:
    return getattr(func, "__name__", repr(func))


def _inputs(func: Any, in_dims: Any, args: tuple[Any, ...],
            kwargs: dict[str, Any]) -> tuple[list[Any], list[Any], Any, int]:
    """The flat arguments, the dim each is mapped over, and the size of the batch."""
    def call() -> str:
        return f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>)"

    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(f"{call()}: expected `in_dims` to be int or a (potentially nested) tuple "
                         f"matching the structure of inputs, got: {type(in_dims)}.")
    if not args:
        raise ValueError(f"vmap({_name(func)})(<inputs>): got no inputs. Maybe you forgot to add "
                         f"inputs, or you are trying to vmap over a function with no inputs. The "
                         f"latter is unsupported.")
    leaves, structure = trees.flatten(args)
    dims = trees.broadcast_prefix(in_dims, structure)
    if dims is None:
        raise ValueError(f"{call()}: in_dims is not compatible with the structure of `inputs`. "
                         f"in_dims has structure {trees.flatten(in_dims)[1]} but inputs has "
                         f"structure {structure}.")
    size = None
    for i, (leaf, dim) in enumerate(zip(leaves, dims, strict=True)):
        if dim is None:
            continue
        if not isinstance(dim, int):
            raise ValueError(f"{call()}: Got in_dim={dim} for an input but in_dim must be either "
                             "an integer dimension or None.")
        if not isinstance(leaf, Tensor):
            raise ValueError(f"{call()}: Got in_dim={dim} for an input but the input is of type "
                             f"{type(leaf)}. We cannot vmap over non-Tensor arguments, please use "
                             f"None as the respective in_dim")
        shape = leaf._data.shape
        rank = len(shape)
        if not -rank <= dim < rank:
            raise ValueError(f"{call()}: Got in_dim={dim} for some input, but that input is a "
                             f"Tensor of dimensionality {rank} so expected in_dim to satisfy "
                             f"-{rank} <= in_dim < {rank}.")
        dims[i] = dim % rank
        length = shape[dims[i]]
        if size is None:
            size = length
        elif size != length:
            sizes = [t.shape[d % t.dim()] for t, d in zip(leaves, dims, strict=True)
                     if d is not None]
            raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped "
                             f"dimension, got sizes {sizes} for the mapped dimension")
    if size is None:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    return leaves, dims, structure, size


def _map(func: Any, leaves: list[Any], dims: list[Any], structure: Any, size: int, out_dims: Any,
         randomness: str, kwargs: dict[str, Any]) -> Any:
    """All values at once; if the program does not allow that, one after the other."""
    journal = Journal(MODE.get().journal)
    with active() as level:
        before = VMAPS.get()
        try:
            VMAPS.set((*before, (randomness, level, size)))
            with switched(journal=journal.at(level)):
                mapped = journal.mapped
                inner = []
                for leaf, d in zip(leaves, dims, strict=True):
                    if d is not None:
                        mapped.append(MappedInput(leaf, d, level))
                        leaf = mapped[-1].inside
                    inner.append(leaf)
                output = func(*trees.unflatten(inner, structure), **kwargs)
            outs, out_structure, where = _outputs(func, output, out_dims)
            places = [None if d is None else _position(t, d)
                      for t, d in zip(outs, where, strict=True)]
            journal.close()
            for entry in mapped:
                entry.pass_on_history()
            result = [_unbatched(func, t, level) if d is None else _left(t, d, level, size, mapped)
                      for t, d in zip(outs, places, strict=True)]
            return trees.unflatten(result, out_structure)
        except CannotBatch as reason:
            if reason.level != level or not size:
                raise
            told = f"{str(reason).splitlines()[0]}\n  {_blamed(reason)}"
        finally:
            VMAPS.set(before)
    journal.undo()

    def tell() -> None:
        warn(f"vmap runs {_name(func)} once for each of {size} values, because it needs them one "
             f"by one: {told}\nWhat it had written or drawn before that line is undone, but what "
             "it did outside of tensors is not.")

    first = None
    if journal.replaced is None or size == 1:
        tell()
    else:
        first = FirstTurn(journal, tell)
    return _looped(func, leaves, dims, structure, size, out_dims, randomness, kwargs, first)


def _blamed(reason: CannotBatch) -> Any:
    """The user's line that asked for a single value."""
    found = here(3)
    trace = reason.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if not is_internal(code.co_filename):
            found = Site(code, trace.tb_lasti)
        trace = trace.tb_next
    return found


def _position(tensor: Tensor, dim: int) -> int:
    """``dim`` of the output, which has one dimension more than each value."""
    return canonical_dim(dim, tensor.dim() + 1)


def _unbatched(func: Any, tensor: Any, level: int) -> Any:
    if isinstance(tensor, Tensor) and level in levels_of(tensor._data):
        raise ValueError(f"vmap({_name(func)}, ...): `{_name(func)}` can not return a "
                         "BatchedTensor when out_dim is None")
    return tensor


def _left(tensor: Tensor, dim: int, level: int, size: int, mapped: list[MappedInput]) -> Tensor:
    """An output with its batch as axis ``dim``: a view of the input that it is a view of."""
    base = tensor if tensor._view is None else tensor._view.base
    for entry in mapped:
        if base is entry.inside:
            return entry.view_outside(tensor, dim, size)
    if level in levels_of(tensor._data):
        return batch_out(tensor, dim, level, size)
    shape = tensor.shape
    return tensor.unsqueeze(dim).expand(*shape[:dim], size, *shape[dim:])


def _outputs(func: Any, output: Any, out_dims: Any) -> tuple[list[Any], Any, list[Any]]:
    """The flat outputs and the dim where each gets its batch."""
    outs, structure = trees.flatten(output)

    def call() -> str:
        return f"vmap({_name(func)}, ..., out_dims={out_dims})"

    if isinstance(output, Tensor) and isinstance(out_dims, tuple) and len(out_dims) == 1:
        where: list[Any] | None = [out_dims[0]]
    else:
        where = trees.broadcast_prefix(out_dims, structure)
    if where is None:
        raise ValueError(f"{call()}(<inputs>): out_dims is not compatible with the structure of "
                         f"`outputs`. out_dims has structure {trees.flatten(out_dims)[1]} but "
                         f"outputs has structure {structure}.")
    for d in where:
        if not (d is None or isinstance(d, int)):
            raise ValueError(f"{call()}: `out_dims` must be an int, None or a python collection of "
                             "ints representing where in the outputs the vmapped dimension should "
                             "appear.")
    for value, d in zip(outs, where, strict=True):
        if d is not None and not isinstance(value, Tensor):
            raise ValueError(f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, "
                             f"got type {type(value)}. Did you mean to set out_dims= to None for "
                             f"output?")
    return outs, structure, where


def _was_written(tensor: Tensor) -> bool:
    return tensor._vc is not None and (tensor._vc is INFERENCE or tensor._vc.n > 0)


def _looped(func: Any, leaves: list[Any], dims: list[Any], structure: Any, size: int,
            out_dims: Any, randomness: str, kwargs: dict[str, Any], first: FirstTurn | None) -> Any:
    """The fallback: ``func`` on one value after another, the results stacked.

    ``first``, if there is one, watches the first turn.
    """
    from ..ops.shapes.joining import stack

    collected: list[list[Any]] = []
    out_structure: Any = None
    where: list[Any] = []
    start = default_generator.get_state() if randomness == "same" else None
    before = VMAPS.get()
    try:
        VMAPS.set((*before, ("error", 0, size)) if randomness == "error" else before)
        for i in range(size):
            if start is not None:
                default_generator.set_state(start)
            inner = [leaf if d is None else leaf.select(d, i)
                     for leaf, d in zip(leaves, dims, strict=True)]
            run = functools.partial(func, *trees.unflatten(inner, structure), **kwargs)
            output = run() if i or first is None else first.watch(run)
            outs, out_structure, where = _outputs(func, output, out_dims)
            # The next turn may write to what this one returned.
            collected.append([t.clone() if isinstance(t, Tensor) and _was_written(t) else t
                              for t in outs])
    finally:
        VMAPS.set(before)
    return _joined(collected, where, out_structure,
                   lambda parts, d: stack(parts, _position(parts[0], d)))


def _joined(rows: list[list[Any]], where: list[Any], structure: Any, join: Any) -> Any:
    """The outputs of several calls, each joined along its dim; without one, that of the first."""
    return trees.unflatten([parts[0] if d is None else join(parts, d) for parts, d in zip(
        map(list, zip(*rows, strict=True)), where, strict=True)], structure)


def _in_chunks(func: Any, leaves: list[Any], dims: list[Any], structure: Any, size: int,
               out_dims: Any, randomness: str, chunk_size: int | None, kwargs: dict[str, Any]
               ) -> Any:
    """A batch in parts of at most so many, if that is said, so that memory stays bounded."""
    if chunk_size is None or not size:
        return _map(func, leaves, dims, structure, size, out_dims, randomness, kwargs)
    from ..ops.shapes.joining import cat

    pieces: list[list[Any]] = []
    out_structure: Any = None
    where: list[Any] = []
    state = default_generator.get_state() if randomness == "same" else None
    for start in range(0, size, chunk_size):
        if state is not None:
            default_generator.set_state(state)
        length = min(chunk_size, size - start)
        part = [leaf if d is None else leaf.narrow(d, start, length)
                for leaf, d in zip(leaves, dims, strict=True)]
        output = _map(func, part, dims, structure, length, out_dims, randomness, kwargs)
        outs, out_structure, where = _outputs(func, output, out_dims)
        pieces.append(outs)
    return _joined(pieces, where, out_structure, cat)
