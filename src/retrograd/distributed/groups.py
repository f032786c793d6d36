"""The group of processes, which has one member, and what may be asked of it."""

from __future__ import annotations

import os
from typing import Any

__all__ = ["Backend", "GroupMember", "ProcessGroup", "destroy_process_group", "get_backend",
           "get_global_rank", "get_group_rank", "get_node_local_rank", "get_process_group_ranks",
           "get_rank", "get_world_size", "group", "init_process_group", "is_available",
           "is_backend_available", "is_gloo_available", "is_initialized", "is_mpi_available",
           "is_nccl_available", "is_torchelastic_launched", "is_ucc_available", "is_xccl_available",
           "new_group"]

_NOT_BUILT = {
    "nccl": "Distributed package doesn't have NCCL built in",
    "mpi": "Distributed package doesn't have MPI built in. MPI is only included if you build "
           "PyTorch from source on a host that has MPI installed.",
    "ucc": "Distributed package doesn't have UCC built in",
    "xccl": "Distributed package doesn't have XCCL built in"}


class Backend(str):
    """The name of what carries data between processes, in lower case."""

    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL, FAKE = \
        "undefined", "gloo", "nccl", "ucc", "mpi", "xccl", "fake"

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return super().__new__(cls, name.lower())


class ProcessGroup:
    """The processes that work together: this one."""

    def __init__(self, backend: str, ranks: tuple[int, ...] = (0,)):
        self.backend, self.ranks = Backend(backend), ranks

    def rank(self) -> int:
        """This process's place in the group."""
        return 0

    def size(self) -> int:
        """The number of processes."""
        return len(self.ranks)

    def name(self) -> str:
        """What carries the group's data."""
        return str(self.backend)


_NO_MEMBER = ProcessGroup("undefined", ())


class _Members(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The group of all processes, once there is one."""
        return _World.group


class GroupMember(metaclass=_Members):
    """The group of all processes, and what stands for a group that this one is no member of."""

    NON_GROUP_MEMBER = _NO_MEMBER


class group(metaclass=_Members):
    """The group of all processes."""


class _World:
    group: ProcessGroup | None = None


# ---------------------------------------------------------------- beginning and end


def init_process_group(backend: str | None = None, init_method: str | None = None,
                       timeout: Any = None, world_size: int = -1, rank: int = -1,
                       store: Any = None, group_name: str = "", pg_options: Any = None,
                       device_id: Any = None) -> None:
    """Make the world, of this one process."""
    if _World.group is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    name = Backend(backend or Backend.UNDEFINED)
    if name in _NOT_BUILT:
        raise RuntimeError(_NOT_BUILT[name])
    if store is None:
        rank, world_size = _met(init_method or "env://", rank, world_size)
    if world_size != 1:
        raise RuntimeError(
            f"retrograd.distributed knows a world of one process, but world_size is {world_size}: "
            "nothing here carries data from one process to another. Start the program once, with "
            "WORLD_SIZE=1")
    if rank != 0:
        raise ValueError(f"rank {rank} does not exist in a world of one process, whose rank is 0")
    _World.group = ProcessGroup(name)


def _met(init_method: str, rank: int, world_size: int) -> tuple[int, int]:
    """The rank and the size of the world, as a way of meeting tells them."""
    from urllib.parse import parse_qs, urlsplit

    where = urlsplit(init_method)
    if where.scheme not in ("env", "tcp", "file"):
        raise RuntimeError(f"No rendezvous handler for {where.scheme}://")
    told = {key: values[-1] for key, values in parse_qs(where.query).items()}
    found = []
    for name, given in (("rank", rank), ("world_size", world_size)):
        if given == -1 and where.scheme == "env":
            told.setdefault(name, _environment(name.upper()))
        if given == -1 and name not in told:
            raise _refusal(where.scheme, f"{name.replace('_', ' ')} parameter missing")
        found.append(int(told[name]) if given == -1 else given)
    if where.scheme == "env":
        for name in ("MASTER_ADDR", "MASTER_PORT"):
            _environment(name)
    if where.scheme == "file" and not where.path:
        raise _refusal("file", "path missing")
    if where.scheme == "tcp" and where.port is None:
        raise _refusal("tcp", "port number missing")
    return found[0], found[1]


def _environment(name: str) -> str:
    if name not in os.environ:
        raise _refusal("env", f"environment variable {name} expected, but not set")
    return os.environ[name]


def _refusal(scheme: str, reason: str) -> ValueError:
    return ValueError(f"Error initializing torch.distributed using {scheme}:// rendezvous: "
                      f"{reason}")


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """End a group, by default the world."""
    if group is _NO_MEMBER:
        return
    if group is None and _World.group is None:
        raise AssertionError("Process group cannot be None")
    if group is None or group is _World.group:
        _World.group = None


def new_group(ranks: Any = None, timeout: Any = None, backend: str | None = None,
              pg_options: Any = None, use_local_synchronization: bool = False,
              group_desc: str | None = None, device_id: Any = None) -> ProcessGroup:
    """Another group of the same process."""
    world = default_group()
    members = tuple(sorted(ranks)) if ranks is not None else world.ranks
    if len(members) > world.size():
        raise ValueError("the new group's world size should be less or equal to the world size set "
                         "by init_process_group")
    if any(rank not in world.ranks for rank in members):
        raise ValueError("The new group's rank should be within the world_size set by "
                         "init_process_group")
    return ProcessGroup(backend or world.backend, members) if members else _NO_MEMBER


# ---------------------------------------------------------------- questions


def default_group() -> ProcessGroup:
    """The world, which must have been made."""
    if _World.group is None:
        raise ValueError("Default process group has not been initialized, please make sure to call "
                         "init_process_group.")
    return _World.group


def is_initialized() -> bool:
    """Whether the world was made."""
    return _World.group is not None


def is_available() -> bool:
    """Whether this package can be used: yes, by one process."""
    return True


def is_gloo_available() -> bool:
    """Whether a group may be called one of gloo's: yes, since one process needs nothing of it."""
    return True


def _never() -> bool:
    """Whether such a backend is here: no."""
    return False


is_nccl_available = is_mpi_available = is_ucc_available = is_xccl_available = _never


def is_backend_available(backend: str) -> bool:
    """Whether groups of this backend can be made."""
    return backend.lower() == "gloo"


def is_torchelastic_launched() -> bool:
    """Whether the process was started by torchrun."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def get_rank(group: ProcessGroup | None = None) -> int:
    """This process's rank in a group: 0, or -1 where it is no member."""
    return -1 if group is _NO_MEMBER else (group or default_group()).rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """The number of processes in a group: 1, or -1 where this one is no member."""
    return -1 if group is _NO_MEMBER else (group or default_group()).size()


def get_backend(group: ProcessGroup | None = None) -> Backend:
    """What a group was told to carry its data."""
    if group is _NO_MEMBER:
        raise ValueError("Invalid process group specified")
    return (group or default_group()).backend


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """The ranks of a group's members."""
    return list((group or default_group()).ranks)


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The rank in a group of a member of the world."""
    if global_rank not in group.ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return group.ranks.index(global_rank)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The rank in the world of a member of a group."""
    if not 0 <= group_rank < group.size():
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return group.ranks[group_rank]


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """The number of this process on its machine, as its launcher says."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError("LOCAL_RANK is not in the environment. Consider passing fallback_rank to "
                       "allow `get_node_local_rank` to work, assuming you are not running in a "
                       "multi-device context and want the code to run locally instead.")
