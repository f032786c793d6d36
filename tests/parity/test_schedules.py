"""Schedules of learning rates with every option: course, state, and what they refuse."""

from __future__ import annotations

import math

from parity.harness import behaviour, behaviour_of_each


class Half:
    """A function of the epoch that has a state."""

    def __init__(self, floor=0.1):
        self.floor = floor

    def __call__(self, epoch):
        return max(0.5 ** epoch, self.floor)


def linearly(s, o, **options):
    return s.OneCycleLR(o, **{"max_lr": 0.4, "total_steps": 12, "anneal_strategy": "linear",
                              **options})


SCHEDULES = {
    "lambda": lambda s, o, **k: s.LambdaLR(o, [lambda e: 0.9 ** e, Half()], **k),
    "multiplicative": lambda s, o, **k: s.MultiplicativeLR(o, Half(0.3), **k),
    "step": lambda s, o, **k: s.StepLR(o, 3, **k),
    "multi_step": lambda s, o, **k: s.MultiStepLR(o, [5, 2, 2], **k),
    "constant": lambda s, o, **k: s.ConstantLR(o, **k),
    "constant_nothing": lambda s, o, **k: s.ConstantLR(o, factor=0.0, total_iters=40, **k),
    "constant_never": lambda s, o, **k: s.ConstantLR(o, factor=1.0, total_iters=0, **k),
    "linear": lambda s, o, **k: s.LinearLR(o, **k),
    "linear_down": lambda s, o, **k: s.LinearLR(o, 1.0, 0.0, 4, **k),
    "exponential": lambda s, o, **k: s.ExponentialLR(o, gamma=0.7, **k),
    "cosine": lambda s, o, **k: s.CosineAnnealingLR(o, 4, **k),
    "cosine_of_one": lambda s, o, **k: s.CosineAnnealingLR(o, 1, eta_min=0.02, **k),
    "cosine_low": lambda s, o, **k: s.CosineAnnealingLR(o, 4, eta_min=0.03, **k),
    "polynomial": lambda s, o, **k: s.PolynomialLR(o, **k),
    "polynomial_cubed": lambda s, o, **k: s.PolynomialLR(o, 4, 3.0, **k),
    "restarts": lambda s, o, **k: s.CosineAnnealingWarmRestarts(o, 4, **k),
    "restarts_longer": lambda s, o, **k: s.CosineAnnealingWarmRestarts(o, 2, 3, 0.03, **k),
    "restarts_each_time": lambda s, o, **k: s.CosineAnnealingWarmRestarts(o, 1, **k),
    "cyclic": lambda s, o, **k: s.CyclicLR(o, [0.01, 0.02], [0.1, 0.3], 3, **k),
    "cyclic_uneven": lambda s, o, **k: s.CyclicLR(
        o, 0.01, 0.1, 2, 4, base_momentum=[0.5, 0.6], max_momentum=0.95, **k),
    "cyclic_halving": lambda s, o, **k: s.CyclicLR(o, 0.01, 0.1, 2, mode="triangular2", **k),
    "cyclic_decaying": lambda s, o, **k: s.CyclicLR(o, 0.01, 0.1, 2, mode="exp_range", gamma=0.9,
                                                    cycle_momentum=False, **k),
    "cyclic_own": lambda s, o, **k: s.CyclicLR(o, 0.01, 0.1, 2, scale_fn=Half(), **k),
    "cyclic_own_name": lambda s, o, **k: s.CyclicLR(o, 0.01, 0.1, 2, mode="own",
                                                    scale_fn=lambda x: 0.5 ** x, **k),
    "cyclic_own_iterations": lambda s, o, **k: s.CyclicLR(
        o, 0.01, 0.1, 2, scale_fn=lambda x: 0.9 ** x, scale_mode="iterations", **k),
    "one_cycle": lambda s, o, **k: s.OneCycleLR(o, [0.2, 0.4], epochs=3, steps_per_epoch=4, **k),
    "one_cycle_other": lambda s, o, **k: s.OneCycleLR(
        o, 0.4, 12, pct_start=0.5, div_factor=5.0, final_div_factor=10.0, base_momentum=0.6,
        max_momentum=[0.7, 0.8], **k),
    "one_cycle_short": lambda s, o, **k: s.OneCycleLR(o, 0.4, epochs=1, steps_per_epoch=12, **k),
    "one_cycle_epochs": lambda s, o, **k: s.OneCycleLR(o, 0.4, epochs=12, steps_per_epoch=1, **k),
    "one_cycle_linear": lambda s, o, **k: linearly(s, o, cycle_momentum=False, **k),
    "one_cycle_three": lambda s, o, **k: linearly(s, o, three_phase=True, **k),
}
CLOSED = {name: make for name, make in SCHEDULES.items()
          if not name.startswith(("one_cycle", "multiplicative"))}


