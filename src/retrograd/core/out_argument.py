"""``out=``: the result of a call goes into given tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..backend import create, xp
from ..backend.interface import is_array
from ..backend.numpy import LARGE
from ..base import dtypes
from ..base.errors import c_name, wrong_type
from ..base.modes import MODE
from ..base.warning import warn
from .extensions import extensions
from .inplace import check_overlap, check_writable, resize
from .op import Op
from .out_rules import Out
from .recording import flat_tensors
from .tensor import Tensor, edge_of


def write_out(op: Op, tensors: dict[str, Any], result: Any, out: Any) -> Any:
    """The result of an op goes into given tensors, which take its shape."""
    given = flat_tensors(tensors)
    if op.rules:
        refuse_derivative(op.title, [out, *given])
    if op.kind == "elementwise" and any(out is t for t in given) and out.shape != result.shape:
        raise RuntimeError(f"output with shape {list(out.shape)} doesn't match the broadcast shape "
                           f"{list(result.shape)}")
    return store_out(op.title, result, out, op.out_rule, given)


def in_dtype_of(op: Op, args: tuple[Any, ...], out: Tensor) -> tuple[Any, ...]:
    """The arguments of a call that is computed in the dtype of its output, if in no other."""
    return tuple([out.dtype if p.name == "dtype" and value is None else value
                  for p, value in zip(op.params, args, strict=True)])


def call_with_out(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call a function made of ops, and put its result into the tensors given as ``out=``."""
    out = kwargs.pop("out")
    title, rule = function.out
    return run_into(out, title, rule, function, *args, **kwargs)


extensions.fill(call_with_out=call_with_out)


def run_into(out: Any, title: str, rule: Out, function: Any, *args: Any, **kwargs: Any) -> Any:
    """The result of a function of tensors, in the tensors ``out`` if there are any."""
    if out is None:
        return function(*args, **kwargs)
    given = list(tensors_in((args, kwargs)))
    check_out(title, out, isinstance(out, (tuple, list)))
    result = function(*args, **kwargs)
    if not rule.copies:
        refuse_derivative(title, [*tensors_in((out,)), *tensors_in((result,))])
    if isinstance(result, Tensor):
        return store_out(title, result if rule.copies else result._data, out, rule, given)
    check_out(title, out, True)
    if len(out) != len(result):
        raise TypeError(f"expected tuple of {len(result)} elements but got {len(out)}")
    for place in sorted(range(len(out)), reverse=rule.last_first):
        check_dtype(title, result[place]._data, out[place], rule, place)
    for found, target in zip(result, out, strict=True):
        store_out(title, found._data, target, rule, given, checked=True)
    return type(result)(out)


def tensors_in(values: Any) -> Iterator[Tensor]:
    """The tensors among arguments."""
    for value in values.values() if isinstance(values, dict) else values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (tuple, list, dict)):
            yield from tensors_in(value)


def check_out(function: str, out: Any, several: bool) -> None:
    """Raise unless ``out`` is a tensor, or a tuple of ``several``."""
    is_one = isinstance(out, Tensor)
    if several and isinstance(out, (tuple, list)) and all(isinstance(t, Tensor) for t in out):
        return
    if several or not is_one:
        raise wrong_type(function, "out", None, 'tuple of Tensors' if several else 'Tensor', out)


def refuse_derivative(function: str, tensors: list[Tensor]) -> None:
    """Raise if one of the tensors of a call with ``out=`` is differentiable."""
    mode = MODE.get()
    tensors = [t for t in tensors if isinstance(t, Tensor)]
    if mode.forward_grad and any(hasattr(type(t._data), "tangent") for t in tensors):
        raise NotImplementedError(f"Trying to use forward AD with {function}_out that does not "
                                  "support it because it is an out= function")
    if mode.records and any(edge_of(t) is not None for t in tensors):
        raise RuntimeError(f"{function}(): functions with out=... arguments don't support "
                           "automatic differentiation, but one of the arguments requires grad.")


def check_dtype(function: str, result: Any, out: Tensor, rule: Out, place: int = 0) -> None:
    """Raise, in the function's own words, if ``out`` cannot have its dtype."""
    source = dtypes.from_numpy_dtype(result.dtype)
    words = rule.words if isinstance(rule.words, str) else rule.words[place]
    castable = "cast" in words if rule.castable is None else rule.castable
    if source is out.dtype or out.dtype in rule.also or (
            castable and dtypes.category(source) <= dtypes.category(out.dtype)):
        return
    raise rule.error(words.format(
        function=rule.function or function, name=rule.names[place % len(rule.names)],
        result=source.alias, out=out.dtype.alias, c_result=c_name(result), c_out=c_name(out),
        is_short=source is dtypes.int32))


def store_out(function: str, result: Any, out: Any, rule: Out, given: Any = (),
              checked: bool = False) -> Tensor:
    """Put raw data, or a tensor that is copied, into the tensor given as ``out=``."""
    check_out(function, out, False)
    if not checked:
        check_dtype(function, result, out, rule)
    shape = tuple(result.shape)
    fits = tuple(out.shape) == shape
    if is_array(out._data) and (fits or rule.apart):
        check_overlap(out, [None, *(t._data for t in given)], rule.apart)
    mode = MODE.get()
    if not rule.copies:
        check_writable(out, False, mode)
        if mode.journal is not None:
            mode.journal.note_out(function, out, result)
    if not fits:
        if out._data.size and not rule.silent:
            warn(f"An output with one or more elements was resized since it had shape "
                 f"{list(out.shape)}, which does not match the required output shape "
                 f"{list(shape)}. This behavior is deprecated, and in a future PyTorch release "
                 "outputs will not be resized unless they have zero elements. You can explicitly "
                 "reuse an out tensor t by resizing it, inplace, to zero elements with "
                 "t.resize_(0).")
        resize(out, shape)
    if rule.copies:
        return out.copy_(result)
    errors = xp.error_state()
    try:
        xp.quieten(xp.QUIET)
        array = out._array()
        fill = create.filling(array, result) if array.size >= LARGE and is_array(result) else None
        if fill is None:
            array[...] = result
        else:
            fill()
    finally:
        xp.quieten(errors)
    out._bump_version()
    return out
