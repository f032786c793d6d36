"""Modules, optimizers, schedules and loaders: the same program with the same seed under both."""

from __future__ import annotations

import copy
import importlib
import pickle
from collections import OrderedDict, namedtuple

from parity.harness import behaviour, behaviour_of_each


def log_state(log, state):
    """Log a module's state dict by values: versions count writes made while loading."""
    log(list(state))
    log.values(*state.values())


# ---------------------------------------------------------------- initial values

LAYERS = {
    "linear": lambda nn: nn.Linear(7, 5),
    "linear_without_bias": lambda nn: nn.Linear(20, 3, bias=False),
    "conv2d": lambda nn: nn.Conv2d(3, 4, 3),
    "conv2d_grouped": lambda nn: nn.Conv2d(4, 6, (3, 2), groups=2, bias=False),
    "embedding": lambda nn: nn.Embedding(6, 4),
    "embedding_padding": lambda nn: nn.Embedding(6, 4, padding_idx=-2),
    "layer_norm": lambda nn: nn.LayerNorm((2, 3)),
    "layer_norm_without_bias": lambda nn: nn.LayerNorm(3, bias=False),
}


@behaviour_of_each(LAYERS)
def layers_start_with_the_same_values(torch, log, name):
    torch.manual_seed(3)
    log_state(log, LAYERS[name](torch.nn).state_dict())
    log(torch.rand(3))


@behaviour
def layers_take_a_dtype(torch, log):
    layer = torch.nn.Linear(3, 2, dtype=torch.float64)
    log.values(layer.weight, layer.bias, layer(torch.ones(3, dtype=torch.float64)))


INITS = {
    "uniform_": ((3, 5), (-1.0, 2.0)),
    "normal_": ((3, 7), (1.0, 2.0)),
    "trunc_normal_": ((5, 6), (0.0, 1.0, -0.5, 1.5)),
    "constant_": ((2, 2), (0.3,)),
    "ones_": ((2, 3), ()),
    "zeros_": ((2, 3), ()),
    "eye_": ((3, 4), ()),
    "dirac_": ((4, 2, 3, 3), (2,)),
    "xavier_uniform_": ((4, 3, 2, 2), (1.5,)),
    "xavier_normal_": ((6, 5), ()),
    "kaiming_uniform_": ((5, 4), (0.2, "fan_out", "relu")),
    "kaiming_normal_": ((5, 4, 3), (0.2,)),
    "orthogonal_": ((5, 2, 2), (1.5,)),
    "sparse_": ((6, 3), (0.4,)),
}


@behaviour_of_each(INITS)
def initial_values(torch, log, name):
    shape, arguments = INITS[name]
    log.values(getattr(torch.nn.init, name)(torch.empty(shape), *arguments))
    double = torch.empty(shape, dtype=torch.float64)
    log.values(getattr(torch.nn.init, name)(double, *arguments))
    parameter = torch.nn.Parameter(torch.empty(shape))
    returned = getattr(torch.nn.init, name)(parameter, *arguments)
    log(returned is parameter, parameter.requires_grad, parameter.grad_fn)


@behaviour
def truncated_normal_by_density(torch, log):
    log.values(torch.nn.init.trunc_normal_(torch.empty(4, 5), 3.0, 1.0, 4.0, 5.0))
    log.warns(lambda: torch.nn.init.trunc_normal_(torch.empty(3), mean=9.0).shape)


@behaviour
def initial_values_from_a_generator(torch, log):
    generator = torch.Generator().manual_seed(5)
    log.values(torch.nn.init.kaiming_uniform_(torch.empty(4, 4), generator=generator))
    log.values(torch.nn.init.normal_(torch.empty(20), generator=generator))


@behaviour
def initial_value_errors(torch, log):
    init, vector, matrix = torch.nn.init, torch.ones(3), torch.ones(3, 3)
    log.raises(init.kaiming_uniform_, vector)
    log.raises(init.kaiming_uniform_, matrix, mode="fan_up")
    log.raises(init.kaiming_normal_, matrix, nonlinearity="relo")
    log.raises(init.xavier_uniform_, vector)
    log.raises(init.eye_, vector)
    log.raises(init.dirac_, vector)
    log.raises(init.dirac_, torch.ones(3, 3, 3), groups=2)
    log.raises(init.orthogonal_, vector)
    log.raises(init.sparse_, vector, 0.1)
    log.raises(init.calculate_gain, "leaky_relu", "a")
    log.raises(init.calculate_gain, "leaky_relu", True)
    log.warns(init.kaiming_uniform_, torch.ones(0, 3))
    log.warns(lambda: init.uniform(torch.ones(2)).shape)
    for name in ("linear", "conv2d", "sigmoid", "tanh", "relu", "selu", "leaky_relu"):
        log(init.calculate_gain(name))
    log(init.calculate_gain("leaky_relu", 0.2))


# ---------------------------------------------------------------- forward, loss and gradients


def image(torch, *shape, dtype=None):
    values = torch.arange(float(torch.Size(shape).numel()), dtype=dtype)
    return (values.reshape(shape) * 0.37).sin()


MODELS = {
    "mlp": (lambda nn: nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3)), (4, 6)),
    "activations": (
        lambda nn: nn.Sequential(
            nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 6), nn.Sigmoid(), nn.Linear(6, 3), nn.GELU()
        ),
        (4, 6),
    ),
    "gelu_tanh": (lambda nn: nn.Sequential(nn.Linear(6, 3), nn.GELU("tanh")), (4, 6)),
    "more_activations": (
        lambda nn: nn.Sequential(
            nn.Linear(6, 6), nn.SiLU(), nn.LeakyReLU(0.2), nn.Linear(6, 3), nn.ELU(), nn.Softplus()
        ),
        (4, 6),
    ),
    "softmax": (lambda nn: nn.Sequential(nn.Linear(6, 3), nn.Softmax(1)), (4, 6)),
    "log_softmax": (lambda nn: nn.Sequential(nn.Linear(6, 3), nn.LogSoftmax(-1)), (4, 6)),
    "conv": (
        lambda nn: nn.Sequential(
            nn.Conv2d(2, 3, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(12, 3),
        ),
        (4, 2, 4, 4),
    ),
    "conv_strided": (
        lambda nn: nn.Sequential(
            nn.Conv2d(2, 4, (3, 2), stride=(2, 1), padding=(1, 0), groups=2, bias=False),
            nn.Flatten(),
            nn.Linear(32, 3),
        ),
        (4, 2, 4, 5),
    ),
    "conv_same": (
        lambda nn: nn.Sequential(
            nn.Conv2d(2, 2, 3, padding="same", dilation=2), nn.Flatten(), nn.Linear(32, 3)
        ),
        (4, 2, 4, 4),
    ),
    "layer_norm": (lambda nn: nn.Sequential(nn.LayerNorm(6), nn.Linear(6, 3)), (4, 6)),
    "layer_norm_plain": (
        lambda nn: nn.Sequential(
            nn.LayerNorm((2, 3), elementwise_affine=False), nn.Flatten(), nn.Linear(6, 3)
        ),
        (4, 2, 3),
    ),
    "dropout": (
        lambda nn: nn.Sequential(nn.Linear(6, 40), nn.Dropout(0.3), nn.Linear(40, 3)),
        (4, 6),
    ),
    "relu_in_place": (lambda nn: nn.Sequential(nn.Linear(6, 3), nn.ReLU(inplace=True)), (4, 6)),
    "unflatten": (
        lambda nn: nn.Sequential(
            nn.Unflatten(1, (2, 3)), nn.Flatten(), nn.Identity(1, a=2), nn.Linear(6, 3)
        ),
        (4, 6),
    ),
}


@behaviour_of_each(MODELS)
def models_and_their_gradients(torch, log, name):
    make, shape = MODELS[name]
    model = make(torch.nn)
    x = image(torch, *shape).requires_grad_()
    output = model(x)
    log(output)
    torch.nn.CrossEntropyLoss()(output, torch.tensor([0, 2, 1, 1])).backward()
    log(x.grad, *(parameter.grad for parameter in model.parameters()))
    model.eval()
    log(model(x))


@behaviour
def embedding_and_its_gradient(torch, log):
    layer = torch.nn.Embedding(5, 3, padding_idx=1)
    output = layer(torch.tensor([[0, 1], [4, 0]]))
    log(output)
    (output * image(torch, 2, 2, 3)).sum().backward()
    log(layer.weight.grad)
    frozen = torch.nn.Embedding.from_pretrained(torch.ones(3, 2))
    log(frozen.weight, frozen(torch.tensor([1])))


