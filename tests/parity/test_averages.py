"""Averages of weights with every function and option, and the statistics that go with them."""

from __future__ import annotations

from parity.harness import behaviour, behaviour_of_each

KINDS = {
    "default": lambda swa: {}, "swa": lambda swa: {"avg_fn": swa.get_swa_avg_fn()},
    "swa together": lambda swa: {"multi_avg_fn": swa.get_swa_multi_avg_fn()},
    "ema": lambda swa: {"avg_fn": swa.get_ema_avg_fn(0.75)},
    "ema together": lambda swa: {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.75)},
    "ema of the first": lambda swa: {"multi_avg_fn": swa.get_ema_multi_avg_fn(1.0)},
    "ema of the last": lambda swa: {"avg_fn": swa.get_ema_avg_fn(0.0)},
    "own": lambda swa: {"avg_fn": lambda mean, new, count: mean + new * (count + 1)},
}

REFUSED = {("swa together", True)}
"""PyTorch does not divide whole numbers by tensors of them: see the last program."""


def values(torch, log, module):
    for name, value in module.state_dict().items():
        log(name, str(value.dtype).removeprefix("torch."))
        log.values(value)


def layers(torch):
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3),
                                torch.nn.BatchNorm1d(3, momentum=None), torch.nn.Dropout(0.0))
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):
            parameter.copy_(torch.arange(parameter.numel()).reshape(parameter.shape) * 0.3 + number)
    return model


@behaviour_of_each([(f"{kind}, {buffers}", kind, buffers) for kind in KINDS
                    for buffers in (False, True) if (kind, buffers) not in REFUSED])
def averaged_models(torch, log, _, kind, buffers):
    swa, model = torch.optim.swa_utils, layers(torch)
    averaged = swa.AveragedModel(model, use_buffers=buffers, **KINDS[kind](swa))
    values(torch, log, averaged)
    for step in range(4):
        model(torch.arange(8.0).reshape(4, 2) + step)
        averaged.update_parameters(model)
        values(torch, log, averaged)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(1.5)
    log.values(averaged.eval()(torch.ones(2, 2)))
    twin = swa.AveragedModel(layers(torch), use_buffers=buffers)
    log(twin.load_state_dict(averaged.state_dict()), twin.n_averaged)


@behaviour_of_each([key for key in KINDS if key not in ("default", "own")])
def averages_of_every_dtype(torch, log, kind):
    (name, function), = KINDS[kind](torch.optim.swa_utils).items()
    for dtype in (torch.float32, torch.float64, torch.complex64, torch.int64):
        for count in (0, 3, torch.tensor(2)):
            mean, new = (torch.tensor(v).to(dtype) for v in ([1.0, 7.0, -9.0], [4.0, -3.0, 2.0]))
            if dtype is torch.int64 and (kind, True) in REFUSED:
                continue
            if name == "multi_avg_fn":
                log(function([mean], [new], count))
                log.values(mean)
            elif dtype is not torch.int64:
                log.values(function(mean, new, count))


@behaviour
def averages_that_are_refused(torch, log):
    swa = torch.optim.swa_utils
    for make in (swa.get_ema_avg_fn, swa.get_ema_multi_avg_fn):
        for decay in (-0.1, 1.1):
            log.raises(make, decay)
    log.raises(swa.AveragedModel, layers(torch), avg_fn=swa.get_swa_avg_fn(),
               multi_avg_fn=swa.get_swa_multi_avg_fn())


@behaviour_of_each(["tensors", "lists", "pairs", "nothing"])
def statistics_are_found_anew(torch, log, kind):
    batches = [torch.arange(8.0).reshape(4, 2) * n for n in (1, 2, 5)]
    given = {"tensors": batches, "lists": [[b] for b in batches], "nothing": [],
             "pairs": [(b, torch.ones(4)) for b in batches]}[kind]
    for training in (True, False):
        model = layers(torch).train(training)
        model(batches[0] + 3)
        torch.optim.swa_utils.update_bn(given, model)
        values(torch, log, model)
        log([m.training for m in model], [m.momentum for m in model[1:3]])
    plain = torch.nn.Linear(2, 2)
    log(torch.optim.swa_utils.update_bn(iter(given), plain), plain.training)


@behaviour
def means_of_whole_numbers_taken_together(torch, log):
    average = torch.optim.swa_utils.get_swa_multi_avg_fn()
    mean = torch.tensor([1, 7, -9])
    try:
        average([mean], [torch.tensor([4, -3, 2])], torch.tensor(2))
        found = mean.tolist()
    except RuntimeError:
        found = "refused"
    log.differs(found, torch="refused", retrograd=[2, 3, -6])


@behaviour
def averages_on_a_device(torch, log):
    for device in ("cpu", "meta"):
        averaged = torch.optim.swa_utils.AveragedModel(torch.nn.Linear(2, 2), device=device)
        log([(name, p.device.type) for name, p in averaged.named_parameters()],
            averaged.n_averaged.device.type)


@behaviour
def the_state_of_a_schedule_for_averages(torch, log):
    for strategy in ("cos", "linear"):
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
        schedule = torch.optim.swa_utils.SWALR(optimizer, 0.1, 4, strategy)
        optimizer.step()
        schedule.step()
        log(schedule.state_dict()["last_epoch"], "optimizer" in schedule.state_dict(),
            any(callable(value) for value in schedule.state_dict().values()))
        other = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
        resumed = torch.optim.swa_utils.SWALR(other, 0.1, 4, strategy)
        resumed.load_state_dict(schedule.state_dict())
        other.param_groups[0]["lr"] = optimizer.param_groups[0]["lr"]
        for _ in range(5):
            other.step()
            resumed.step()
            log(other.param_groups[0]["lr"])
