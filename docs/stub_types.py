"""What the stubs know beyond the declarations: types of arguments by name, results and overloads.

A declaration says ``Any`` where its function takes several types apart by itself. What may be given
is said here, once for every parameter of a name, or for one function: ``"sum.dim"``. Overloads are
whole signatures; methods are made of them by leaving out the first parameter and ``out``.
"""

from __future__ import annotations

DIMS = "int | Sequence[int] | None"
INTS = "int | Sequence[int]"
OPERAND = "Tensor | Number"

ARGUMENTS = {
    "alpha": "Number", "append": "Tensor | None", "atol": "Tensor | float | None",
    "aweights": "Tensor | None", "axis": DIMS, "buffer": "Any", "correction": "float | None",
    "data": "Any", "destination": INTS, "device": "Device", "dim": DIMS,
    "distance_function": "Callable[[Tensor, Tensor], Tensor] | None", "dtype": "dtype | None",
    "dx": "float | None", "ext_tensor": "Any", "fill_value": "Number", "fweights": "Tensor | None",
    "generator": "Generator | None", "indices": "Tensor", "input_dtype": "dtype",
    "indices_or_sections": "Tensor | int | Sequence[int]", "input": "Tensor", "key": "Index",
    "layout": "layout | None", "max": "Tensor | Number | None",
    "memory_format": "memory_format | None", "min": "Tensor | Number | None",
    "ndarray": "SupportsArray", "obj": "Any", "options": "Any", "ord": "float | str | None",
    "contraction_dim": "Sequence[int]", "out": "Tensor | None", "out_dtype": "dtype | None",
    "output_dtype": "dtype | None", "scale_a": "Tensor | Sequence[Tensor]",
    "scale_b": "Tensor | Sequence[Tensor]", "scale_recipe_a": "Any", "scale_recipe_b": "Any",
    "swizzle_a": "Any", "swizzle_b": "Any",
    "output_ratio": "float | Sequence[float] | None",
    "p": "float | str | None", "pad": "Sequence[int]", "prepend": "Tensor | None",
    "q": "Tensor | float", "rcond": "Tensor | float | None", "reduce": "str | None",
    "rtol": "Tensor | float | None", "s": "Number",
    "scale_factor": "float | Sequence[float] | None", "shifts": INTS,
    "sizes": "int | Sequence[int]", "sorter": "Tensor | None", "source": INTS, "start": OPERAND,
    "step": "Number", "steps": "int | None", "storage_offset": "int | None",
    "test_elements": OPERAND, "tol": "Tensor | float | None", "unbiased": "bool | None",
    "value": OPERAND, "weight": OPERAND, "weights": "Tensor | None",
}

for _name in ("argmax", "argmin", "quantile", "nanquantile", "take_along_dim"):
    ARGUMENTS[f"{_name}.dim"] = "int | None"
for _name in ("copysign", "remainder", "fmod", "xlogy", "xlog1py", "zeta"):
    ARGUMENTS[f"{_name}.input"] = OPERAND
for _name in ("index_put", "index_put_"):
    ARGUMENTS[f"{_name}.indices"] = "Sequence[Tensor | None]"

ARGUMENTS |= {
    "isin.elements": OPERAND, "histc.min": "Number",
    "histc.max": "Number", "narrow.start": "Tensor | int",
    "bernoulli_.p": "Tensor | float", "constant_pad_nd.value": "Number",
    "scatter.value": "Number | None", "scatter_.value": "Number | None",
    "matrix_norm.dim": "Sequence[int]", "randint_like.low": "int",
    "randint_like.high": "int | None", "range.start": "Number", "set_.source": "Any",
    "is_pinned.device": "Device",
    "__setitem__.value": f"{OPERAND} | SupportsArray",
    "cdist.compute_mode": "str | None",
    "copy_.src": "Tensor | Number", "new.args": "Any",
    "new.named": "Any", "check_invariants": "bool | None",
    "sparse_coo_tensor.size": "Sequence[int] | None",
    "sparse_csr_tensor.size": "Sequence[int] | None",
    "sparse_csc_tensor.size": "Sequence[int] | None",
    "sparse_compressed_tensor.size": "Sequence[int] | None", "sparse_coo_tensor.values": "Any",
    "sparse_coo_tensor.indices": "Any", "values": "Tensor | Sequence[Any]",
    **dict.fromkeys(("crow_indices", "col_indices", "ccol_indices", "row_indices",
                     "compressed_indices", "plain_indices"), "Tensor | Sequence[int]"),
    "repeat_interleave.repeats": "Tensor | int | None",
}