def pair(torch):
    return image(torch, 4, 3).requires_grad_(), image(torch, 4, 3) * 0.4 + 0.5


LOSSES = {
    "mse": lambda nn, **k: nn.MSELoss(**k),
    "l1": lambda nn, **k: nn.L1Loss(**k),
    "bce_with_logits": lambda nn, **k: nn.BCEWithLogitsLoss(**k),
}


@behaviour_of_each([(name, how) for name in LOSSES for how in ("mean", "sum", "none")])
def losses_of_equal_shapes(torch, log, name, reduction):
    x, target = pair(torch)
    loss = LOSSES[name](torch.nn, reduction=reduction)(x, target)
    log(loss)
    loss.sum().backward()
    log(x.grad)


@behaviour_of_each(["mean", "sum", "none"])
def losses_of_classes(torch, log, reduction):
    weight = torch.tensor([0.2, 1.0, 3.0])
    target = torch.tensor([0, 2, 1, 2])
    for options in ({}, {"weight": weight}, {"ignore_index": 2}):
        x = image(torch, 4, 3).requires_grad_()
        loss = torch.nn.CrossEntropyLoss(reduction=reduction, **options)(x, target)
        log(loss)
        loss.sum().backward()
        log(x.grad)
        log(torch.nn.NLLLoss(reduction=reduction, **options)(x.log_softmax(1), target))
    smooth = torch.nn.CrossEntropyLoss(label_smoothing=0.1, reduction=reduction)
    log(smooth(image(torch, 4, 3), target))
    probabilities = image(torch, 4, 3).softmax(1)
    log(torch.nn.CrossEntropyLoss(reduction=reduction)(image(torch, 4, 3) * 2, probabilities))


@behaviour
def weighted_binary_losses(torch, log):
    x, target = pair(torch)
    weight = torch.tensor([0.5, 1.0, 2.0])
    log(torch.nn.BCELoss()(x.sigmoid(), target), torch.nn.BCELoss(weight)(x.sigmoid(), target))
    log(torch.nn.BCEWithLogitsLoss(pos_weight=weight)(x, target))
    log(torch.nn.BCEWithLogitsLoss(weight=weight)(x, target))


@behaviour
def loss_reductions_of_old(torch, log):
    log.warns(lambda: torch.nn.MSELoss(size_average=False).reduction)
    log.warns(lambda: torch.nn.MSELoss(size_average=True, reduce=False).reduction)
    log.warns(lambda: torch.nn.MSELoss(reduce=True).reduction)
    log.raises(torch.nn.MSELoss(reduction="men"), torch.ones(1), torch.ones(1))
    log.warns(torch.nn.MSELoss(), torch.ones(2), torch.ones(2, 1))


@behaviour
def layer_argument_errors(torch, log):
    nn = torch.nn
    log.raises(nn.Dropout, 2)
    log.raises(nn.Dropout, -0.1)
    log.raises(nn.Conv2d, 3, 4, 3, groups=2)
    log.raises(nn.Conv2d, 4, 3, 3, groups=2)
    log.raises(nn.Conv2d, 4, 4, 3, groups=0)
    log.refuses(nn.Conv2d, 4, 4, 3, padding="some")
    log.raises(nn.Conv2d, 4, 4, 3, padding="same", stride=2)
    log.refuses(nn.Conv2d, 4, 4, 3, padding_mode="some")
    log.raises(nn.Embedding, 3, 4, padding_idx=5)
    log.raises(nn.Embedding, 3, 4, padding_idx=-5)
    log.raises(nn.Embedding.from_pretrained, torch.ones(3))
    log.raises(nn.LayerNorm(3), torch.ones(2, 4))
    log.raises(nn.Linear(2, 2), torch.ones(3))
    log.raises(nn.Linear(2, 2), torch.ones(4, 3))
    log.raises(nn.GELU("some"), torch.ones(1))
    log.raises(nn.Unflatten, 1, 3)
    log.raises(nn.Unflatten, 1, (2, "a"))


# ---------------------------------------------------------------- parameters


@behaviour
def parameters(torch, log):
    source = torch.ones(2)
    parameter = torch.nn.Parameter(source)
    log(parameter, repr(parameter), parameter * 2, parameter.detach(), parameter.data)
    log(
        type(parameter * 2).__name__,
        type(parameter.data).__name__,
        isinstance(parameter, torch.Tensor),
    )
    source.add_(1)
    log(parameter, source._version)
    frozen = torch.nn.Parameter(torch.ones(2), requires_grad=False)
    log(frozen, repr(frozen), torch.nn.Parameter(torch.ones(2, dtype=torch.int64), False))
    log(torch.nn.Parameter(), torch.nn.Parameter(parameter * 2), torch.nn.Parameter(parameter))
    log(hash(parameter) == id(parameter))


@behaviour
def parameter_errors(torch, log):
    log.raises(torch.nn.Parameter, torch.ones(2, dtype=torch.int64))
    log.raises(torch.nn.Parameter, 3)
    log.raises(torch.nn.Parameter, [1.0])


@behaviour
def parameters_are_copied_and_pickled(torch, log):
    parameter = torch.nn.Parameter(torch.ones(2))
    parameter.grad = torch.ones(2)
    parameter.note = "kept"
    deep = copy.deepcopy(parameter)
    log(
        type(deep).__name__,
        deep.grad,
        hasattr(deep, "note"),
        deep.data_ptr() == parameter.data_ptr(),
    )
    log.values(deep)
    loaded = pickle.loads(pickle.dumps(parameter))
    log(type(loaded).__name__, loaded.grad, loaded.note, loaded.requires_grad)
    log.values(loaded)


# ---------------------------------------------------------------- modules


def net(torch):
    return torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))


def buffered(torch):
    class Buffered(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(1))
            self.register_buffer("kept", torch.ones(2))
            self.register_buffer("passing", torch.ones(2), persistent=False)
            self.register_buffer("unset", None)

    return Buffered()


@behaviour
def assigning_attributes(torch, log):
    nn = torch.nn

    class Early(nn.Module):
        def __init__(self, name, value):
            setattr(self, name, value)

    class EarlyBuffer(nn.Module):
        def __init__(self):
            self.register_buffer("a", torch.ones(1))

    class EarlyParameter(nn.Module):
        def __init__(self):
            self.register_parameter("a", nn.Parameter(torch.ones(1)))

    log.raises(Early, "w", nn.Parameter(torch.ones(1)))
    log.raises(Early, "w", nn.ReLU())
    log(Early("w", 2).w)
    log.raises(EarlyBuffer)
    log.raises(EarlyParameter)
    log.raises(Early("w", 2), 1)
    log.raises(repr, Early("w", 2))
    log.raises(lambda: list(Early("w", 2).parameters()))
    layer = nn.Linear(2, 2)
    for value in (torch.ones(2), 3):
        log.raises(setattr, layer, "weight", value)
    sequence = nn.Sequential(nn.ReLU())
    log.raises(setattr, sequence, "0", 3)
    module = buffered(torch)
    log.raises(setattr, module, "kept", 3)
    log.raises(getattr, module, "nothing")
    module.kept = torch.zeros(3)
    module.unset = torch.zeros(1)
    module.scale = None
    log(list(module.state_dict()), dict(module.named_buffers()))
    layer.bias = None
    del layer.weight
    log(list(layer.named_parameters()), repr(layer))
    log.raises(delattr, layer, "nothing")


@behaviour
def an_attribute_changes_its_kind(torch, log):
    module = torch.nn.Module()
    module.thing = 3
    module.thing = torch.nn.Parameter(torch.ones(1))
    log(list(module.state_dict()), "thing" in module.__dict__)
    module.register_buffer("other", torch.ones(1))
    module.other = torch.nn.Linear(1, 1)
    log(list(module.state_dict()), [name for name, _ in module.named_children()])
    module.third = torch.ones(1)
    log(list(module.state_dict()), "third" in dir(module), "thing" in dir(module))


@behaviour
def registering_errors(torch, log):
    layer = torch.nn.Linear(3, 2)
    one = torch.ones(1)
    for name in (3, "a.b", "", "weight", "in_features"):
        log.raises(layer.register_buffer, name, one)
    log.raises(layer.register_buffer, "z", 3)
    for name in (3, "a.b", "", "in_features"):
        log.raises(layer.register_parameter, name, None)
    log.raises(layer.register_parameter, "q", one)
    log.raises(layer.register_parameter, "q", 3)
    for name in (3, "a.b", "", "in_features"):
        log.raises(layer.add_module, name, torch.nn.ReLU())
    log.raises(layer.add_module, "q", 3)