def optimizer_of(torch, kind, rates=(0.1, 2.0)):
    groups = [{"params": [torch.nn.Parameter(torch.ones(1))], "lr": lr} for lr in rates]
    return torch.optim.SGD(groups, momentum=0.9) if kind == "SGD" else torch.optim.Adam(groups)


def log_rates(log, schedule, optimizer):
    log(list(map(float, schedule.get_last_lr())),
        [(float(g["lr"]), g.get("momentum"), g.get("betas")) for g in optimizer.param_groups],
        getattr(schedule, "last_epoch", None))


def log_state(log, schedule):
    log({key: dict(value) if key == "milestones" else value
         for key, value in sorted(schedule.state_dict().items())})


def follow(log, schedule, optimizer, steps):
    for _ in range(steps):
        log_rates(log, schedule, optimizer)
        optimizer.step()
        schedule.step()


@behaviour_of_each(SCHEDULES)
def the_course_of_a_schedule(torch, log, name):
    for kind in ("SGD", "Adam"):
        optimizer = optimizer_of(torch, kind)
        schedule = SCHEDULES[name](torch.optim.lr_scheduler, optimizer)
        log(schedule.optimizer is optimizer)
        log.warns(schedule.get_lr)
        follow(log, schedule, optimizer, 11)
        log.warns(schedule.get_lr)
        log([sorted(g.keys() - {"decoupled_weight_decay"}) for g in optimizer.param_groups])
        log_state(log, schedule)


@behaviour_of_each(SCHEDULES)
def a_schedule_goes_on_from_an_epoch(torch, log, name):
    lr_scheduler = torch.optim.lr_scheduler
    optimizer = optimizer_of(torch, "SGD")
    schedule = SCHEDULES[name](lr_scheduler, optimizer)
    follow(log, schedule, optimizer, 3)
    other = optimizer_of(torch, "SGD")
    other.load_state_dict(optimizer.state_dict())
    resumed = SCHEDULES[name](lr_scheduler, other, last_epoch=3)
    log.warns(resumed.get_lr)
    follow(log, resumed, other, 5)
    log.raises(SCHEDULES[name], lr_scheduler, optimizer_of(torch, "SGD"), last_epoch=3)
    third = optimizer_of(torch, "SGD")
    restored = SCHEDULES[name](lr_scheduler, third)
    restored.load_state_dict(schedule.state_dict())
    third.load_state_dict(optimizer.state_dict())
    follow(log, restored, third, 3)


@behaviour_of_each(SCHEDULES)
def a_schedule_goes_on_from_its_first_epoch(torch, log, name):
    optimizer = optimizer_of(torch, "SGD")
    SCHEDULES[name](torch.optim.lr_scheduler, optimizer)
    for last in (0, 1):
        resumed = SCHEDULES[name](torch.optim.lr_scheduler, optimizer, last_epoch=last)
        log_rates(log, resumed, optimizer)
        log.warns(resumed.get_lr)
        log_rates(log, resumed, optimizer)


@behaviour_of_each(SCHEDULES)
def a_second_schedule_of_an_optimizer(torch, log, name):
    optimizer = optimizer_of(torch, "SGD")
    first = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    first.step()
    schedule = SCHEDULES[name](torch.optim.lr_scheduler, optimizer)
    log(schedule.base_lrs)
    log_rates(log, schedule, optimizer)
    log.warns(schedule.step)
    log_rates(log, schedule, optimizer)


