"""Tensor: data, version, gradient and place in the graph; no mathematics.

Ops attach themselves as methods when they are declared (see :mod:`retrograd.core.op`).
"""

from __future__ import annotations

import copy
import sys
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, overload

from ..backend import xp
from ..backend.interface import LIBRARIES, kind_of, library_of
from ..base import call_sites, dtypes
from ..base.errors import c_name, length_of, type_name, wrong_type
from ..base.missing_names import missing_attribute
from ..base.modes import MODE
from ..base.warning import warn
from .cuts import cut_here, cut_once_more, note_exit, where_made
from .extensions import TENSOR_CLASS, extensions
from .graph import (
    INFERENCE,
    LEAF,
    LEAFS_OWN,
    DetachedVersion,
    Identity,
    MovedView,
    Nowhere,
    OutputEdge,
    RemovableHandle,
    Version,
    View,
    kept_hook,
    registered,
)

if TYPE_CHECKING:
    from ..backend.numpy import ndarray
    from .methods import TensorMethods  # a stub alone: what the ops declare
else:
    TensorMethods = object


class Size(tuple[int, ...]):
    """A shape; prints as PyTorch's does."""

    __slots__ = ()

    def __new__(cls, sizes: Any = ()) -> Size:
        if type(sizes) is not Size:
            sizes = tuple(sizes)
            for position, n in enumerate(sizes):
                if type(n) is not int:
                    sizes = _checked_sizes(sizes, position)
                    break
        return tuple.__new__(cls, sizes)

    def numel(self) -> int:
        count = 1
        for n in self:
            count *= n
        return count

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> Size: ...

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Size:  # type: ignore[override]
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to "
                            "torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Size:
        if not isinstance(other, tuple):
            return NotImplemented
        return Size(tuple(other) + tuple(self))

    def __mul__(self, times: Any) -> Size:
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __reduce__(self) -> Any:
        return (Size, (tuple(self),))


def _checked_sizes(sizes: tuple[Any, ...], first: int) -> tuple[int, ...]:
    """Sizes as ints, of which those before ``first`` are known to be."""
    for position, n in enumerate(sizes[first:], first):
        if not hasattr(n, "__index__"):
            raise TypeError(f"torch.Size() takes an iterable of 'int' (item {position} is "
                            f"'{type(n).__name__}')")
    return tuple(int(n) for n in sizes)


def is_defined_here(function: Any) -> bool:
    """Whether a function is of the class below itself, which is not about values: no op.

    The class itself may be served under another module's name.
    """
    return bool(function.__module__ == __name__)