@behaviour
def looking_up_by_path(torch, log):
    model = net(torch)
    log(repr(model.get_submodule("0")), model.get_submodule("") is model)
    log.values(model.get_parameter("2.bias"))
    for target in ("0.x", "0.weight"):
        log.raises(model.get_submodule, target)
    for target in ("0.w", "0.in_features"):
        log.raises(model.get_parameter, target)
    for target in ("0.w", "0.weight"):
        log.raises(model.get_buffer, target)
    log(buffered(torch).get_buffer("passing"))


@behaviour
def walking_the_tree(torch, log):
    nn = torch.nn
    shared = nn.Linear(2, 2)
    model = nn.Sequential(OrderedDict(a=shared, b=nn.Sequential(shared, nn.Linear(2, 1)), c=shared))
    for duplicates in (True, False):
        log([name for name, _ in model.named_parameters(remove_duplicate=duplicates)])
        log([name for name, _ in model.named_modules(remove_duplicate=duplicates)])
    log([name for name, _ in model.named_children()], len(list(model.children())))
    log(len(list(model.parameters())), len(list(model.parameters(recurse=False))))
    log([name for name, _ in model.named_parameters(prefix="top")])
    log(list(buffered(torch).named_buffers()), len(list(buffered(torch).buffers())))
    order = []
    model.apply(lambda module: order.append(type(module).__name__))
    log(order)


@behaviour
def modes_and_zeroing(torch, log):
    model = net(torch)
    log(model.training, model.eval() is model, model[0].training, model.train()[2].training)
    log.raises(model.train, 3)
    model(torch.ones(2)).sum().backward()
    model.zero_grad(set_to_none=False)
    log(model[0].weight.grad)
    model.zero_grad()
    log(model[0].weight.grad)
    model.requires_grad_(False)
    log([parameter.requires_grad for parameter in model.parameters()])


@behaviour
def converting(torch, log):
    model = net(torch)
    model.register_buffer("count", torch.ones(1, dtype=torch.int64))
    weight = model[0].weight
    weight.grad = torch.ones(3, 2)
    for convert in (
        lambda: model.double(),
        lambda: model.half(),
        lambda: model.bfloat16(),
        lambda: model.float(),
        lambda: model.to(torch.float64),
        lambda: model.to("cpu", torch.float32),
        lambda: model.to(dtype=torch.float64),
        lambda: model.to(torch.ones(1)),
        lambda: model.to(torch.device("cpu")),
        lambda: model.to(),
        lambda: model.cpu(),
        lambda: model.type(torch.float64),
    ):
        log(convert() is model, weight is model[0].weight)
        log(weight.dtype, weight.grad.dtype, model.count.dtype, weight.requires_grad)
    log.raises(model.to, torch.int64)
    log.raises(model.to, [1])
    log.raises(model.to, foo=1)
    log.warns(lambda: model.to(torch.complex64)[0].weight.dtype)


@behaviour
def calling_without_forward(torch, log):
    class Empty(torch.nn.Module):
        pass

    log.raises(Empty(), 1)
    log.raises(torch.nn.Module(), 1)
    log.raises(torch.nn.Module, 1)
    log.raises(torch.nn.Module, a=1)
    log.raises(Empty, 1)


@behaviour
def state_dicts(torch, log):
    model = net(torch)
    state = model.state_dict()
    log(type(state).__name__, list(state), {k: dict(v) for k, v in state._metadata.items()})
    log([value.requires_grad for value in state.values()])
    log([value.requires_grad for value in model.state_dict(keep_vars=True).values()])
    log(state["0.weight"].data_ptr() == model[0].weight.data_ptr())
    log(list(model.state_dict(prefix="net.")), list(buffered(torch).state_dict()))
    other = net(torch)
    log(repr(other.load_state_dict(state)), str(other.load_state_dict(state)))
    log.values(*other.state_dict().values())


@behaviour
def state_dict_errors(torch, log):
    model = net(torch)[:2]
    fits = torch.ones(3, 2)
    log.raises(model.load_state_dict, {})
    log.raises(model.load_state_dict, 3)
    log.raises(model.load_state_dict, {"0.weight": fits, "0.bias": torch.ones(2), "z": 1, "y.a": 2})
    log.raises(model.load_state_dict, {"0.weight": fits, "0.bias": torch.ones(2), "z": 1}, False)
    log.raises(model.load_state_dict, {"0.weight": fits, "0.bias": 3.0})
    log(model.load_state_dict({"0.weight": fits, "z": 1}, strict=False))
    log.values(model[0].weight)
    module = buffered(torch)
    state = module.state_dict()
    log.raises(module.load_state_dict, {**state, "passing": torch.ones(2), "unset": torch.ones(1)})
    log.raises(
        module.load_state_dict, {"scale": torch.ones(1) > 0, "kept": torch.ones(2)}, assign=True
    )


@behaviour
def loading_by_assignment(torch, log):
    module = buffered(torch)
    kept = torch.zeros(2)
    module.load_state_dict(
        {"scale": torch.zeros(1, dtype=torch.float64), "kept": kept}, assign=True
    )
    log(module.scale, module.kept is kept)


@behaviour
def loading_converts_the_dtype(torch, log):
    layer = torch.nn.Linear(2, 1)
    layer.load_state_dict({"weight": torch.ones(1, 2, dtype=torch.float64), "bias": torch.ones(1)})
    log.values(layer.weight)
    scalar = torch.nn.Module()
    scalar.register_buffer("x", torch.tensor(0.0))
    scalar.load_state_dict({"x": torch.tensor([5.0])})
    log.values(scalar.x)


@behaviour
def extra_state(torch, log):
    class Extra(torch.nn.Module):
        def get_extra_state(self):
            return {"a": 1}

        def set_extra_state(self, state):
            log(state)

    log(dict(Extra().state_dict()))
    log(repr(Extra().load_state_dict(Extra().state_dict())))
    log.raises(Extra().load_state_dict, {})
    log.raises(torch.nn.Module().load_state_dict, Extra().state_dict())


@behaviour
def state_dict_hooks(torch, log):
    model = net(torch)
    inner = model[0]
    inner.register_state_dict_pre_hook(lambda m, prefix, keep: log(prefix, keep))
    handle = inner.register_state_dict_post_hook(lambda *args: 3)
    log.raises(model.state_dict)
    handle.remove()
    inner.register_state_dict_post_hook(
        lambda m, state, prefix, meta: state.__delitem__(prefix + "bias")
    )
    state = model.state_dict()
    log(list(state))

    def add_bias(module, state, prefix, *rest):
        state[prefix + "bias"] = torch.zeros(3)

    inner.register_load_state_dict_pre_hook(add_bias)
    model.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    log(model.load_state_dict(state, strict=False))
    log.values(inner.bias)


@behaviour
def modules_are_copied_and_pickled(torch, log):
    model = net(torch)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        log(repr(twin), twin[0].weight is model[0].weight, twin.training)
        log.values(twin[0].weight, twin(torch.ones(2)))
    shallow = copy.copy(model)
    log(shallow[0] is model[0])


PRINTED = {
    "linear": lambda nn: nn.Linear(1, 2, bias=False),
    "conv2d": lambda nn: nn.Conv2d(1, 2, 3, padding=1, stride=(2, 1)),
    "conv2d_same": lambda nn: nn.Conv2d(4, 4, 3, padding="same", groups=2, bias=False, dilation=2),
    "conv2d_reflect": lambda nn: nn.Conv2d(4, 4, 3, padding=1, padding_mode="reflect"),
    "pool": lambda nn: nn.MaxPool2d(2),
    "pool_full": lambda nn: nn.MaxPool2d((2, 3), 1, 1, 1, True, True),
    "dropout": lambda nn: nn.Dropout(0.3, inplace=True),
    "embedding": lambda nn: nn.Embedding(3, 4, 1, 2.0, 3.0, True, True),
    "layer_norm": lambda nn: nn.LayerNorm((2, 3), elementwise_affine=False),
    "gelu": lambda nn: nn.GELU("tanh"),
    "relu": lambda nn: nn.ReLU(True),
    "silu": lambda nn: nn.SiLU(True),
    "elu": lambda nn: nn.ELU(2.0, True),
    "leaky": lambda nn: nn.LeakyReLU(0.2, True),
    "softplus": lambda nn: nn.Softplus(2, 10),
    "losses": lambda nn: nn.Sequential(nn.MSELoss(), nn.CrossEntropyLoss(label_smoothing=0.1)),
    "nested": lambda nn: nn.Sequential(nn.Sequential(nn.ReLU(), nn.Flatten()), nn.Softmax(dim=1)),
    "list": lambda nn: nn.ModuleList([*(nn.Linear(1, 1) for _ in range(3)), nn.ReLU()]),
    "list_nested": lambda nn: nn.ModuleList([nn.Sequential(nn.ReLU()) for _ in range(2)]),
    "dict": lambda nn: nn.ModuleDict({"a": nn.Linear(1, 1), "b": nn.Sequential(nn.ReLU())}),
    "empty": lambda nn: nn.ModuleList(),
    "none": lambda nn: nn.Sequential(OrderedDict(a=None, b=nn.ReLU())),
    "unflatten": lambda nn: nn.Unflatten(1, (2, 2)),
}


