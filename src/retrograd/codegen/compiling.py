"""The names that generated code uses, and its way from text to a function.

Set the environment variable RETROGRAD_SHOW_CODE to names of functions, with commas between them,
to print the code of their ops when it is generated; ``retrograd show`` prints all there is.
"""

from __future__ import annotations

import atexit
import os
import sys
import warnings
from typing import Any, NoReturn
from weakref import ref

from ..backend import xp
from ..backend.numpy import LARGE, ndarray
from ..base import sources
from ..base.call_sites import is_internal, user_frame
from ..base.errors import REQUIRED, canonical_dim, canonical_dims
from ..base.modes import GRAD, MODE, NO_GRAD, RUNNING
from ..core.graph import AGES, INFERENCE, LEAF, Like, Released, View, fit, sum_of
from ..core.interned import ARRAYS_4, ARRAYS_8, NUMBERS_4, NUMBERS_8, SCALAR_FORMS
from ..core.op import GENERATED, Op
from ..core.saved_values import (
    check_version,
    fit_tensor,
    keep_version,
    output_edge,
    sealed,
    stale_output,
    unpack_input,
    unpack_output,
)
from ..core.tensor import PLAIN, Tensor, edge_of

# Overflow gives inf, as everywhere in PyTorch; the fast path of the commonest ops runs without the
# guard that silences NumPy about it, which would cost a fifth of a small op's time. Where warnings
# are errors, the call ends up in the general path, which is guarded.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"retrograd\.")

_SHOW = dict.fromkeys(filter(None, os.environ.get("RETROGRAD_SHOW_CODE", "").split(",")), False)
"""The names whose code is to be printed, and whether any was."""

GENERATED.update(
    ref=ref, Tensor=Tensor, PLAIN=PLAIN, LEAF=LEAF, Like=Like, Released=Released, View=View,
    GRAD=GRAD, INFERENCE=INFERENCE, new=object.__new__,
    NO_GRAD=NO_GRAD, get_mode=MODE.get, ages=AGES, frame=sys._getframe,
    user_code=None, locate=None, fit=fit, edge_of=edge_of,
    F4=xp.FLOAT32, F8=xp.FLOAT64, Z8=xp.COMPLEX64, Z16=xp.COMPLEX128,
    forms4=ARRAYS_4, forms8=ARRAYS_8, scalar_form=SCALAR_FORMS.get,
    C4=ARRAYS_4.numbers, C8=ARRAYS_8.numbers, N4=NUMBERS_4, N8=NUMBERS_8,
    error_state=xp.error_state, quieten=xp.quieten, QUIET=xp.QUIET,
    canonical_dim=canonical_dim, canonical_dims=canonical_dims,
    REQUIRED=REQUIRED, level=xp.level, ndarray=ndarray,
    NUMBERS=frozenset((bool, int, float, complex)), REAL=frozenset((bool, int, float)),
)


def _locate(frame: Any) -> Any:
    """The user's frame; its code is remembered, since the next call most likely has the same."""
    code = frame.f_code
    if not is_internal(code.co_filename):
        GENERATED["user_code"] = code
        return frame
    running = RUNNING.get()
    return user_frame(frame) if running is None else running.user_frame(frame)


GENERATED["locate"] = _locate


def offer(*functions: Any) -> None:
    """Let generated code call functions: the general path's, which are above this module, too."""
    GENERATED.update({function.__name__: function for function in functions})


def left_to_the_general_path() -> NoReturn:
    """Raise inside an attempt, which the general path then makes again."""
    raise NotImplementedError


offer(check_version, keep_version, output_edge, sealed, stale_output, unpack_input, unpack_output,
      fit_tensor, left_to_the_general_path, sum_of)


