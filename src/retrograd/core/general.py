"""The general path of an op call: whatever the generated fast path does not handle.

Arguments are checked and promoted, the op is computed on raw data (by its kernel, or by a transform
whose data is among the arguments), and the call is recorded.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

from ..backend import xp
from ..backend.interface import is_array, kind_of, library_of
from ..base import call_sites, dtypes
from ..base.errors import (
    REQUIRED,
    canonical_dim,
    canonical_dims,
    is_pytorch_tensor,
    missing_arguments,
    not_a_tensor,
    size_mismatch,
    type_name,
)
from ..base.modes import GRAD, MODE, Mode
from ..codegen import Plan, node_class
from ..codegen.compiling import offer
from ..codegen.switch import GeneralPath
from .anomaly import Anomaly, remember_stack
from .arguments import refuse_foreign
from .binding import direct
from .extensions import TRACED_TENSORS, TRACED_TYPES, extensions
from .graph import INFERENCE, Like, Node, View, next_sequence
from .libraries import brought, in_library, library_among
from .op import ARRAY, ARRAYS, DIM, DIMS, INTS, OPTIONAL, REGISTRY, Op
from .saved_values import Packed, keep_version, output_edge
from .tensor import NATIVE, PLAIN, Tensor, edge_of, wrap_any

NUMBERS = (bool, int, float, complex)
new = object.__new__


def compute(op: Op, values: list[Any]) -> Any:
    """The raw output of ``op``; ``values`` are raw data and static arguments in order."""
    top = outermost(values)
    token = xp.hush()
    try:
        if top is not None:
            return TRACED_TYPES[type(top)](op, values, top)
        library = library_among(values)
        if library is not xp:
            values = brought(op, values, library)
        if op.check:
            in_library(op.check, library)(*values)
        half = half_among(values) if op.kind == "elementwise" and op.halves else None
        if half is None:
            return run_kernel(op, values, library)
        # As PyTorch does: half precision is computed in float32 and rounded once.
        wide = [library.cast(v, xp.FLOAT32) if getattr(v, "dtype", None) == half else v
                for v in values]
        result = run_kernel(op, wide, library)
        return result.astype(half) if result.dtype == xp.FLOAT32 else result
    finally:
        xp.unhush(token)


def run_kernel(op: Op, values: list[Any], library: Any) -> Any:
    if not op.has_keywords:
        kernel = direct(op.kernel) if library is xp else in_library(op.kernel, library)
        return kernel(*values)
    kernel = in_library(op.kernel, library)
    return kernel(**{p.name: v for p, v in zip(op.params, values, strict=True)})


def half_among(values: list[Any]) -> Any:
    """The dtype of half precision data among ``values``, or None."""
    for value in values:
        dtype = getattr(value, "dtype", None)
        if dtype is not None and dtype.itemsize == 2 and kind_of(dtype) in "fV":
            return dtype
    return None


def outermost(values: list[Any]) -> Any:
    """The data of the outermost transform among ``values``, or None."""
    top = None
    for value in values:
        for item in value if type(value) in (list, tuple) else (value,):
            if type(item) in TRACED_TYPES and (top is None or item.level > top.level):
                top = item
    return top


# ---------------------------------------------------------------- the general call


def call_operator(op: Op, args: tuple[Any, ...], out: Any = None) -> Any:
    """A call by way of a Python operator: an unknown operand type is the other side's business."""
    try:
        return call(op, args, out)
    except TypeError as error:
        if getattr(error, "unknown_operand", False):
            return NotImplemented
        raise


