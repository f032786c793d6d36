"""Optimizers at the limits of their arguments, with sparse gradients, and tensors as rates."""

from __future__ import annotations

import importlib
import inspect
import warnings

import torch as oracle

from parity.harness import behaviour, behaviour_of_each

KINDS = ("SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop", "Adagrad",
         "Adadelta", "ASGD", "Adafactor", "SparseAdam", "LBFGS", "Muon")
VALUES = {
    "lr": (0.0, -1e-9, 0, 0.3, 2.0), "weight_decay": (0.0, -1e-9, 0.1), "eps": (0.0, -1e-9, 0.5),
    "betas": ((0.0, 0.0), (1.0, 0.9), (0.9, 1.0), (-0.1, 0.9), (0.9, -0.1), (0.5, 0.25)),
    "momentum": (0.0, -1e-9, 1.0, 0.5), "alpha": (0.0, -1e-9, 0.5),
    "rho": (0.0, 1.0, -1e-9, 1.1, 0.5), "lr_decay": (0.0, -1e-9, 0.5),
    "initial_accumulator_value": (0.0, -1e-9, 0.5), "momentum_decay": (0.0, -1e-9, 0.1),
    "etas": ((0.5, 1.2), (0.0, 1.2), (1.0, 1.2), (0.5, 1.0), (0.9, 3.0)),
    "step_sizes": ((1e-6, 50), (0.2, 0.3)), "beta2_decay": (0.0, 1e-9, -0.5),
    "d": (1.0, 0.999, 2.0), "lambd": (0.0, 0.5), "t0": (0.0, 1.0), "dampening": (0.0, 0.5),
    "nesterov": (True, False), "centered": (True,), "amsgrad": (True,), "maximize": (True,),
    "foreach": (True, False), "history_size": (1,), "max_iter": (1, 3), "ns_steps": (0, 1, 99, 100),
    "tolerance_grad": (0.0, 1e3), "tolerance_change": (0.0, 1e3), "max_eval": (1, 2),
    "line_search_fn": ("strong_wolfe", "other"), "decoupled_weight_decay": (True,),
    "adjust_lr_fn": ("original", "match_rms_adamw", "other"), "differentiable": (True,),
    "ns_coefficients": ((1.0, 0.5, 0.1), (1.0, 0.5))}
ADAFACTOR_EPS = ((None, 0.0), (0.0, 1e-3), (-1e-9, 1e-3), (None, -1e-9), (0.5, 1e-3), (0.1, 0.5))


def cases():
    found = {}
    for kind in KINDS:
        taken = inspect.signature(getattr(oracle.optim, kind)).parameters
        for option in VALUES.keys() & taken.keys():
            values = ADAFACTOR_EPS if (kind, option) == ("Adafactor", "eps") else VALUES[option]
            for value in values:
                found[f"{kind} {option}={value}"] = (kind, {option: value})
    found["SGD nesterov"] = ("SGD", {"nesterov": True, "momentum": 0.5})
    found["SGD dampened nesterov"] = ("SGD", {"nesterov": True, "momentum": 0.5, "dampening": 0.1})
    found["SGD undriven nesterov"] = ("SGD", {"nesterov": True, "momentum": 0.0})
    found["RMSprop all"] = ("RMSprop", {"centered": True, "momentum": 0.5, "weight_decay": 0.1})
    found["Adafactor fast"] = ("Adafactor", {"lr": 1.5, "d": 3.0, "weight_decay": 0.1})
    return dict(sorted(found.items()))


CASES = cases()


def moved(torch, log, kind, options, steps=4):
    parameter = torch.nn.Parameter(torch.tensor([[1.0, 2.0, 0.5], [3.0, -4.0, 0.25]]))
    optimizer = getattr(torch.optim, kind)([parameter], **options)
    log({name: value for name, value in optimizer.param_groups[0].items() if name != "params"})
    for step in range(steps):
        def closure():
            optimizer.zero_grad()
            loss = ((parameter - torch.tensor([0.5, 0.0, 0.25])) ** 2).sum()
            loss.backward()
            return loss

        if kind == "LBFGS":
            log.values(optimizer.step(closure).detach())
            continue
        parameter.grad = torch.tensor([[0.01, -0.2, 0.3], [0.0, 0.5, 1e-4]]) * (step - 1.5)
        if kind == "SparseAdam":
            parameter.grad = parameter.grad.to_sparse()
        optimizer.step()
        log.values(parameter.detach())


