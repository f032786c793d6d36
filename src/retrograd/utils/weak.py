"""Dictionaries that hold their keys weakly and tell them apart by identity, as tensors need."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any
from weakref import ref


class WeakIdRef(ref):  # type: ignore[type-arg]
    """A weak reference that is equal to another of the same object."""

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Any = None):
        super().__init__(key, callback)  # type: ignore[call-arg]
        self._id = id(key)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        ours, theirs = self(), other() if isinstance(other, WeakIdRef) else None
        return self is other if ours is None or theirs is None else ours is theirs


WeakTensorRefKey = WeakIdRef


class WeakIdKeyDictionary(MutableMapping):  # type: ignore[type-arg]
    """A dictionary whose items go with their keys, which need not be hashable."""

    def __init__(self, dict: Any = None, ref_type: type = WeakIdRef):  # PyTorch's names
        self.data: Any = {}
        self.ref_type = ref_type
        if dict is not None:
            self.update(dict.items() if hasattr(dict, "items") else dict)

    def _forget(self, key: Any) -> None:
        self.data.pop(key, None)

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._forget)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: object) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # what cannot be held weakly was never put in
            return False

    def __iter__(self) -> Iterator[Any]:
        return iter([key for known in list(self.data) if (key := known()) is not None])

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"


WeakTensorKeyDictionary = WeakIdKeyDictionary

__all__ = ["WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary", "WeakTensorRefKey"]
