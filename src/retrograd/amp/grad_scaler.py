"""``GradScaler``: a loss multiplied before backward, and its gradients divided after."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import retrograd

from ..autograd.grad_mode import no_grad
from ..base import dtypes
from ..base.warning import warn
from ..core.tensor import Tensor

_FIX = "This may indicate your script did not use scaler.scale(loss or outputs) earlier in the " \
       "iteration."


class GradScaler:
    """Keeps small gradients of half precision from vanishing.

    The factor grows while gradients are finite, and shrinks (and the step is left out) when not.
    """

    def __init__(self, device: str = "cuda", init_scale: float = 2.0**16,
                 growth_factor: float = 2.0, backoff_factor: float = 0.5,
                 growth_interval: int = 2000, enabled: bool = True):
        self._device, self._enabled = device, enabled
        if enabled and device == "cuda":
            warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.")
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale = init_scale
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker = 0
        self._scale: Tensor | None = None
        self._growth_tracker: Tensor | None = None
        self._per_optimizer_states: dict[int, dict[str, Any]] = {}

    def scale(self, outputs: Any) -> Any:
        """A tensor, or the tensors in an iterable, times the factor."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._factor()
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(map(self.scale, outputs))
        if isinstance(outputs, Iterable):
            return map(self.scale, outputs)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _factor(self) -> Tensor:
        if self._scale is None:
            self._scale = retrograd.full((), self._init_scale, dtype=dtypes.float32)
            self._growth_tracker = retrograd.full((), self._init_growth_tracker,
                                                  dtype=dtypes.int32)
        return self._scale

    def _begun(self, function: str) -> Tensor:
        if self._scale is None:
            raise AssertionError(f"Attempted {function} but _scale is None.  {_FIX}")
        return self._scale

    def _state_of(self, optimizer: Any) -> dict[str, Any]:
        return self._per_optimizer_states.setdefault(id(optimizer), {"stage": "ready",
                                                                     "found_inf": None})

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer's parameters by the factor, before they are used."""
        if not self._enabled:
            return
        scale, state = self._begun("unscale_"), self._state_of(optimizer)
        if state["stage"] == "unscaled":
            raise RuntimeError("unscale_() has already been called on this optimizer since the "
                               "last update().")
        if state["stage"] == "stepped":
            raise RuntimeError("unscale_() is being called after step().")
        inverse = scale.double().reciprocal().float()
        with no_grad():
            grads = [p.grad for group in optimizer.param_groups for p in group["params"]
                     if p.grad is not None]
            if any(grad.dtype is dtypes.float16 for grad in grads):
                raise ValueError("Attempting to unscale FP16 gradients.")
            is_finite = True
            for grad in grads:
                is_finite = is_finite and bool(grad.isfinite().all())
                grad.mul_(inverse.to(grad.dtype))
        state["found_inf"] = not is_finite if grads else None
        state["stage"] = "unscaled"

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's step, unless a gradient is infinite or no number."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._begun("step")
        state = self._state_of(optimizer)
        if state["stage"] == "stepped":
            raise RuntimeError("step() has already been called since the last update().")
        if state["stage"] == "ready":
            self.unscale_(optimizer)
        if state["found_inf"] is None:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None if state["found_inf"] else optimizer.step(*args, **kwargs)
        state["stage"] = "stepped"
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Let the factor grow or shrink, as the gradients since the last time were."""
        if not self._enabled:
            return
        scale, tracker = self._begun("update"), self._growth_tracker
        assert tracker is not None
        if isinstance(new_scale, float):
            scale.fill_(new_scale)
        elif new_scale is not None:
            if not isinstance(new_scale, Tensor) or new_scale.numel() != 1 \
                    or new_scale.requires_grad:
                raise AssertionError("new_scale should be a float or a 1-element "
                                     "torch.cuda.FloatTensor or torch.FloatTensor with "
                                     "requires_grad=False.")
            scale.copy_(new_scale.reshape(()))
        else:
            found = [state["found_inf"] for state in self._per_optimizer_states.values()
                     if state["found_inf"] is not None]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            self._adapt(scale, tracker, any(found))
        self._per_optimizer_states = {}

    def _adapt(self, scale: Tensor, tracker: Tensor, is_infinite: bool) -> None:
        """Shrink after an infinite gradient; grow after enough steps without."""
        if is_infinite:
            scale.mul_(self._backoff_factor)
            tracker.fill_(0)
        elif int(tracker) + 1 == self._growth_interval:
            grown = scale * self._growth_factor
            if bool(grown.isfinite()):
                scale.copy_(grown)
            tracker.fill_(0)
        else:
            tracker.add_(1)

    # ------------------------------------------------------------ what it knows

    def is_enabled(self) -> bool:
        """Whether it scales anything."""
        return self._enabled

    def get_scale(self) -> float:
        """The factor."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        tracker = self._growth_tracker
        return self._init_growth_tracker if tracker is None else int(tracker)

    def get_growth_factor(self) -> float:
        """By how much the factor grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set by how much the factor grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """By how much the factor shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set by how much the factor shrinks."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many finite steps the factor grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set after how many finite steps the factor grows."""
        self._growth_interval = new_interval

    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on later; nothing when disabled."""
        if not self._enabled:
            return {}
        return {"scale": self.get_scale(), "growth_factor": self._growth_factor,
                "backoff_factor": self._backoff_factor, "growth_interval": self._growth_interval,
                "_growth_tracker": self._get_growth_tracker()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what :meth:`state_dict` gave."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from "
                               "a disabled instance of GradScaler.")
        self._init_scale = state_dict["scale"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._scale = self._growth_tracker = None

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if self._enabled:
            if self._per_optimizer_states:
                raise AssertionError("A GradScaler instance may only be pickled at the beginning "
                                     "of an iteration, or at the end after scaler.update().")
            state.update(_init_scale=self.get_scale(), _scale=None, _growth_tracker=None,
                         _init_growth_tracker=self._get_growth_tracker())
        return state