class Tensor(TensorMethods):
    """A multi-dimensional array that can record the operations made on it.

    ``_data`` holds the array (a zero-dim tensor may hold a NumPy scalar until its memory is
    needed); ``_form`` is what is known of it (see :mod:`retrograd.core.interned`), so that only
    :meth:`_replace_data` may exchange it; ``_edge`` is None, ``LEAF``, the node that made it, or
    that node's :class:`OutputEdge`; ``_view`` describes whose memory it looks at; ``_vc`` counts
    writes and is made when the memory is first shared or written to; ``_cut`` is the line that kept
    it out of the graph (see :mod:`retrograd.core.cuts`). Whatever most tensors never need (a
    gradient, hooks) lies in ``__dict__`` with its default on the class.
    """

    __slots__ = ("_data", "_form", "_edge", "_view", "_vc", "_cut", "__dict__", "__weakref__")

    _data: Any
    _form: Any
    _edge: Any
    _view: Any
    _vc: Any
    _cut: Any

    is_output = leads_nowhere = False
    _is_traced = False  # whether the data belongs to a transform
    _arity = 0
    seq = -1  # below every node's
    _is_watched = False  # whether a hook is set on this leaf
    _grad: Tensor | None = None
    _grad_dtype: Any = LEAFS_OWN
    _hooks: OrderedDict[int, Any] | None = None
    _post_hooks: OrderedDict[int, Any] | None = None
    _accumulator_ref: Any = None
    _node_hooks: dict[str, Any] | None = None  # those of its accumulator, which comes and goes
    _wrapped_number = False
    _retains = False
    _name: str | None = None
    _is_param = False

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        return extensions.constructed(cls, args, kwargs)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    # ------------------------------------------------------------ what it holds

    @property
    def shape(self) -> Size:
        return tuple.__new__(Size, self._data.shape)

    @overload
    def size(self, dim: None = None) -> Size: ...

    @overload
    def size(self, dim: int) -> int: ...

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the length of one dimension."""
        shape = self._data.shape
        return tuple.__new__(Size, shape) if dim is None else length_of(shape, dim)

    @property
    def dtype(self) -> dtypes.dtype:
        return dtypes.from_numpy_dtype(self._data.dtype)

    @property
    def device(self) -> dtypes.device:
        return dtypes.CPU

    @property
    def layout(self) -> Any:
        from ..base import layouts

        return layouts.strided

    @property
    def ndim(self) -> int:
        return self._data.ndim

    def dim(self) -> int:
        return self._data.ndim

    ndimension = dim

    def numel(self) -> int:
        """The number of elements."""
        return int(self._data.size)

    nelement = numel

    @property
    def itemsize(self) -> int:
        return self._data.dtype.itemsize

    def element_size(self) -> int:
        return self._data.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.numel() * self.itemsize

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        kind = kind_of(self._data.dtype)
        return kind == "c" or (kind == "V" and self.dtype.is_complex)

    def is_signed(self) -> bool:
        return self.dtype.is_signed

    is_cuda = is_sparse = is_quantized = is_meta = is_mkldnn = is_nested = is_mps = is_xpu = False
    is_ipu = is_maia = is_mtia = is_vulkan = is_xla = is_sparse_csr = False
    is_cpu = True

    def is_conj(self) -> bool:
        return False

    def is_neg(self) -> bool:
        return False

    def get_device(self) -> int:
        return -1

    # ------------------------------------------------------------ memory

    def _array(self) -> Any:
        """The data as an array with memory of its own, also for a zero-dim tensor."""
        data = self._data
        if xp.is_scalar(data):
            data = xp.asarray(data)
            self._replace_data(data)
        return data

    def _replace_data(self, data: Any) -> None:
        """Let this tensor hold other data."""
        self._form = None
        self._data = data
        view = self._view
        if view is not None:
            self._view = MovedView.of(view.base, view.parent, view.op, view.static, view.origin,
                                      view.version)

    @overload
    def stride(self, dim: None = None) -> tuple[int, ...]: ...

    @overload
    def stride(self, dim: int) -> int: ...

    def stride(self, dim: int | None = None) -> Any:
        """How many elements apart neighbours along each dimension lie."""
        strides = self._strides()
        return strides if dim is None else length_of(strides, dim)

    def _strides(self) -> tuple[int, ...]:
        array = self._array()
        return library_of(array).element_strides(array)  # type: ignore[no-any-return]

    def _lies_in_rows(self) -> bool:
        array = self._array()
        return library_of(array).is_contiguous(array)  # type: ignore[no-any-return]

    def data_ptr(self) -> int:
        array = self._array()
        return library_of(array).address(array)

    def storage_offset(self) -> int:
        array = self._array()
        if not array.size:
            return 0
        library = library_of(array)
        return library.offset_in(array, library.storage_of(array))

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Whether the elements lie in memory in the order of their indices."""
        if memory_format is None:
            return self._lies_in_rows()
        from ..base.layouts import is_in_format

        return is_in_format(self._array(), memory_format)

    def untyped_storage(self) -> Any:
        from ..storage import UntypedStorage

        array = self._array()
        self._counter()  # which says that the memory is shared
        return UntypedStorage(library_of(array).storage_of(array))

    def storage(self) -> Any:
        from ..storage import typed_storage_of

        return typed_storage_of(self)

    def numpy(self, *, force: bool = False) -> ndarray:
        """The data as a NumPy array that shares this tensor's memory."""
        if self.requires_grad and not force and MODE.get().grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use "
                               "tensor.detach().numpy() instead." + where_made(self._edge))
        array = self._array()
        if kind_of(array.dtype) == "V" or xp.is_stored_only(array.dtype):
            raise TypeError(f"Got unsupported ScalarType {self.dtype.alias}")
        if self._edge is not None or self._cut is not None:
            note_exit(self, "numpy")
        return library_of(array).to_numpy(array)[...]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.numpy(force=self._is_stored())
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError("Unable to avoid copy while creating an array as requested.")
            return array.astype(dtype)
        return array.copy() if copy else array

    def _is_stored(self) -> bool:
        """Whether NumPy asks for the values in order to store them, which leaves a gradient."""
        if not (self.requires_grad and MODE.get().grad) and not (
                self._is_traced and self._data.primal is not None):  # which a batch refuses
            return False
        if call_sites.is_at_store(call_sites.user_frame(sys._getframe(1))):
            warn_of_store()
            return True
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use "
                           "tensor.detach().numpy() instead. NumPy's functions are recorded, but "
                           "not np.array, np.asarray or a function that makes an array of its "
                           "arguments first: np.stack and np.concatenate join tensors."
                           + where_made(self._edge))

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        # NumPy's comparisons come back as bytes, a habit from before there were bool tensors.
        return wrap(array.astype("uint8") if kind_of(array.dtype) == "b" else array)

    __array_priority__ = 1000

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return extensions.numpy_ufunc(sys._getframe(1), ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return extensions.numpy_function(function, types, args, kwargs)

    def __dlpack__(self, *, stream: Any = None, **options: Any) -> Any:
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        return self._array().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array().__dlpack_device__()

    # ------------------------------------------------------------ Python numbers

    def item(self) -> Any:
        """The one element as a Python number."""
        if self._edge is not None or self._cut is not None:
            note_exit(self, "item")
        return self._element()

    def _element(self) -> Any:
        """The same where no number is made of it that a program goes on with."""
        data = self._data
        if data.size != 1:
            raise RuntimeError(f"a Tensor with {data.size} elements cannot be converted to Scalar")
        value = dtypes.readable(data).item()
        # ml_dtypes scalars are their own Python type.
        return value if isinstance(value, (int, float, complex)) else float(value)

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        if self._edge is not None or self._cut is not None:
            note_exit(self, "tolist")
        return dtypes.readable(self._data).tolist()

    def __bool__(self) -> bool:
        if self._data.size != 1:
            if self._data.size == 0:
                raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        return bool(self._element() if type(self) is Tensor else self.item())

    def _number(self) -> Any:
        """The one element, where Python asks for a number."""
        if self._data.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self.item()

    def __float__(self) -> float:
        value = self._number()
        if self.requires_grad or self._is_traced:
            warn_of_lost_gradient(self)
        return float(_real_number(value, "double"))

    def __int__(self) -> int:
        value = self._number()
        return int(_real_number(value, "int64_t"))

    def __complex__(self) -> complex:
        value = self._number()
        if self.requires_grad or self._is_traced:
            warn_of_lost_gradient(self)
        return complex(value)

    def __index__(self) -> int:
        if self._data.size != 1 or kind_of(self._data.dtype) not in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __len__(self) -> int:
        if not self._data.ndim:
            raise TypeError("len() of a 0-d tensor")
        return self._data.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self._data.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __hash__(self) -> int:
        return id(self)

    def __format__(self, spec: str) -> str:
        if not self._data.ndim and type(self) is Tensor:
            return format(self._element(), spec)
        return object.__format__(self, spec)

    def __contains__(self, element: Any) -> bool:
        if isinstance(element, (Tensor, int, float, complex)):
            return bool((self == element).any().item())
        raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in "
                           f"a {type(element)}.")

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        from .printing import repr_of

        return repr_of(self, type(self) in PLAIN or type(self) in NATIVE, tensor_contents)

    def _repr_html_(self) -> str:
        from ..viz._notebook import tensor_html

        return tensor_html(self)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self.__dict__})

    def __reversed__(self) -> Tensor:
        return self.flip(0) if self._data.ndim else self

    # ------------------------------------------------------------ the graph

    @property
    def requires_grad(self) -> bool:
        view, edge = self._view, self._edge
        if view is None or (edge is not None and edge.__class__ is not Nowhere):
            return edge is not None
        if view.origin and view.base._edge is not None and view.version != self._vc.n:
            return True  # only its history would be refused
        return edge_of(self) is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        if value and not self.is_leaf:
            raise RuntimeError("you can only change requires_grad flags of leaf variables.")
        if value and not (self.dtype.is_floating_point or self.dtype.is_complex):
            raise RuntimeError("only Tensors of floating point and complex dtype can require "
                               "gradients")
        set_requires_grad(self, value)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool")

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Switch recording on this tensor on or off, in place."""
        if requires_grad is not True and not isinstance(requires_grad, bool):
            raise wrong_type("requires_grad_", "requires_grad", 1, "bool", requires_grad)
        set_requires_grad(self, requires_grad)
        return self

    @property
    def is_leaf(self) -> bool:
        edge = self._edge
        if self._view is not None:
            edge = edge_of(self)
            return edge is None or edge is self or edge.leads_nowhere
        return edge is None or edge is LEAF

    @property
    def grad_fn(self) -> Any:
        edge = self._edge if self._view is None else edge_of(self)
        if edge is None or edge is LEAF or edge is self:
            return None
        return edge.node if edge.is_output else None if edge.leads_nowhere else edge

    @property
    def output_nr(self) -> int:
        edge = edge_of(self)
        return edge.nr if isinstance(edge, OutputEdge) else 0

    @property
    def grad(self) -> Tensor | None:
        if self._grad is None and not self._retains and not self.is_leaf:
            warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its "
                ".grad attribute won't be populated during autograd.backward(). If you indeed want "
                "the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the "
                "non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you "
                "access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for "
                "more information.",
                UserWarning)
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is None:
            self._grad = None
            return
        if not isinstance(value, Tensor):
            raise TypeError("assigned grad expected to be a Tensor or None but got grad of type "
                            f"{type_name(value)}")
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        expected = self._data.dtype if self._grad_dtype is LEAFS_OWN else self._grad_dtype
        if expected is not None and value._data.dtype != expected:
            raise RuntimeError(
                "attempting to assign a gradient with dtype "
                f"'{c_name(value)}' to a tensor with grad_dtype "
                f"'{dtypes.from_numpy_dtype(expected).alias}'. The gradient must match the "
                "tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's "
                "grad_dtype attribute with a specific dtype, or None to allow any dtype. Set "
                "grad_dtype with caution. "
                "Diverging the dtypes of a tensor and its gradient may break downstream systems "
                "that assume they match.")
        if value._data.shape != self._data.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of "
                f"size '{list(self.shape)}'. Please ensure that the gradient and the tensor are "
                "the same size")
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def grad_dtype(self) -> dtypes.dtype | None:
        """The dtype of this leaf's gradients: its own unless set; None lets them have any."""
        if not self.is_leaf:
            raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
        kept = self._data.dtype if self._grad_dtype is LEAFS_OWN else self._grad_dtype
        return None if kept is None else dtypes.from_numpy_dtype(kept)

    @grad_dtype.setter
    def grad_dtype(self, value: dtypes.dtype | None) -> None:
        if not self.is_leaf:
            raise RuntimeError("grad_dtype can only be set on leaf tensors.")
        if not (value is None or isinstance(value, dtypes.dtype)):
            raise RuntimeError("grad_dtype must be a torch.dtype or None, but got "
                               f"{type(value).__name__}")
        present = None if self._grad is None else self._grad.dtype
        if value is not None and present is not None and present is not value:
            raise RuntimeError(
                f"Cannot set grad_dtype to '{value.alias}' because there is already a gradient "
                f"with dtype '{c_name(self._grad)}'. Please clear the gradient (.grad "
                "= None) before changing grad_dtype, or ensure the new grad_dtype matches the "
                "existing gradient's dtype.")
        self._grad_dtype = None if value is None else value.np

    @property
    def _version(self) -> int:
        if self._vc is INFERENCE:
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if self._vc is None else self._vc.n % DetachedVersion.START

    def _counter(self) -> Version:
        """The version counter, made now if there was none.

        The node that made this tensor may have saved it as its output; it is told, since it holds
        the data and not the tensor.
        """
        counter = self._vc
        if counter is None:
            counter = self._vc = Version()
            edge = self._edge
            if edge is not None and edge is not LEAF:
                node = edge.node if edge.is_output else edge
                if getattr(type(node), "saves_output", False):
                    counter = self._vc = node.watch_output(counter, edge)
        return counter

    def _bump_version(self) -> None:
        self._counter().bump()

    @property
    def _base(self) -> Tensor | None:
        return None if self._view is None else self._view.base

    def _is_view(self) -> bool:
        return self._view is not None

    def is_inference(self) -> bool:
        return self._vc is INFERENCE

    @property
    def name(self) -> str | None:
        return self._name

    @property
    def data(self) -> Tensor:
        """A tensor on the same memory, outside the graph and with a version of its own."""
        self._counter()  # which says that the memory is shared
        out = twin(self, None, class_of_views(self))
        if self._edge is not None or (self._view is not None and self.requires_grad):
            out._cut = cut_here(self, "data")
        return out

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type_name(value)}")
        if (value.layout, value.is_meta) != (self.layout, self.is_meta):
            raise RuntimeError("Attempted to call `variable.set_data(tensor)`, but `variable` and "
                               "`tensor` have incompatible tensor type.")
        if self.requires_grad and kind_of(value._data.dtype) not in "fc" \
                and not value.dtype.is_floating_point:
            raise RuntimeError("data set to a tensor that requires gradients must be floating "
                               "point or complex dtype")
        self._replace_data(value._array())
        if type(self) is Tensor or isinstance(self, ForeignTensor):
            self.__class__ = class_for(self._data)

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    def detach(self) -> Tensor:
        """A tensor on the same memory, outside the graph."""
        kind = type(self)
        out = twin(self, self._vc or self._counter(),
                   kind if kind is Tensor else class_of_views(self))
        if self._edge is not None or (self._view is not None and self.requires_grad):
            out._cut = cut_here(self, "detach")
        elif self._cut is not None:
            out._cut = cut_once_more(self._cut, "detach")
        return out

    _off_graph = detach  # the same for tensors of transforms, whose tangents it keeps

    def detach_(self) -> Self:
        """Leave the graph, in place."""
        if MODE.get().inference:
            return self  # which changes no history
        if self._view is not None:
            if self._view.origin == "multi":
                raise RuntimeError("Can't detach views in-place. Use detach() instead.")
            raise RuntimeError("Can't detach views in-place. Use detach() instead. If you are "
                               "using DistributedDataParallel (DDP) for training, and "
                               "gradient_as_bucket_view is set as True, gradients are views of "
                               "DDP buckets, and hence detach_() cannot be called on these "
                               "gradients. To fix this error, please refer to the "
                               "Optimizer.zero_grad() function in torch/optim/optimizer.py as "
                               "the solution.")
        counter = self._counter()
        if self._edge is not None:
            self._cut = cut_here(self, "detach_")
            if self._edge is not LEAF and type(counter) is Version:
                self._vc = DetachedVersion(counter)
        self._edge = None
        self._retains = False
        return self

    def retain_grad(self) -> None:
        """Keep this non-leaf tensor's gradient in ``.grad``."""
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self.is_leaf or self._retains:
            return
        self._retains = True
        edge = edge_of(self)
        node, nr = (edge.node, edge.nr) if edge.is_output else (edge, 0)
        node.watch()
        if node.retained is None:
            node.retained = {}
        node.retained[nr] = weakref.ref(self)

    @property
    def retains_grad(self) -> bool:
        return self._retains and self.requires_grad

    def backward(self, gradient: Any = None, retain_graph: bool | None = None,
                 create_graph: bool = False, inputs: Any = None) -> None:
        """Accumulate the gradients of this tensor into the leaves it was made from."""
        extensions.backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def register_hook(self, hook: Callable[[Tensor], Any]) -> RemovableHandle:
        """Call ``hook(grad)`` whenever this tensor's gradient is computed; it may replace it."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        edge = edge_of(self)
        if edge is self or edge.leads_nowhere:
            self._is_watched = True
            return registered(self, "_hooks", hook)
        node, nr = (edge.node, edge.nr) if edge.is_output else (edge, 0)
        node.watch()
        if node.tensor_hooks is None:
            node.tensor_hooks = {}
        return kept_hook(node.tensor_hooks.setdefault(nr, OrderedDict()), hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], Any]) -> RemovableHandle:
        """Call ``hook(tensor)`` after a gradient was accumulated into this leaf."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if not self.is_leaf:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf "
                               "tensors")
        self._is_watched = True
        return registered(self, "_post_hooks", hook)

    def _accumulator(self) -> AccumulateGrad:
        """The node that stands for this leaf in ``next_functions``; one at a time."""
        known = self._accumulator_ref and self._accumulator_ref()
        if known is None:
            known = AccumulateGrad()
            known.seq = 1 << 63
            known.next0 = None
            known.variable = self
            self._accumulator_ref = weakref.ref(known)
        return known

    # ------------------------------------------------------------ copying and pickling

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment.  If you were attempting to deepcopy a module, this may be "
                "because of a torch.nn.utils.weight_norm usage, see "
                "https://github.com/pytorch/pytorch/pull/103001")
        if id(self) in memo:
            return memo[id(self)]
        out = object.__new__(type(self))
        array = self._array()
        fill(out, library_of(array).copy_with_memory(array, memo),
             LEAF if self.requires_grad else None)
        out._vc = INFERENCE if MODE.get().inference else Version(1)
        memo[id(self)] = out
        if self._grad is not None:
            out._grad = copy.deepcopy(self._grad, memo)
        out.__dict__.update(copy.deepcopy(_user_attributes(self), memo))
        return out

    def __copy__(self) -> Tensor:
        return _rebuild(type(self), self._array(), None, self.requires_grad,
                        _user_attributes(self))

    def __reduce_ex__(self, protocol: Any) -> Any:
        array = self._array()
        library = library_of(array)
        cls = Tensor if isinstance(self, ForeignTensor) else type(self)
        state = (self.requires_grad, _user_attributes(self))
        memory = library.storage_of(array)
        if memory.size != array.size and library.is_dense(memory) and memory.dtype == array.dtype:
            whole = library.as_strided(memory, (memory.size,), (1,), 0)
            where = (array.shape, library.element_strides(array), self.storage_offset())
            return (_rebuild_part, (cls, whole, where, *state))
        return (_rebuild, (cls, *library.packed(array), *state))

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)

    def module_load(self, other: Tensor, assign: bool = False) -> Tensor:
        """What a module that swaps tensors puts in this one's place when ``other`` is loaded."""
        return other.detach() if assign else self.copy_(other).detach()

    # ------------------------------------------------------------ subclassing

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return extensions.default_torch_function(cls, func, types, args, kwargs or {})

    def as_subclass(self, cls: type) -> Any:
        """This tensor's data and history as an instance of ``cls``."""
        return extensions.as_subclass(self, cls)