@behaviour_of_each(PRINTED)
def modules_print(torch, log, name):
    log(repr(PRINTED[name](torch.nn)))


@behaviour
def modules_print_what_extra_repr_says(torch, log):
    class Lines(torch.nn.Module):
        def extra_repr(self):
            return "one\ntwo"

    log(repr(Lines()))
    outer = Lines()
    outer.child = Lines()
    log(repr(outer))
    nn = torch.nn
    log(repr(nn.ParameterList([torch.ones(2), nn.Parameter(torch.ones(2, 2)), 3])))
    log(repr(nn.ParameterDict({"a": torch.ones(2), "c": 3})))


# ---------------------------------------------------------------- hooks


@behaviour
def forward_hooks(torch, log):
    layer = torch.nn.Linear(2, 2)
    x = torch.ones(2)
    first = layer.register_forward_pre_hook(lambda m, args: args[0] * 2)
    second = layer.register_forward_hook(lambda m, args, output: output + 1)
    layer.register_forward_hook(lambda m, args, output: log(args, output), prepend=True)
    log(layer(x))
    first.remove()
    second.remove()
    log(layer(x))
    with layer.register_forward_pre_hook(lambda m, args: (args[0] * 3,)):
        log(layer(x))
    log(layer(x))


@behaviour
def forward_hooks_with_keywords(torch, log):
    layer = torch.nn.Linear(2, 2)
    layer.register_forward_pre_hook(
        lambda m, args, kwargs: ((), {"input": kwargs["input"] + 1}), with_kwargs=True
    )
    layer.register_forward_hook(lambda m, a, k, out: log(a, k, out), with_kwargs=True)
    log(layer(input=torch.ones(2)))
    bad = torch.nn.Linear(1, 1)
    bad.register_forward_pre_hook(lambda m, args, kwargs: 3, with_kwargs=True)
    log.raises(bad, torch.ones(1))


@behaviour
def forward_hooks_that_are_always_called(torch, log):
    layer = torch.nn.Linear(2, 2)
    layer.register_forward_hook(lambda m, args, output: log("always", output), always_call=True)
    layer.register_forward_hook(lambda m, args, output: log("never"))
    log.refuses(layer, "x")


@behaviour
def full_backward_hooks(torch, log):
    model = net(torch)
    model.register_full_backward_pre_hook(lambda m, grad_output: log("pre", grad_output))
    model.register_full_backward_hook(lambda m, gin, gout: log("full", gin, gout))
    model[0].register_full_backward_hook(lambda m, gin, gout: (gin[0] * 10,))
    model[2].register_full_backward_pre_hook(lambda m, gout: (gout[0] * 2,))
    x = torch.ones(4, 2, requires_grad=True)
    output = model(x)
    log(output, output.grad_fn.next_functions[0][0])
    output.sum().backward()
    log(x.grad, model[2].bias.grad)


@behaviour
def full_backward_hooks_without_input_gradients(torch, log):
    layer = torch.nn.Linear(2, 2)
    layer.register_full_backward_hook(lambda m, gin, gout: log(gin, gout))
    layer(torch.ones(3, 2)).sum().backward()
    with torch.no_grad():
        layer(torch.ones(3, 2, requires_grad=True))
    x = torch.ones(3, 2, requires_grad=True)
    log(torch.autograd.grad(layer(x).sum(), layer.weight))
    loss = layer(x).sum()
    loss.backward(retain_graph=True)
    loss.backward()
    only_pre = torch.nn.Linear(2, 2)
    only_pre.register_full_backward_pre_hook(lambda m, gout: log("pre"))
    only_pre(torch.ones(3, 2)).sum().backward()


@behaviour
def full_backward_hooks_on_several_values(torch, log):
    Two = namedtuple("Two", "a b")

    class Several(torch.nn.Module):
        def forward(self, a, b, wrap):
            return wrap(a * 2, b * 3)

    for wrap in (lambda a, b: (a, b, "x"), Two):
        module = Several()
        module.register_full_backward_hook(lambda m, gin, gout: log(gin, gout))
        a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        output = module(a, b, wrap)
        log(type(output).__name__, output[0], output[1])
        (output[0] * 2 + output[1]).sum().backward()
        log(a.grad, b.grad)
    for wrap in (lambda a, b: [a, b], lambda a, b: {"a": a}):
        module = Several()
        module.register_full_backward_hook(lambda m, gin, gout: log("never"))
        log.warns(module, torch.ones(2, requires_grad=True), torch.ones(2), wrap)


@behaviour
def full_backward_hook_errors(torch, log):
    def run(register, result):
        layer = torch.nn.Linear(2, 2)
        getattr(layer, register)(lambda *args: result)
        layer(torch.ones(4, 2, requires_grad=True)).sum().backward()

    log.raises(run, "register_full_backward_hook", (1, 2))
    log.raises(run, "register_full_backward_hook", torch.zeros(4, 2))
    log.raises(run, "register_full_backward_hook", 3)
    log.raises(run, "register_full_backward_pre_hook", (1, 2))
    log.raises(run, "register_full_backward_pre_hook", 3)
    layer = torch.nn.Linear(2, 2)
    layer.register_full_backward_hook(lambda m, gin, gout: (torch.ones(1),))
    log.raises(lambda: layer(torch.ones(4, 2)).sum().backward())
    relu = torch.nn.ReLU()
    relu.register_full_backward_hook(lambda m, gin, gout: None)
    log.raises(lambda: relu(torch.ones(2, requires_grad=True) * 1).add_(1))


# ---------------------------------------------------------------- containers


@behaviour
def sequential(torch, log):
    nn = torch.nn
    model = net(torch)
    log(repr(model[0:2]), repr(model[-1]), len(model), [type(m).__name__ for m in model])
    log(repr(model + nn.Sequential(nn.Tanh())), repr(model * 2), repr(2 * model))
    log.raises(lambda: model + 3)
    for factor in (0, "a"):
        log.refuses(lambda factor=factor: model * factor)
    for index in (5, -4, "a"):
        log.raises(lambda index=index: model[index])
    log.raises(model.append, 3)
    log.raises(model.insert, 10, nn.ReLU())
    log.refuses(model.insert, 0, 3)
    log.raises(nn.Sequential, 3)
    log(repr(model.pop(0)), repr(model), repr(model.insert(0, nn.Tanh())))
    del model[0:1]
    model[0] = nn.Sigmoid()
    log(repr(model), repr(model.append(nn.ReLU())), repr(model.extend([nn.Tanh()])))
    model += nn.Sequential(nn.GELU())
    model *= 2
    log(repr(model))
    named = nn.Sequential(OrderedDict(first=nn.ReLU(), second=nn.Tanh()))
    log(repr(named), repr(named[0]), repr(named[1:]), named.first is named[0])


@behaviour
def module_lists_and_dicts(torch, log):
    nn = torch.nn
    modules = nn.ModuleList([nn.ReLU()])
    modules.append(nn.Tanh()).extend([nn.Linear(1, 1)])
    modules.insert(1, nn.Sigmoid())
    modules += [nn.GELU()]
    log(repr(modules), len(modules), repr(modules[1:3]), repr(modules + [nn.ReLU()]))
    log(repr(modules.pop(1)), [name for name, _ in modules.named_parameters()])
    modules[0] = nn.Flatten()
    del modules[1]
    log(repr(modules))
    for call in (
        lambda: modules[9],
        lambda: modules["a"],
        lambda: modules.extend(3),
        lambda: modules.append(3),
        lambda: modules(1),
    ):
        log.raises(call)
    named = nn.ModuleDict({"a": nn.ReLU()})
    named.update([("b", nn.Tanh())])
    named["c"] = nn.Linear(1, 1)
    log(repr(named), list(named.keys()), "a" in named, len(named), list(named))
    log(repr(named.pop("a")), [name for name, _ in named.items()])
    del named["b"]
    for call in (
        lambda: named.update(3),
        lambda: named.update([1]),
        lambda: named.update([(1, 2, 3)]),
        lambda: named["q"],
        lambda: nn.ModuleDict({"a": 3}),
        lambda: nn.ModuleDict({3: nn.ReLU()}),
    ):
        log.raises(call)
    named.clear()
    log(repr(named))


