"""``out=``: the result of a call goes into a given tensor."""

from __future__ import annotations

from typing import Any

from ..backend.interface import is_array, library_of
from ..base import dtypes
from ..base.modes import MODE
from .inplace import check_overlap, check_writable
from .op import Op
from .recording import flat_tensors
from .tensor import Tensor


def write_out(op: Op, tensors: dict[str, Any], result: Any, out: Any) -> Any:
    """``out=``: the result goes into a given tensor, which takes its shape."""
    if not isinstance(out, Tensor):
        raise TypeError(f"{op.title}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if MODE.get().forward_grad and any(
            hasattr(type(t._data), "tangent") for t in (out, *flat_tensors(tensors))):
        raise NotImplementedError(f"Trying to use forward AD with {op.title}_out that does not "
                                  "support it because it is an out= function")
    if MODE.get().records and (out._edge is not None or any(
            t._edge is not None for t in flat_tensors(tensors))):
        raise RuntimeError(f"{op.title}(): functions with out=... arguments don't support "
                           "automatic differentiation, but one of the arguments requires grad.")
    if is_array(out._data) and out._data.shape == result.shape:
        check_overlap(out, [None, *(t._data for t in flat_tensors(tensors))])
    return store_out(op.title, result, out)


def store_out(function: str, result: Any, out: Tensor) -> Tensor:
    """Put raw data into the tensor given as ``out=``, resized to fit."""
    if not isinstance(out, Tensor):
        raise TypeError(f"{function}(): argument 'out' must be Tensor, not {type(out).__name__}")
    source = dtypes.from_numpy_dtype(result.dtype)
    if dtypes.category(source) > dtypes.category(out.dtype):
        raise RuntimeError(f"result type {source.alias} can't be cast to the desired output type "
                           f"{out.dtype.alias}")
    mode = MODE.get()
    check_writable(out, False, mode)
    if mode.journal is not None:
        mode.journal.note_out(function, out, result)
    if out._data.shape != result.shape:
        if out._data.size:
            import warnings

            warnings.warn(
                f"An output with one or more elements was resized since it had shape "
                f"{list(out.shape)}, which does not match the required output shape "
                f"{list(result.shape)}. This behavior is deprecated, and in a future PyTorch "
                "release outputs will not be resized unless they have zero elements. You can "
                "explicitly reuse an out tensor t by resizing it, inplace, to zero elements with "
                "t.resize_(0).", UserWarning, stacklevel=4)
        out._replace_data(library_of(result).as_array(result).astype(out._data.dtype))
    else:
        out._array()[...] = result
    out._bump_version()
    return out
