"""What ``nn.utils`` offers: parametrizations, pruning, normed weights, fused layers."""

from __future__ import annotations

import copy
import importlib
import pickle

from parity.harness import behaviour, behaviour_of_each


def linear(torch, *sizes, **options):
    torch.manual_seed(0)
    return torch.nn.Linear(*(sizes or (3, 4)), **options)


def log_state(log, module):
    for name, value in module.state_dict().items():
        log(name)
        log.values(value)


def log_run(torch, log, module, *shape):
    """What a module makes of an input, and the gradients of its parameters."""
    x = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(2, 3).to(
        next(module.parameters()).dtype)
    out = module(x)
    log.values(out.detach())
    out.square().sum().backward()
    for name, parameter in module.named_parameters():
        log(name, parameter.grad is None)
        if parameter.grad is not None:
            log.values(parameter.grad)
    module.zero_grad()


def symmetric(torch):
    class Symmetric(torch.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).mT

        def right_inverse(self, x):
            return x.triu()

    return Symmetric()


# ------------------------------------------------------------------ parametrize


@behaviour
def a_parametrized_weight(torch, log):
    P = torch.nn.utils.parametrize
    module = linear(torch, 3, 3)
    log(P.register_parametrization(module, "weight", symmetric(torch)) is module)
    log(repr(module), type(module).__name__, P.type_before_parametrizations(module).__name__,
        P.is_parametrized(module), P.is_parametrized(module, "weight"),
        P.is_parametrized(module, "bias"), isinstance(module, torch.nn.Linear))
    log_state(log, module)
    log_run(torch, log, module)
    module.weight = torch.eye(3) * 2
    log.values(module.weight.detach(), module.parametrizations.weight.original.detach())
    log.raises(pickle.dumps, module)
    twin = copy.deepcopy(module)
    log_state(log, twin)
    log(twin.load_state_dict(module.state_dict()))
    P.remove_parametrizations(module, "weight")
    log(type(module).__name__, hasattr(module, "parametrizations"), P.is_parametrized(module))
    log_state(log, module)
    other = P.register_parametrization(linear(torch, 3, 3), "weight", symmetric(torch))
    log_state(log, P.remove_parametrizations(other, "weight", leave_parametrized=False))


@behaviour
def parametrizations_in_a_row(torch, log):
    class Add(torch.nn.Module):
        def forward(self, x):
            return x + 1

    P = torch.nn.utils.parametrize
    module = linear(torch, 3, 3)
    P.register_parametrization(module, "weight", symmetric(torch))
    P.register_parametrization(module, "weight", Add())
    P.register_parametrization(module, "bias", Add())
    log(repr(module))
    log_state(log, module)
    log_run(torch, log, module)
    log.raises(setattr, module, "weight", torch.eye(3))
    other = torch.nn.Linear(3, 3)
    P.transfer_parametrizations_and_params(module, other)
    log(repr(other), other.parametrizations.bias.original is module.parametrizations.bias.original)
    with P.cached():
        log(module.weight is module.weight)
    log(module.weight is module.weight)
    P.remove_parametrizations(module, "bias")
    log(type(module).__name__)
    log_state(log, module)


@behaviour
def parametrizations_that_refuse(torch, log):
    P = torch.nn.utils.parametrize

    def of(forward, inverse=None):
        members = {"forward": lambda self, *x: forward(*x)}
        if inverse is not None:
            members["right_inverse"] = lambda self, x: inverse(x)
        return type("Made", (torch.nn.Module,), members)()

    for made in (of(lambda x: 3), of(lambda x: x.double()), of(lambda x: x[:1]),
                 of(lambda x: x, lambda x: 3), of(lambda x: x, lambda x: x.double()),
                 of(lambda *x: x[0], lambda x: (x, 3))):
        for known in (False, True):
            module = linear(torch, 3, 3)
            if known:
                P.register_parametrization(module, "weight", torch.nn.Identity())
            log.raises(P.register_parametrization, module, "weight", made)
    log.raises(P.register_parametrization, linear(torch), "nothing", torch.nn.Identity())
    log.raises(P.remove_parametrizations, linear(torch), "weight")
    log.raises(P.ParametrizationList, [], torch.ones(1))
    several = linear(torch, 3, 3)
    P.register_parametrization(several, "weight", of(lambda a, b: a + b, lambda x: (x, x * 0)))
    log_state(log, several)
    log.raises(P.remove_parametrizations, several, "weight", leave_parametrized=False)
    log_state(log, P.remove_parametrizations(several, "weight"))


