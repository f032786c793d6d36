"""Objects beside tensors: generators, storages, scalers of gradients, Gaussians of vectors."""

from __future__ import annotations

import copy
import pickle
import warnings

from parity.harness import behaviour, behaviour_of_each


@behaviour
def generators_that_are_copied(torch, log):
    first = torch.Generator().manual_seed(5)
    torch.rand(3, generator=first)
    twin = first.clone_state()
    log(torch.rand(2, generator=first), torch.rand(2, generator=twin), twin.initial_seed())
    log.raises(first.graphsafe_get_state)
    log.raises(first.graphsafe_set_state, twin)
    restored = pickle.loads(pickle.dumps(first))
    log(torch.rand(2, generator=restored), torch.rand(2, generator=first))
    log(first.device, type(first.seed()) is int, first.initial_seed() == first.seed())
    log.raises(first.set_state, [1, 2])
    log.raises(first.set_state, torch.zeros(3, dtype=torch.uint8))


@behaviour
def a_fresh_seed_of_the_whole_process(torch, log):
    state = torch.get_rng_state()
    seed = torch.seed()
    log(torch.initial_seed() == seed, torch.equal(torch.get_rng_state(), state))
    torch.set_rng_state(state)
    with torch.random.fork_rng(enabled=False):
        torch.manual_seed(3)
    log(torch.rand(2), torch.initial_seed())


@behaviour
def storages_as_sequences(torch, log):
    x = torch.arange(4, dtype=torch.int16)
    raw = x.untyped_storage()
    log(list(raw), raw[1], raw.device, raw.nbytes(), raw.element_size(), len(raw))
    log(list(raw.clone()), raw.is_shared(), type(copy.deepcopy(raw)).__name__)
    raw[0] = 9
    log(x)
    raw.share_memory_()
    raw[2] = 7
    log(x, raw.is_shared(), x.is_shared())


@behaviour
def typed_storages_as_sequences(torch, log):
    x = torch.arange(4.0)
    with warnings.catch_warnings():  # each library says once in a process that they are deprecated
        warnings.simplefilter("ignore")
        typed = x.storage()
    log(list(typed), typed[1], typed.device, typed.nbytes(), typed.element_size(), len(typed))
    typed[0] = 9.5
    log(x, typed.data_ptr() == x.data_ptr(), typed.is_shared())
    log(typed.share_memory_() is typed, typed.is_shared())


@behaviour
def tensors_of_classes_named_by_dtype(torch, log):
    x = torch.ones(2)
    for make in (torch.FloatTensor, torch.DoubleTensor, torch.Tensor):
        log.refuses(lambda make=make: make(x))
        log.refuses(lambda make=make: make(torch.Size([2, 0])))
        log.refuses(lambda make=make: make(1.5))
        log.refuses(lambda make=make: make(None))
    alias = torch.Tensor(x)
    alias[0] = 5
    log(x)
    with torch.inference_mode():
        log(torch.Tensor([1.0]).is_inference())