@behaviour
def parameter_lists_and_dicts(torch, log):
    nn = torch.nn
    values = nn.ParameterList([torch.ones(1)])
    values.append(torch.ones(2)).extend([nn.Parameter(torch.ones(3)), "text"])
    values[0] = torch.zeros(1)
    log(
        len(values),
        values[0],
        values[-1],
        repr(values[0:2]),
        [n for n, _ in values.named_parameters()],
    )
    for call in (lambda: values[9], lambda: values.extend(3), lambda: values(3)):
        log.raises(call)
    named = nn.ParameterDict({"a": torch.ones(1)})
    named["b"] = torch.ones(2)
    named.update({"c": 3})
    log(repr(named), list(named.keys()), named["a"], named.get("z"), "b" in named, len(named))
    log([name for name, _ in named.named_parameters()], named.pop("a"), list(named))
    log.raises(lambda: named["z"])


# ---------------------------------------------------------------- nn.utils


@behaviour
def gradient_clipping(torch, log):
    utils = torch.nn.utils

    def parameters():
        found = [torch.nn.Parameter(torch.ones(3)) for _ in range(3)]
        found[0].grad = torch.tensor([3.0, 4.0, 0.0])
        found[1].grad = torch.tensor([-1.0, 0.5, 2.0])
        return found

    for limit, kind in (
        (1.0, 2.0),
        (100.0, 2.0),
        (1.0, 1),
        (1.0, float("inf")),
        (0.5, 3.0),
        (1, "inf"),
    ):
        given = parameters()
        log.values(utils.clip_grad_norm_(given, limit, kind), given[0].grad, given[1].grad)
    given = parameters()
    utils.clip_grad_value_(given, 0.7)
    log.values(given[0].grad, given[1].grad)
    log.values(utils.clip_grad_norm_([], 1.0), utils.clip_grad_norm_(given[0], 0.1))
    log.values(utils.clip_grad_norm_(iter(given), 0.1), utils.get_total_norm([torch.ones(2)] * 2))
    given[0].grad[0] = float("nan")
    log.raises(utils.clip_grad_norm_, given, 1.0, error_if_nonfinite=True)
    log.values(utils.clip_grad_norm_(given, 1.0), given[1].grad)


@behaviour
def parameters_as_a_vector(torch, log):
    utils = torch.nn.utils
    layer = torch.nn.Linear(2, 2)
    vector = utils.parameters_to_vector(layer.parameters())
    log(vector)
    utils.vector_to_parameters(torch.arange(6.0), layer.parameters())
    log.values(layer.weight, layer.bias)
    log(layer.weight.requires_grad, layer.weight.is_leaf)
    log.raises(utils.vector_to_parameters, 3, layer.parameters())
    log.raises(utils.vector_to_parameters, torch.ones(2), layer.parameters())


# ---------------------------------------------------------------- optimizers

OPTIMIZERS = {
    "sgd": lambda o, p: o.SGD(p, lr=0.1),
    "sgd_momentum": lambda o, p: o.SGD(p, lr=0.1, momentum=0.9),
    "sgd_dampening": lambda o, p: o.SGD(p, lr=0.1, momentum=0.9, dampening=0.3),
    "sgd_nesterov": lambda o, p: o.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "sgd_decay": lambda o, p: o.SGD(p, lr=0.1, weight_decay=0.05),
    "sgd_all": lambda o, p: o.SGD(p, 0.05, 0.8, 0.1, 0.02, maximize=True),
    "adam": lambda o, p: o.Adam(p, lr=0.05),
    "adam_decay": lambda o, p: o.Adam(p, lr=0.05, weight_decay=0.1),
    "adam_amsgrad": lambda o, p: o.Adam(p, lr=0.05, amsgrad=True),
    "adam_maximize": lambda o, p: o.Adam(p, lr=0.01, maximize=True, betas=(0.7, 0.95), eps=1e-3),
    "adam_decoupled": lambda o, p: o.Adam(
        p, lr=0.05, weight_decay=0.1, decoupled_weight_decay=True
    ),
    "adamw": lambda o, p: o.AdamW(p, lr=0.05),
    "adamw_amsgrad": lambda o, p: o.AdamW(p, lr=0.05, amsgrad=True, weight_decay=0.3),
    "adamw_maximize": lambda o, p: o.AdamW(p, lr=0.01, maximize=True),
}


def training_parts(torch, dtype):
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 8, dtype=dtype), torch.nn.Tanh(), torch.nn.Linear(8, 3, dtype=dtype)
    )
    return model, image(torch, 5, 4, dtype=dtype), image(torch, 5, 3, dtype=dtype)


def log_optimizer(log, optimizer):
    log([list(group) for group in optimizer.param_groups])
    for state in optimizer.state.values():
        log(list(state))
        log.values(*state.values())


@behaviour_of_each([(name, dtype) for name in OPTIMIZERS for dtype in ("float64", "float32")])
def optimizers_step_by_step(torch, log, name, dtype):
    model, x, target = training_parts(torch, getattr(torch, dtype))
    optimizer = OPTIMIZERS[name](torch.optim, model.parameters())
    log(repr(optimizer), optimizer.defaults)
    for _ in range(12 if dtype == "float64" else 4):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), target)
        loss.backward()
        optimizer.step()
        log(loss, *model.parameters())
    log_optimizer(log, optimizer)


@behaviour
def optimizers_of_named_parameters(torch, log):
    def named(*names, **options):
        made = [(name, torch.nn.Parameter(torch.ones(2))) for name in names]
        return torch.optim.SGD(made, **options), made

    def names(optimizer):
        return [group.get("param_names") for group in optimizer.param_groups]

    one, pairs = named("a", "b", momentum=0.5)
    log(repr(one), names(one), one.state_dict()["param_groups"])
    two, _ = named("c", "d", lr=0.5)
    two.load_state_dict(one.state_dict())
    log(names(two), two.param_groups[0]["lr"])
    unnamed = torch.optim.SGD([p for _, p in pairs], lr=0.25)
    two, _ = named("c", "d")
    two.load_state_dict(unnamed.state_dict())
    log(names(two), two.param_groups[0]["lr"])
    unnamed.load_state_dict(one.state_dict())
    log(names(unnamed), list(unnamed.param_groups[0]))
    p, q = (torch.nn.Parameter(torch.ones(1)) for _ in range(2))
    one.add_param_group({"params": [("e", p)]})
    log.raises(one.add_param_group, {"params": ("f", q)})
    log(names(one), [len(group["params"]) for group in one.param_groups])
    for given in ([("a", p), q], [q, ("a", p)], [("a", p), ("a", q)], [(p, "a")], [("a", p, q)],
                  [{"params": [("a", p)]}, {"params": [q]}], [{"params": {p, q}}],
                  [{"params": [p]}, {"params": [("a", q)]}], [{"params": [p]}, {"params": p}],
                  [[p]]):
        log.raises(torch.optim.SGD, given)


@behaviour_of_each(["sgd_all", "adam_decay", "adamw_amsgrad"])
def optimizers_on_large_parameters(torch, log, name):
    shape = (130, 137)
    parameter = torch.nn.Parameter(image(torch, *shape, dtype=torch.float64))
    turned = torch.nn.Parameter(image(torch, *shape, dtype=torch.float64).t())
    small = torch.nn.Parameter(torch.tensor(0.5, dtype=torch.float64))
    optimizer = OPTIMIZERS[name](torch.optim, [small, parameter, turned])
    for _ in range(3):
        optimizer.zero_grad()
        (parameter**2 * small + turned.t().sin()).sum().backward()
        optimizer.step()
    log.values(small, parameter[::17, ::13], turned[::17, ::13])
    log(small._version, parameter._version, turned.stride())


@behaviour_of_each(["sgd_momentum", "adam", "adamw_amsgrad"])
def optimizers_with_gradients_that_come_and_go(torch, log, name):
    parameters = [torch.nn.Parameter(image(torch, n, dtype=torch.float64)) for n in (2, 3, 4)]
    optimizer = OPTIMIZERS[name](torch.optim, parameters)
    for step, present in enumerate([(0, 1), (0, 1), (1, 2), (0, 2), (0, 1, 2), (2,), (0, 1, 2)]):
        optimizer.zero_grad()
        for number in present:
            parameters[number].grad = image(torch, number + 2, dtype=torch.float64) * (step + 1)
        optimizer.step()
        log(len(optimizer.state), *parameters)
    log_optimizer(log, optimizer)


