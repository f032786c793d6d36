"""What modules promise beyond PyTorch's own behaviour, and where memory and threads matter."""

import copy
import gc
import pickle
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import retrograd as torch
from retrograd import nn
from retrograd.nn.utils import parametrize, prune

LAZY = ["LazyBatchNorm1d", "LazyBatchNorm2d", "LazyInstanceNorm1d", "LazyLinear", "LazyConv2d"]


class Watched(torch.Tensor):
    """A subclass: from its definition on, every public function asks its arguments' classes."""


@pytest.mark.parametrize("name", LAZY)
def test_a_waiting_module_is_copied_and_pickled(name: str) -> None:
    args = (3, 2)[: {"LazyLinear": 1, "LazyConv2d": 2}.get(name, 0)]
    module = getattr(nn, name)(*args)
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert other.has_uninitialized_params()
        other(torch.ones(2, 3, 4, 4) if name.endswith("2d") else torch.ones(2, 3, 4))
        assert not hasattr(other, "_initialize_hook")
    assert module.has_uninitialized_params()


def test_a_global_hook_leaves_nothing_behind() -> None:
    module = nn.Linear(1, 1)
    seen: list[str] = []
    with nn.modules.module.register_module_forward_hook(
            lambda m, a, o: seen.append(type(m).__name__)):
        module(torch.ones(1))
    module(torch.ones(1))
    assert seen == ["Linear"]
    from retrograd.nn.modules._calling import GLOBAL

    assert not GLOBAL.around_calls


def test_a_module_with_hooks_dies_with_its_last_reference() -> None:
    module = nn.Linear(1, 1)
    module.register_load_state_dict_pre_hook(lambda m, *rest: None)
    gc.disable()
    try:
        reference = weakref.ref(module)
        del module
        assert reference() is None
    finally:
        gc.enable()


def test_a_method_that_refuses_leaves_the_module_as_it_was() -> None:
    module = nn.Linear(3, 4)
    before = list(module.state_dict())
    for call in (lambda: prune.l1_unstructured(module, "weight", 99),
                 lambda: parametrize.register_parametrization(module, "weight", nn.Flatten(0)),
                 lambda: prune.custom_from_mask(module, "weight", torch.ones(1))):
        with pytest.raises((ValueError, AssertionError)):
            call()
        assert list(module.state_dict()) == before
        assert not module._forward_pre_hooks
        assert type(module) is nn.Linear


def test_a_module_without_memory_takes_none() -> None:
    nn.Linear(2, 2, device="meta")
    tracemalloc.start()
    with torch.device("meta"):
        model = nn.Sequential(*(nn.Linear(20_000, 20_000) for _ in range(5)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000
    assert sum(p.numel() for p in model.parameters()) > 2_000_000_000


def test_the_default_device_belongs_to_a_thread() -> None:
    found = []
    with torch.device("meta"):
        thread = threading.Thread(target=lambda: found.append(torch.zeros(1).device.type))
        thread.start()
        thread.join()
        found.append(torch.zeros(1).device.type)
    assert found == ["cpu", "meta"]


def test_a_block_that_raises_leaves_its_device() -> None:
    with pytest.raises(KeyError), torch.device("meta"):
        raise KeyError
    assert torch.zeros(1).device.type == "cpu"


def test_a_tensor_without_memory_gives_no_values_to_numpy() -> None:
    waiting = torch.ones(2, device="meta")
    for read in (lambda: np.asarray(waiting), lambda: np.add(waiting, 1), lambda: waiting[0].item(),
                 lambda: waiting.sum().backward()):
        with pytest.raises((TypeError, NotImplementedError, RuntimeError)):
            read()


def test_swapped_tensors_do_not_deceive_a_graph() -> None:
    first = torch.ones(2, requires_grad=True)
    out = (first * first).sum()
    torch.utils.swap_tensors(first, torch.zeros(2))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_cached_parametrizations_are_forgotten() -> None:
    module = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
    with parametrize.cached():
        first = module.weight
        assert module.weight is first
    assert module.weight is not first
    assert not parametrize._Cache.tensors


def test_half_precision_and_warnings_as_errors() -> None:
    with np.errstate(all="raise"):
        for dtype in (torch.float16, torch.bfloat16):
            module = nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3, dtype=dtype))
            module(torch.ones(1, 3, dtype=dtype)).sum().backward()
            assert module.parametrizations.weight.original.grad.dtype is dtype
