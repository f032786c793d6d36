"""Modules whose parameters wait for the first input, and parameters without a shape."""

from __future__ import annotations

import copy
import pickle

from parity.harness import behaviour, behaviour_of_each

LAZY = {"LazyLinear": (4,), "LazyConv1d": (2, 3), "LazyConv2d": (2, 3), "LazyConv3d": (2, 3),
        "LazyConvTranspose1d": (2, 3), "LazyConvTranspose2d": (2, 3),
        "LazyConvTranspose3d": (2, 3), "LazyBatchNorm1d": (), "LazyBatchNorm2d": (),
        "LazyBatchNorm3d": (), "LazyInstanceNorm1d": (), "LazyInstanceNorm2d": (),
        "LazyInstanceNorm3d": ()}


def input_for(torch, name):
    dims = int(name[-2]) if name[-1] == "d" else 0
    values = torch.linspace(-1, 1, 2 * 3 * 4**dims, dtype=torch.float64)
    return values.reshape(2, 3, *(4,) * dims)


@behaviour_of_each(list(LAZY))
def a_lazy_module_becomes_an_ordinary_one(torch, log, name):
    torch.manual_seed(0)
    module = getattr(torch.nn, name)(*LAZY[name])
    log(repr(module), module.has_uninitialized_params(), list(module.state_dict()),
        [repr(p) for p in module.parameters()], sorted(n for n, _ in module.named_buffers()))
    out = module(input_for(torch, name).float())
    log.values(out.detach())
    log(repr(module), type(module).__name__, hasattr(module, "_initialize_hook"),
        len(module._forward_pre_hooks), len(module._load_state_dict_pre_hooks))
    for value in module.state_dict().values():
        log.values(value)
    log([type(p).__name__ for p in module.parameters()],
        [type(b).__name__ for b in module.buffers()])


@behaviour_of_each([name for name in LAZY if "Instance" not in name])
def a_lazy_module_is_converted_copied_and_loaded(torch, log, name):
    kind = getattr(torch.nn, name)
    torch.manual_seed(0)
    first = kind(*LAZY[name]).double()
    log([p.dtype for p in first.parameters()], [b.dtype for b in first.buffers()])
    copied, thawed = copy.copy(kind(*LAZY[name]).double()), pickle.loads(pickle.dumps(first))
    if not list(first.buffers()):  # PyTorch cannot copy a buffer that waits
        copied = copy.deepcopy(first)
    first(input_for(torch, name))
    log([repr(p) for p in copied.parameters()], [p.dtype for p in copied.parameters()],
        [repr(p) for p in thawed.parameters()])
    log(copied.load_state_dict(first.state_dict()))
    log.values(copied(input_for(torch, name)).detach())
    log(repr(copied))
    log(thawed.load_state_dict(kind(*LAZY[name]).state_dict()), thawed.has_uninitialized_params())


@behaviour
def lazy_modules_refuse(torch, log):
    log.raises(torch.nn.LazyConv2d(2, 2), torch.ones(2))
    log.raises(torch.nn.LazyConv2d(4, 2, groups=2), torch.ones(1, 3, 4, 4))
    log.raises(torch.nn.LazyLinear(2).share_memory)
    linear = torch.nn.LazyLinear(2)
    log.raises(torch.nn.Linear(3, 2).load_state_dict, linear.state_dict())
    log(linear.load_state_dict(torch.nn.Linear(3, 2).state_dict()), linear.in_features)
    log.raises(linear, torch.ones(1, 4))


@behaviour
def ones_own_lazy_module(torch, log):
    class Scale(torch.nn.modules.lazy.LazyModuleMixin, torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = torch.nn.UninitializedParameter()

        def initialize_parameters(self, input, power=1):
            with torch.no_grad():
                self.factor.materialize(input.shape[-1:])
                self.factor.fill_(2.0)

        def forward(self, input, power=1):
            return input * self.factor**power

    class Unfinished(Scale):
        def initialize_parameters(self, input):
            pass

    class Nothing(torch.nn.modules.lazy.LazyModuleMixin, torch.nn.Module):
        pass

    scale = Scale()
    log(scale(torch.ones(1, 3), power=2), scale.factor, type(scale).__name__)
    log.raises(Unfinished(), torch.ones(1))
    log.raises(Nothing(), torch.ones(1))


@behaviour
def parameters_without_a_shape(torch, log):
    for kind in (torch.nn.UninitializedParameter, torch.nn.UninitializedBuffer):
        waiting = kind()
        log(repr(waiting), torch.nn.parameter.is_lazy(waiting), waiting.requires_grad,
            isinstance(waiting, torch.nn.Parameter), isinstance(waiting, torch.nn.Buffer),
            waiting.is_floating_point(), waiting.dtype)
        log.raises(lambda waiting=waiting: waiting.shape)
        log.refuses(lambda waiting=waiting: waiting + 1)
        log.refuses(waiting.sum)
        log(waiting.double().dtype, repr(pickle.loads(pickle.dumps(waiting))))
        waiting.materialize((2, 1), dtype=torch.float64)
        log(type(waiting).__name__, waiting.shape, waiting.dtype, waiting.is_leaf,
            isinstance(waiting, torch.nn.Parameter))
    log(torch.nn.UninitializedBuffer(persistent=False).persistent,
        torch.nn.UninitializedParameter(requires_grad=False, dtype=torch.float16).dtype)