@behaviour_of_each(["float16", "bfloat16", "complex64", "complex128"])
def optimizers_of_other_dtypes(torch, log, dtype):
    dtype = getattr(torch, dtype)
    for name in ("sgd_momentum", "adam", "adamw"):
        parameter = torch.nn.Parameter(image(torch, 4).to(dtype))
        optimizer = OPTIMIZERS[name](torch.optim, [parameter])
        for step in range(3):
            parameter.grad = (image(torch, 4) * (step + 1)).to(dtype)
            if dtype.is_complex:
                parameter.grad = parameter.grad * (1 + 2j)
            optimizer.step()
            log.values(parameter)


@behaviour
def optimizer_groups(torch, log):
    first, second, third = (torch.nn.Parameter(torch.ones(2)) for _ in range(3))
    optimizer = torch.optim.SGD(
        [{"params": first, "lr": 0.5}, {"params": [second], "momentum": 0.9}], lr=0.1
    )
    optimizer.add_param_group({"params": third, "weight_decay": 0.5})
    for _ in range(3):
        for parameter in (first, second, third):
            parameter.grad = torch.ones(2)
        optimizer.step()
    log(first, second, third, repr(optimizer), optimizer.state_dict()["param_groups"])
    log_optimizer(log, optimizer)
    optimizer.param_groups[0]["lr"] = 2.0
    optimizer.step()
    log(first)


@behaviour
def optimizer_state_may_be_changed(torch, log):
    parameters = [torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(3))]
    optimizer = torch.optim.Adam(parameters, lr=0.1)

    def step():
        for parameter in parameters:
            parameter.grad = torch.full_like(parameter, 0.5)
        optimizer.step()
        log(*parameters)

    step()
    step()
    optimizer.state[parameters[0]]["exp_avg"].zero_()
    step()
    optimizer.state[parameters[1]]["exp_avg_sq"] = torch.full((3,), 0.2)
    step()
    optimizer.state[parameters[0]]["step"].fill_(100.0)
    step()
    optimizer.state[parameters[1]]["step"] = torch.tensor(50.0)
    step()
    del optimizer.state[parameters[0]]
    step()
    parameters[0].data = torch.zeros(2)
    step()
    optimizer.state.clear()
    step()
    log_optimizer(log, optimizer)


@behaviour_of_each(["sgd_momentum", "adam", "adamw_amsgrad"])
def optimizer_state_is_saved_and_loaded(torch, log, name):
    def run(model, optimizer, x, target, steps):
        for _ in range(steps):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), target).backward()
            optimizer.step()

    model, x, target = training_parts(torch, torch.float64)
    optimizer = OPTIMIZERS[name](torch.optim, model.parameters())
    run(model, optimizer, x, target, 3)
    saved = copy.deepcopy(optimizer.state_dict())
    log(list(saved), list(saved["state"]), saved["param_groups"])
    other = copy.deepcopy(model)
    resumed = OPTIMIZERS[name](torch.optim, other.parameters())
    resumed.load_state_dict(saved)
    run(model, optimizer, x, target, 3)
    run(other, resumed, x, target, 3)
    log.values(*model.parameters())
    log.values(*other.parameters())
    log_optimizer(log, resumed)
    loaded = pickle.loads(pickle.dumps(resumed))
    log(repr(loaded), len(loaded.state))


@behaviour
def loaded_state_takes_the_parameters_dtype(torch, log):
    parameter = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.Adam([parameter])
    double = torch.ones(1, dtype=torch.float64)
    state = {
        "exp_avg": double,
        "exp_avg_sq": double,
        "step": torch.tensor(4.0, dtype=torch.float64),
    }
    group = optimizer.state_dict()["param_groups"][0]
    optimizer.load_state_dict({"state": {0: {**state, "note": [double]}}, "param_groups": [group]})
    log.values(*(optimizer.state[parameter][key] for key in state))
    parameter.grad = torch.ones(1)
    optimizer.step()
    log.values(parameter, optimizer.state[parameter]["step"])
    del state["step"]
    optimizer.load_state_dict({"state": {0: {**state, "step": 7}}, "param_groups": [group]})
    optimizer.step()
    log.values(parameter, optimizer.state[parameter]["step"])


@behaviour_of_each(["SGD", "Adam", "AdamW"])
def optimizer_errors(torch, log, name):
    make = getattr(torch.optim, name)
    new = lambda *shape: torch.nn.Parameter(torch.ones(*shape))
    parameter = new(2)
    for lr in (-1, -1.5, torch.tensor([0.1, 0.2])):
        log.raises(make, [new(2)], lr=lr)
    for params in ([], parameter, torch.ones(2), 3, [3], ["a"], [parameter * 2], [{"lr": 1}]):
        log.raises(make, params)
    log.raises(make, [{"params": {parameter}}])
    log.raises(make, [{"params": [parameter]}, {"params": [parameter]}])
    log.raises(make, [("a", parameter), new(1)])
    log.raises(make, [parameter], weight_decay=-1)
    log.raises(make, [parameter], foreach=True, fused=True)
    log.raises(make, [parameter], differentiable=True, fused=True)
    log.warns(lambda: repr(make([parameter, parameter])))
    log(repr(make([torch.ones(2)])), repr(make([("a", parameter)])), repr(make({new(1)})))
    optimizer = make([parameter])
    log.raises(optimizer.add_param_group, 3)
    log.raises(optimizer.add_param_group, {"params": parameter})
    log.raises(optimizer.load_state_dict, {"param_groups": [], "state": {}})
    log.raises(optimizer.load_state_dict, {})
    log.raises(optimizer.load_state_dict, make([new(1), new(1)]).state_dict())


@behaviour
def optimizer_option_errors(torch, log):
    parameter = torch.nn.Parameter(torch.ones(2))
    sgd, adam = torch.optim.SGD, torch.optim.Adam
    log.raises(sgd, [parameter], momentum=-1)
    log.raises(sgd, [parameter], nesterov=True)
    log.raises(sgd, [parameter], nesterov=True, momentum=0.9, dampening=0.1)
    log.raises(adam, [parameter], betas=(-1, 0.9))
    log.raises(adam, [parameter], betas=(0.9, 1.0))
    log.raises(adam, [parameter], eps=-1)
    log.raises(adam, [parameter], lr=torch.tensor(0.1), foreach=True)
    optimizer = adam([parameter], capturable=True)
    parameter.grad = torch.ones(2)
    log.raises(optimizer.step)
    log.raises(torch.optim.Optimizer([parameter], {}).step)


@behaviour
def optimizers_with_a_closure(torch, log):
    parameter = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([parameter], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (parameter**2).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        log(optimizer.step(closure))
    log(optimizer.step(closure), parameter, optimizer.step())


@behaviour
def optimizer_zero_grad(torch, log):
    parameter = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([parameter])
    parameter.grad = grad = torch.ones(2)
    optimizer.zero_grad(set_to_none=False)
    log(parameter.grad is grad, grad)
    (parameter**2).sum().backward(create_graph=True)
    optimizer.zero_grad(set_to_none=False)
    log(parameter.grad)
    optimizer.zero_grad()
    log(parameter.grad)


@behaviour
def a_step_makes_saved_parameters_stale(torch, log):
    for make in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
        parameter = torch.nn.Parameter(torch.ones(2))
        optimizer = make([parameter])
        loss = (parameter**2).sum()
        loss.backward(retain_graph=True)
        optimizer.step()
        log(parameter._version)
        log.raises(loss.backward)


@behaviour_of_each(["SGD", "Adam"])
def a_tensor_as_learning_rate(torch, log, name):
    parameter = torch.nn.Parameter(torch.ones(2))
    optimizer = getattr(torch.optim, name)([parameter], lr=torch.tensor(0.1))
    for _ in range(3):
        parameter.grad = torch.ones(2)
        optimizer.step()
        log.values(parameter)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    schedule.step()
    log.values(parameter, schedule.get_last_lr()[0], optimizer.param_groups[0]["lr"])


@behaviour_of_each(["SGD", "Adam"])
def differentiable_steps(torch, log, name):
    start = torch.tensor([1.0, 2.0], requires_grad=True)
    parameter = start.clone()
    parameter.retain_grad()
    optimizer = getattr(torch.optim, name)([parameter], lr=0.1, differentiable=True)
    parameter.grad = start * 3
    optimizer.step()
    log(parameter)
    (parameter**2).sum().backward()
    log.values(start.grad)


@behaviour
def optimizer_hooks(torch, log):
    parameter = torch.nn.Parameter(torch.ones(2))
    parameter.grad = torch.ones(2)
    optimizer = torch.optim.SGD([parameter])
    optimizer.register_step_pre_hook(lambda o, args, kwargs: log("pre", len(args), kwargs))
    handle = optimizer.register_step_post_hook(
        lambda o, args, kwargs: log("post", len(args), kwargs)
    )
    optimizer.step()
    handle.remove()
    optimizer.step(closure=lambda: 3)
    optimizer.register_state_dict_pre_hook(lambda o: log("saving"))
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "note": 1})
    log(optimizer.state_dict())
    optimizer.register_load_state_dict_pre_hook(lambda o, state: log("loading", list(state)))
    optimizer.register_load_state_dict_post_hook(lambda o: log("loaded"))
    optimizer.load_state_dict(optimizer.state_dict())