_NAMED = {name: f"return_types.{name}" for name in
          ("sort", "topk", "kthvalue", "mode", "aminmax", "cummax", "cummin", "frexp", "slogdet",
           "qr", "svd", "lu_unpack", "triangular_solve", "geqrf")} | {
    f"linalg.{name}": f"return_types.linalg_{name}" for name in
    ("qr", "slogdet", "svd", "inv_ex", "eig", "cholesky_ex", "eigh", "lstsq", "solve_ex", "lu",
     "lu_factor", "lu_factor_ex", "ldl_factor", "ldl_factor_ex")}
_PARTS = dict.fromkeys(("split", "split_with_sizes", "chunk", "tensor_split", "hsplit", "vsplit",
                        "dsplit", "unsafe_split", "unsafe_split_with_sizes", "unsafe_chunk",
                        "meshgrid", "broadcast_tensors", "split_copy", "split_with_sizes_copy",
                        "unbind_copy"), "tuple[Tensor, ...]")
RESULTS = {
    **_NAMED, **_PARTS, "to_dlpack": "Any", "std_mean": "tuple[Tensor, Tensor]",
    "var_mean": "tuple[Tensor, Tensor]", "Tensor.new": "Tensor", "lu": "tuple[Tensor, ...]",
    "histogram": "return_types.histogram", "histogramdd": "return_types.histogramdd",
    "is_shared": "bool", "is_pinned": "bool",
}
"""What functions return whose declarations do not say; all others return a tensor."""

_MADE = ("dtype: dtype | None = None, layout: layout | None = None, device: Device = None, "
         "pin_memory: bool = False, requires_grad: bool = False")


def _sized(options: str) -> list[str]:
    """A factory that takes its shape as one argument or as many."""
    return [f"(*size: int, {options}) -> Tensor", f"(size: Sequence[int], *, {options}) -> Tensor"]


def _sizes(name: str, extra: str = "") -> list[str]:
    """A method that takes sizes or dims as one argument or as many."""
    return [f"(input: Tensor, *{name}: int{extra}) -> Tensor",
            f"(input: Tensor, {name}: Sequence[int]{extra.replace(', ', ', *, ', 1)}) -> Tensor"]


def _reduced(options: str = "") -> list[str]:
    """A reduction of everything, or along dims."""
    return [f"(input: Tensor, *{options}, out: Tensor | None = None) -> Tensor",
            f"(input: Tensor, dim: {DIMS}, keepdim: bool = False, *{options}, "
            "out: Tensor | None = None) -> Tensor"]


def _numpy_named(options: str = "") -> list[str]:
    return [*_reduced(options),
            f"(input: Tensor, *{options}, axis: {DIMS}, keepdims: bool = False) -> Tensor"]


def _selected(name: str, with_other: bool) -> list[str]:
    """The largest and the like: of everything, along a dim with its indices, or of two tensors."""
    out = "out: Tensor | None = None"
    found = [f"(input: Tensor, *, {out}) -> Tensor" if with_other else "(input: Tensor) -> Tensor",
             f"(input: Tensor, dim: int, keepdim: bool = False, *, "
             f"out: Sequence[Tensor] | None = None) -> return_types.{name}"]
    return [*found, f"(input: Tensor, other: Tensor, *, {out}) -> Tensor"] if with_other else found