# ------------------------------------------------------------------ parametrizations in use


ORTHOGONAL = [(name, sizes, trivial) for name in ("matrix_exp", "cayley", "householder")
              for sizes in ((3, 3), (3, 5)) for trivial in (True, False)]


@behaviour_of_each([(f"{n}-{s[0]}x{s[1]}-{t}", n, s, t) for n, s, t in ORTHOGONAL])
def orthogonal_weights(torch, log, _, name, sizes, trivial):
    module = linear(torch, *sizes, dtype=torch.float64)
    made = torch.nn.utils.parametrizations.orthogonal(module, orthogonal_map=name,
                                                      use_trivialization=trivial)
    log(repr(made))
    if trivial and sizes[0] != sizes[1]:  # drawn at random, and QR has its own signs
        q = made.weight.detach()
        log(bool(torch.allclose(q.mT @ q, torch.eye(3, dtype=torch.float64))))
        return
    log.values(made.weight.detach())
    log_run(torch, log, made)


@behaviour
def orthogonal_refuses(torch, log):
    orthogonal = torch.nn.utils.parametrizations.orthogonal
    log.raises(orthogonal, linear(torch), "nothing")
    log.raises(orthogonal, linear(torch), "bias")
    log.raises(orthogonal, linear(torch), orthogonal_map="other")
    module = orthogonal(linear(torch, 3, 3), orthogonal_map="cayley", use_trivialization=False)
    log.raises(setattr, module, "weight", torch.eye(3))
    log.raises(setattr, orthogonal(linear(torch, 3, 3)), "weight", torch.ones(2, 2))
    log.raises(orthogonal, torch.nn.Linear(3, 3, dtype=torch.complex64),
               orthogonal_map="householder")


@behaviour
def an_orthogonal_weight_is_assigned(torch, log):
    module = torch.nn.utils.parametrizations.orthogonal(linear(torch, 3, 3, dtype=torch.float64))
    rotation = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
                            dtype=torch.float64)
    module.weight = rotation
    log.values(module.weight.detach())


@behaviour_of_each([0, 1, -1, None])
def weights_by_length_and_direction(torch, log, dim):
    module = torch.nn.utils.parametrizations.weight_norm(linear(torch), dim=dim)
    log(repr(module))
    log_state(log, module)
    log_run(torch, log, module)
    old = {"weight_g": torch.ones_like(module.parametrizations.weight.original0),
           "weight_v": torch.ones(4, 3), "bias": torch.zeros(4)}
    log(module.load_state_dict(old))
    log.values(module.weight.detach())


@behaviour
def spectral_norms(torch, log):
    S = torch.nn.utils.parametrizations.spectral_norm
    for module in (linear(torch), torch.nn.ConvTranspose1d(2, 3, 2)):
        torch.manual_seed(1)
        made = S(module, n_power_iterations=2)
        log(repr(made))
        log_state(log, made)
        log.values(made.weight.detach())
        log_state(log, made)
        log.values(made.eval().weight.detach(), made.weight.detach())
    log.values(S(linear(torch), "bias").bias.detach())
    log.raises(S, linear(torch), "nothing")
    log.raises(S, linear(torch), n_power_iterations=0)
    log.raises(S, linear(torch), dim=5)
    log_run(torch, log, S(linear(torch)))


# ------------------------------------------------------------------ by hooks, as it was


@behaviour_of_each([0, None])
def weight_norm_by_a_hook(torch, log, dim):
    U = torch.nn.utils
    module = linear(torch)
    log.warns(lambda: U.weight_norm(module, dim=dim) is module)
    log(repr(module))
    log_state(log, module)
    log_run(torch, log, module)
    log.warns(lambda: log.raises(U.weight_norm, module))
    log(U.remove_weight_norm(module) is module)
    log_state(log, module)
    log.raises(U.remove_weight_norm, module)
    log.warns(lambda: log.raises(U.weight_norm, torch.nn.LazyLinear(2)))


@behaviour
def an_oblong_complex_weight_is_orthogonal_by_an_exponential(torch, log):
    module = torch.nn.utils.parametrizations.orthogonal(linear(torch, 3, 4, dtype=torch.complex64))
    log(str(module.parametrizations.weight[0].orthogonal_map))
    weight = module.weight.detach()
    log.values((weight.mH @ weight - torch.eye(3)).abs().round(decimals=5))