def compile_function(label: str, name: str, lines: list[str], op: Op) -> Any:
    """Execute generated source and return the function it defines."""
    from ..backend.numpy import memory  # a program that computes: importing the package is no such

    memory.settle()
    GENERATED[f"{op.name}_op"] = op
    filename = sources.keep(label, lines)
    source = "\n".join(lines)
    if _SHOW:
        _show(op, filename, source)
    scope: dict[str, Any] = {}
    exec(compile(source, filename, "exec"), GENERATED, scope)
    return scope[name]


def _show(op: Op, filename: str, source: str) -> None:
    """Print the code of an op that one of the names in the environment stands for."""
    from .names import functions_called, ops_of

    asked = [name for name in _SHOW if name.strip() == op.name or any(
        op in ops_of(function) for function in functions_called(name.strip()).values())]
    if asked:
        print(f"# {filename}", source, sep="\n", end="\n\n")
        _SHOW.update(dict.fromkeys(asked, True))


def _tell_unshown() -> None:
    from .names import functions_called, near

    for name in [name.strip() for name, was_shown in _SHOW.items() if not was_shown]:
        why = "none of its ops was used" if functions_called(name) else \
            f"there is no such function; near it: {', '.join(near(name))}"
        print(f"RETROGRAD_SHOW_CODE: nothing to show for {name!r}: {why}", file=sys.stderr)


if _SHOW:
    atexit.register(_tell_unshown)


def site_source(depth: int = 1) -> list[str]:
    """Lines that find the user's line, ``depth`` calls above: ``code`` and ``f.f_lasti``."""
    return [f"f = frame({depth}); code = f.f_code",
            "if code is not user_code: f = locate(f); code = f.f_code"]


def numbers_source(label: str, constants: list[float], array: str) -> str:
    """Sets ``constants`` to a formula's constants as they are met soonest by ``array``.

    An array meets a zero-dim array in half the time it takes to meet a Python number; for a NumPy
    scalar it is the other way round.
    """
    for name, dtype in (("4", xp.FLOAT32), ("8", xp.FLOAT64)):
        GENERATED[label + name] = [xp.asarray(c, dtype=dtype) for c in constants]
    GENERATED[label + "n"] = constants
    return (f"constants = {label}n if {array}.__class__ is not ndarray else "
            f"{label}4 if {array}.dtype is F4 else {label}8 if {array}.dtype is F8 else {label}n")


def large_source(label: str, formula: str, constants: list[float], small: str) -> str:
    """An expression for ``formula`` that large arrays have computed by a native kernel.

    ``small`` is the condition that they are not large.
    """
    from ..backend.numpy.expressions import expression  # loads the kernels

    if small == "True":
        return formula
    found = expression(formula, constants, GENERATED, least=1)
    if found is None:
        return formula
    arrays, GENERATED[f"{label}_large"] = found
    return if_large(formula, f"{label}_large({', '.join(arrays)})", small)


def fused_source(label: str, function: Any, call: str, usual: str, small: str) -> str:
    """An expression for ``usual`` that large arrays have computed in one pass, if that is possible.

    ``function`` does the same with the arguments that ``call`` names.
    """
    from ..backend.numpy.expressions import HAS_KERNEL, Fused  # loads the kernels

    if small == "True" or not HAS_KERNEL:
        return usual
    GENERATED[f"{label}_fused"] = Fused(function)
    return if_large(usual, f"{label}_fused({call})", small)


def if_large(usual: str, large: str, small: str) -> str:
    """An expression that is the second one for large arrays."""
    return large if small == "False" else f"({usual} if {small} else {large})"


def is_small(array: str) -> str:
    """The condition that an array is too small for a native kernel."""
    return f"{array}.size < {LARGE}"


def added(grads: dict[Any, Any], edge: Any, gradient: Any) -> Any:
    """The sum of a large gradient and of what arrived at ``edge`` before it."""
    from ..backend.numpy import expressions  # loads the kernels

    GENERATED["added"] = expressions.added
    return expressions.added(grads, edge, gradient)


offer(added)