@behaviour
def steps_count_from_the_first_schedule_on(torch, log):
    optimizer = optimizer_of(torch, "SGD")
    optimizer.step()
    for _ in range(2):
        schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
        log.warns(schedule.step)
        optimizer.step()
        log.warns(schedule.step)


@behaviour
def functions_take_over_their_state(torch, log):
    s = torch.optim.lr_scheduler
    for make in (lambda o, half: s.LambdaLR(o, half), lambda o, half: s.MultiplicativeLR(o, half),
                 lambda o, half: s.CyclicLR(o, 0.01, 0.1, 2, scale_fn=half)):
        optimizer = optimizer_of(torch, "SGD")
        saved = make(optimizer, Half(0.25)).state_dict()
        half = Half(0.75)
        schedule = make(optimizer, half)
        schedule.load_state_dict(saved)
        log(half.floor)
        follow(log, schedule, optimizer, 4)


@behaviour
def the_highest_rate_of_a_cycle_is_exact(torch, log):
    for highest in (0.1, 0.3, 0.7, 1.1, 2.3, 3.9):
        optimizer = optimizer_of(torch, "SGD")
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, highest, 12, pct_start=0.5)
        rates = []
        for _ in range(11):
            optimizer.step()
            schedule.step()
            rates.append(optimizer.param_groups[0]["lr"])
        log(rates.index(highest), rates[-1])


@behaviour
def cycles_of_one_step(torch, log):
    for options in ({"total_steps": 1}, {"epochs": 1, "steps_per_epoch": 1}):
        optimizer = optimizer_of(torch, "SGD")
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.4, **options)
        log_rates(log, schedule, optimizer)
        log_state(log, schedule)


@behaviour
def restarts_from_long_before_the_first_epoch(torch, log):
    optimizer = optimizer_of(torch, "SGD")
    torch.optim.lr_scheduler.StepLR(optimizer, 2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 4, last_epoch=-3)
    follow(log, schedule, optimizer, 3)


@behaviour_of_each(CLOSED)
def a_schedule_is_sent_to_an_epoch(torch, log, name):
    optimizer = optimizer_of(torch, "SGD")
    schedule = SCHEDULES[name](torch.optim.lr_scheduler, optimizer)
    optimizer.step()
    for epoch in (3, 1, 0, 8, 2, 4, 5, 6):
        log.warns(schedule.step, epoch)
        log_rates(log, schedule, optimizer)
    schedule.step()
    log_rates(log, schedule, optimizer)


@behaviour
def restarts_are_sent_to_parts_of_epochs(torch, log):
    for name in ("restarts", "restarts_longer"):
        optimizer = optimizer_of(torch, "SGD")
        schedule = SCHEDULES[name](torch.optim.lr_scheduler, optimizer)
        optimizer.step()
        for epoch in (0.5, 1.25, 2.0, 3.9, 8.5, 7, None, None, 31.5):
            schedule.step(epoch)
            log_rates(log, schedule, optimizer)
            log(schedule.T_cur, schedule.T_i)


@behaviour_of_each(SCHEDULES)
def a_schedule_of_rates_that_are_tensors(torch, log, name):
    rates = [torch.tensor(lr, dtype=torch.float64) for lr in (0.1, 2.0)]
    optimizer = torch.optim.SGD([{"params": [torch.nn.Parameter(torch.ones(1))], "lr": lr}
                                 for lr in rates], momentum=0.9)
    schedule = SCHEDULES[name](torch.optim.lr_scheduler, optimizer)
    follow(log, schedule, optimizer, 7)
    log([group["lr"] is lr for group, lr in zip(optimizer.param_groups, rates)])


def steps_to(torch, log, make, steps=9):
    optimizer = optimizer_of(torch, "SGD")
    schedule = make(torch.optim.lr_scheduler, optimizer)
    log(schedule.optimizer is optimizer)
    follow(log, schedule, optimizer, steps)
    state = schedule.state_dict()
    log(sorted(state), [sorted(s) for s in state["_schedulers"]])
    fresh = make(torch.optim.lr_scheduler, optimizer)
    fresh.load_state_dict(state)
    log([s.last_epoch for s in fresh._schedulers], fresh.get_last_lr())
    follow(log, fresh, optimizer, 3)