@behaviour
def one_of_two_weight_norms_by_hooks_is_removed(torch, log):
    U = torch.nn.utils
    module = torch.nn.RNNCell(2, 3)
    for name in ("weight_ih", "weight_hh"):
        log.warns(lambda name=name: U.weight_norm(module, name) is module)
    log(U.remove_weight_norm(module, "weight_hh") is module)
    log(sorted(dict(module.named_parameters())))


@behaviour
def spectral_norm_by_a_hook(torch, log):
    U = torch.nn.utils
    module = linear(torch)
    log(U.spectral_norm(module) is module)
    log_state(log, module)
    log_run(torch, log, module)
    log_state(log, module)
    log(module.state_dict()._metadata)
    log.raises(U.spectral_norm, module)
    log.raises(U.spectral_norm, linear(torch), n_power_iterations=0)
    log(module.load_state_dict(module.state_dict()))
    module.eval()
    log_run(torch, log, module)
    U.remove_spectral_norm(module)
    log_state(log, module)
    log(len(module._state_dict_hooks), len(module._forward_pre_hooks))
    log.raises(U.remove_spectral_norm, module)


# ------------------------------------------------------------------ pruning


PRUNINGS = {
    "identity": {}, "random_unstructured": {"amount": 3}, "l1_unstructured": {"amount": 0.5},
    "random_structured": {"amount": 1, "dim": 0}, "ln_structured": {"amount": 2, "n": 2, "dim": 0}}


@behaviour_of_each(list(PRUNINGS))
def pruned_parameters(torch, log, name):
    prune = importlib.import_module(f"{torch.__name__}.nn.utils.prune")
    module = linear(torch)
    log(getattr(prune, name)(module, "weight", **PRUNINGS[name]) is module)
    log_state(log, module)
    log_run(torch, log, module)
    log(prune.is_pruned(module), [n for n, _ in module.named_buffers()], type(module.weight))
    getattr(prune, name)(module, "weight", **PRUNINGS[name])
    log_state(log, module)
    log(len(module._forward_pre_hooks),
        [type(h).__name__ for h in module._forward_pre_hooks.values()])
    prune.remove(module, "weight")
    log_state(log, module)
    log(prune.is_pruned(module), type(module.weight))


@behaviour
def pruned_in_several_ways(torch, log):
    prune = importlib.import_module(f"{torch.__name__}.nn.utils.prune")
    module = linear(torch, 4, 4)
    prune.ln_structured(module, "weight", 1, n=1, dim=1)
    prune.l1_unstructured(module, "weight", 3)
    prune.random_structured(module, "weight", 0.25, dim=0)
    prune.custom_from_mask(module, "weight", torch.eye(4))
    log_state(log, module)
    (chain,) = module._forward_pre_hooks.values()
    log([type(m).__name__ for m in chain], len(chain), type(chain[0]).__name__)
    log(prune.L1Unstructured(2).prune(torch.tensor([3.0, -1.0, 2.0, 0.5])))
    scored = linear(torch)
    prune.l1_unstructured(scored, "weight", 4, importance_scores=torch.arange(12.0).view(4, 3))
    log_state(log, scored)
    model = torch.nn.Sequential(linear(torch), linear(torch, 4, 2))
    prune.global_unstructured([(model[0], "weight"), (model[1], "weight")],
                              pruning_method=prune.L1Unstructured, amount=0.5)
    log_state(log, model)
    log(prune.is_pruned(model))


@behaviour
def pruning_that_refuses(torch, log):
    prune = importlib.import_module(f"{torch.__name__}.nn.utils.prune")
    module = linear(torch)
    for amount in ("a", -1, 1.5, -0.5, 99):
        log.raises(prune.l1_unstructured, module, "weight", amount)
        log.raises(prune.random_structured, module, "weight", amount, 0)
    log.raises(prune.ln_structured, module, "bias", 1, 2, 0)
    log.raises(prune.ln_structured, module, "weight", 1, 2, 3)
    log.raises(prune.remove, module, "weight")
    log.raises(prune.l1_unstructured, module, "weight", 1, torch.ones(2))
    log.raises(prune.global_unstructured, 3, prune.L1Unstructured, amount=1)
    log.raises(prune.global_unstructured, [(module, "weight")], prune.L1Unstructured, [], amount=1)
    log.refuses(prune.global_unstructured, [(module, "weight")], prune.LnStructured, amount=1, n=1)
    log.raises(prune.PruningContainer().add_pruning_method, 3)
    log.raises(prune.custom_from_mask, module, "weight", torch.ones(2))
    log(sorted(module.state_dict().items()))
    log(len(module._forward_pre_hooks))


# ------------------------------------------------------------------ the rest


