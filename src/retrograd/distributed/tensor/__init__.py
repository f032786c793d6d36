"""Tensors that are spread over processes: in a world of one process there are none.

Programs ask whether a tensor is a :class:`DTensor`, which it never is; to make one is refused.
"""

from __future__ import annotations

from typing import Any, NoReturn

from ...base.missing_names import suggest_names as _suggest_names
from ...core.tensor import Tensor
from ..device_mesh import DeviceMesh, init_device_mesh
from .placement_types import Partial, Placement, Replicate, Shard

__all__ = ["DTensor", "DeviceMesh", "Partial", "Placement", "Replicate", "Shard",
           "distribute_module", "distribute_tensor", "init_device_mesh"]


def refuse_to_spread(what: str) -> NoReturn:
    """Raise the error of what only several processes could do."""
    raise NotImplementedError(
        "retrograd.distributed knows a world of one process, in which nothing is spread over "
        f"processes: use the {what} itself")


class DTensor(Tensor):
    """A tensor of which each process has a part."""

    def __new__(cls, *args: Any, **kwargs: Any) -> DTensor:
        refuse_to_spread("tensor")

    @classmethod
    def from_local(cls, *args: Any, **kwargs: Any) -> DTensor:
        """A spread tensor from the parts of the processes: refused."""
        refuse_to_spread("tensor")


def distribute_tensor(tensor: Tensor, device_mesh: Any = None, placements: Any = None,
                      **options: Any) -> DTensor:
    """Spread a tensor over processes: refused."""
    refuse_to_spread("tensor")


def distribute_module(module: Any, device_mesh: Any = None, *args: Any, **options: Any) -> Any:
    """Spread the parameters of a module over processes: refused."""
    refuse_to_spread("module")


_suggest_names(__name__)
