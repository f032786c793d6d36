"""Hooks of every kind in one graph, in random order, and every way to ask for gradients.

What each hook was shown, in which order they were called, and what came out must be the same.
"""

from __future__ import annotations

import random

from parity.harness import behaviour_of_each

PROGRAMS = 120


def own_function(torch, log):
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, several):
            ctx.several = several
            return (x * 2, y * 3) if several else x * 2 + y * 3

        @staticmethod
        def backward(ctx, *gradients):
            log("own backward", seen(gradients), ctx.needs_input_grad)
            return gradients[0] * 2, gradients[-1] * 3, None

    return Scaled.apply


def graph(torch, log, draw):
    """Leaves, and tensors by name; some with several outputs, some written to, some unused."""
    a = torch.tensor([[1.0, -2.0, 0.5], [0.3, 2.0, -1.5]], requires_grad=True)
    b = torch.tensor([2.0, 0.7, -1.0], requires_grad=draw.random() < 0.8)
    x = a * b
    if draw.random() < 0.4:
        x = x.clone()
        x[0].mul_(2)
    top, bottom = x.sin().unbind(0)
    y = top * bottom + (b if draw.random() < 0.5 else 1)
    match draw.choice(["none", "one", "two"]):
        case "one":
            y = own_function(torch, log)(y, top, False)
        case "two":
            y, top = own_function(torch, log)(y, b * 1, True)
    values, _ = y.sort()
    z = values * a[0] if draw.random() < 0.7 else values
    unused = z.exp()
    return {"a": a, "b": b, "x": x, "top": top, "bottom": bottom, "y": y, "values": values, "z": z,
            "unused": unused}


def seen(value):
    """Gradients by their values; by which nodes they were made is the affair of each library."""
    if isinstance(value, (list, tuple)):
        return [seen(item) for item in value]
    return None if value is None else (value.tolist(), value.requires_grad)


def changed(draw, gradient):
    kind = draw.choice(["nothing", "nothing", "scaled", "same"])
    if gradient is None or kind == "nothing":
        return None
    return gradient * 3 if kind == "scaled" else gradient


def accumulator(tensor):
    return tensor.expand_as(tensor).grad_fn.next_functions[0][0]


def hook_on(torch, log, draw, tensors, kept):
    """Put one hook of some kind somewhere; what removes it, if anything does."""
    kind = draw.choice(["tensor", "tensor", "retain", "accumulated", "node", "node before",
                        "leaf's node", "leaf's node before", "several", "any of several"])
    leaves = [name for name in "ab" if tensors[name].requires_grad]
    others = [name for name in tensors if name not in "ab"]
    own = random.Random(draw.random())  # so that both libraries draw alike, however often called
    name = draw.choice(leaves if kind.startswith(("leaf", "accumulated")) else
                       others if kind.startswith(("node", "retain")) else leaves + others)
    tensor = tensors[name]
    label = f"{kind} of {name} {draw.randrange(100)}"

    def told(*shown):
        log(label, seen(shown))

    def on_gradients(inputs, *outputs):
        told(inputs, *outputs)
        found = tuple(changed(own, g) for g in inputs)
        return None if all(g is None for g in found) else tuple(
            old if new is None else new for old, new in zip(inputs, found))

    if kind == "tensor":
        return tensor.register_hook(lambda g: (told(g), changed(own, g))[1])
    if kind == "retain":
        return tensor.retain_grad()
    if kind == "accumulated":
        return tensor.register_post_accumulate_grad_hook(lambda leaf: told(leaf.grad))
    if kind.startswith("node"):
        add = tensor.grad_fn.register_prehook if "before" in kind else tensor.grad_fn.register_hook
        return add(on_gradients)
    if kind.startswith("leaf's"):
        node = accumulator(tensor)
        kept.append(node)  # it lives as long as somebody has it
        return node.register_prehook(on_gradients) if "before" in kind else node.register_hook(
            lambda inputs, outputs: told(inputs, outputs))
    watched = [tensors[key] for key in draw.sample(leaves + others, 3)]
    mode = "any" if kind.startswith("any") else "all"
    return torch.autograd.graph.register_multi_grad_hook(
        watched, lambda gradients: told(gradients), mode=mode)


def ask(torch, log, draw, tensors, last, may_ask):
    """One backward pass of some kind."""
    roots = [tensors["z"].sum()] + ([tensors["y"]] if draw.random() < 0.4 else [])
    starts = [None if root.dim() == 0 else torch.ones_like(root) for root in roots]
    options = {"create_graph": draw.random() < 0.3}
    if not last:
        options["retain_graph"] = True
    chosen = [name for name in ("a", "b", "x", "top", "bottom", "y", "values")
              if tensors[name].requires_grad and draw.random() < 0.4] or ["a"]
    wanted = [tensors[name] for name in chosen]
    # PyTorch cannot tell hooks on several tensors which leaves ``grad`` comes to.
    match draw.choice(["backward", "backward", "inputs", *["grad"] * (2 * may_ask)]):
        case "backward":
            torch.autograd.backward(roots, starts, **options)
        case "inputs":
            torch.autograd.backward(roots, starts, inputs=wanted, **options)
        case "grad":
            log(chosen, seen(torch.autograd.grad(roots, wanted, starts, allow_unused=True,
                                                 **options)))


@behaviour_of_each(range(PROGRAMS))
def hooks_together(torch, log, seed):
    draw = random.Random(seed)
    tensors = graph(torch, log, draw)
    kept = []
    handles = [handle for _ in range(draw.randint(3, 8))
               if (handle := hook_on(torch, log, draw, tensors, kept)) is not None]
    passes = draw.randint(1, 3)
    for number in range(passes):
        log.warns(ask, torch, log, draw, tensors, number == passes - 1, not any(
            hasattr(handle, "handles") for handle in handles))
        for name in ("a", "b", "x", "y", "z"):
            if tensors[name].is_leaf or tensors[name].retains_grad:
                log(name, seen(tensors[name].grad))
        if handles and draw.random() < 0.5:
            handles.pop(draw.randrange(len(handles))).remove()
        if draw.random() < 0.3:
            tensors["a"].grad = None