@behaviour
def fused_layers(torch, log):
    U = torch.nn.utils
    for conv, bn, transpose in ((torch.nn.Conv1d(2, 3, 2), torch.nn.BatchNorm1d(3), False),
                                (torch.nn.Conv1d(2, 3, 2, bias=False),
                                 torch.nn.BatchNorm1d(3, affine=False), False),
                                (torch.nn.ConvTranspose1d(2, 3, 2), torch.nn.BatchNorm1d(3), True)):
        for p in (*conv.parameters(), *bn.parameters()):
            torch.nn.init.constant_(p, 0.5)
        bn.running_mean.fill_(0.25)
        fused = U.fuse_conv_bn_eval(conv.eval(), bn.eval(), transpose)
        log_state(log, fused)
        log(type(fused).__name__, [p.requires_grad for p in fused.parameters()])
    dense, bn = linear(torch), torch.nn.BatchNorm1d(4)
    log.raises(U.fuse_linear_bn_eval, dense, bn)
    log_state(log, U.fuse_linear_bn_eval(dense.eval(), bn.eval()))
    bn.eps = 0.5
    log_state(log, U.fuse_linear_bn_eval(dense.eval(), bn.eval()))
    log.raises(U.fuse_linear_bn_eval, dense, torch.nn.BatchNorm1d(3).eval())
    log.raises(U.fuse_conv_bn_eval, torch.nn.Conv1d(1, 1, 1).eval(),
               torch.nn.BatchNorm1d(1, track_running_stats=False).eval())


@behaviour
def kernels_in_other_formats(torch, log):
    model = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 2), torch.nn.Conv3d(2, 3, 2))
    U = torch.nn.utils
    log(U.convert_conv2d_weight_memory_format(model, torch.channels_last) is model)
    log.layout(model[0].weight, model[1].weight)
    U.convert_conv3d_weight_memory_format(model, torch.channels_last_3d)
    log.layout(model[0].weight, model[1].weight)


@behaviour
def older_names(torch, log):
    module = linear(torch)
    module(torch.ones(1, 3)).sum().backward()
    log.warns(torch.nn.utils.clip_grad_norm, module.parameters(), 1.0)
    own = {k: torch.zeros_like(v) for k, v in module.named_parameters()}
    log.warns(torch.nn.utils.stateless.functional_call, module, own, torch.ones(1, 3))


# ------------------------------------------------------------------ what few programs meet


def halves(torch):
    class Halves(torch.nn.Module):
        def forward(self, first, second):
            return torch.cat([first, second])

        def right_inverse(self, whole):
            return self.given if hasattr(self, "given") else (whole[:2], whole[2:])

    return Halves()


@behaviour
def a_weight_made_of_two_is_assigned(torch, log):
    P = torch.nn.utils.parametrize
    module = linear(torch)
    made = halves(torch)
    P.register_parametrization(module, "weight", made)
    log_state(log, module)
    module.weight = torch.arange(12.0).reshape(4, 3)
    log_state(log, module)
    log_run(torch, log, module)
    half = torch.ones(2, 3)
    for wrong in (half, 3, (half,), (half, half, half), [half, "a"], (half.double(), half)):
        made.given = wrong
        log.raises(setattr, module, "weight", half)
    made.given = [half * 2, half]
    module.weight = half
    log_state(log, module)
    log.raises(P.remove_parametrizations, module, "weight", leave_parametrized=False)
    P.remove_parametrizations(module, "weight")
    log(type(module).__name__, type(module.weight).__name__)
    log_state(log, module)


@behaviour
def a_parametrized_buffer(torch, log):
    P = torch.nn.utils.parametrize
    for leave in (True, False):
        module = torch.nn.Module()
        module.register_buffer("b", torch.arange(4.0).reshape(2, 2))
        P.register_parametrization(module, "b", symmetric(torch))
        log(list(dict(module.named_buffers())), list(dict(module.named_parameters())))
        log.values(module.b)
        module.b = torch.ones(2, 2) * 3
        log_state(log, module)
        P.remove_parametrizations(module, "b", leave_parametrized=leave)
        log(list(dict(module.named_buffers())), list(dict(module.named_parameters())))
        log_state(log, module)


@behaviour
def parametrized_weights_while_tensors_are_swapped(torch, log):
    P = torch.nn.utils.parametrize
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        for grad in (True, False):
            module = linear(torch, 3, 3)
            weight = module.weight.requires_grad_(grad)
            P.register_parametrization(module, "weight", symmetric(torch))
            log(module.parametrizations.weight.original is weight)
            for new in (torch.ones(3, 3), torch.eye(3).requires_grad_()):
                module.weight = new
                original = module.parametrizations.weight.original
                log(original is weight, type(original).__name__, original.requires_grad)
                log_state(log, module)
            P.remove_parametrizations(module, "weight")
            log(type(module.weight).__name__, module.weight.requires_grad)
            log_state(log, module)
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)


