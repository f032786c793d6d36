"""Steps of optimizers alone, on gradients that stay what they are."""

from __future__ import annotations

from typing import Any

from ..declaring import Step, line, tensor

LARGE = [(512, 512), (512,)] * 4
SMALL = [(8, 8), (8,)] * 10
OPTIMIZERS = {"SGD": {"momentum": 0.9}, "Adam": {}, "AdamW": {}, "NAdam": {}, "RAdam": {},
              "Adamax": {}, "Adadelta": {}, "Adagrad": {}, "RMSprop": {}, "Rprop": {}, "ASGD": {},
              "Adafactor": {}, "Muon": {}}


def stepping(name: str, shapes: list[tuple[int, ...]], what: str) -> None:
    """A line for one optimizer, whose results are the parameters."""

    # Muon rounds to bfloat16 on its way.
    @line(f"optim: {name}, {what}", exact=1e-2 if name == "Muon" else 1e-7)
    def make(lib: Any) -> Step:
        shown = [shape for shape in shapes if name != "Muon" or len(shape) == 2]
        params = [tensor(lib, seed, *shape).requires_grad_() for seed, shape in enumerate(shown)]
        for seed, param in enumerate(params):
            param.grad = tensor(lib, 100 + seed, *param.shape)
        optimizer = getattr(lib.optim, name)(params, **OPTIMIZERS[name])

        def step() -> Any:
            optimizer.step()
            return params

        return step


for _name in OPTIMIZERS:
    stepping(_name, LARGE, "4 matrices 512x512 and their biases")
    stepping(_name, SMALL, "20 small parameters")
