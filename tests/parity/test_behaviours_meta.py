"""Tensors and modules without memory, on the device ``meta``."""

from __future__ import annotations

import copy
import pickle

from parity.harness import behaviour, behaviour_of_each

FACTORIES = {
    "zeros": (2, 3), "ones": (2,), "empty": ((2, 3),), "full": ((2,), 3.5), "arange": (4,),
    "linspace": (0, 1, 5), "eye": (3,), "rand": (2, 2), "randn": (2,), "randint": (5, (2, 3)),
    "randperm": (4,), "tensor": ([1.0, 2.0],), "empty_strided": ((2, 3), (1, 2))}


def facts(t):
    return (tuple(t.shape), t.dtype, t.device, t.stride(), t.requires_grad, t.is_meta,
            t.is_contiguous(), repr(t))


@behaviour_of_each(list(FACTORIES))
def factories(torch, log, name):
    make, args = getattr(torch, name), FACTORIES[name]
    log(facts(make(*args, device="meta")))
    torch.manual_seed(0)
    with torch.device("meta"):
        log(facts(make(*args)))
        log(make(*args, device="cpu").device)
        with torch.device("cpu"):
            log(make(*args).device)
        log(make(*args).device)
    log(make(*args).device, torch.rand(1))


@behaviour
def a_module_without_memory(torch, log):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 2, device="meta"),
                                torch.nn.BatchNorm2d(3, device="meta"))
    log([facts(v) for v in model.state_dict().values()], repr(model), torch.rand(2))
    log([isinstance(p, torch.nn.Parameter) for p in model.parameters()])
    log.raises(model.to, "cpu")
    log([p.device for p in copy.deepcopy(model).parameters()])
    log([facts(p) for p in pickle.loads(pickle.dumps(model)).parameters()])
    held = model[0].weight
    log(model.to_empty(device="cpu") is model, [v.device for v in model.state_dict().values()],
        [p.requires_grad for p in model.parameters()], model[0].weight is held)
    model.to("meta")
    log([v.device for v in model.state_dict().values()])


@behaviour
def every_kind_of_module_without_memory(torch, log):
    nn = torch.nn
    with torch.device("meta"):
        models = [nn.Linear(2, 3), nn.LSTM(2, 3, 2), nn.Embedding(4, 2, padding_idx=1),
                  nn.MultiheadAttention(4, 2), nn.LayerNorm(3), nn.PReLU(), nn.Bilinear(2, 2, 1),
                  nn.TransformerEncoderLayer(4, 2, 8), nn.ConvTranspose1d(2, 2, 2),
                  nn.BatchNorm1d(2), nn.GRUCell(2, 2), nn.LazyLinear(3)]
    for model in models:
        log([(n, v.dtype, v.device) for n, v in model.state_dict().items()])


@behaviour
def values_are_assigned(torch, log):
    state = torch.nn.Linear(2, 3).state_dict()
    with torch.device("meta"):
        model = torch.nn.Linear(2, 3)
    log.warns(model.load_state_dict, state)
    log(model.weight.device)
    log(model.load_state_dict(state, assign=True), model.weight.device,
        model.weight.data_ptr() == state["weight"].data_ptr(), model.weight.requires_grad)
    log(model(torch.ones(1, 2)).shape)


@behaviour
def there_are_no_values(torch, log):
    t = torch.empty(2, 3, device="meta")
    one = torch.ones((), device="meta")
    for read in (t.tolist, one.item, t.numpy, t.cpu, lambda: bool(one), lambda: float(one),
                 lambda: t.to("cpu"), lambda: t + torch.ones(2, 3),
                 lambda: torch.ones(2, 3).copy_(t)):
        log.raises(read)
    for dependent in (t.nonzero, lambda: t[t > 0], lambda: torch.equal(t, t)):
        try:
            dependent()
        except (NotImplementedError, RuntimeError):
            log("refused")


@behaviour
def shapes_are_computed(torch, log):
    t = torch.empty(2, 3, device="meta")
    made = [t + 1, t @ t.T, t.sum(0), t[0], t > 1, t.to(torch.float64), torch.cat([t, t]),
            t.view(3, 2), t.reshape(-1), torch.zeros_like(t), t.new_ones(4), t.softmax(-1),
            t.unsqueeze(0), torch.nn.functional.linear(t, torch.empty(5, 3, device="meta")),
            torch.tril(torch.ones(3, 3, device="meta")), t.clone(), t.detach(), t * 2.0]
    for value in made:
        log(tuple(value.shape), value.dtype, value.device)
    log(t.max(1)[1].shape, [tuple(p.shape) for p in t.split(1)])
    log(torch.empty_like(t, device="cpu").device, torch.ones(2, device="cpu").to("meta").device)
    log(t.fill_(3) is t, t.uniform_() is t, t.copy_(torch.ones(2, 3)) is t, t.mul_(2) is t)
    t[0] = 1
    log(t.shape)


