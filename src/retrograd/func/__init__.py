"""Transforms of functions: gradients, Jacobians, Hessians and batching, nested in any order."""

from __future__ import annotations

from ..base.missing_names import suggest_names as _suggest_names
from .batching import vmap
from .debugging import debug_unwrap
from .forward import jacfwd, jvp, linearize
from .modules import functional_call, replace_all_batch_norm_modules_, stack_module_state
from .reverse import grad, grad_and_value, hessian, jacrev, vjp
from .samples import per_sample_grad
from .sparse import jacobian, sparsity

__all__ = ["debug_unwrap", "functional_call", "grad", "grad_and_value", "hessian", "jacfwd",
           "jacobian", "jacrev", "jvp", "linearize", "per_sample_grad",
           "replace_all_batch_norm_modules_", "sparsity", "stack_module_state", "vjp", "vmap"]

_suggest_names(__name__)