def _pooled(options: str, more: str = "") -> list[str]:
    """A pooling that may return where the largest elements were."""
    return [f"(input: Tensor, {options}, return_indices: Literal[False] = False{more}) -> Tensor",
            f"(input: Tensor, {options}, *, return_indices: Literal[True]{more}) -> "
            "tuple[Tensor, Tensor]",
            f"(input: Tensor, {options}, return_indices: bool = False{more}) -> "
            "Tensor | tuple[Tensor, Tensor]"]


_POOL = (f"kernel_size: {INTS}, stride: {INTS} | None = None, padding: {INTS} = 0, "
         f"dilation: {INTS} = 1, ceil_mode: bool = False")
_ADAPTIVE = "output_size: int | Sequence[int | None] | None"
_FRACTIONAL = (f"kernel_size: {INTS}, output_size: {INTS} | None = None, "
               "output_ratio: float | Sequence[float] | None = None")
_DRAWN = f"generator: Generator | None = None, out: Tensor | None = None, {_MADE}"
_FILLED = f"out: Tensor | None = None, {_MADE}, memory_format: memory_format | None = None"
_UNIQUE = "dim: int | None = None"
_AT_LEAST = ["(tensor: Tensor, /) -> Tensor", "(*tensors: Tensor) -> tuple[Tensor, ...]",
             "(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]"]