@behaviour_of_each(CASES)
def arguments(torch, log, name):
    try:
        moved(torch, log, *CASES[name])
    except Exception as error:
        log(type(error).__name__, str(error))


SPARSE = {
    "Adagrad": ({}, {"lr": 0.5, "lr_decay": 0.3}, {"eps": 0.5}, {"initial_accumulator_value": 2.0},
                {"maximize": True}, {"weight_decay": 0.1}, {"lr": 0.5, "foreach": False}),
    "SparseAdam": ({}, {"lr": 0.5}, {"betas": (0.5, 0.25)}, {"eps": 0.5}, {"maximize": True}),
    "SGD": ({"lr": 0.5}, {"lr": 0.5, "maximize": True}, {"lr": 0.5, "foreach": False}),
    "Adam": ({},), "RMSprop": ({},)}


@behaviour_of_each({f"{kind} {options}": (kind, options) for kind, many in SPARSE.items()
                    for options in many})
def sparse_gradients(torch, log, name):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse invariant checks")
        moved_by_sparse_gradients(torch, log, *name.split(" ", 1))


def moved_by_sparse_gradients(torch, log, kind, options):
    parameter = torch.nn.Parameter(torch.arange(1.0, 9).reshape(4, 2))
    other = torch.nn.Parameter(torch.ones(3))
    optimizer = getattr(torch.optim, kind)([parameter, other], **eval(options))
    for step, rows in enumerate(([0, 2, 0], [1], [], [3, 3, 3], [2, 0, 1])):
        values = torch.arange(1.0, 1 + 2 * len(rows)).reshape(len(rows), 2) * (1 - 0.7 * step)
        parameter.grad = torch.sparse_coo_tensor(torch.tensor([rows], dtype=torch.int64), values,
                                                 (4, 2), check_invariants=True)
        log.raises(optimizer.step)
        log.values(parameter.detach(), other.detach())
        if kind not in ("SparseAdam", "Adagrad"):
            continue
        for key, value in sorted(optimizer.state[parameter].items()):
            log(key, float(value) if key == "step" else value.tolist())


@behaviour
def single_elements_of_sparse_gradients(torch, log):
    warnings.filterwarnings("ignore", "Sparse invariant checks")
    for kind in ("Adagrad", "SparseAdam", "SGD"):
        parameter = torch.nn.Parameter(torch.ones(2, 3))
        optimizer = getattr(torch.optim, kind)([parameter], lr=0.5)
        for step in range(3):
            parameter.grad = torch.sparse_coo_tensor(
                torch.tensor([[0, 1, 0], [2, step, 2]]), torch.tensor([1.0, -2.0, 3.0]), (2, 3),
                check_invariants=True)
            optimizer.step()
            log.values(parameter.detach())


@behaviour
def what_sparse_adam_refuses(torch, log):
    dense, sparse = torch.nn.Parameter(torch.ones(2, 2)), torch.nn.Parameter(torch.ones(2, 2))
    for given in ((dense, sparse), (sparse, dense)):
        optimizer = torch.optim.SparseAdam(given, lr=0.5)
        dense.grad = torch.ones(2, 2)
        sparse.grad = torch.eye(2).to_sparse()
        log.raises(optimizer.step)
        dense.grad = None
        if given[0] is sparse:  # which PyTorch has counted a step for
            continue
        optimizer.step()
        log.values(dense.detach(), sparse.detach())
        log(optimizer.step(lambda: 3))
    eye = torch.eye(2).to_sparse()
    for given in ([eye], [dense, eye], [{"params": [dense]}, {"params": [eye, dense]}]):
        log.raises(torch.optim.SparseAdam, given)


RATES = {f"{kind} lr={lr} betas={betas} foreach={foreach} capturable={capturable}":
         (kind, lr, betas, foreach, capturable)
         for kind in ("Adam", "AdamW") for lr in ("number", "tensor")
         for betas in ("numbers", "tensors", "first", "second") for foreach in (None, True, False)
         for capturable in (False, True)}