@behaviour
def a_parametrized_module_with_slots_is_copied(torch, log):
    class Slotted(torch.nn.Linear):
        __slots__ = ("mark", "unset")

    module = Slotted(3, 3)
    module.mark = [1]
    torch.nn.utils.parametrize.register_parametrization(module, "weight", symmetric(torch))
    copied = copy.deepcopy(module)
    log(copied.mark, copied.mark is module.mark, hasattr(copied, "unset"))
    log(type(copied).__name__, bool((copied.weight == module.weight).all()))
    both = copy.deepcopy([module, module])
    log(both[0] is both[1])


@behaviour
def parametrizations_are_carried_over(torch, log):
    P = torch.nn.utils.parametrize
    plain, module = linear(torch, 3, 3), linear(torch, 3, 3)
    log(P.transfer_parametrizations_and_params(plain, module) is module, P.is_parametrized(module))
    P.register_parametrization(plain, "weight", symmetric(torch))
    bare = torch.nn.Module()
    log(P.transfer_parametrizations_and_params(plain, bare, "weight") is bare)
    log(list(dict(bare.named_parameters())))
    log.values(bare.weight)
    log(bare.parametrizations.weight[0] is plain.parametrizations.weight[0])
    two, target = linear(torch), linear(torch)
    P.register_parametrization(two, "weight", halves(torch))
    P.transfer_parametrizations_and_params(two, target)
    log(target.parametrizations.weight.original1 is two.parametrizations.weight.original1)
    log_state(log, target)


@behaviour
def a_second_parametrization_without_an_inverse(torch, log):
    P = torch.nn.utils.parametrize

    class Doubled(torch.nn.Module):
        def forward(self, x):
            return x * 2

    class Undone(Doubled):
        def right_inverse(self, x):
            raise NotImplementedError

    for second in (Doubled(), Undone()):
        module = linear(torch, 3, 3)
        P.register_parametrization(module, "weight", symmetric(torch))
        P.register_parametrization(module, "weight", second)
        log_run(torch, log, module)
        log.raises(setattr, module, "weight", torch.ones(3, 3))


@behaviour_of_each(["matrix_exp", "cayley", "householder"])
def wide_orthogonal_weights_stay_orthogonal(torch, log, name):
    for trivial in (False, True):
        module = torch.nn.utils.parametrizations.orthogonal(
            linear(torch, 4, 2, dtype=torch.float64), orthogonal_map=name,
            use_trivialization=trivial)
        original = module.parametrizations.weight.original
        with torch.no_grad():
            original.copy_(torch.linspace(-1, 1, original.numel()).reshape(original.shape).sin())
        log(tuple(original.shape))
        weight = module.weight
        log.values((weight @ weight.mT).detach().round(decimals=9) + 0.0)
        log(weight.requires_grad)


@behaviour
def spectral_norm_of_states_from_before_its_versions(torch, log):
    def states():
        module = torch.nn.utils.spectral_norm(linear(torch, dtype=torch.float64))
        module(torch.ones(1, 3, dtype=torch.float64))
        full = {name: value.clone() for name, value in module.state_dict().items()}
        full["weight"] = module.weight.detach().clone()
        for left_out in ((), ("weight",), ("weight_v",), ("weight_u",), ("weight_orig",),
                         ("weight", "weight_v"), ("weight_v", "weight_u"), ("bias",)):
            yield left_out, {name: value.clone() for name, value in full.items()
                             if name not in left_out}

    for left_out, state in states():
        for strict in (True, False):
            module = torch.nn.utils.spectral_norm(linear(torch, dtype=torch.float64))
            given = dict(state)
            log(left_out, strict)
            log.raises(module.load_state_dict, given, strict)
            log(sorted(given))
            log_state(log, module)


@behaviour
def pruning_by_scores_and_of_nothing(torch, log):
    prune = importlib.import_module(f"{torch.__name__}.nn.utils.prune")
    x = torch.tensor([[3.0, -1.0, 2.0], [0.5, 4.0, -6.0]])
    for method in (prune.L1Unstructured(2), prune.LnStructured(1, 2, 1), prune.Identity(),
                   prune.LnStructured(0, 2, 1)):
        log(method.prune(x))
        log(method.prune(x, importance_scores=-x * x + 9))
        log(method.prune(x, default_mask=(x > 0).float()))
        log.raises(method.prune, x, importance_scores=x[0])
    for amount in (0, 0.0, 0.1):
        module = linear(torch)
        prune.ln_structured(module, "weight", amount, 2, 0)
        prune.random_structured(module, "weight", amount, 1)
        log_state(log, module)