@behaviour
def modules_without_initial_values(torch, log):
    torch.manual_seed(0)
    module = torch.nn.utils.skip_init(torch.nn.Linear, 3, 4, dtype=torch.float64)
    log(repr(module), module.weight.shape, module.weight.dtype, module.weight.requires_grad,
        module.weight.device, torch.rand(2))
    log.raises(torch.nn.utils.skip_init, torch.nn.ReLU)
    log.raises(torch.nn.utils.skip_init, dict)


@behaviour
def a_default_device(torch, log):
    log(torch.get_default_device())
    torch.set_default_device("meta")
    try:
        log(torch.get_default_device(), torch.zeros(1).device, torch.nn.Linear(1, 1).weight.device)
    finally:
        torch.set_default_device("cpu")
    log(torch.zeros(1).device)
    torch.set_default_device(None)


COMPOSITES = {
    "reshape": lambda torch, m: torch.reshape(m, (3, 4)),
    "flatten": lambda torch, m: torch.flatten(m),
    "einsum": lambda torch, m: torch.einsum("ij,kj->ik", m, m),
    "tensordot": lambda torch, m: torch.tensordot(m, m, ([0], [0])),
    "layer_norm": lambda torch, m: torch.nn.LayerNorm(3, device="meta")(m),
    "kron": lambda torch, m: torch.kron(m, m),
    "attention": lambda torch, m: torch.nn.functional.scaled_dot_product_attention(m, m, m),
    "transformer": lambda torch, m: torch.nn.TransformerEncoderLayer(
        3, 1, 4, dropout=0.0, device="meta")(m[None]),
    "a wrong size": lambda torch, m: torch.reshape(m, (5, 5)),
    "a wrong equation": lambda torch, m: torch.einsum("ij,jk->ik", m, m)}


@behaviour_of_each(list(COMPOSITES))
def functions_made_of_ops(torch, log, name):
    made = torch.empty(4, 3, device="meta")
    if name.startswith("a wrong"):
        log.raises(COMPOSITES[name], torch, made)
    else:
        with torch.no_grad():
            log(facts(COMPOSITES[name](torch, made)))


@behaviour
def a_device_as_a_context_or_a_decorator(torch, log):
    from importlib import import_module
    devices = import_module(f"{torch.__name__}.utils._device")

    @devices.set_device("meta")
    def made(size, kind="zeros"):
        """Make it."""
        return getattr(torch, kind)(size)

    log(repr(made(2)), repr(made(3, kind="ones")), made.__name__, made.__doc__)
    log(torch.zeros(1).device)
    context = devices.DeviceContext("meta")
    with context:
        log(context.device, torch.zeros(1).device, torch.nn.Linear(1, 1).weight.device)
        with torch.device("cpu"):
            log(torch.zeros(1).device)
        log(torch.zeros(1).device)
    log(torch.zeros(1).device)
    log.raises(lambda: devices.set_device("nowhere")(made))


@behaviour
def nothing_is_recorded_without_memory(torch, log):
    weight = torch.empty(2, device="meta", requires_grad=True)
    log.differs((weight * 2).requires_grad, torch=True, retrograd=False)
    log.differs((weight * 2).grad_fn is None, torch=False, retrograd=True)


@behaviour
def tensors_of_two_devices_are_refused_inside_function_modes_too(torch, log):
    class Plain(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            return function(*args, **(kwargs or {}))

    x, places = torch.ones(2, 3), torch.ones(3, device="meta")

    def refused():
        for a, b in ((x, (x[:, 0], places)), (x.to("meta"), (x[:, 0], x[0]))):
            log.raises(torch.gradient, a, spacing=b)
        log.raises(torch.add, x, places)
        log.raises(torch.add, places, x)

    refused()
    with Plain():
        refused()
        log(facts(torch.gradient(x.to("meta"))[0]))
    refused()  # from now on functions look out for modes


@behaviour
def data_are_of_one_kind(torch, log):
    kinds = {"strided": torch.ones(2, 3), "meta": torch.empty(2, 3, device="meta"),
             "coordinates": torch.ones(2, 3).to_sparse()}
    for of in kinds.values():
        for given in kinds.values():
            log.raises(lambda of=of, given=given: setattr(of, "data", given))
    weight = torch.nn.Parameter(torch.empty(2, 3, device="meta"))
    weight.data = torch.empty(4, device="meta", dtype=torch.float64)
    log(facts(weight), weight.data.is_meta, weight.data.requires_grad, weight.data_ptr())
