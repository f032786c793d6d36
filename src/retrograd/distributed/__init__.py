"""``torch.distributed`` in a world of one process: rank 0 of 1, where collectives are identities.

Programs written for many processes run as the one process they are; a world of more is refused,
for nothing here carries data from one process to another.
"""

# ruff: noqa: F401, F403

from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from ..base.loading import loaded as _loaded
from ..base.missing_names import refuse as _refuse, suggest_names as _suggest_names
from . import collectives, groups
from .collectives import *
from .groups import *

if not _TYPE_CHECKING:  # to a checker what is imported so is what is offered
    __all__ = sorted([*collectives.__all__, *groups.__all__])

from . import distributed_c10d  # which takes the names above

_LATER = {"_functional_collectives", "algorithms", "checkpoint", "constants", "device_mesh", "fsdp",
          "nn", "optim", "rpc", "tensor"}  # which few programs on one CPU ask for


def __getattr__(name: str) -> _Any:
    if name in _LATER:
        return _loaded(f"{__name__}.{name}")
    _refuse(__name__, name)


_suggest_names(__name__)
