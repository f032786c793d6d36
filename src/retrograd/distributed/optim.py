"""Optimizers whose state is shared out among processes, of which one has all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base.missing_names import suggest_names as _suggest_names
from ..optim.optimizer import Optimizer, Params
from .groups import ProcessGroup

__all__ = ["ZeroRedundancyOptimizer"]


class ZeroRedundancyOptimizer(Optimizer):
    """An optimizer of which each process keeps a part; the one process keeps the whole.

    ``optim`` is the optimizer that this process has; groups and state are those of it.
    """

    def __init__(self, params: Params, optimizer_class: type[Optimizer],
                 process_group: ProcessGroup | None = None,
                 parameters_as_bucket_view: bool = False, overlap_with_ddp: bool = False,
                 **defaults: Any) -> None:
        self.optim: Any = optimizer_class(params, **defaults)
        self.process_group, self._optim_constructor = process_group, optimizer_class
        self._add_hook_stores()
        self.defaults, self.state = defaults, self.optim.state
        self.param_groups = self.optim.param_groups

    def step(self, closure: Callable[[], Any] | None = None, **kwargs: Any) -> Any:
        """Update the parameters once; ``closure`` computes the loss anew and returns it."""
        return self.optim.step(**kwargs) if closure is None else self.optim.step(
            closure=closure, **kwargs)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own."""
        self.optim.add_param_group(param_group)

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Bring the parts of the state together on one process, where they are."""

    def state_dict(self) -> dict[str, Any]:
        """The state of all processes."""
        return self.optim.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take a state that ``state_dict`` gave."""
        self.optim.load_state_dict(state_dict)
        self.state, self.param_groups = self.optim.state, self.optim.param_groups


_suggest_names(__name__)