# ---------------------------------------------------------------- helpers


def attach(**members: Any) -> None:
    """Give Tensor methods and properties; to checkers they come from :mod:`.methods`."""
    for name, member in members.items():
        setattr(Tensor, name, member)


def method(*names: str) -> Callable[[Any], Any]:
    """Give Tensor the function below as a method, which is known by the first of its names."""

    def declare(function: Any) -> Any:
        if function.__name__.startswith("_") and not hasattr(function, "op"):
            function.__name__, function.__qualname__ = names[0], f"Tensor.{names[0]}"
        attach(**dict.fromkeys(names, function))
        return function

    return declare


def class_of_views(tensor: Tensor) -> type:
    """The class of another tensor on the same memory: parameters are not handed down."""
    kind = type(tensor)
    return Tensor if kind in PLAIN or kind._is_param else kind


def _real_number(value: Any, name: str) -> Any:
    """A number of which Python wants the real part, and which has no other."""
    if not isinstance(value, complex):
        return value
    if value.imag:
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")
    return value.real


def warn_of_store() -> None:
    from ..base.warning import warn

    warn("A tensor that requires grad is stored into a NumPy array, which keeps its values and "
         f"loses its gradient:\n  {call_sites.here(2)}\nStore into a tensor, such as "
         "np.zeros_like(tensor) or torch.zeros(...), or join the parts by np.stack.", once=True)