def call(op: Op, args: tuple[Any, ...], out: Any = None) -> Any:
    """Run ``op`` on ``args`` (one for each parameter, in order)."""
    mode = MODE.get()
    if out is None:
        for value in args:
            if value.__class__ in TRACED_TENSORS:
                result = extensions.traced_call(op, args, mode)
                if result is not NotImplemented:
                    return result
                break
        else:
            if mode.journal is not None and is_beside(op, args):
                return call_beside(op, args, mode)
    if mode.override:
        found = overriding(args)
        if found:
            return dispatch_override(op.function, found, op, args, out)
    tensors, values = prepare(op, args)
    try:
        result = compute(op, values) if mode.intercept is None \
            else mode.intercept.compute(op, values, compute)
    except Exception as error:
        if mode.records and op.rules and isinstance(error, RuntimeError):
            collect_edges(op, tensors)  # a refused history is the first thing to say
        if isinstance(error, ModuleNotFoundError):
            raise ModuleNotFoundError(f"{op.title}(): {error}", name=error.name) from None
        refuse_options(op, args, error)
        raise
    if out is not None:
        return write_out(op, tensors, result, out)
    made = finish(op, tensors, values, result, mode)
    if mode.intercept is not None:
        mode.intercept.made(made)
    return made


def is_beside(op: Op, args: tuple[Any, ...]) -> bool:
    """Whether a call inside a vmap has nothing to do with it: plain tensors, and nothing drawn."""
    return not op.has_list and not op.draws and all(
        type(value) in PLAIN or not isinstance(value, Tensor) for value in args)


def call_beside(op: Op, args: tuple[Any, ...], mode: Mode) -> Any:
    """The call without the journal of writes and draws, which keeps it from the fast path."""
    named = {p.name: v for p, v in zip(op.params, args, strict=True) if p.keyword_only}
    token = MODE.set(mode.but(journal=None))
    try:
        return op.function(*args[:len(args) - len(named)], **named)
    finally:
        MODE.reset(token)


def refuse_options(op: Op, args: tuple[Any, ...], error: Exception) -> None:
    """Raise the error of an option of a wrong type, if that is why a call failed."""
    named = {p.name: arg for p, arg in zip(op.params, args, strict=True)}
    options = {p.name: named.pop(p.name) for p in op.params if p.keyword_only}
    refuse_foreign(op.kernel, named.values(), options, error, op.title,
                   {*op.arrays, *op.indices})


def prepare(op: Op, args: tuple[Any, ...], written: bool = False
            ) -> tuple[dict[str, Any], list[Any]]:
    """Check and promote: the tensor arguments by name, and the raw value of every argument.

    Errors call an op that is ``written`` in place a method, which does not count its own tensor.
    """
    tensors: dict[str, Any] = {}
    rank = 0
    title = op.title + "_" if written else op.title
    for position, (param, value) in enumerate(zip(op.params, args, strict=True), not written):
        kind = param.kind
        if value is REQUIRED:
            raise missing_arguments(title, [p.name for p, v in zip(op.params, args, strict=True)
                                            if v is REQUIRED])
        if kind == ARRAY:
            tensors[param.name] = as_operand(op, title, param.name, position, value)
        elif kind == OPTIONAL:
            tensors[param.name] = None if value is None else as_operand(
                op, title, param.name, position, value)
        elif kind == ARRAYS:
            tensors[param.name] = as_operands(title, param.name, position, value)
        elif kind in ("index", "optional index"):
            if value is None and kind == "optional index":
                tensors[param.name] = None
            elif not isinstance(value, Tensor):
                raise not_a_tensor(title, param.name, position, value)
            else:
                tensors[param.name] = value
        else:
            continue
        first = tensors[param.name]
        if not rank and isinstance(first, Tensor):
            rank = first._data.ndim
        elif not rank and isinstance(first, list) and first:
            rank = first[0]._data.ndim
    data = promoted(op, tensors)
    if op.kind == "elementwise":
        check_broadcast(op, data)
    if op.guard:
        given = {p.name: v for p, v in zip(op.params, args, strict=True)}
        first = data[op.arrays[0]]
        op.guard({**given, **tensors}, dtypes.from_numpy_dtype(first.dtype))
    if op.is_view:
        for name, value in tensors.items():
            if xp.is_scalar(data[name]):
                data[name] = value._array()
    values = []
    for param, value in zip(op.params, args, strict=True):
        if param.name in data:
            values.append(data[param.name])
        elif param.kind == DIM:
            values.append(canonical_dim(value, rank))
        elif param.kind == DIMS:
            values.append(canonical_dims(value, rank))
        elif param.kind == INTS:
            values.append(tuple(value) if isinstance(value, (tuple, list)) else (value,))
        else:
            values.append(value)
    return tensors, values


