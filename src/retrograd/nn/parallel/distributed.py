"""A module trained by several processes together, of which there is one."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...base.warning import warn
from ...distributed.groups import default_group
from ..modules.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """Calls ``module``, whose gradients are the mean over the processes: over one, its own.

    What says how gradients travel is accepted, since none does.
    """

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None,
                 dim: int = 0, broadcast_buffers: bool | None = None, init_sync: bool = True,
                 process_group: Any = None, bucket_cap_mb: float | None = None,
                 find_unused_parameters: bool = False, check_reduction: bool = False,
                 gradient_as_bucket_view: bool = False, static_graph: bool = False,
                 delay_all_reduce_named_params: Any = None, param_to_hook_all_reduce: Any = None,
                 mixed_precision: Any = None, device_mesh: Any = None,
                 skip_all_reduce_unused_params: bool = False, bucket_cap_mb_list: Any = None,
                 batched_grad_copy: bool = False,
                 forward_sync_buffers: bool | None = None) -> None:
        super().__init__()
        group = default_group() if process_group is None else process_group
        trained = [p for p in module.parameters() if p.requires_grad]
        if not trained:
            raise RuntimeError("DistributedDataParallel is not needed when a module doesn't have "
                               "any parameter that requires a gradient.")
        if device_ids is not None and len(device_ids) > 1:
            raise ValueError("device_ids can only be None or contain a single element.")
        if device_ids:
            raise ValueError(
                "DistributedDataParallel device_ids and output_device arguments only work with "
                "single-device/multiple-device GPU modules or CPU modules, but got device_ids "
                f"{device_ids}, output_device {output_device}, and module parameters "
                f"{ {p.device for p in trained} }.")
        self.process_group = group
        self.module = module
        self.device_ids = self.output_device = None
        self.dim = dim
        self.device = trained[0].device
        self.device_type = self.device.type
        self.static_graph, self.find_unused_parameters = static_graph, find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.require_backward_grad_sync = True

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Keep gradients to this process in a block, as they are anyway."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    @contextmanager
    def join(self, divide_by_initial_world_size: bool = True, enable: bool = True,
             throw_on_early_termination: bool = False) -> Iterator[None]:
        """Train on uneven inputs, which those of one process never are."""
        yield

    def register_comm_hook(self, state: Any, hook: Any) -> None:
        """Refuse: no gradients are sent, so nothing would call the hook."""
        raise NotImplementedError("a communication hook sees gradients on their way between "
                                  "processes, and in a world of one process none travel")

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        del state["process_group"]  # belongs to this process
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.process_group = default_group()


class DistributedDataParallelCPU(DistributedDataParallel):
    """:class:`DistributedDataParallel` under an older name."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn("`torch.nn.parallel.DistributedDataParallelCPU` is deprecated, please use "
             "`torch.nn.parallel.DistributedDataParallel` instead.", FutureWarning)
        super().__init__(*args, **kwargs)