def warn_of_lost_gradient(tensor: Tensor) -> None:
    """A number was made of a tensor; a tangent is lost without a word, as PyTorch has it, unless it
    is to be stored."""
    from ..base.warning import warn

    if call_sites.is_at_store(call_sites.user_frame(sys._getframe(1))):
        return warn_of_store()
    if not tensor.requires_grad:
        return
    warn("Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior."
         "\nConsider using tensor.detach() first.", once=True)


PLAIN: set[type] = {Tensor}
"""The classes whose instances take the fast path: Tensor, and Parameter when it is loaded."""

NATIVE: set[type] = {Tensor}
"""The classes that ops handle themselves; any other asks its ``__torch_function__``."""

_INTERNAL = {"_grad", "_hooks", "_post_hooks", "_accumulator_ref", "_wrapped_number", "_retains",
             "_name", "_node_hooks", "_is_watched", "_grad_dtype", "_known_tangent"}


def _user_attributes(tensor: Tensor) -> dict[str, Any]:
    return {k: v for k, v in tensor.__dict__.items() if k not in _INTERNAL}


def _rebuild(cls: type, array: Any, order: tuple[int, ...] | None, requires_grad: bool,
             attributes: dict[str, Any]) -> Any:
    """The tensor that was pickled; ``order`` says how its dimensions lay in memory."""
    out: Any = object.__new__(class_for(array) if cls is Tensor else cls)
    fill(out, array if order is None else array.transpose(order), LEAF if requires_grad else None)
    # PyTorch fills a tensor that it rebuilds by a write, and counts it.
    out._vc = INFERENCE if MODE.get().inference else Version(1)
    out.__dict__.update(attributes)
    return out


