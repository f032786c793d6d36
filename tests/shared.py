"""What tests with and without PyTorch share; ``torch`` is the library that a test runs."""

import threading
from typing import NamedTuple


def leaf(torch, *values, **options):
    return torch.tensor(list(values), requires_grad=True, **options)


def vector(torch, *values, grad=False, dtype=None):
    return torch.tensor(list(values), dtype=dtype or torch.float64, requires_grad=grad)


def custom(torch, backward, forward=lambda ctx, x: x.clone(), name="Custom", **methods):
    """A custom function of these methods."""
    methods = {"forward": forward, "backward": backward, **methods}
    members = {key: staticmethod(method) for key, method in methods.items()}
    return type(name, (torch.autograd.Function,), members)


def saving(torch, value, slope, **options):
    """A custom function that saves its inputs, with the gradients ``slope(g, *inputs)``."""

    def forward(ctx, *inputs):
        ctx.save_for_backward(*inputs)
        return value(*inputs)

    return custom(torch, lambda ctx, *g: slope(*g, *ctx.saved_tensors), forward, **options)


def square(torch):
    return saving(torch, lambda x: x * x, lambda g, x: 2 * x * g, name="Square")


def cube(torch, **changes):
    """A custom function with a rule of forward mode, unless its methods are changed."""

    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x**3

    def slope(ctx, g):
        return g * 3 * ctx.saved_tensors[0] ** 2

    methods = {"forward": forward, "backward": slope, "jvp": slope, **changes}
    return custom(torch, name="Cube", **methods)


def in_thread(function):
    """The result of ``function`` in a thread of its own."""
    result = []
    thread = threading.Thread(target=lambda: result.append(function()))
    thread.start()
    thread.join()
    return result[0]


class PrintedDType(NamedTuple):
    """What printing asks of a dtype."""

    name: str
    is_floating_point: bool
    is_complex: bool

    def __str__(self):
        return f"torch.{self.name}"
