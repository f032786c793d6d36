"""Full backward hooks: they see a module's gradients at its inputs and at its outputs."""

from collections.abc import Callable
from typing import Any

from ...autograd import Function
from ...autograd.grad_mode import is_grad_enabled
from ...base.warning import warn
from ...core.tensor import Tensor

_NO_INPUT_REQUIRES_GRAD = (
    "Full backward hook is firing when gradients are computed with respect to module outputs "
    "since no inputs require gradients. See https://docs.pytorch.org/docs/main/generated/"
    "torch.nn.Module.html#torch.nn.Module.register_full_backward_hook for more details.")


class BackwardHookFunction(Function):
    """The identity, put around a module so that its edges are nodes which take hooks."""

    @staticmethod
    def forward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        return args


class BackwardHooks:
    """The hooks of one call of a module, and the gradients they are to be given."""

    def __init__(self, module: Any, hooks: list[Callable], pre_hooks: list[Callable]) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_outputs: tuple | None = None
        self.input_count = 0
        self.input_positions: list[int] | None = None
        self.output_count = 0
        self.output_positions: list[int] = []

    def watch_inputs(self, args: tuple) -> tuple:
        """Return ``args`` with a hooked node around the tensors among them."""
        if not (self.hooks or self.pre_hooks):
            return args
        self.input_count = len(args)
        node, positions, args = _hooked(args)
        if node is not None:
            self.input_positions = positions
            node.register_hook(self._on_grad_inputs)
        return args

    def watch_outputs(self, output: Any) -> Any:
        """Return ``output`` with a hooked node around the tensors in it."""
        if not (self.hooks or self.pre_hooks):
            return output
        single = isinstance(output, Tensor)
        if not single and not isinstance(output, tuple):
            warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(output)}")
            return output
        outputs = (output,) if single else output
        self.output_count = len(outputs)
        node, self.output_positions, watched = _hooked(outputs)
        if node is None:
            return output
        node.register_prehook(self._on_grad_outputs)
        if single:
            return watched[0]
        return watched if type(output) is tuple else type(output)(*watched)

    def _on_grad_outputs(self, grads: tuple) -> tuple:
        self.grad_outputs = _spread(grads, self.output_positions, self.output_count)
        for hook in self.pre_hooks:
            replaced = hook(self.module, self.grad_outputs)
            if replaced is not None:
                _check_count("Backward pre hook", "grad_output", replaced, self.output_count)
                self.grad_outputs = replaced
        if self.input_positions is None:
            self._call_without_grad_inputs()
        return tuple(self.grad_outputs[position] for position in self.output_positions)

    def _call_without_grad_inputs(self) -> None:
        warn(_NO_INPUT_REQUIRES_GRAD)
        grad_inputs = (None,) * self.input_count
        for hook in self.hooks:
            replaced = hook(self.module, grad_inputs, self.grad_outputs)
            if replaced is not None and any(grad is not None for grad in replaced):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients.")

    def _on_grad_inputs(self, grad_inputs: tuple, _: tuple) -> tuple:
        assert self.input_positions is not None
        if self.grad_outputs is None:
            # The backward pass entered below the module's outputs, so there is nothing to show.
            return grad_inputs
        spread = _spread(grad_inputs, self.input_positions, self.input_count)
        for hook in self.hooks:
            replaced = hook(self.module, spread, self.grad_outputs)
            if replaced is not None:
                _check_count("Backward hook", "grad_input", replaced, self.input_count)
                spread = replaced
        self.grad_outputs = None
        return tuple(spread[position] for position in self.input_positions)


def _hooked(values: tuple) -> tuple[Any, list[int], tuple]:
    """Pass the tensors of ``values`` through one node; return it, their places and the result."""
    positions = [place for place, value in enumerate(values) if isinstance(value, Tensor)]
    needs_grad = any(values[place].requires_grad for place in positions)
    if not (needs_grad and is_grad_enabled()):
        return None, positions, values
    passed = BackwardHookFunction.apply(*(values[place] for place in positions))
    node = next(tensor.grad_fn for tensor in passed if tensor.grad_fn is not None)
    replaced = list(values)
    for place, tensor in zip(positions, passed):
        replaced[place] = tensor
    return node, positions, tuple(replaced)


def _spread(grads: tuple, positions: list[int], count: int) -> tuple:
    spread: list[Any] = [None] * count
    for place, grad in zip(positions, grads):
        spread[place] = grad
    return tuple(spread)


def _check_count(hook: str, what: str, got: Any, expected: int) -> None:
    if len(got) != expected:
        raise RuntimeError(
            f"{hook} returned an invalid number of {what}, got {len(got)}, but expected {expected}")
