"""Where higher layers join lower ones: every such place is declared here, and filled by one module.

A module that implements an extension fills it when it is imported::

    extensions.fill(traced_call=call_traced)

and a lower one calls it as ``extensions.traced_call(op, args, mode)``. One that is called before
anybody filled it says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..base.modes import Mode
    from .op import Op
    from .tensor import Tensor

TRACED_TYPES: dict[type, Callable[[Op, list[Any], Any], Any]] = {}
"""Raw data types that are not arrays, each with the function that computes an op on them.

Filled by :mod:`retrograd.transforms`; everything that meets raw data looks here.
"""

TENSOR_CLASS: dict[type, type] = {}
"""The tensor class that carries each of these types of data; filled where they are."""

TRACED_TENSORS: set[type] = set()
"""The same classes, by themselves."""


SPARSE_TENSORS: set[type] = set()
"""The classes of tensors that keep only some elements, once there are any: filled by ops.sparse."""


class Extensions:
    """The functions of higher layers that lower ones call."""

    # Filled by codegen. Puts generated code into a function of an op, its attribute of that name.
    build: Callable[[Op, str], Any]

    # Filled by core.inplace, called by core.tensor. Brings a view's edge up to date after its base
    # was written to.
    refresh_view: Callable[[Tensor], None]

    # Filled by core.out_argument, called by core.arguments. Runs a function made of ops, and puts
    # its results into the tensors given as ``out=``.
    call_with_out: Callable[[Any, Any, dict[str, Any]], Any]

    # Filled by transforms, called by core.general, core.inplace and core.saved_values.
    # The usual call of an op on a transform's tensors; NotImplemented where it takes more.
    traced_call: Callable[[Op, tuple[Any, ...], Mode], Any]
    # Puts raw data into a tensor's memory where one or both belong to a transform.
    traced_write: Callable[[Tensor, Any], None]
    # Pulls a gradient through a node by rules on raw data; None where it takes tensors.
    traced_pull: Callable[[Any, Any, tuple[Any, ...]], tuple[Any, ...] | None]
    # Takes from a gradient what its input, made of data of these levels, never had.
    settle: Callable[[Tensor, tuple[int, ...]], Tensor]
    # The levels of the transforms whose data this is.
    levels_of: Callable[[Any], tuple[int, ...]]

    # Filled by overrides, called by core.general, core.tensor and ops.
    # Offers a call to the classes of the arguments that override it.
    take_over: Callable[[Any, list[Any], tuple[Any, ...], dict[str, Any]], Any]
    # What Tensor's own __torch_function__ does.
    default_torch_function: Callable[[type, Any, Any, Any, dict[str, Any]], Any]
    # A tensor's data and history as an instance of another class.
    as_subclass: Callable[[Tensor, type], Any]

    # Filled by overrides, called by core.tensor when NumPy meets a tensor: a ufunc or an operator,
    # with the frame it stands in, and any other function.
    numpy_ufunc: Callable[[Any, Any, str, tuple[Any, ...], dict[str, Any]], Any]
    numpy_function: Callable[[Any, Any, Any, Any], Any]

    # Filled by ops.memory, called by storage: moves what tensors look at to shared memory.
    share_memory: Callable[[Any], None]

    # Filled by autograd, called by the method: the backward pass.
    backward: Callable[..., None]

    # Filled by compat.legacy, called by Tensor(...): the constructor that PyTorch calls legacy.
    constructed: Callable[[type, tuple[Any, ...], dict[str, Any]], Any]

    def fill(self, **functions: Callable[..., Any]) -> None:
        """Give the functions that implement extensions; each is given once."""
        for name, function in functions.items():
            if name not in Extensions.__annotations__:
                raise TypeError(f"there is no extension called '{name}'")
            if name in self.__dict__:
                raise TypeError(f"the extension '{name}' is filled already")
            self.__dict__[name] = function

    def __getattr__(self, name: str) -> Any:
        if name not in Extensions.__annotations__:
            raise AttributeError(f"there is no extension called '{name}'")
        raise RuntimeError(f"the extension '{name}' is used, but the module that fills it was not "
                           "imported: see retrograd.core.extensions")


extensions = Extensions()
