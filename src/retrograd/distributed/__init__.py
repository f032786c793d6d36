"""``torch.distributed`` in a world of one process: rank 0 of 1, where collectives are identities.

Programs written for many processes run as the one process they are; a world of more is refused,
for nothing here carries data from one process to another.
"""

# ruff: noqa: F401, F403

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..base.missing_names import suggest_names as _suggest_names
from . import collectives, groups
from .collectives import *
from .groups import *

if not _TYPE_CHECKING:  # to a checker what is imported so is what is offered
    __all__ = sorted([*collectives.__all__, *groups.__all__])

from . import distributed_c10d  # which takes the names above

_suggest_names(__name__)