@behaviour_of_each(RATES)
def rates_that_are_tensors(torch, log, name):
    kind, lr, betas, foreach, capturable = RATES[name]
    given = {"lr": torch.tensor(0.1) if lr == "tensor" else 0.1, "betas": (
        torch.tensor(0.5) if betas in ("tensors", "first") else 0.5,
        torch.tensor(0.25) if betas in ("tensors", "second") else 0.25)}
    parameter = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    try:
        optimizer = getattr(torch.optim, kind)([parameter], foreach=foreach, weight_decay=0.1,
                                               capturable=capturable, **given)
    except ValueError as error:
        log(type(error).__name__, str(error))
        return
    for step in range(0 if capturable else 3):
        parameter.grad = torch.tensor([0.5, -1.0]) * (step + 1)
        optimizer.step()
        log.values(parameter.detach())


@behaviour_of_each(["Adam", "AdamW"])
def rates_that_are_negative_tensors(torch, log, kind):
    parameter = torch.nn.Parameter(torch.ones(2))
    for lr in (torch.tensor(-0.1), torch.tensor(0.0), torch.tensor([0.1, 0.2]), -0.1,
               torch.tensor([0.1])):
        log.raises(lambda lr=lr: float(getattr(torch.optim, kind)([parameter], lr=lr)
                                       .param_groups[0]["lr"]))
    for betas in ((torch.tensor(1.0), torch.tensor(0.5)), (torch.tensor(0.5), torch.tensor(1.0))):
        log.raises(getattr(torch.optim, kind), [parameter], betas=betas)


@behaviour_of_each([f"{kind} {amsgrad} {wanted}" for kind in ("Adam", "AdamW")
                    for amsgrad in (True, False) for wanted in ("lr", "lr betas", "betas")])
def gradients_of_rates(torch, log, name):
    kind, amsgrad, *wanted = name.split()

    def given(name, value):
        return torch.tensor(value, requires_grad=True) if name in wanted else value

    lr, betas = given("lr", 0.1), (given("betas", 0.5), given("betas", 0.25))
    start = torch.tensor([1.0, 2.0], requires_grad=True)
    parameter = start.clone()
    try:
        optimizer = getattr(torch.optim, kind)([parameter], lr=lr, betas=betas, weight_decay=0.1,
                                               amsgrad=amsgrad == "True", differentiable=True)
        for step in range(3):
            parameter.grad = start * (2 - step) ** 2 + 0.5
            optimizer.step()
            log.values(parameter.detach())
        (parameter * parameter).sum().backward()
        log.values(*(t.grad for t in (start, lr, *betas) if isinstance(t, torch.Tensor)))
    except RuntimeError as error:
        log(str(error).split(":")[0])


@behaviour
def which_tensors_can_be_optimized(torch, log):
    leaf = torch.ones(2, requires_grad=True)
    other, kept = leaf * 2, leaf * 3
    kept.retain_grad()
    for given in ([leaf], [other], [kept], [leaf, other], [kept, leaf], [torch.ones(2)]):
        log.raises(lambda given=given: len(torch.optim.SGD(given, 0.1).param_groups))
    log.raises(lambda: len(torch.optim.Adam([other], differentiable=True).param_groups))


@behaviour
def options_that_are_required(torch, log):
    required = importlib.import_module(f"{torch.__name__}.optim.optimizer").required
    weights = [torch.nn.Parameter(torch.ones(1)) for _ in range(4)]
    log.raises(lambda: torch.optim.Optimizer([weights[0]], {"rate": required, "other": 2}))
    made = torch.optim.Optimizer([{"params": weights[0], "rate": 3}],
                                 {"rate": required, "other": 2})
    log([(g["rate"], g["other"]) for g in made.param_groups])
    log.raises(made.add_param_group, {"params": [weights[1]]})
    made.add_param_group({"params": [weights[2]], "rate": 5, "other": 6})
    log([(g["rate"], g["other"]) for g in made.param_groups])