# ------------------------------------------------------------------ many matrices at once


def holding(torch, shape, dtype="float64"):
    """A module with one parameter of any shape."""
    torch.manual_seed(4)
    module = torch.nn.Module()
    module.weight = torch.nn.Parameter(torch.randn(shape, dtype=getattr(torch, dtype)))
    return module


MANY = [(name, shape, trivial) for name in ("matrix_exp", "cayley", "householder")
        for shape in ((2, 4, 4), (2, 3, 5), (2, 5, 3), (3, 1, 2, 2), (1, 1), (4, 1), (5, 2))
        for trivial in (True, False)]


@behaviour_of_each([(f"{n}-{s}-{t}", n, s, t) for n, s, t in MANY])
def orthogonal_batches(torch, log, _, name, shape, trivial):
    module = holding(torch, shape)
    torch.nn.utils.parametrizations.orthogonal(module, orthogonal_map=name,
                                               use_trivialization=trivial)
    weight = module.weight
    wide = shape[-2] < shape[-1]
    square = weight @ weight.mT if wide else weight.mT @ weight
    log((square - torch.eye(min(shape[-2:]), dtype=torch.float64)).abs().max().item() < 1e-9)
    log(tuple(weight.shape), sorted(module.state_dict()))
    if trivial:
        log.values(module.parametrizations.weight.original.detach())
        log(tuple(module.parametrizations.weight[0].base.shape))
    if not trivial or shape[-2] == shape[-1]:
        log.values(weight.detach())
        weight.square().mul(torch.arange(weight.numel()).view(shape)).sum().backward()
        log.values(module.parametrizations.weight.original.grad)
    if name == "householder" and not trivial:
        made = torch.linalg.qr(torch.randn(shape[:-2] + (max(shape[-2:]),) * 2,
                                           dtype=torch.float64))[0]
        made = made[..., :shape[-2], :shape[-1]]
        module.weight = made
        log.values((module.weight - made).abs().detach().round(decimals=9))


@behaviour
def matrices_that_are_triangles_already(torch, log):
    """No reflection is left to be made of a column without anything below its diagonal."""
    signs = torch.diag(torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64))
    mixed = torch.stack([signs, torch.linalg.qr(torch.arange(9.0, dtype=torch.float64).view(3, 3)
                                                + torch.eye(3, dtype=torch.float64))[0]])
    for given in (signs, -signs, mixed, mixed.flip(0), signs[:, :2], signs[:2]):
        module = holding(torch, tuple(given.shape))
        torch.nn.utils.parametrizations.orthogonal(module, orthogonal_map="householder",
                                                   use_trivialization=False)
        module.weight = given
        log.values(module.parametrizations.weight.original.detach(), module.weight.detach())


@behaviour
def maps_that_are_chosen_by_shape(torch, log):
    for shape in ((3, 3), (3, 4), (4, 3), (2, 3, 3), (3, 3, 4), (4, 3, 4), (3, 4, 3)):
        module = holding(torch, shape)
        torch.nn.utils.parametrizations.orthogonal(module)
        log(str(module.parametrizations.weight[0].orthogonal_map))


@behaviour
def matrices_that_are_nearly_orthogonal(torch, log):
    for away in (0.0, 1e-15, 3e-15, 1e-14, 1e-12, 1e-3):
        module = torch.nn.utils.parametrizations.orthogonal(holding(torch, (6, 6)))
        near = torch.eye(6, dtype=torch.float64) * (1 + away)
        module.weight = near
        base = module.parametrizations.weight[0].base
        log(bool((base == near).all()), bool((base.abs() - near.abs()).abs().max() < 1e-2))


@behaviour
def parts_of_older_names_are_not_loaded(torch, log):
    module = torch.nn.utils.parametrizations.weight_norm(linear(torch))
    for part in ("weight_g", "weight_v"):
        log.raises(module.load_state_dict, {part: torch.ones(4, 1), "bias": torch.zeros(4)})


