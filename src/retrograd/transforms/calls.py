"""The usual call of an op on a transform's data, written out for each op.

It does what :func:`retrograd.core.general.call` does in general, for arguments that need no
promotion and no words: numbers of one ordinary dtype, and nothing switched on but recording.
Whatever else there is, an error above all, is left to the general path.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..base.modes import Mode
from ..codegen import compile_function, traced_source
from ..codegen.switch import GeneralPath, when_switched
from ..core.anomaly import Anomaly
from ..core.extensions import TRACED_TYPES, extensions
from ..core.op import GENERATED, Op
from ..core.recording import finish, is_differentiable
from .batched import way_of
from .dual import compute_dual
from .traced_data import Batched, TracedTensor, levels_of


def call_traced(op: Op, args: tuple[Any, ...], mode: Mode) -> Any:
    """The result of a usual call, or NotImplemented."""
    made = written(op)
    if made is None or mode.inference or mode.saved_hooks or mode.intercept is not None:
        return NotImplemented
    return made(args, mode)


extensions.fill(traced_call=call_traced)


@cache
def written(op: Op) -> Any:
    """The usual call of ``op`` as a function; None if there is none."""
    # What is tried twice is drawn twice.
    if GeneralPath.only or op.draws or op.has_list or not op.arrays:
        return None
    GENERATED[f"{op.name}_way"] = way_of(op)
    return compile_function(f"{op.name} traced call", "call", traced_source(op), op)


when_switched(written.cache_clear)


GENERATED.update(
    TracedTensor=TracedTensor, TRACED_TYPES=TRACED_TYPES, Batched=Batched, Anomaly=Anomaly,
    compute_dual=compute_dual, finish=finish, levels_of=levels_of,
    is_differentiable=is_differentiable)