@behaviour
def optimizer_hooks_that_replace_what_they_are_given(torch, log):
    parameter = torch.nn.Parameter(torch.ones(2))
    parameter.grad = torch.ones(2)
    optimizer = torch.optim.SGD([parameter], lr=0.5)
    handle = optimizer.register_step_pre_hook(
        lambda o, args, kwargs: (args, {"closure": lambda: "replaced"}))
    optimizer.register_step_post_hook(lambda o, args, kwargs: log(len(args), list(kwargs)))
    log(optimizer.step(), parameter)
    handle.remove()
    for wrong in (3, (1, 2, 3), [1, 2]):
        handle = optimizer.register_step_pre_hook(lambda o, args, kwargs, wrong=wrong: wrong)
        try:
            optimizer.step()
        except RuntimeError as error:
            log(str(error).partition("must return")[2])
        handle.remove()
    log(parameter)

    def slower(o, state):
        return {**state, "param_groups": [{**state["param_groups"][0], "lr": 0.25}],
                "state": {0: {"momentum_buffer": torch.ones(2)}, "other": [1]}}

    optimizer.register_load_state_dict_pre_hook(slower)
    optimizer.load_state_dict(optimizer.state_dict())
    log(optimizer.param_groups[0]["lr"], optimizer.state[parameter], optimizer.state["other"])
    log(repr(importlib.import_module(f"{torch.__name__}.optim.optimizer").required))


@behaviour
def sparse_steps_with_a_closure(torch, log):
    parameter = torch.nn.Parameter(torch.ones(3, 2))
    optimizer = torch.optim.SparseAdam([parameter], lr=0.5)

    def closure():
        optimizer.zero_grad()
        log(torch.is_grad_enabled())
        loss = torch.nn.functional.embedding(torch.tensor([0, 2]), parameter, sparse=True).sum()
        loss.backward()
        return loss

    for _ in range(2):
        log.values(optimizer.step(closure))
        log(parameter)


@behaviour
def a_line_search_by_itself(torch, log):
    search = importlib.import_module(f"{torch.__name__}.optim.lbfgs")._strong_wolfe

    def value_and_slope(x, t, d):
        at = (x + t * d).requires_grad_()
        value = ((at - 1) ** 4).sum() + at.sin().sum()
        return float(value.detach()), torch.autograd.grad(value, at)[0]

    x = torch.tensor([3.0, -2.0], dtype=torch.float64)
    f, g = value_and_slope(x, 0.0, x * 0)
    for t, options in ((1.0, {}), (0.01, {}), (0.3, {"c1": 0.3, "c2": 0.4}), (1.0, {"max_ls": 2}),
                       (1.0, {"tolerance_change": 0.5})):
        found = search(value_and_slope, x, t, -g, f, g, -g.dot(g), **options)
        log.values(torch.tensor([float(found[0]), float(found[2]), found[3]]), found[1])