@behaviour
def states_of_other_sizes_are_refused(torch, log):
    def made(*sizes):
        return torch.optim.SGD([{"params": [torch.nn.Parameter(torch.ones(1)) for _ in range(n)]}
                                for n in sizes], 0.1)

    for ours, theirs in (((1,), (1, 1)), ((1, 1), (1,)), ((1, 2), (1, 1)), ((2, 1), (1, 1)),
                         ((2, 2), (1, 1)), ((1, 2), (2, 1)), ((1, 2), (1, 2))):
        log.raises(made(*ours).load_state_dict, made(*theirs).state_dict())


@behaviour
def states_of_every_kind_are_loaded(torch, log):
    parameter = torch.nn.Parameter(torch.ones(2, dtype=torch.float64))
    optimizer = torch.optim.SGD([parameter], 0.1)
    state = optimizer.state_dict()
    state["state"] = {0: {
        "list": [torch.ones(1), 2], "tuple": (torch.ones(1), 5),
        "dict": {"inner": torch.ones(1), "deep": [torch.zeros(1)]}, "set": {3}, "number": 4,
        "none": None, "step": torch.ones(1), "half": torch.ones(1, dtype=torch.float16),
        "whole": torch.ones(1, dtype=torch.int64)}}
    optimizer.load_state_dict(state)
    for key, value in optimizer.state[parameter].items():
        log(key, value)


@behaviour_of_each(["cos", "linear"])
def rates_annealed_to_an_averages(torch, log, strategy):
    for epochs in (0, 1, 3):
        weights = [torch.nn.Parameter(torch.ones(1)) for _ in range(2)]
        optimizer = torch.optim.SGD([{"params": [weights[0]], "lr": 0.5},
                                     {"params": [weights[1]]}], 0.1)
        schedule = torch.optim.swa_utils.SWALR(optimizer, [0.05, 0.2], epochs, strategy)
        for _ in range(7):
            optimizer.step()
            schedule.step()
            log([g["lr"] for g in optimizer.param_groups], schedule.get_last_lr())


@behaviour_of_each([False, True])
def averages_of_tensors_of_every_kind(torch, log, use_buffers):
    class Kinds(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.real = torch.nn.Parameter(torch.ones(2))
            self.complex = torch.nn.Parameter(torch.ones(2, dtype=torch.complex64))
            self.narrow = torch.nn.Parameter(torch.ones(2, dtype=torch.float16))
            if not use_buffers:  # PyTorch cannot average them together with others
                self.register_buffer("whole", torch.ones(2, dtype=torch.int64))
            self.register_buffer("mean", torch.ones(2))

    for average in (None, torch.optim.swa_utils.get_ema_multi_avg_fn(0.5),
                    torch.optim.swa_utils.get_swa_multi_avg_fn()):
        model = Kinds()
        averaged = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=average,
                                                       use_buffers=use_buffers)
        for step in range(3):
            with torch.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for t in (*model.parameters(), *model.buffers()):
                    t += step + 1
            log.raises(averaged.update_parameters, model)
            log.values(*(t.detach() for t in averaged.module.state_dict().values()),
                       averaged.n_averaged)


STEPS = {"number": lambda torch: torch.tensor(3.0), "one": lambda torch: torch.tensor([3.0]),
         "wide": lambda torch: torch.tensor(3.0, dtype=torch.float64),
         "narrow": lambda torch: torch.tensor(3.0, dtype=torch.float16),
         "matrix": lambda torch: torch.tensor([[3.0]])}


@behaviour_of_each(STEPS)
def counts_of_steps_in_every_form(torch, log, name):
    for kind in ("Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Adadelta", "ASGD",
                 "Rprop"):
        for same in (True, False):
            weights = [torch.nn.Parameter(torch.tensor([1.0, 2.0])) for _ in range(3)]
            optimizer = getattr(torch.optim, kind)(weights, lr=0.1)
            for turn in range(4):
                for weight in weights:
                    weight.grad = weight.detach() - turn
                optimizer.step()
                for weight in weights if turn == 0 and same else weights[:1] if turn == 0 else ():
                    optimizer.state[weight]["step"] = STEPS[name](torch)
            log.values(*(weight.detach() for weight in weights))
            counts = [optimizer.state[weight]["step"] for weight in weights]
            log([(float(count), tuple(count.shape), str(count.dtype)) for count in counts])