@behaviour
def schedules_of_schedules(torch, log):
    def in_turn(s, o):
        return s.SequentialLR(o, [s.ConstantLR(o, 0.1, 2), s.LinearLR(o, total_iters=3),
                                  s.CosineAnnealingWarmRestarts(o, 3)], [3, 6])

    def together(s, o):
        return s.ChainedScheduler([s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.9)], optimizer=o)

    def nested(s, o):
        return s.SequentialLR(o, [s.ConstantLR(o, 0.1, 2), s.ChainedScheduler(
            [s.StepLR(o, 2), s.ExponentialLR(o, 0.9)]), s.LinearLR(o)], [0, 4])

    steps_to(torch, log, in_turn)
    optimizer = optimizer_of(torch, "SGD")
    follow(log, nested(torch.optim.lr_scheduler, optimizer), optimizer, 9)
    steps_to(torch, log, lambda s, o: s.SequentialLR(o, [s.StepLR(o, 2), s.LinearLR(o)], [0]))
    steps_to(torch, log, lambda s, o: s.SequentialLR(o, [s.StepLR(o, 2), s.LinearLR(o)], [1]))
    steps_to(torch, log, together)
    for milestones in ([2, 4, 6], [1, 2, 3], [2, 2, 5], [0, 3, 5]):
        optimizer = optimizer_of(torch, "SGD")
        s = torch.optim.lr_scheduler
        follow(log, s.SequentialLR(optimizer, [
            s.ExponentialLR(optimizer, 0.5), s.LinearLR(optimizer), s.StepLR(optimizer, 1, 0.7),
            s.ConstantLR(optimizer, 0.2, 2)], milestones), optimizer, 9)
    steps_to(torch, log, lambda s, o: s.SequentialLR(o, [s.ExponentialLR(o, 0.5)], []))
    steps_to(torch, log, lambda s, o: s.ChainedScheduler([s.ExponentialLR(o, 0.5)]))
    s, one, other = torch.optim.lr_scheduler, optimizer_of(torch, "SGD"), optimizer_of(torch, "SGD")
    a, b = s.StepLR(one, 2), s.StepLR(other, 2)
    log.raises(s.SequentialLR, one, [], [])
    log.raises(s.SequentialLR, one, [a, a], [])
    log.raises(s.SequentialLR, one, [a, b], [2])
    log.raises(s.SequentialLR, one, [a, s.ReduceLROnPlateau(one)], [2])
    log.raises(s.SequentialLR, one, [a, None], [2])
    log.raises(s.ChainedScheduler, [])
    log.raises(s.ChainedScheduler, [a, b])
    log.raises(s.ChainedScheduler, [a, s.ReduceLROnPlateau(one)])


@behaviour
def rates_of_averaged_weights(torch, log):
    SWALR = torch.optim.swa_utils.SWALR
    for options in ({"swa_lr": 0.05}, {"swa_lr": [0.05, 0.5], "anneal_epochs": 4},
                    {"swa_lr": 0.05, "anneal_strategy": "linear", "anneal_epochs": 3},
                    {"swa_lr": 0.05, "anneal_epochs": 0}, {"swa_lr": 0.05, "anneal_epochs": 1}):
        optimizer = optimizer_of(torch, "SGD")
        schedule = SWALR(optimizer, **options)
        follow(log, schedule, optimizer, 7)
        log.warns(schedule.get_lr)
        log([group["swa_lr"] for group in optimizer.param_groups])
    for wrong in ({"swa_lr": [0.1]}, {"swa_lr": 0.1, "anneal_strategy": "odd"},
                  {"swa_lr": 0.1, "anneal_epochs": -1}, {"swa_lr": 0.1, "anneal_epochs": 1.5}):
        log.raises(SWALR, optimizer_of(torch, "SGD"), **wrong)