def _rebuild_part(cls: type, memory: Any, where: tuple[Any, ...], requires_grad: bool,
                  attributes: dict[str, Any]) -> Any:
    """The tensor that was pickled with all of its memory, of which it is a part."""
    array = library_of(memory).as_strided(memory, *where)
    return _rebuild(cls, array, None, requires_grad, attributes)


class AccumulateGrad(Identity):
    """Stands for a leaf at the end of the graph."""

    __slots__ = ("variable",)
    variable: Tensor
    is_leaf = True

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    def edges(self) -> tuple[Any, ...]:
        return ()

    # Hooks are kept on the leaf: one that its leaf kept alive would be a cycle.

    def _hooks_of_kind(self, kind: str) -> Any:
        return (self.variable._node_hooks or {}).get(kind)

    def _set_hooks(self, kind: str, hooks: Any) -> None:
        if self.variable._node_hooks is None:
            self.variable._node_hooks = {}
        self.variable._node_hooks[kind] = hooks
        self.variable._is_watched = True

    prehooks = property(lambda self: self._hooks_of_kind("pre"),
                        lambda self, hooks: self._set_hooks("pre", hooks))
    posthooks = property(lambda self: self._hooks_of_kind("post"),
                         lambda self, hooks: self._set_hooks("post", hooks))