def as_operand(op: Op, title: str, name: str, position: int, value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if isinstance(value, NUMBERS):
        if name not in op.numbers:
            raise not_a_tensor(title, name, position, value)
        return number_tensor(value)
    if xp.is_scalar(value) and name in op.numbers:
        return number_tensor(value.item())
    raise unknown_operand(title, name, position, value)


def unknown_operand(function: str, argument: str, position: int, value: Any) -> Exception:
    # Made here: a frame that raises an error it holds in a variable is a reference cycle.
    error: Any = not_a_tensor(function, argument, position, value)
    error.unknown_operand = not is_pytorch_tensor(value)
    return error


def as_operands(title: str, name: str, position: int, values: Any) -> list[Tensor]:
    if not isinstance(values, (tuple, list)):
        raise TypeError(f"{title}(): argument '{name}' (position {position}) must be tuple "
                        f"of Tensors, not {type(values).__name__}")
    for i, value in enumerate(values):
        if not isinstance(value, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument {position - 1}, but got "
                            f"{type_name(value)}")
    return list(values)


def number_tensor(value: Any) -> Tensor:
    """A Python number as a zero-dim tensor that yields to any tensor's dtype."""
    made = object.__new__(Tensor)
    is_int = isinstance(value, int) and not isinstance(value, bool)
    made._data = xp.asarray(value, dtype=xp.INT64 if is_int else None)
    made._form = made._edge = made._view = made._vc = None
    made._wrapped_number = True
    return made


def result_type_of(tensors: list[Tensor]) -> dtypes.dtype:
    """PyTorch's promotion: dimensioned tensors over zero-dim ones over Python numbers."""
    classes: list[dtypes.dtype | None] = [None, None, None]
    for tensor in tensors:
        if tensor._wrapped_number:
            kind = tensor.dtype
            kind = (dtypes.get_default_dtype() if kind.is_floating_point else
                    dtypes.get_default_dtype().to_complex() if kind.is_complex else kind)
            rank = 2
        else:
            kind = tensor.dtype
            rank = 0 if tensor._data.ndim else 1
        known = classes[rank]
        classes[rank] = kind if known is None else dtypes.promote_types(known, kind)
    return dtypes.result_dtype(*classes)


def promoted(op: Op, tensors: dict[str, Any]) -> dict[str, Any]:
    """The raw data of every tensor argument, cast as the op's promotion rule says."""
    if op.promote is None:
        return {name: [t._data for t in value] if isinstance(value, list)
                else None if value is None else value._data for name, value in tensors.items()}
    flat: list[Tensor] = []
    for name in op.arrays:
        value = tensors[name]
        flat += value if isinstance(value, list) else [] if value is None else [value]
    dtype = flat[0]._data.dtype if flat else None
    if dtype is None or kind_of(dtype) not in "fc" or any(
            t._data.dtype is not dtype or t._wrapped_number for t in flat):
        common = result_type_of(flat)
        if op.promote == "float" and dtypes.category(common) < 2:
            common = dtypes.get_default_dtype()
        dtype = common.np

    def raw(tensor: Tensor) -> Any:
        data = tensor._data
        return data if data.dtype == dtype else cast_data(data, dtype)

    data: dict[str, Any] = {}
    for name, value in tensors.items():
        if value is None:
            data[name] = None
        elif name in op.indices:
            data[name] = value._data
        else:
            data[name] = [raw(t) for t in value] if isinstance(value, list) else raw(value)
    return data


def cast_data(data: Any, dtype: Any) -> Any:
    """Raw data as another dtype; a transform casts what it holds."""
    if type(data) in TRACED_TYPES:
        return compute(REGISTRY["_to_copy"], [data, dtypes.from_numpy_dtype(dtype), None])
    token = xp.hush()
    try:
        return library_of(data).cast(data, dtype)
    finally:
        xp.unhush(token)


def check_broadcast(op: Op, data: dict[str, Any]) -> None:
    shapes = [value.shape for value in data.values() if value is not None]
    if shapes.count(shapes[0]) == len(shapes):
        return
    try:
        xp.broadcast_shapes(*shapes)
    except ValueError:
        if len(shapes) > 2:
            for i in range(1, len(shapes)):
                try:
                    seen = xp.broadcast_shapes(*shapes[:i])
                    xp.broadcast_shapes(seen, shapes[i])
                except ValueError:
                    raise size_mismatch([tuple(seen), shapes[i]]) from None
        raise size_mismatch(shapes) from None


def finish(op: Op, tensors: dict[str, Any], values: list[Any], result: Any, mode: Mode) -> Any:
    """Wrap the raw result and record the call."""
    if op.is_view and not op.outputs and type(result) is not tuple:
        out = wrap_any(result)
        first = tensors[op.arrays[0]]
        attach_view(out, first, op, static_values(op, values), mode)
        outs: tuple[Tensor, ...] = (out,)
    elif isinstance(result, (tuple, list)):
        outs = tuple([wrap_any(r) for r in result])
        if op.is_view:
            static = static_values(op, values)
            for nr, out in enumerate(outs):
                attach_view(out, tensors[op.arrays[0]], op, (*static, nr), mode, "multi")
    else:
        outs = (wrap_any(result),)
    if not op.rules:
        note_all_cuts(op, outs, tensors)
        return outs if isinstance(result, (tuple, list)) else outs[0]
    edges = collect_edges(op, tensors)
    if not mode.records or all(e is None for e in edges):
        for out in outs:
            note_cut(out, flat_tensors(tensors))
    else:
        record(op, tensors, values, edges, outs, mode)
    return outs if isinstance(result, (tuple, list)) else outs[0]


def static_values(op: Op, values: list[Any]) -> tuple[Any, ...]:
    return tuple([v for p, v in zip(op.params, values, strict=True) if p.name in op.static])


def flat_tensors(tensors: dict[str, Any]) -> list[Tensor]:
    flat: list[Tensor] = []
    for value in tensors.values():
        if isinstance(value, list):
            flat += value
        elif value is not None:
            flat.append(value)
    return flat


def collect_edges(op: Op, tensors: dict[str, Any]) -> list[Any]:
    edges = []
    for name in op.arrays:
        value = tensors[name]
        differentiable = name in op.rules
        for tensor in value if isinstance(value, list) else (value,):
            edges.append(edge_of(tensor) if tensor is not None and differentiable else None)
    return edges


def record(op: Op, tensors: dict[str, Any], values: list[Any], edges: list[Any],
           outs: tuple[Tensor, ...], mode: Mode, *, attach: bool = True) -> Node:
    """Make the node of this call and hang the outputs on it."""
    variant = node_variant(flat_tensors(tensors), outs, mode)
    cls = node_class(op, variant)
    plan: Plan = cls.plan  # type: ignore[attr-defined]
    node: Any = cls()
    node.seq = next_sequence()
    if plan.saved_arrays or plan.saved_outputs:
        node.code, node.lasti = call_sites.here(2)
    if Anomaly.enabled:
        remember_stack(node)
    if op.has_list:
        node.next0 = None
        node.rest = tuple(edges)
    else:
        node.next0 = edges[0]
        if plan.arity > 1:
            node.next1 = edges[1]
        if plan.arity > 2:
            node.rest = tuple(edges[2:])
    fill_likes(op, plan, node, tensors, values, outs)
    save(op, plan, node, tensors, values, edges, outs, mode, attach)
    if variant == "traced":
        remember_levels(op, node, tensors)
    if attach:
        hang(op, node, outs)
    return node


def node_variant(inputs: list[Tensor], outs: tuple[Tensor, ...], mode: Mode) -> Any:
    """Which of an op's node classes a call needs: see :func:`retrograd.codegen.node_class`."""
    # Half precision goes by way of tensors too: raw rules would widen it, tensors round as they go.
    if GeneralPath.only or mode.saved_hooks or half_among([t._data for t in outs]) is not None:
        return "traced"
    variant = "real"
    for tensor in (*inputs, *outs):
        data = tensor._data
        if type(data) in TRACED_TYPES:
            return "traced"
        if kind_of(data.dtype) == "c":
            variant = "complex"
    library = library_among([t._data for t in outs])
    return variant if library is xp else (library, variant == "complex")


def remember_levels(op: Op, node: Any, tensors: dict[str, Any]) -> None:
    """Which transforms' data each input was made of, for the gradients that will leave there."""
    found: list[tuple[int, ...]] = []
    for name in op.arrays:
        value = tensors[name]
        for tensor in value if isinstance(value, list) else (value,):
            is_traced = tensor is not None and type(tensor._data) in TRACED_TYPES
            found.append(extensions.levels_of(tensor._data) if is_traced else ())
    node.input_levels = found


def hang(op: Op, node: Any, outs: tuple[Tensor, ...]) -> None:
    """Make ``node`` the origin of its outputs."""
    if len(outs) == 1 and not op.outputs and not op.is_view:
        if is_differentiable(outs[0]):
            outs[0]._edge = node
        else:
            outs[0]._cut = call_sites.here(2)
        return
    if node.outputs != len(outs):  # known of the class, unless it varies from call to call
        node.outputs = len(outs)
    for nr, out in enumerate(outs):
        has_gradient = op.differentiable_outputs is None or nr in op.differentiable_outputs
        if has_gradient and is_differentiable(out):
            out._edge = output_edge(node, nr)
        else:
            out._cut = call_sites.here(2)


def is_differentiable(tensor: Tensor) -> bool:
    kind = kind_of(tensor._data.dtype)
    return kind in "fc" or tensor.dtype.is_floating_point


def fill_likes(op: Op, plan: Plan, node: Any, tensors: dict[str, Any], values: list[Any],
               outs: tuple[Tensor, ...]) -> None:
    for i in plan.likes:
        setattr(node, f"like{i}", like_of(tensors[op.arrays[i]]))
    if not plan.fitted:
        return
    shape, dtype = outs[0]._data.shape, outs[0]._data.dtype
    # A rule on bfloat16 may leave it: the backend computes Python numbers with it in float32.
    promotes = kind_of(dtype) == "V" or any(
        t._data.dtype != dtype for t in flat_tensors(tensors) if not t._wrapped_number)
    given = [tensors[op.arrays[i]] for i in plan.fitted]
    if op.kind == "elementwise" and not promotes:
        fits = tuple([None if t is None or t._data.shape == shape else like_of(t) for t in given])
        node.fits = fits if any(fits) else None
    else:
        node.fits = tuple([like_of(t) for t in given])


def like_of(tensor: Any) -> Any:
    """Shape and dtype of an argument; of each, for a list of tensors."""
    if isinstance(tensor, list):
        return [like_of(t) for t in tensor]
    return None if tensor is None else Like(tensor._data.shape, tensor._data.dtype)


def save(op: Op, plan: Plan, node: Any, tensors: dict[str, Any], values: list[Any],
         edges: list[Any], outs: tuple[Tensor, ...], mode: Mode, hang_outputs: bool) -> None:
    by_name = dict(zip((p.name for p in op.params), values, strict=True))
    for name in plan.saved_arrays:
        tensor = tensors[name]
        needed = tensor is not None and any(edges[i] is not None for i in plan.users(name))
        if not needed:
            setattr(node, name, None)
            continue
        if tensor._data.dtype != by_name[name].dtype and tensor._edge is None:
            # Saved as it was used, so that a rule never meets a wider dtype.
            tensor = constant(by_name[name], tensor)
        if tensor._vc is not None and tensor._vc.n:
            keep_version(node, name, tensor._vc.n)
        packs = mode.saved_hooks and not tensor._wrapped_number
        setattr(node, name, Packed(tensor, mode.saved_hooks[-1]) if packs else tensor)
    for name in plan.saved_static:
        setattr(node, name, by_name[name])
    for name in plan.saved_outputs:
        position = op.outputs.index(name) if name != "y" and op.outputs else 0
        out = outs[position]
        if mode.saved_hooks and hang_outputs:
            setattr(node, "out_" + name, Packed(out, mode.saved_hooks[-1], is_output=True))
        else:
            setattr(node, "out_" + name, out._data)
    if plan.saved_outputs:
        node.seal = None if outs[0]._vc is None else (outs[0]._vc, outs[0]._vc.n)


def constant(data: Any, source: Tensor) -> Tensor:
    made = wrap_any(data)
    if source._wrapped_number:
        made._wrapped_number = True
    else:
        made._vc = source._counter()
    return made


# ---------------------------------------------------------------- views and cuts


def attach_view(out: Tensor, source: Tensor, op: Op, static: tuple[Any, ...], mode: Mode,
                origin: str = "") -> None:
    """Let ``out`` look at ``source``'s memory."""
    # Written out and to the point: views are as common as arithmetic.
    parent = source._view
    if parent is None:
        base = source
    else:
        base = parent.base
        origin = origin or parent.origin
    counter = base._vc
    if counter is None:
        counter = base._counter()
    elif counter is INFERENCE:
        out._view = None
        out._vc = INFERENCE
        return
    if mode is not GRAD:
        origin = "inference" if mode.inference else origin if mode.grad else "no_grad"
    view = out._view = new(View)
    view.base = base
    view.parent = parent
    view.op = op
    view.static = static
    view.origin = origin
    view.version = counter.n
    out._vc = counter
    views = counter.views
    if views is None:
        counter.views = [ref(out)]
    else:
        views.append(ref(out))
        if len(views) > counter.room:
            counter.forget_dead_views()


def note_cut(out: Tensor, inputs: Any) -> None:
    """Remember the line where gradients stopped flowing to ``out``, if they did."""
    out._edge = None
    for tensor in inputs:
        if tensor is None:
            continue
        if tensor._edge is not None:
            out._cut = call_sites.here(2)
            return
        if tensor._cut is not None:
            out._cut = tensor._cut
            return


def note_all_cuts(op: Op, outs: tuple[Tensor, ...], tensors: dict[str, Any]) -> None:
    for out in outs:
        note_cut(out, flat_tensors(tensors))


# ---------------------------------------------------------------- subclasses and out=


def overriding(args: tuple[Any, ...]) -> list[Any]:
    """The arguments whose classes want to handle the call themselves."""
    found = []
    for value in args:
        for item in value if type(value) in (list, tuple) else (value,):
            cls = type(item)
            if cls in NATIVE:
                continue
            hook = getattr(cls, "__torch_function__", None)
            # PyTorch's tensors would have the same function run again, on themselves.
            if hook is not None and hook is not DISABLED and not is_pytorch_tensor(item):
                found.append(item)
    return found


def _disabled_torch_function(*args: Any, **kwargs: Any) -> Any:
    return NotImplemented


DISABLED = _disabled_torch_function


def dispatch_override(function: Any, found: list[Any], op: Op | None, args: tuple[Any, ...],
                      out: Any = None) -> Any:
    kwargs = {} if out is None else {"out": out}
    positional = []
    if op is None:
        positional = list(args)
    else:
        for param, value in zip(op.params, args, strict=True):
            if param.keyword_only:
                if value is not param.default:
                    kwargs[param.name] = value
            else:
                positional.append(value)
        while positional and len(positional) > 1 and not op.params[len(positional) - 1].required \
                and positional[-1] is op.params[len(positional) - 1].default:
            positional.pop()
    return extensions.take_over(function, found, tuple(positional), kwargs)


def write_out(op: Op, tensors: dict[str, Any], result: Any, out: Any) -> Any:
    """``out=``: the result goes into a given tensor, which takes its shape."""
    if not isinstance(out, Tensor):
        raise TypeError(f"{op.title}(): argument 'out' must be Tensor, not {type(out).__name__}")
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
    check_writable(out, False, MODE.get())
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


from .inplace import call_inplace, check_overlap, check_writable, goes_unrecorded  # noqa: E402

offer(call, call_operator, call_inplace, attach_view, note_cut, goes_unrecorded)

__all__ = ["attach_view", "call", "call_inplace", "call_operator", "compute", "note_cut", "record",
           "wrap_any"]