@behaviour
def unsafe_parametrizations(torch, log):
    P = torch.nn.utils.parametrize

    class Twice(torch.nn.Module):
        def forward(self, x):
            return torch.cat([x, x]).double()

    for unsafe in (False, True):
        module = linear(torch)
        log.raises(P.register_parametrization, module, "weight", Twice(), unsafe=unsafe)
        log(tuple(module.weight.shape), str(module.weight.dtype))


# ------------------------------------------------------------------ hooks of several names


@behaviour
def one_of_two_spectral_norms_by_hooks_is_removed(torch, log):
    U = torch.nn.utils
    module = torch.nn.RNNCell(2, 3)
    for name in ("weight_ih", "weight_hh"):
        U.spectral_norm(module, name)
        log(name in module.__dict__, type(getattr(module, name)).__name__)
        log.values(getattr(module, name))
    log(len(module._state_dict_hooks), len(module._load_state_dict_pre_hooks))
    U.remove_spectral_norm(module, "weight_hh")
    log(len(module._state_dict_hooks), sorted(dict(module.named_parameters())),
        module.state_dict()._metadata[""])
    log.differs(len(module._load_state_dict_pre_hooks), torch=2, retrograd=1)
    U.remove_spectral_norm(module, "weight_ih")
    log(len(module._state_dict_hooks))
    log.differs(len(module._load_state_dict_pre_hooks), torch=2, retrograd=0)


@behaviour
def states_of_earlier_spectral_norms(torch, log):
    for version in (None, 0, 1):
        for left_out in ((), ("weight_v",), ("weight_u",), ("weight_orig",), ("weight",),
                         ("weight", "weight_v")):
            module = torch.nn.utils.spectral_norm(linear(torch, dtype=torch.float64))
            state = module.state_dict()
            state["weight"] = state["weight_orig"] / 3
            for key in left_out:
                del state[key]
            if version is None:
                del state._metadata[""]["spectral_norm"]
            else:
                state._metadata[""]["spectral_norm"]["weight.version"] = version
            log.raises(module.load_state_dict, state)
            log_state(log, module)


@behaviour
def two_pruned_parameters(torch, log):
    prune = importlib.import_module(f"{torch.__name__}.nn.utils.prune")
    module = linear(torch)
    module.register_forward_pre_hook(lambda module, args: None)
    prune.l1_unstructured(module, "weight", 2)
    prune.l1_unstructured(module, "bias", 1)
    prune.l1_unstructured(module, "bias", 1)
    log([type(hook).__name__ for hook in module._forward_pre_hooks.values()])
    log_state(log, module)
    weight = module.weight
    prune.remove(module, "weight")
    log("weight" in module.__dict__, module.weight is weight, type(module.weight).__name__)
    log_state(log, module)
    (_, left) = module._forward_pre_hooks.values()
    log(type(left).__name__, left._tensor_name)
    prune.Identity.apply(module, "weight")
    module.register_forward_pre_hook(prune.Identity.apply(linear(torch), "weight"))
    log.raises(prune.l1_unstructured, module, "weight", 1)


@behaviour
def chains_of_prunings(torch, log):
    prune = importlib.import_module(f"{torch.__name__}.nn.utils.prune")
    for dim in (0, 1, -1, -2, 2, -3):
        for first in (1, 2):
            module = linear(torch, 4, 3)
            prune.l1_unstructured(module, "weight", first)
            log.raises(lambda module=module, dim=dim: prune.ln_structured(
                module, "weight", 1, 2, dim).weight.tolist())
    chain = prune.PruningContainer()
    chain.add_pruning_method(None)
    log(len(chain), chain[0])
    other = prune.Identity()
    other._tensor_name = "bias"
    log.raises(prune.PruningContainer().add_pruning_method, "a")
    named = prune.Identity()
    named._tensor_name = "weight"
    chain = prune.PruningContainer(named)
    log.refuses(chain.add_pruning_method, other)
    log(len(chain))
    for amount in (0, 0.0, 1.0, 12, 13, 1.0001):
        for method in (prune.L1Unstructured, prune.RandomUnstructured):
            log.raises(lambda method=method, amount=amount:
                       method(amount).prune(torch.arange(12.0)).count_nonzero().item())


# ------------------------------------------------------------------ layers in one


def settled(torch, module):
    """A module in evaluation, whose numbers are all different."""
    for place, tensor in enumerate((*module.parameters(), *module.buffers())):
        if tensor.is_floating_point():
            tensor.data = (torch.arange(tensor.numel(), dtype=tensor.dtype).view(tensor.shape)
                           .add(1 + place).div(7))
    return module.eval()