def fill(tensor: Tensor, data: Any, edge: Any) -> Tensor:
    """Set the slots of a new tensor."""
    tensor._data = data
    tensor._edge = edge
    tensor._form = tensor._view = tensor._vc = tensor._cut = None
    return tensor


class ForeignTensor(Tensor):
    """A tensor on an array of another library than NumPy; never takes the fast path."""

    __slots__ = ()


ForeignTensor.__name__ = ForeignTensor.__qualname__ = "Tensor"
NATIVE.add(ForeignTensor)


def class_for(data: Any) -> type:
    """The class of a tensor on an array."""
    return ForeignTensor if type(data) in LIBRARIES else Tensor


def wrap(data: Any, edge: Any = None) -> Tensor:
    """A new tensor on ``data``."""
    out: Any = _new(ForeignTensor if type(data) in LIBRARIES else Tensor)
    out._data = data
    out._edge = edge
    out._form = out._view = out._cut = None
    out._vc = INFERENCE if _mode().inference else None
    return out


def wrap_array(array: ndarray) -> Tensor:
    """A new tensor on an array of NumPy's."""
    out: Any = _new(Tensor)
    out._data = array
    out._form = out._edge = out._view = out._cut = None
    out._vc = INFERENCE if _mode().inference else None
    return out  # type: ignore[no-any-return]