@behaviour
def what_a_scaler_scales_and_knows(torch, log):
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2)
    x = torch.ones(2)
    log([list(map(torch.Tensor.tolist, scaler.scale(given))) for given in ([x, x], (x,))])
    log(list(scaler.scale(t for t in (x, 2 * x))))
    log.raises(scaler.scale, 3)
    log(scaler.get_growth_factor(), scaler.get_backoff_factor(), scaler.get_growth_interval())
    scaler.set_growth_factor(3.0)
    scaler.set_backoff_factor(0.25)
    scaler.set_growth_interval(1)
    log(scaler.state_dict())
    w = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.5)
    for factor in (1.0, float("inf"), 1.0):
        optimizer.zero_grad()
        scaler.scale((w * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        log(w, scaler.get_scale())
    scaler.update(8.0)
    log(scaler.get_scale())
    scaler.update(torch.tensor(2.0))
    log(scaler.get_scale())
    for wrong in (torch.ones(2), torch.ones(1, requires_grad=True)):
        log.raises(scaler.update, wrong)


@behaviour
def a_scaler_that_is_off(torch, log):
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    w = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.5)
    log(scaler.scale(w) is w, scaler.get_scale(), scaler.state_dict(), scaler.is_enabled())
    w.sum().backward()
    scaler.unscale_(optimizer)
    log(scaler.step(optimizer), w, scaler.update(), scaler.load_state_dict({}))


GAUSSIANS = {
    "covariance": lambda D, loc, root, diag: D.MultivariateNormal(loc, root @ root.mT),
    "precision": lambda D, loc, root, diag: D.MultivariateNormal(
        loc, precision_matrix=root @ root.mT),
    "factor": lambda D, loc, root, diag: D.MultivariateNormal(loc, scale_tril=root),
    "low rank": lambda D, loc, root, diag: D.LowRankMultivariateNormal(loc, root[:, :1], diag),
    "wishart": lambda D, loc, root, diag: D.Wishart(diag.new_tensor(4.0), root @ root.mT),
}


@behaviour
def an_output_of_another_dtype_is_refused_before_weights_are_looked_at(torch, log):
    out = torch.zeros(2, 2)
    log.raises(lambda: torch.multinomial(torch.zeros(2, 2), 2, out=out))
    log.raises(lambda: torch.multinomial(torch.zeros(2, 2), 2, out=out.long()))


@behaviour_of_each(list(GAUSSIANS))
def matrices_of_gaussians(torch, log, name):
    loc = torch.tensor([[1.0, 2.0], [0.0, -1.0]], dtype=torch.float64)
    root = torch.tensor([[2.0, 0.0], [0.5, 1.5]], dtype=torch.float64, requires_grad=True)
    diag = torch.tensor([0.5, 2.0], dtype=torch.float64)
    given = GAUSSIANS[name](torch.distributions, loc, root, diag)
    for wide in (given, given.expand((3, *given.batch_shape))):
        for attribute in ("scale_tril", "covariance_matrix", "precision_matrix", "variance"):
            found = getattr(wide, attribute)
            slope, = torch.autograd.grad(found.sin().sum(), root, allow_unused=True,
                                         retain_graph=True)
            if (name, attribute) == ("factor", "precision_matrix"):
                continue  # see the_gradient_of_what_is_not_read
            log(attribute, found.shape, found.detach().round(decimals=9),
                None if slope is None else slope.round(decimals=9))


@behaviour
def the_gradient_of_what_is_not_read(torch, log):
    root = torch.tensor([[2.0, 0.0], [0.5, 1.5]], dtype=torch.float64, requires_grad=True)
    slope, = torch.autograd.grad(torch.cholesky_inverse(root).sin().sum(), root)
    log(slope.tril().round(decimals=9))
    log.differs(slope[0, 1].item() == 0, torch=False, retrograd=True)


@behaviour
def a_transform_that_is_a_module(torch, log):
    distributions, Module = torch.distributions, torch.nn.Module

    class Shift(distributions.transforms.Transform, Module):
        domain = codomain = distributions.constraints.real
        bijective = True
        __hash__ = Module.__hash__

        def __init__(self, start, cache_size=0):
            Module.__init__(self)
            distributions.transforms.Transform.__init__(self, cache_size)
            self.by = torch.nn.Parameter(torch.tensor(float(start)))

        def _call(self, x):
            return x + self.by

        def _inverse(self, y):
            return y - self.by

        def log_abs_det_jacobian(self, x, y):
            return torch.zeros_like(x)

    shift, exp = Shift(2), distributions.ExpTransform()
    found = distributions.TransformedDistribution(distributions.Normal(0.0, 1.0), [shift, exp])
    found.log_prob(torch.tensor(3.0)).backward()
    log(shift.by.grad, list(shift.state_dict()), shift == Shift(2))
    for given in (shift, distributions.ComposeTransform([shift, exp])):
        try:
            given.with_cache(1)
        except NotImplementedError as error:
            log("Shift" in str(error))