OVERLOADS: dict[str, list[str]] = {
    "zeros": _sized(_FILLED), "ones": _sized(_FILLED), "empty": _sized(_FILLED),
    "rand": _sized(_DRAWN), "randn": _sized(_DRAWN),
    "arange": [f"(end: Number, *, out: Tensor | None = None, {_MADE}) -> Tensor",
               f"(start: Number, end: Number, step: Number = 1, *, out: Tensor | None = None, "
               f"{_MADE}) -> Tensor"],
    "randint": [f"(high: int, size: Sequence[int], *, {_DRAWN}) -> Tensor",
                f"(low: int, high: int, size: Sequence[int], *, {_DRAWN}) -> Tensor"],
    "einsum": ["(equation: str, *operands: Tensor) -> Tensor",
               "(equation: str, operands: Sequence[Tensor], /) -> Tensor",
               "(operand: Tensor, *sublists: Tensor | Sequence[int | EllipsisType]) -> Tensor"],
    "atleast_1d": _AT_LEAST, "atleast_2d": _AT_LEAST, "atleast_3d": _AT_LEAST,
    "sum": _numpy_named(", dtype: dtype | None = None"),
    "mean": _numpy_named(", dtype: dtype | None = None"),
    "prod": ["(input: Tensor, *, dtype: dtype | None = None) -> Tensor",
             "(input: Tensor, dim: int, keepdim: bool = False, *, dtype: dtype | None = None, "
             "out: Tensor | None = None) -> Tensor"],
    "max": _selected("max", True), "min": _selected("min", True),
    "median": _selected("median", False), "nanmedian": _selected("nanmedian", False),
    "where": [f"(condition: Tensor, input: {OPERAND}, other: {OPERAND}, *, "
              "out: Tensor | None = None) -> Tensor",
              "(condition: Tensor) -> tuple[Tensor, ...]"],
    "Tensor.where": [f"(input: Tensor, condition: Tensor, other: {OPERAND}) -> Tensor"],
    "nonzero": ["(input: Tensor, *, out: Tensor | None = None, as_tuple: Literal[False] = False) "
                "-> Tensor",
                "(input: Tensor, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]"],
    "unique": ["(input: Tensor, sorted: bool = True, return_inverse: Literal[False] = False, "
               f"return_counts: Literal[False] = False, {_UNIQUE}) -> Tensor",
               "(input: Tensor, sorted: bool = True, return_inverse: bool = False, "
               f"return_counts: bool = False, {_UNIQUE}) -> Any"],
    "unique_consecutive": [
        "(input: Tensor, return_inverse: Literal[False] = False, "
        f"return_counts: Literal[False] = False, {_UNIQUE}) -> Tensor",
        "(input: Tensor, return_inverse: bool = False, return_counts: bool = False, "
        f"{_UNIQUE}) -> Any"],
    "broadcast_shapes": [f"(*shapes: {INTS}) -> Size"],
    "normal": ["(mean: Tensor | float, std: Tensor | float = 1.0, *, "
               "generator: Generator | None = None, out: Tensor | None = None) -> Tensor",
               f"(mean: float, std: float, size: Sequence[int], *, {_DRAWN}) -> Tensor"],
    "argsort": ["(input: Tensor, dim: int = -1, descending: bool = False, *, "
                "stable: bool = False) -> Tensor"],
    "max_pool1d": _pooled(_POOL), "max_pool2d": _pooled(_POOL), "max_pool3d": _pooled(_POOL),
    "torch.adaptive_max_pool1d": [f"(input: Tensor, {_ADAPTIVE}) -> tuple[Tensor, Tensor]"],
    "adaptive_max_pool1d": _pooled(_ADAPTIVE), "adaptive_max_pool2d": _pooled(_ADAPTIVE),
    "adaptive_max_pool3d": _pooled(_ADAPTIVE),
    **dict.fromkeys(("fractional_max_pool2d", "fractional_max_pool3d"), _pooled(
        _FRACTIONAL, ", _random_samples: Tensor | None = None")),
    "Tensor.reshape": _sizes("shape"), "Tensor.expand": _sizes("size"),
    "Tensor.broadcast_to": _sizes("size"),
    "Tensor.permute": _sizes("dims"), "Tensor.flip": _sizes("dims"),
    "Tensor.repeat": _sizes("repeats"), "Tensor.tile": _sizes("dims"),
    "Tensor.resize_": _sizes("size", ", memory_format: memory_format | None = None"),
    "Tensor.sum_to_size": _sizes("size"),
    "Tensor.view": ["(input: Tensor, dtype: dtype) -> Tensor", *_sizes("size")],
    "Tensor.to": ["(input: Tensor, dtype: dtype, non_blocking: bool = False, copy: bool = False, "
                  "*, memory_format: memory_format | None = None) -> Tensor",
                  "(input: Tensor, device: Device = None, dtype: dtype | None = None, "
                  "non_blocking: bool = False, copy: bool = False, *, "
                  "memory_format: memory_format | None = None) -> Tensor",
                  "(input: Tensor, other: Tensor, non_blocking: bool = False, copy: bool = False, "
                  "*, memory_format: memory_format | None = None) -> Tensor"],
    "Tensor.type": ["(input: Tensor, dtype: None = None, non_blocking: bool = False) -> str",
                    "(input: Tensor, dtype: dtype | str | type, non_blocking: bool = False) -> "
                    "Tensor"],
    "Tensor.new_zeros": _sizes("size", f", {_MADE}"),
    "Tensor.new_ones": _sizes("size", f", {_MADE}"),
    "Tensor.new_empty": _sizes("size", f", {_MADE}"),
    "Tensor.new_full": [f"(input: Tensor, size: Sequence[int], fill_value: Number, *, {_MADE}) -> "
                        "Tensor"],
    "Tensor.new_empty_strided": [f"(input: Tensor, size: Sequence[int], stride: Sequence[int], *, "
                                 f"{_MADE}) -> Tensor"],
    "Tensor.uniform_": ["(input: Tensor, low: float = 0, high: float = 1, /, *, "
                        "generator: Generator | None = None) -> Tensor"],
    "Tensor.random_": ["(input: Tensor, *, generator: Generator | None = None) -> Tensor",
                       "(input: Tensor, to: int, /, *, generator: Generator | None = None) -> "
                       "Tensor",
                       "(input: Tensor, low: int, to: int | None, /, *, "
                       "generator: Generator | None = None) -> Tensor"],
}