_new, _mode = object.__new__, MODE.get


def wrap_any(data: Any) -> Tensor:
    """A tensor on raw data: plain, or a transform's."""
    kind = type(data)
    out: Any = object.__new__(TENSOR_CLASS.get(kind)
                              or (ForeignTensor if kind in LIBRARIES else Tensor))
    out._data = data
    out._form = out._edge = out._view = out._cut = None
    out._vc = INFERENCE if MODE.get().inference else None
    return out


def twin(tensor: Tensor, counter: Version | None, cls: type) -> Tensor:
    """A tensor on the same memory."""
    out: Any = object.__new__(cls)
    data = tensor._data
    out._data = data if data.ndim else tensor._array()
    out._form = out._edge = out._view = out._cut = None
    out._vc = counter
    return out


def edge_of(tensor: Tensor) -> Any:
    """The edge a gradient for ``tensor`` flows to: a leaf's is the tensor itself."""
    view = tensor._view
    if view is not None and tensor._vc is not None and view.version != tensor._vc.n:
        extensions.refresh_view(tensor)
    edge = tensor._edge
    if edge is None and view is not None and view.base._edge is not None \
            and kind_of(tensor._data.dtype) in "fcV":
        # Made while nothing was recorded, it requires grad as its base does, and leads nowhere.
        edge = tensor._edge = Nowhere()
    elif edge.__class__ is Nowhere and view is not None and view.base._edge is None:
        edge = tensor._edge = None  # its base requires grad no more
    return tensor if edge is LEAF else edge


