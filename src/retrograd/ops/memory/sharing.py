"""Moving tensors into memory that other processes see; loaded when it is first asked for."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any

from ...backend import xp
from ...backend.interface import LIBRARIES
from ...backend.shared_memory import allocate, block_of, bytes_at, placed, span
from ...base.locks import new_lock
from ...core.extensions import TRACED_TYPES
from ...core.tensor import Tensor
from ...storage import UntypedStorage

_moving = new_lock()


def share(lookers: Sequence[Tensor | UntypedStorage]) -> None:
    """Move what these look at to shared memory, and let every other tensor on it follow."""
    with _moving:
        private = [looker for looker in lookers if block_of(_checked_array(looker)) is None]
        if not private:
            return
        alone = all(map(_is_alone, private))
        moved = {}
        for looker in private:
            owner = xp.storage_of(_array(looker))
            if id(owner) not in moved:
                low, nbytes = span(owner)
                memory = allocate(nbytes).array()
                memory[...] = bytes_at(owner, low, nbytes)
                moved[id(owner)] = owner, low, memory
        # By their types: what objects say of their own class may be a computation that warns.
        others = [] if alone else [found for found in gc.get_objects()
                                   if issubclass(type(found), (Tensor, UntypedStorage))]
        for looker in [*private, *others]:
            array = _array(looker)
            if xp.is_array(array) and (place := moved.get(id(xp.storage_of(array)))):
                _move(looker, placed(array, *place[1:]))


def is_shared(looker: Tensor | UntypedStorage) -> bool:
    """Whether it lies in memory that other processes may see."""
    array = _array(looker)
    return xp.is_array(array) and block_of(array) is not None


def _array(looker: Any) -> Any:
    # One that another thread is just making may have none yet.
    return getattr(looker, "_owner" if isinstance(looker, UntypedStorage) else "_data", None)


def _move(looker: Any, array: Any) -> None:
    if isinstance(looker, UntypedStorage):
        looker._owner = array
    else:
        looker._replace_data(array)


def _checked_array(looker: Any) -> Any:
    kind = type(_array(looker))
    if kind in LIBRARIES or kind in TRACED_TYPES:
        raise RuntimeError("share_memory_: only tensors on NumPy's arrays can be shared between "
                           f"processes, and the data of this one is of type {kind.__name__}")
    return looker._owner if isinstance(looker, UntypedStorage) else looker._array()


def _is_alone(looker: Any) -> bool:
    """Whether certainly no other tensor looks at this one's memory: then there is no counter."""
    return isinstance(looker, Tensor) and looker._vc is None and looker._view is None
