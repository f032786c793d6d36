"""What ``import functorch`` gives: the transforms, which say that they are in ``func`` now."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from .. import func
from . import make_functional as _modules
from .make_functional import FunctionalModule, FunctionalModuleWithBuffers

__all__ = ["FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble",
           "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
           "make_functional", "make_functional_with_buffers", "vjp", "vmap"]


def _former(function: Callable[..., Any], instead: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            "We've integrated functorch into PyTorch. As the final step of the integration, "
            f"`functorch.{function.__name__}` is deprecated as of PyTorch 2.0 and will be deleted "
            f"in a future version of PyTorch >= 2.3. Please use `{instead}` instead; see the "
            "PyTorch 2.0 release notes and/or the `torch.func` migration guide for more details "
            "https://pytorch.org/docs/main/func.migrating.html", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    return called


grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp = (
    _former(function, f"torch.func.{function.__name__}")
    for function in (func.grad, func.grad_and_value, func.hessian, func.jacfwd, func.jacrev,
                     func.jvp, func.vjp))
vmap = _former(func.vmap, "torch.vmap")
make_functional, make_functional_with_buffers = (
    _former(function, "torch.func.functional_call")
    for function in (_modules.make_functional, _modules.make_functional_with_buffers))
combine_state_for_ensemble = _former(_modules.combine_state_for_ensemble,
                                     "torch.func.stack_module_state")