@behaviour
def optimizers_of_ones_own(torch, log):
    class Sign(torch.optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for parameter in group["params"]:
                    state = self.state[parameter]
                    state["count"] = state.get("count", 0) + 1
                    parameter.add_(parameter.grad.sign(), alpha=-group["lr"])
            return 7

    parameter = torch.nn.Parameter(torch.ones(2))
    parameter.grad = torch.tensor([2.0, -3.0])
    optimizer = Sign([parameter], 0.5)
    optimizer.register_step_post_hook(lambda o, args, kwargs: log("stepped"))
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    log(optimizer.step(), parameter, optimizer.state_dict())
    schedule.step()
    log(optimizer.param_groups[0]["lr"])


# ---------------------------------------------------------------- schedules

SCHEDULES = {
    "step": lambda s, o, **k: s.StepLR(o, 2, 0.5, **k),
    "multi_step": lambda s, o, **k: s.MultiStepLR(o, [2, 3, 3, 6], 0.5, **k),
    "exponential": lambda s, o, **k: s.ExponentialLR(o, 0.9, **k),
    "cosine": lambda s, o, **k: s.CosineAnnealingLR(o, 3, eta_min=0.01, **k),
    "lambda": lambda s, o, **k: s.LambdaLR(o, lambda epoch: 0.9**epoch, **k),
    "linear": lambda s, o, **k: s.LinearLR(o, total_iters=3, **k),
    "constant": lambda s, o, **k: s.ConstantLR(o, total_iters=2, **k),
}


def sgd(torch, *rates):
    parameters = [torch.nn.Parameter(torch.ones(1)) for _ in rates]
    return torch.optim.SGD([{"params": p, "lr": lr} for p, lr in zip(parameters, rates)])


@behaviour_of_each(SCHEDULES)
def schedules(torch, log, name):
    optimizer = sgd(torch, 0.1, 2.0)
    schedule = SCHEDULES[name](torch.optim.lr_scheduler, optimizer)
    for _ in range(9):
        log(schedule.get_last_lr(), [group["lr"] for group in optimizer.param_groups])
        optimizer.step()
        schedule.step()
    log({k: v if k != "milestones" else dict(v) for k, v in schedule.state_dict().items()})


@behaviour_of_each(SCHEDULES)
def schedules_resumed(torch, log, name):
    optimizer = sgd(torch, 0.1)
    schedule = SCHEDULES[name](torch.optim.lr_scheduler, optimizer)
    for _ in range(3):
        optimizer.step()
        schedule.step()
    other = sgd(torch, 0.1)
    other.load_state_dict(optimizer.state_dict())
    resumed = SCHEDULES[name](torch.optim.lr_scheduler, other, last_epoch=2)
    log(resumed.get_last_lr(), resumed.last_epoch)
    restored = SCHEDULES[name](torch.optim.lr_scheduler, sgd(torch, 0.1))
    restored.load_state_dict(schedule.state_dict())
    log(restored.last_epoch, restored.get_last_lr())
    for _ in range(3):
        other.step()
        resumed.step()
        log(resumed.get_last_lr())


@behaviour_of_each(SCHEDULES)
def schedules_at_a_given_epoch(torch, log, name):
    optimizer = sgd(torch, 0.1)
    schedule = SCHEDULES[name](torch.optim.lr_scheduler, optimizer)
    optimizer.step()
    for epoch in (3, 1, 7):
        log.warns(lambda epoch=epoch: schedule.step(epoch))
        log(schedule.get_last_lr(), schedule.last_epoch)


@behaviour
def schedule_misuse(torch, log):
    scheduler = torch.optim.lr_scheduler
    log.raises(scheduler.StepLR, 3, 1)
    log.raises(scheduler.StepLR, sgd(torch, 0.1), 2, last_epoch=3)
    log.raises(scheduler.LambdaLR, sgd(torch, 0.1), [abs, abs])
    log.raises(scheduler.LinearLR, sgd(torch, 0.1), start_factor=0.0)
    log.raises(scheduler.LinearLR, sgd(torch, 0.1), end_factor=2.0)
    log.raises(scheduler.ConstantLR, sgd(torch, 0.1), factor=2.0)
    early = scheduler.StepLR(sgd(torch, 0.1), 2)
    log.warns(early.step)
    log.warns(early.get_lr)
    optimizer = sgd(torch, 0.1)
    optimizer.step()
    log.warns(scheduler.StepLR(optimizer, 2).step)


# ---------------------------------------------------------------- data sets, samplers, loaders


def numbers(torch, count=10):
    return torch.utils.data.TensorDataset(torch.arange(count), torch.arange(count) * 0.5)


@behaviour_of_each(
    ["plain", "shuffle", "drop_last", "generator", "sampler", "batch_sampler", "single"]
)
def loaders(torch, log, kind):
    data = torch.utils.data
    torch.manual_seed(11)
    dataset = numbers(torch)
    loader = {
        "plain": lambda: data.DataLoader(dataset, 4),
        "shuffle": lambda: data.DataLoader(dataset, 4, shuffle=True),
        "drop_last": lambda: data.DataLoader(dataset, 4, shuffle=True, drop_last=True),
        "generator": lambda: data.DataLoader(
            dataset, 3, shuffle=True, generator=torch.Generator().manual_seed(5)
        ),
        "sampler": lambda: data.DataLoader(dataset, 3, sampler=[5, 1, 2, 7]),
        "batch_sampler": lambda: data.DataLoader(dataset, batch_sampler=[[5, 1], [2]]),
        "single": lambda: data.DataLoader(dataset, batch_size=None),
    }[kind]()
    for _ in range(2):
        log(len(loader), list(loader))
    if loader.generator is not None:
        log(torch.rand(1, generator=loader.generator))
    log(torch.rand(2), loader.batch_size, loader.drop_last)


@behaviour
def loaders_of_subsets(torch, log):
    data = torch.utils.data
    first, second = data.random_split(numbers(torch), [7, 3])
    log(list(data.DataLoader(first, 3, shuffle=True)), list(data.DataLoader(second, 2)))
    nested = data.Subset(first, [4, 0, 2])
    log(list(data.DataLoader(nested, 2)))
    recorded = data.TensorDataset(torch.ones(4, requires_grad=True))
    log(list(data.DataLoader(recorded, 2)))


@behaviour
def loaders_of_other_data(torch, log):
    data = torch.utils.data

    class Squares(data.Dataset):
        def __getitem__(self, index):
            return {"x": float(index), "y": (index**2, str(index))}

        def __len__(self):
            return 5

    log(list(data.DataLoader(Squares(), 2)))
    log(list(data.DataLoader(range(5), 2, collate_fn=sum)))
    log(list(data.DataLoader([1.5, 2.5], None)))

    class Many(Squares):
        def __getitems__(self, indices):
            log(indices)
            return [index * 10 for index in indices]

    log(list(data.DataLoader(Many(), 2)))


@behaviour
def loaders_of_streams(torch, log):
    data = torch.utils.data

    class Stream(data.IterableDataset):
        def __iter__(self):
            return iter(range(5))

    class Sized(Stream):
        def __len__(self):
            return 5

    log(list(data.DataLoader(Stream(), 2)), list(data.DataLoader(Stream(), 2, drop_last=True)))
    log(list(data.DataLoader(Stream(), None)), len(data.DataLoader(Sized(), 2)))
    log(len(data.DataLoader(Sized(), 2, drop_last=True)), list(Stream() + Sized()))
    log.raises(data.DataLoader, Stream(), shuffle=True)
    log.raises(data.DataLoader, Stream(), sampler=[1])
    log.raises(data.DataLoader, Stream(), batch_sampler=[[1]])
    log.raises(lambda: len(data.DataLoader(Stream(), 2)))


@behaviour
def loader_errors(torch, log):
    data = torch.utils.data
    dataset = numbers(torch)
    for options in (
        {"batch_size": 0},
        {"batch_size": -1},
        {"batch_size": 2.5},
        {"num_workers": -1},
        {"timeout": -1},
        {"shuffle": True, "sampler": [1]},
        {"shuffle": True, "batch_sampler": [[1]]},
        {"batch_size": 2, "batch_sampler": [[1]]},
        {"batch_size": None, "drop_last": True},
        {"prefetch_factor": 2},
        {"num_workers": 1, "prefetch_factor": -2},
        {"persistent_workers": True},
    ):
        log.raises(data.DataLoader, dataset, **options)
    log.raises(data.DataLoader, [], 2, shuffle=True)
    log.raises(list, data.DataLoader(3, 2))
    loader = data.DataLoader(dataset, 4)
    for name in ("batch_size", "sampler", "dataset"):
        log.raises(setattr, loader, name, 3)


@behaviour
def samplers(torch, log):
    data = torch.utils.data
    log(list(data.SequentialSampler(range(3))), len(data.SequentialSampler(range(3))))
    log(list(data.RandomSampler(range(10))), list(data.RandomSampler(range(10), num_samples=25)))
    log(list(data.RandomSampler(range(10), replacement=True, num_samples=40)))
    log(list(data.RandomSampler(range(10), generator=torch.Generator().manual_seed(3))))
    log(list(data.SubsetRandomSampler([5, 6, 7, 8])), torch.rand(1))
    log(list(data.BatchSampler(range(5), 2, False)), len(data.BatchSampler(range(5), 2, True)))
    log.raises(data.RandomSampler, [])
    log.raises(data.RandomSampler, range(3), replacement=3)
    log.raises(data.RandomSampler, range(3), num_samples=0)
    log.raises(data.RandomSampler, range(3), num_samples=2.0)
    log.raises(data.BatchSampler, range(3), 0, False)
    log.raises(data.BatchSampler, range(3), 2, 3)


@behaviour
def weighted_samplers(torch, log):
    data = torch.utils.data
    log.raises(data.WeightedRandomSampler, [1.0], 0)
    log.raises(data.WeightedRandomSampler, [1.0], True)
    log.raises(data.WeightedRandomSampler, torch.ones(2, 2), 2)
    log.raises(data.WeightedRandomSampler, [1.0], 3, replacement=3)
    log(list(data.WeightedRandomSampler([0.1, 0.2, 0.7], 5)))
    log(list(data.WeightedRandomSampler([0.1, 0.2, 0.7], 3, replacement=False)))


@behaviour
def data_sets(torch, log):
    data = torch.utils.data
    dataset = numbers(torch)
    log(len(dataset), dataset[1:3], dataset[2])
    log.raises(lambda: dataset[10])
    log.raises(data.TensorDataset, torch.ones(2), torch.ones(3))
    joined = data.ConcatDataset([range(3), range(10, 12)])
    log([joined[i] for i in range(5)], joined[-1], len(joined), joined.cumulative_sizes)
    for index in (5, -6):
        log.raises(lambda index=index: joined[index])
    log.raises(data.ConcatDataset, [])
    log((dataset + numbers(torch, 2)).cumulative_sizes)
    subset = data.Subset(range(10), [1, 2])
    log(len(subset), subset[0])
    log.raises(lambda: subset[5])
    log.raises(lambda: data.Dataset()[0])
    log.raises(lambda: len(data.Dataset()))


@behaviour
def random_splits(torch, log):
    split = torch.utils.data.random_split
    log([part.indices for part in split(range(10), [3, 7])])
    log([part.indices for part in split(range(11), [0.3, 0.3, 0.4])])
    generator = torch.Generator().manual_seed(4)
    log([part.indices for part in split(range(6), [2, 4], generator=generator)])
    for lengths in ([3, 6], [0.3, 0.9], [0.5, -0.1], [1.5, -0.5]):
        log.raises(split, range(10), lengths)
    log.warns(lambda: [len(part) for part in split(range(1), [0.5, 0.5])])


@behaviour
def collating(torch, log):
    collate = torch.utils.data.default_collate
    Two = namedtuple("Two", "a b")
    for batch in (
        [1, 2],
        [1.0, 2.0],
        [True, False],
        ["a", "b"],
        [b"a", b"b"],
        [torch.ones(2), torch.zeros(2)],
        [torch.tensor(1), torch.tensor(2)],
        [(1, 2.0), (3, 4.0)],
        [[1, 2], [3, 4]],
        [{"a": 1}, {"a": 2}],
        [Two(1, 2), Two(3, 4)],
        [1, 2.5],
        [2.5, 1],
        [range(2), range(2)],
    ):
        log(collate(batch))
    for batch in (
        [(1,), (2, 3)],
        [None, None],
        [object()],
        [torch.ones(2), torch.ones(3)],
        [],
        [{"a": 1}, {"b": 2}],
        [{1}],
    ):
        log.raises(collate, batch)
    log(torch.utils.data.default_convert([1, "a", {"x": 2.0}, (torch.ones(1),)]))
    log(torch.utils.data.get_worker_info())


# ---------------------------------------------------------------- everything together


@behaviour_of_each(["sgd_momentum", "adam"])
def training_with_everything(torch, log, name):
    nn = torch.nn
    torch.manual_seed(7)
    images = torch.rand(40, 1, 6, 6, dtype=torch.float64)
    labels = torch.randint(0, 3, (40,))
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.LayerNorm(36),
        nn.Dropout(0.2),
        nn.Linear(36, 3),
    ).double()
    optimizer = OPTIMIZERS[name](torch.optim, model.parameters())
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 3)
    dataset = torch.utils.data.TensorDataset(images, labels)
    loader = torch.utils.data.DataLoader(dataset, batch_size=16, shuffle=True)
    loss_function = nn.CrossEntropyLoss()
    for _ in range(3):
        for x, y in loader:
            optimizer.zero_grad()
            loss = loss_function(model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            log(loss)
        schedule.step()
    log.values(*model.state_dict().values())