@behaviour
def fused_layers_of_every_kind(torch, log):
    U, nn = torch.nn.utils, torch.nn
    for bias in (True, False):
        for layer, norm, transpose in (
                (nn.Conv1d(2, 3, 2, bias=bias), nn.BatchNorm1d(3), False),
                (nn.Conv2d(2, 3, (2, 1), bias=bias), nn.BatchNorm2d(3), False),
                (nn.Conv3d(2, 3, 2, bias=bias), nn.BatchNorm3d(3), False),
                (nn.ConvTranspose2d(2, 3, 2, bias=bias), nn.BatchNorm2d(3), True)):
            log_state(log, U.fuse_conv_bn_eval(settled(torch, layer), settled(torch, norm),
                                               transpose))
        dense = settled(torch, nn.Linear(2, 3, bias=bias))
        log_state(log, U.fuse_linear_bn_eval(dense, settled(torch, nn.BatchNorm1d(3))))
    one = settled(torch, nn.BatchNorm1d(1))
    log_state(log, U.fuse_linear_bn_eval(settled(torch, nn.Linear(2, 3)), one))
    weights = torch.arange(24.0).view(2, 3, 4)
    parts = [torch.arange(1.0, 4.0)] * 4
    log.raises(U.fuse_linear_bn_weights, weights[0].T[:3], None, *parts[:2], 0.5, *parts[2:])


@behaviour
def layers_that_are_not_fused(torch, log):
    U, nn = torch.nn.utils, torch.nn
    for layer_trains in (False, True):
        for norm_trains in (False, True):
            for features in (3, 4, 1):
                layer, norm = nn.Linear(2, 3), nn.BatchNorm1d(features)
                layer.train(layer_trains)
                norm.train(norm_trains)
                log.raises(lambda layer=layer, norm=norm: type(
                    U.fuse_linear_bn_eval(layer, norm)).__name__)
            conv = nn.Conv1d(2, 3, 1).train(layer_trains)
            norm = nn.BatchNorm1d(3).train(norm_trains)
            log.raises(lambda layer=conv, norm=norm: type(
                U.fuse_conv_bn_eval(layer, norm)).__name__)
    for gone in ("running_mean", "running_var"):
        norm = nn.BatchNorm1d(3).eval()
        setattr(norm, gone, None)
        log.raises(U.fuse_conv_bn_eval, nn.Conv1d(2, 3, 1).eval(), norm)


# ------------------------------------------------------------------ gradients and skipped values


@behaviour
def norms_of_gradients_that_are_not_finite(torch, log):
    U = torch.nn.utils
    for value in (1.0, float("inf"), float("nan")):
        for strict in (False, True):
            for norm_type in (2.0, 1.0, float("inf"), 0.5):
                module = linear(torch)
                for parameter in module.parameters():
                    parameter.grad = torch.full_like(parameter, value)
                if value != float("inf"):
                    log.raises(U.clip_grad_norm_, module.parameters(), 1.5, norm_type, strict)
                log.raises(U.get_total_norm, [p.grad for p in module.parameters()], norm_type,
                           strict)
                log.values(module.weight.grad)


@behaviour
def modules_made_without_values(torch, log):
    skip = torch.nn.utils.skip_init
    torch.manual_seed(1)
    made = skip(torch.nn.Linear, 3, 4, dtype=torch.float64)
    log(type(made).__name__, made.weight.dtype, made.weight.device, tuple(made.weight.shape))
    log.values(torch.rand(1))
    log.raises(skip, list)
    log.raises(skip, torch.nn.ReLU)


@behaviour_of_each([1, 2, 3])
def gradients_of_convolutions(torch, log, dims):
    grad = importlib.import_module(f"{torch.__name__}.nn.grad")
    for options in ({}, {"stride": 2}, {"padding": 1}, {"dilation": 2}, {"groups": 2},
                    {"stride": 2, "padding": 2, "dilation": 2, "groups": 2}):
        torch.manual_seed(2)
        input = torch.randn(2, 4, *[7] * dims, dtype=torch.float64, requires_grad=True)
        groups = options.get("groups", 1)
        weight = torch.randn(6, 4 // groups, *[3] * dims, dtype=torch.float64, requires_grad=True)
        out = getattr(torch.nn.functional, f"conv{dims}d")(input, weight, **options)
        upstream = torch.randn(out.shape, dtype=torch.float64)
        log.values(getattr(grad, f"conv{dims}d_input")(input.shape, weight, upstream, **options)
                   .detach())
        log.values(getattr(grad, f"conv{dims}d_weight")(input, weight.shape, upstream, **options)
                   .detach())
