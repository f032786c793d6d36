"""Meshes of processes: the one process is a mesh of one place."""

from __future__ import annotations

from typing import Any

from ..base.missing_names import suggest_names as _suggest_names
from .groups import ProcessGroup, default_group

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """An arrangement of processes by dimensions, each of which has the size 1."""

    def __init__(self, device_type: str, mesh: Any = (0,), *,
                 mesh_dim_names: tuple[str, ...] | None = None, **options: Any) -> None:
        self.device_type, self.mesh_dim_names = device_type, mesh_dim_names
        self._sizes = _sizes(mesh)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._sizes

    @property
    def ndim(self) -> int:
        return len(self._sizes)

    def size(self, mesh_dim: int | None = None) -> int:
        """The number of processes, of all or along one dimension."""
        return 1 if mesh_dim is None else self._sizes[mesh_dim]

    def get_rank(self) -> int:
        """The rank of this process."""
        return 0

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """The place of this process along a dimension."""
        return 0

    def get_group(self, mesh_dim: int | str | None = None) -> ProcessGroup:
        """The processes along a dimension."""
        return default_group()

    def __getitem__(self, names: str | tuple[str, ...]) -> DeviceMesh:
        """The mesh of some of the dimensions."""
        wanted = (names,) if isinstance(names, str) else tuple(names)
        known = self.mesh_dim_names or ()
        if not set(wanted) <= set(known):
            raise KeyError(f"Invalid mesh_dim_name {names} specified. Valid mesh_dim_names are "
                           f"{known}.")
        return init_device_mesh(self.device_type, (1,) * len(wanted), mesh_dim_names=wanted)


def _sizes(mesh: Any) -> tuple[int, ...]:
    """The sizes of a nested list of ranks, of which there is one."""
    sizes = []
    mesh = mesh.tolist() if hasattr(mesh, "tolist") else mesh
    while isinstance(mesh, (list, tuple)):
        sizes.append(len(mesh))
        if len(mesh) != 1:
            break
        mesh = mesh[0]
    _check_one(tuple(sizes))
    return tuple(sizes)


def _check_one(sizes: tuple[int, ...]) -> None:
    if any(size != 1 for size in sizes):
        raise RuntimeError("retrograd.distributed knows a world of one process, but a mesh of "
                           f"{' x '.join(map(str, sizes))} was asked for")


def init_device_mesh(device_type: str, mesh_shape: tuple[int, ...], *,
                     mesh_dim_names: tuple[str, ...] | None = None, **options: Any) -> DeviceMesh:
    """A mesh of the given sizes, each of which must be 1."""
    _check_one(mesh_shape)
    if mesh_dim_names is not None and len(mesh_dim_names) != len(mesh_shape):
        raise RuntimeError("mesh_shape and mesh_dim_names should have same length! Found "
                           f"len(mesh_dim_names): {len(mesh_dim_names)} and len(mesh_shape):"
                           f"{len(mesh_shape)}.")
    ranks: Any = 0
    for _ in mesh_shape:
        ranks = (ranks,)
    return DeviceMesh(device_type, ranks, mesh_dim_names=mesh_dim_names)


_suggest_names(__name__)
