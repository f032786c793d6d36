"""How a tensor would be spread over processes."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Partial", "Placement", "Replicate", "Shard"]


class Placement:
    """One way of spreading a tensor along a dimension of a mesh of processes."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether each process has a part, along ``dim`` if that is given."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Whether each process has the whole."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether the values of the processes have yet to be reduced."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """Each process has a part along ``dim``."""

    dim: int


@dataclass(frozen=True)
class _StridedShard(Shard):
    """Parts that were cut a second time, in another order."""

    split_factor: int = 1


@dataclass(frozen=True)
class Replicate(Placement):
    """Each process has the whole."""


@dataclass(frozen=True, repr=False)
class Partial(Placement):
    """The values of the processes have yet to be reduced."""

    reduce_op: str = "sum"

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"