def _missing(tensor: Tensor, name: str) -> Any:
    """The answer to a name that was not found: a property that fails speaks for itself."""
    if hasattr(type(tensor), name):
        return object.__getattribute__(tensor, name)
    raise missing_attribute(tensor, name, "Tensor")


if sys.version_info >= (3, 12):  # an earlier one would read every attribute more slowly
    Tensor.__getattr__ = _missing


def set_requires_grad(tensor: Tensor, value: Any) -> None:
    if not isinstance(value, (bool, int)):
        raise TypeError(f"requires_grad must be a bool, but got {type(value).__name__}")
    if value:
        is_barred = tensor._vc is INFERENCE and not MODE.get().inference
        if not is_barred and tensor._edge is not None and not getattr(
                tensor._edge, "leads_nowhere", False):
            return
        kind = tensor.dtype
        if not (kind.is_floating_point or kind.is_complex):
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if is_barred:
            raise RuntimeError("Setting requires_grad=True on inference tensor outside "
                               "InferenceMode is not allowed.")
        tensor._edge = LEAF
        return
    if not tensor.is_leaf:
        raise RuntimeError("you can only change requires_grad flags of leaf variables. If you want "
                           "to use a computed variable in a subgraph that doesn't require "
                           "differentiation use var_no_grad = var.detach().")
    tensor._edge = None


__all__ = ["AccumulateGrad", "PLAIN", "Size", "Tensor", "View", "attach", "edge_of", "fill", "twin",
           "wrap", "wrap_any"]
