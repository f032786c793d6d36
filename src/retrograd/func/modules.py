"""Calling a module with other parameters than its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..core.tensor import Tensor


def functional_call(module: Any, parameter_and_buffer_dicts: Any, args: Any = None,
                    kwargs: dict[str, Any] | None = None, *, tie_weights: bool = True,
                    strict: bool = False) -> Any:
    """``module(*args, **kwargs)`` with the given tensors in place of its parameters and buffers.

    With ``tie_weights``, a tensor given for one name of a parameter stands for all its names. With
    ``strict``, exactly the module's parameters and buffers must be given.
    """
    given = _one_dict(parameter_and_buffer_dicts)
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    names = _names(module)
    tensors = _with_ties(given, names) if tie_weights else dict(given)
    if strict:
        _check_names(module, tensors, names)
    with _in_place_of_own(module, tensors, given):
        return module(*args, **({} if kwargs is None else kwargs))


def _one_dict(dicts: Any) -> dict[str, Any]:
    """One dict from a dict or a sequence of dicts."""
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError("Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of "
                         f"dicts, but got {type(dicts)}")
    if not all(isinstance(d, dict) for d in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    every = [key for d in dicts for key in d]
    repeated = sorted({key for key in every if every.count(key) > 1})
    if repeated:
        raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional "
                         "call is ambiguous")
    return {key: value for d in dicts for key, value in d.items()}


def _names(module: Any) -> dict[str, Tensor]:
    """Every name of every parameter and buffer, also those that name the same tensor."""
    return {**dict(module.named_parameters(remove_duplicate=False)),
            **dict(module.named_buffers(remove_duplicate=False))}


def names_by_tensor(named: Iterable[tuple[str, Tensor]]) -> list[list[str]]:
    """All the names of each tensor, in their order."""
    groups: dict[int, list[str]] = {}
    for name, tensor in named:
        groups.setdefault(id(tensor), []).append(name)
    return list(groups.values())


def _with_ties(given: dict[str, Any], names: dict[str, Tensor]) -> dict[str, Any]:
    """``given``, with each tensor under all the names that its place in the module has."""
    tied = dict(given)
    for group in names_by_tensor(names.items()):
        found = sorted(name for name in group if name in given)
        if not found:
            continue
        if len({id(given[name]) for name in found}) > 1:
            raise ValueError(f"functional_call got multiple values for keys {found}, which are "
                             "tied. Consider using tie_weights=False")
        tied.update(dict.fromkeys(group, given[found[0]]))
    return tied


def _check_names(module: Any, tensors: dict[str, Any], names: dict[str, Tensor]) -> None:
    lines = [f"\n\t{kind} key(s): {', '.join(repr(name) for name in sorted(found))}."
             for kind, found in (("Unexpected", tensors.keys() - names.keys()),
                                 ("Missing", names.keys() - tensors.keys())) if found]
    if lines:
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:"
                           + "".join(lines))


def _owner(module: Any, path: str) -> tuple[Any, str]:
    """The submodule that holds the tensor called ``path``, and its name there."""
    *steps, last = path.split(".")
    for step in steps:
        inner = module._modules.get(step)
        if inner is None:
            raise AttributeError(f"{type(module).__name__} has no attribute `{step}`")
        module = inner
    return module, last


_ABSENT = object()


@contextmanager
def _in_place_of_own(module: Any, tensors: dict[str, Any],
                     given: dict[str, Any]) -> Iterator[None]:
    """Put ``tensors`` into the module for a block.

    Buffers that the module replaced in the block are handed back in ``given``.
    """
    places = []
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{tensor} is not an instance of torch.Tensor")
        owner, last = _owner(module, name)
        store = owner._parameters if last in owner._parameters else \
            owner._buffers if last in owner._buffers else owner.__dict__
        places.append((name, store, last, tensor))
    own = []
    try:
        for _, store, last, tensor in places:
            own.append(store.get(last, _ABSENT))
            store[last] = tensor
        yield
    finally:
        for (name, store, last, _), tensor in zip(places, own, strict=False):
            if name in given and last in store:
                given[name] = store[last]
            if tensor is _ABSENT:
                store.pop(last, None)
            else:
                store[last] = tensor


def stack_module_state(models: Any) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and buffers of several modules of one kind, stacked."""
    if not len(models):
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or all(not m.training for m in models)):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval "
                           "mode.")
    if not all(type(m) is type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters = [dict(m.named_parameters()) for m in models]
    buffers = [dict(m.named_buffers()) for m in models]
    return ({name: _stacked(name, [p[name] for p in parameters]) for name in parameters[0]},
            {name: _stacked(name, [b[name] for b in buffers]) for name in buffers[0]})


def _stacked(name: str, tensors: list[Tensor]) -> Tensor:
    """A leaf that holds ``tensors``, and requires grad if they do."""
    from ..ops.shapes.joining import stack

    requires_grad = tensors[0].requires_grad
    if any(t.requires_grad != requires_grad for t in tensors):
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    return stack(tensors, 0).detach().requires_grad_(requires_grad)


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Let the batch norms of a module use the moments of each batch alone; changed in place.

    Running moments are written to, which a function inside ``vmap`` cannot do to what is outside.
    """
    for module in root.modules():
        # By its name, since modules are made of what is here.
        if any(kind.__name__ == "_BatchNorm" for kind in type(module).__mro__):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