METRICS = [1.0, 0.9, 0.9, 0.8999, 0.89991, 0.95, 0.7, 0.8, 0.8, 0.8, 0.7, 0.7, 0.7, 0.6999]
PLATEAUS = {
    "plain": {"patience": 1}, "at_once": {"patience": 0}, "least": {"patience": 0, "min_lr": 0.05},
    "least_of_each": {"patience": 0, "min_lr": [0.02, 1.0]}, "rest": {"patience": 0, "cooldown": 2},
    "absolutely": {"patience": 0, "threshold_mode": "abs", "threshold": 0.1},
    "coarse": {"patience": 1, "threshold": 0.2}, "eps": {"patience": 0, "eps": 0.05},
    "exactly": {"patience": 0, "threshold": 0.0}, "default": {},
}


@behaviour_of_each(PLATEAUS)
def plateaus(torch, log, name):
    for mode in ("min", "max"):
        for sign in (1, -1):
            optimizer = optimizer_of(torch, "SGD")
            schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(
                optimizer, mode, factor=0.5, **PLATEAUS[name])
            log(schedule.best, schedule.num_bad_epochs, schedule.in_cooldown,
                schedule.cooldown_counter, schedule.last_epoch, schedule.default_min_lr,
                schedule.get_last_lr())
            for metric in (math.nan, *METRICS):
                schedule.step(torch.tensor(metric * sign, dtype=torch.float64))
                log_rates(log, schedule, optimizer)
                log(schedule.best, schedule.num_bad_epochs, schedule.in_cooldown,
                    schedule.cooldown_counter)
            log.warns(schedule.step, 0.1, 4)
            log_rates(log, schedule, optimizer)
            fresh = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
            fresh.load_state_dict(schedule.state_dict())
            log(fresh.best, fresh.num_bad_epochs, fresh.mode, fresh.factor, fresh.last_epoch)


REFUSED = {
    "StepLR": [(3, 1)], "LambdaLR": [(None, [abs])],
    "ConstantLR": [(None, 1.1), (None, -0.1)],
    "LinearLR": [(None, 1.1), (None, 0.0), (None, 0.5, 1.1), (None, 0.5, -0.1)],
    "CosineAnnealingWarmRestarts": [(None, 0), (None, 1.5), (None, 2, 0), (None, 2, 1.5),
                                    (None, 2, 2, "a")],
    "CyclicLR": [(3, 0.1, 0.2), (None, [0.1], 0.2), (None, 0.1, [0.2]),
                 (None, 0.1, 0.2, 3, None, "odd")],
    "OneCycleLR": [(3, 0.1, 5), (None, 0.1), (None, 0.1, 0), (None, 0.1, 2.5), (None, 0.1, -1),
                   (None, 0.1, None, 3), (None, 0.1, None, 0, 3), (None, 0.1, None, 3, 0),
                   (None, 0.1, None, 3, 1.5), (None, 0.1, 5, None, None, 1.5),
                   (None, 0.1, 5, None, None, -0.1), (None, 0.1, 5, None, None, 1),
                   (None, 0.1, 5, None, None, 0.3, "odd"), (None, [0.1], 5)],
    "ReduceLROnPlateau": [(3,), (None, "odd"), (None, "min", 1.0), (None, "min", 0.5, 1, 0.1, "x"),
                          (None, "min", 0.5, 1, 0.1, "rel", 0, [0.1])],
}


@behaviour_of_each(REFUSED)
def what_schedules_refuse(torch, log, name):
    make = getattr(torch.optim.lr_scheduler, name)
    for first, *rest in REFUSED[name]:
        log.raises(make, optimizer_of(torch, "SGD") if first is None else first, *rest)
    plain = torch.optim.Rprop([torch.nn.Parameter(torch.ones(1))])
    if name in ("CyclicLR", "OneCycleLR"):
        log.raises(make, plain, 0.1, total_steps=3) if name == "OneCycleLR" else \
            log.raises(make, plain, 0.1, 0.2)
    if name == "CosineAnnealingWarmRestarts":
        log.raises(make(optimizer_of(torch, "SGD"), 2).step, -1)
    if name == "OneCycleLR":
        optimizer = optimizer_of(torch, "SGD")
        schedule = make(optimizer, 0.1, 2)
        follow(log, schedule, optimizer, 2)
        log.raises(schedule.step)
