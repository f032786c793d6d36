"""Everything that ``nn.Module`` promises: hooks, state, conversion, buffers, containers."""

from __future__ import annotations

import contextlib
import copy
import pickle
import warnings
from collections import OrderedDict

from parity.harness import behaviour, behaviour_of_each

SUBMODULES = ("module", "buffer", "parameter")


def net(torch):
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))


def ones(torch, *shape, grad=False):
    return torch.ones(*shape, requires_grad=grad)


def two_parts(torch):
    """A module that returns a dict, and one whose outputs have several nodes."""

    class Nested(torch.nn.Module):
        def forward(self, x):
            return {"out": x * 2, "also": [x + 1]}

    class Several(torch.nn.Module):
        def forward(self, x):
            return x * 2, x + 1

    class Untensored(torch.nn.Module):
        def forward(self, x, factor):
            return x * factor

    return Nested(), Several(), Untensored()


@contextlib.contextmanager
def global_hook(handle):
    try:
        yield
    finally:
        handle.remove()


@behaviour
def what_is_made_of_an_own_kind_of_parameter(torch, log):
    class Own(torch.nn.Parameter):
        pass

    own = Own(torch.ones(2))
    log(own, type(own).__name__, isinstance(own, torch.nn.Parameter))
    for make in ("detach", "clone", "t", "requires_grad_", "contiguous", "double"):
        log(make, type(getattr(own, make)()).__name__)
    log(*(type(each).__name__ for each in (own.data, own[0], own + 1, own.view(1, 2),
                                           copy.deepcopy(own))))


@behaviour
def the_older_normalization_across_channels_lets_the_first_one_go(torch, log):
    x = torch.ones(1, 3, 1, 1)
    log(torch.nn.CrossMapLRN2d(3, 0.5, 0.75, 2.0)(x[:, :2]), torch.nn.CrossMapLRN2d(5))
    log.differs(torch.nn.CrossMapLRN2d(1, alpha=1, beta=1)(x).flatten().tolist(),
                torch=[1 / 2, 1 / 3, 1 / 3], retrograd=[1 / 2, 1 / 2, 1 / 2])


@behaviour_of_each([(kind, kind) for kind in ("with", "without", "with any")])
def buffers_of_modules_that_register_them_in_their_own_way(torch, log, name, kind):
    class Own(torch.nn.Module):
        pass

    seen = []

    def with_it(self, name, tensor, persistent=True):
        seen.append((name, persistent))
        torch.nn.Module.register_buffer(self, name, tensor, persistent)

    def without(self, name, tensor):
        seen.append(name)
        torch.nn.Module.register_buffer(self, name, tensor)

    def with_any(self, *args, **options):
        seen.append((args[0], len(args), list(options)))
        torch.nn.Module.register_buffer(self, *args, **options)

    Own.register_buffer = {"with": with_it, "without": without, "with any": with_any}[kind]
    module = Own()
    module.a = torch.nn.Buffer(torch.ones(1))
    module.a = torch.zeros(1)
    try:
        module.b = torch.nn.Buffer(torch.ones(1), persistent=False)
    except RuntimeError as error:
        log(str(error))
    log(seen, list(module.state_dict()), [name for name, _ in module.named_buffers()])


@behaviour
def backward_hooks_where_no_input_requires_grad(torch, log):
    class Two(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(1))

        def forward(self, x, y):
            return x * y * self.weight

    module, seen = Two(), []
    module.register_full_backward_hook(lambda m, given, arrived: seen.append((given, arrived)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module(torch.ones(1), torch.ones(1)).sum().backward()
        log(seen)
        for answer in ((None, None), (torch.ones(1), None), (None,)):
            handle = module.register_full_backward_hook(lambda m, g, a, answer=answer: answer)
            try:
                module(torch.ones(1), torch.ones(1)).sum().backward()
                log(answer)
            except RuntimeError as error:
                log(answer, str(error))
            handle.remove()


# ------------------------------------------------------------------ hooks of every module


@behaviour
def hooks_of_every_module(torch, log):
    register = torch.nn.modules.module
    model = net(torch)
    seen = []
    model[0].register_forward_hook(lambda m, a, o: seen.append(("own after", type(m).__name__)))
    model[0].register_forward_pre_hook(lambda m, a: seen.append(("own before", type(m).__name__)))
    with global_hook(register.register_module_forward_pre_hook(
            lambda m, a: seen.append(("before", type(m).__name__, len(a))))), \
         global_hook(register.register_module_forward_hook(
            lambda m, a, o: seen.append(("after", type(m).__name__, tuple(o.shape))))):
        out = model(ones(torch, 1, 3))
    log(seen, out)
    seen.clear()
    model(ones(torch, 1, 3))
    log(seen)


@behaviour
def global_forward_hooks_replace(torch, log):
    register = torch.nn.modules.module
    model = net(torch)
    with global_hook(register.register_module_forward_pre_hook(lambda m, a: a[0] * 2)):
        log(model(ones(torch, 1, 3)))
    with global_hook(register.register_module_forward_hook(lambda m, a, o: o + 1)):
        log(model(ones(torch, 1, 3)))
    with global_hook(register.register_module_forward_hook(
            lambda m, a, k, o: log(sorted(k)), with_kwargs=True)):
        log(model(input=ones(torch, 1, 3)))


@behaviour
def global_hooks_that_are_always_called(torch, log):
    register = torch.nn.modules.module
    seen = []

    def fail(m, a, o):
        raise ValueError("in the hook")

    model = torch.nn.Linear(3, 2)
    with global_hook(register.register_module_forward_hook(
            lambda m, a, o: seen.append(o is None), always_call=True)):
        log.raises(model, ones(torch, 1, 4))
    log(seen)
    with global_hook(register.register_module_forward_hook(fail, always_call=True)):
        def attempt():
            with contextlib.suppress(RuntimeError):
                model(ones(torch, 1, 4))
        log.warns(attempt)


@behaviour
def always_called_hooks_see_what_there_is(torch, log):
    model = torch.nn.Identity()
    seen = []

    def fail(m, a, o):
        raise ValueError("first")

    model.register_forward_hook(fail)
    model.register_forward_hook(lambda m, a, o: seen.append(o), always_call=True)
    model.register_forward_hook(lambda m, a, k, o: seen.append((k, o)), always_call=True,
                                with_kwargs=True)
    log.raises(model, ones(torch, 2))
    log(seen)


@behaviour
def backward_hooks_of_every_module(torch, log):
    register = torch.nn.modules.module
    model = net(torch)
    seen = []
    model[0].register_full_backward_hook(lambda m, gi, go: seen.append("own"))
    with global_hook(register.register_module_full_backward_pre_hook(
            lambda m, go: seen.append(("pre", type(m).__name__, [tuple(g.shape) for g in go])))), \
         global_hook(register.register_module_full_backward_hook(
            lambda m, gi, go: seen.append((type(m).__name__, [g is None for g in gi])))):
        model(ones(torch, 1, 3, grad=True)).sum().backward()
        log.raises(register.register_module_backward_hook, lambda *a: None)
    log(seen)
    register._global_is_full_backward_hook = None


@behaviour
def hooks_on_the_last_node(torch, log):
    model = torch.nn.ReLU()
    seen = []
    handle = model.register_backward_hook(lambda m, gi, go: seen.append((gi, go)))
    log.raises(model.register_full_backward_hook, lambda *a: None)
    x = ones(torch, 2, grad=True)
    (model(x * 2) * 3).sum().backward()
    log(seen, x.grad)
    handle.remove()
    full = torch.nn.ReLU()
    full.register_full_backward_hook(lambda m, gi, go: None)
    log.raises(full.register_backward_hook, lambda *a: None)


@behaviour
def hooks_on_the_last_node_say_what_they_miss(torch, log):
    nested, several, untensored = two_parts(torch)
    x = ones(torch, 2, grad=True) * 2
    for module in (nested, several, torch.nn.Sequential(torch.nn.Tanh(), torch.nn.ReLU())):
        module.register_backward_hook(lambda m, gi, go: None)
        log.warns(lambda module=module: None if module(x) is None else 1)
    untensored.register_backward_hook(lambda m, gi, go: None)
    log.warns(untensored, x, 2.0)


@behaviour_of_each(SUBMODULES)
def registration_hooks(torch, log, kind):
    seen = []
    register = getattr(torch.nn.modules.module, f"register_module_{kind}_registration_hook")
    with global_hook(register(
            lambda m, n, v: seen.append((type(m).__name__, n, type(v).__name__)))):
        model = torch.nn.BatchNorm1d(2)
        model.child = torch.nn.ReLU()
        model.child = None
        model.add_module("other", torch.nn.Tanh())
        model.running_mean = torch.ones(2)
        model.weight = torch.nn.Parameter(torch.ones(2))
        model.weight = None
        model.register_buffer("more", None)
    log(seen)


@behaviour
def registration_hooks_replace(torch, log):
    module = torch.nn.modules.module
    with global_hook(module.register_module_parameter_registration_hook(
            lambda m, n, p: torch.nn.Parameter(torch.zeros(1, 2)))):
        torch.manual_seed(0)
        log(torch.nn.Linear(2, 1, bias=False).weight)
    with global_hook(module.register_module_buffer_registration_hook(
            lambda m, n, b: torch.full((1,), 7.0))):
        log(torch.nn.BatchNorm1d(1).running_mean)
    with global_hook(module.register_module_module_registration_hook(
            lambda m, n, c: torch.nn.Identity())):
        log(repr(torch.nn.Sequential(torch.nn.ReLU())))


@behaviour
def hooks_are_copied_and_pickled(torch, log):
    model = torch.nn.Linear(2, 1)
    model.register_load_state_dict_pre_hook(note_loading)
    model.register_forward_pre_hook(double_input)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        other.marked = []
        other.load_state_dict(model.state_dict())
        log(other.marked, hasattr(model, "marked"))
        log(torch.equal(other(ones(torch, 1, 2)), model(ones(torch, 1, 2))))


def note_loading(module, state_dict, prefix, *rest):
    module.marked.append((sorted(state_dict), prefix, len(rest)))


def double_input(module, args):
    return (args[0] * 2,)


# ------------------------------------------------------------------ state


@behaviour
def private_state_dict_hooks_replace(torch, log):
    model = torch.nn.Linear(2, 1)
    public = model.register_state_dict_post_hook(lambda m, d, p, meta: None)
    log.raises(model._register_state_dict_hook, next(iter(model._state_dict_hooks.values())))
    public.remove()
    model._register_state_dict_hook(lambda m, d, p, meta: {"only": meta["version"]})
    log(model.state_dict())


@behaviour
def state_dict_by_position(torch, log):
    model = torch.nn.Linear(2, 1)
    log.warns(lambda: list(model.state_dict(OrderedDict(), "a.")))
    log.warns(lambda: [v.requires_grad for v in model.state_dict(None, "", True).values()])


@behaviour
def loading_hooks_see_everything(torch, log):
    model = net(torch)
    seen = []
    model._register_load_state_dict_pre_hook(lambda *args: seen.append((len(args), args[1])))
    model[0].register_load_state_dict_pre_hook(
        lambda m, d, prefix, meta, strict, *rest: seen.append((type(m).__name__, sorted(d), prefix,
                                                               dict(meta), strict)))
    model.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    state = model.state_dict()
    del state["0.weight"]
    log(model.load_state_dict(state), seen)
    model.register_load_state_dict_post_hook(lambda m, keys: keys)
    log.raises(model.load_state_dict, state)


@behaviour
def what_cannot_be_loaded(torch, log):
    model = net(torch)
    state = model.state_dict()
    log.raises(model.load_state_dict, [1])
    log.raises(model.load_state_dict, {**state, "0.weight": 3})
    log.raises(model.load_state_dict, {**state, "0.weight": torch.ones(1)})
    log.raises(model.load_state_dict, {**state, "0.nothing": 3, "9.weight": 3, "more": 1})
    log(model.load_state_dict({**state, "more": torch.ones(1)}, strict=False))
    counted = torch.nn.BatchNorm1d(1)
    log(counted.load_state_dict({**counted.state_dict(), "num_batches_tracked": torch.tensor([3])}))
    log.raises(counted.load_state_dict,
               {**counted.state_dict(), "num_batches_tracked": torch.tensor([3, 4])})


@behaviour
def assigned_state(torch, log):
    model = net(torch)
    model[0].weight.requires_grad_(False)
    state = OrderedDict((k, v.double()) for k, v in model.state_dict().items())
    state["0.bias"] = torch.nn.Parameter(state["0.bias"], requires_grad=False)
    log(model.load_state_dict(state, assign=True))
    log([(n, p.dtype, p.requires_grad) for n, p in model.named_parameters()])
    log(model[0].bias is state["0.bias"],
        model[0].weight.data_ptr() == state["0.weight"].data_ptr())


@behaviour
def prefixes_are_consumed(torch, log):
    state = torch.nn.Sequential(net(torch)).state_dict(prefix="module.")
    torch.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    log(list(state), list(state._metadata))


@behaviour
def modules_from_before(torch, log):
    model = torch.nn.Linear(2, 1)
    state = model.__dict__.copy()
    for name in list(state):
        if "hooks" in name and name not in ("_forward_hooks", "_backward_hooks"):
            del state[name]
    for name in ("_non_persistent_buffers_set", "_is_full_backward_hook"):
        del state[name]
    old = torch.nn.Linear.__new__(torch.nn.Linear)
    old.__setstate__(state)
    log(torch.equal(old(ones(torch, 1, 2)), model(ones(torch, 1, 2))), sorted(old.__dict__))
    log(sorted(old.state_dict()), old._is_full_backward_hook)


# ------------------------------------------------------------------ members


@behaviour
def buffers_by_assignment(torch, log):
    module = torch.nn.Module()
    module.kept = torch.nn.Buffer(torch.ones(2))
    module.passing = torch.nn.Buffer(torch.ones(1), persistent=False)
    log(dict(module.named_buffers()), list(module.state_dict()))
    module.passing = torch.zeros(3)
    log(list(module.state_dict()), type(module.passing).__name__)
    module.kept = torch.nn.Buffer(torch.ones(2), persistent=False)
    log(list(module.state_dict()))
    module.kept = None
    log(dict(module.named_buffers()))
    log.raises(setattr, module, "passing", 3)
    module.plain = 3
    log.raises(setattr, module, "plain", torch.nn.Buffer(torch.ones(1)))
    buffer = torch.nn.Buffer(torch.ones(1, requires_grad=True))
    log(isinstance(buffer, torch.nn.Buffer), isinstance(torch.ones(1), torch.nn.Buffer),
        buffer.requires_grad, buffer.persistent, type(buffer).__name__, repr(torch.nn.Buffer()))


@behaviour
def buffers_of_a_module_with_its_own_registration(torch, log):
    class Old(torch.nn.Module):
        def register_buffer(self, name, tensor):
            log(name)
            super().register_buffer(name, tensor)

    module = Old()
    module.a = torch.nn.Buffer(torch.ones(1))
    log.raises(setattr, module, "b", torch.nn.Buffer(torch.ones(1), persistent=False))


@behaviour
def setting_submodules(torch, log):
    model = net(torch)
    model.set_submodule("0", torch.nn.Tanh())
    model.set_submodule("new", torch.nn.Sequential(torch.nn.ReLU()))
    model.set_submodule("new.0", torch.nn.Sigmoid(), strict=True)
    log(repr(model))
    log.raises(model.set_submodule, "", torch.nn.ReLU())
    log.raises(model.set_submodule, "0", 3)
    log.raises(model.set_submodule, "nowhere.a", torch.nn.ReLU())
    log.raises(model.set_submodule, "nowhere", torch.nn.ReLU(), strict=True)
    model.number = 3
    log.raises(model.set_submodule, "number", torch.nn.ReLU())


@behaviour
def names_of_members(torch, log):
    shared = torch.nn.Linear(1, 1)
    model = torch.nn.ModuleDict({"a": shared, "b": shared, "c": torch.nn.BatchNorm1d(1)})
    for unique in (True, False):
        log([n for n, _ in model.named_parameters(remove_duplicate=unique)],
            [n for n, _ in model.named_modules(remove_duplicate=unique)],
            [n for n, _ in model.named_buffers("top", remove_duplicate=unique)])
    log([n for n, _ in model.named_parameters(recurse=False)],
        [n for n in ("a", "c", "0", "forward", "set_submodule") if n in dir(model)])


@behaviour
def registering_again(torch, log):
    module = torch.nn.Module()
    for register, value in ((module.register_buffer, torch.ones(1)),
                            (module.register_parameter, torch.nn.Parameter(torch.ones(1))),
                            (module.register_module, torch.nn.ReLU())):
        for name in (3, "", "a.b", "forward", "training"):
            log.raises(register, name, value)
        log.raises(register, "fine", "text")
        log.raises(register, "nothing", None)
    log.raises(module.register_parameter, "made", torch.ones(1, requires_grad=True) * 2)


@behaviour
def before_the_constructor(torch, log):
    class Early(torch.nn.Module):
        def __init__(self, what):
            what(self)

    log.raises(Early, lambda m: setattr(m, "a", torch.nn.ReLU()))
    log.raises(Early, lambda m: setattr(m, "a", torch.nn.Parameter(torch.ones(1))))
    log.raises(Early, lambda m: m.register_buffer("a", torch.ones(1)))
    log.raises(Early, lambda m: m.register_parameter("a", None))
    log.raises(Early, lambda m: setattr(m, "a", torch.nn.Buffer(torch.ones(1))))


# ------------------------------------------------------------------ conversion


@behaviour
def conversions_keep_parameters_and_gradients(torch, log):
    model = net(torch)
    model(ones(torch, 1, 3)).sum().backward()
    parameter, grad = model[0].weight, model[0].weight.grad
    model.double()
    log(model[0].weight is parameter, parameter.grad is grad, grad.dtype, parameter)


@behaviour
def conversions_by_overwriting(torch, log):
    model = net(torch)
    model(ones(torch, 1, 3)).sum().backward()
    parameter = model[0].weight
    log(torch.__future__.get_overwrite_module_params_on_conversion())
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    try:
        model.double()
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(False)
    log(model[0].weight is parameter, parameter.dtype, model[0].weight.grad, model[0].weight)


@behaviour
def conversions_by_swapping(torch, log):
    model = net(torch)
    model[0].weight.grad = torch.ones(2, 3)
    parameter = model[0].weight
    state = {k: v + 1 for k, v in model.state_dict().items()}
    log(torch.__future__.get_swap_module_params_on_conversion())
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        model.double()
        log(model[0].weight is parameter, parameter.dtype, parameter.grad.dtype)
        model.load_state_dict(state)
        log(model[0].weight is parameter, parameter.detach())
        model.load_state_dict(state, assign=True)
        log(model[0].weight is parameter, parameter.detach(), type(parameter).__name__)
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)


@behaviour
def tensors_swap(torch, log):
    first, second = torch.ones(2), torch.nn.Parameter(torch.zeros(3))
    first.note = "kept"
    torch.utils.swap_tensors(first, second)
    log(first.detach(), type(first).__name__, second, type(second).__name__, second.note,
        hasattr(first, "note"), first.requires_grad)


@behaviour
def conversions_of_everything(torch, log):
    model = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 2), torch.nn.BatchNorm2d(2))
    for convert in ("half", "bfloat16", "double", "float", "cpu"):
        log([v.dtype for v in getattr(model, convert)().state_dict().values()])
    log([v.dtype for v in model.type(torch.float64).state_dict().values()])
    log([v.dtype for v in model.to(torch.zeros(1)).state_dict().values()])
    log.layout(model.to(memory_format=torch.channels_last)[0].weight)
    log.raises(model.to, torch.int64)
    log.raises(model.cuda)
    log([v.dtype for v in model.to_empty(device="cpu").state_dict().values()])


@behaviour
def gradients_of_every_parameter(torch, log):
    model = net(torch)
    log(model.requires_grad_(False) is model, [p.requires_grad for p in model.parameters()])
    model.requires_grad_()
    model(ones(torch, 1, 3)).sum().backward()
    model.zero_grad(set_to_none=False)
    log([p.grad for p in model.parameters()])
    model.zero_grad()
    log([p.grad for p in model.parameters()])


@behaviour
def calls_by_their_other_names(torch, log):
    model = torch.nn.Tanh()
    log(model._call_impl(ones(torch, 1)), model._wrapped_call_impl(ones(torch, 1)))


# ------------------------------------------------------------------ containers of parameters


@behaviour
def parameter_lists(torch, log):
    some = torch.nn.ParameterList([torch.ones(1), torch.nn.Parameter(torch.ones(2)), "text"])
    some += [torch.zeros(3)]
    some[0] = torch.full((1,), 5.0)
    log(repr(some), len(some), [n for n, _ in some.named_parameters()], some[-1], some[1:3])
    log(some.append(torch.ones(1)) is some, list(some.state_dict()), "0" in dir(some))
    log.raises(lambda: some[9])
    log.raises(some)
    log.raises(some.extend, torch.ones(2))
    log.raises(some.extend, 3)


@behaviour
def parameter_dicts(torch, log):
    some = torch.nn.ParameterDict({"a": torch.ones(1), "b": torch.nn.Parameter(torch.ones(2))})
    some["c"] = "text"
    log(repr(some), list(some), list(reversed(some)), len(some), "a" in some, list(some.keys()))
    log(list(some.state_dict()), some.get("a"), some.get("z"), some.get("z", 4))
    log(some.setdefault("d", torch.zeros(1)), some.setdefault("a", None), some.setdefault("e"))
    other = torch.nn.ParameterDict({"a": torch.full((1,), 9.0), "f": torch.ones(1)})
    log((some | other)["a"], list(some | other), some["a"], list(some.copy()))
    some |= other
    log(some["a"], list(some), some.popitem(), some.pop("b"), list(some))
    log(list(some.fromkeys(["x", "y"], torch.ones(1)).items()))
    log(list(some.values())[:1], [k for k, _ in some.items()])
    some.clear()
    log(len(some), repr(some))
    log.raises(lambda: some["zz"])
    log.raises(some.__setitem__, 3, torch.ones(1))
    log.raises(some.pop, "zz")
    log.raises(some, 1)
    log.raises(some.update, 3)
    log.raises(some.update, [3])
    log.raises(some.update, [(1, 2, 3)])
    del other["a"]
    log(list(other))


@behaviour
def parameter_dicts_from_other_forms(torch, log):
    pairs = [("b", torch.ones(1)), ("a", torch.zeros(1))]
    for given in (pairs, OrderedDict(pairs), dict(pairs), torch.nn.ParameterDict(pairs)):
        log(list(torch.nn.ParameterDict(given)))


@behaviour
def utilities_of_sizes(torch, log):
    utils = torch.nn.modules.utils
    log(utils._single(3), utils._pair(3), utils._triple((1, 2, 3)), utils._quadruple([1]),
        utils._ntuple(5)("ab"), utils._reverse_repeat_tuple((1, 2), 2))
    log(utils._list_with_default([None, 3], [5, 6, 7]), utils._list_with_default(2, [1]))
    log.raises(utils._list_with_default, [1, 2], [3])


@behaviour
def the_old_container(torch, log):
    log.warns(lambda: repr(torch.nn.Container(a=torch.nn.ReLU())))


@behaviour
def batch_norms_without_running_moments(torch, log):
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(nn.Conv1d(2, 3, 2), nn.BatchNorm1d(3), nn.Sequential(nn.BatchNorm1d(3)),
                          nn.BatchNorm1d(3, track_running_stats=False), nn.InstanceNorm1d(3))
    log(torch.func.replace_all_batch_norm_modules_(model) is model, list(model.state_dict()))
    log([m.track_running_stats for m in (model[1], model[2][0], model[3], model[4])])
    other = nn.Sequential(nn.InstanceNorm1d(3, track_running_stats=True))
    log(list(torch.func.replace_all_batch_norm_modules_(other).state_dict()))
    x = torch.randn(2, 4, 2, 5)
    log.values(torch.vmap(model)(x))


@behaviour_of_each([("result", lambda torch, x: (x * 2, None)),
                    ("number", lambda torch, x: (x * 2, 3)),
                    ("list", lambda torch, x: [x * 2]),
                    ("tensors", lambda torch, x: (x * 2, x * 3))])
def hooks_on_the_last_node_of_what_is_no_tensor(torch, log, name, forward):
    class Odd(torch.nn.Module):
        def forward(self, x, other=None):
            return forward(torch, x)

    module = Odd()
    module.register_backward_hook(lambda m, gi, go: None)
    log.warns(module, torch.ones(1, requires_grad=True))
    log.warns(module, torch.ones(1, requires_grad=True), 3)


@behaviour_of_each([("conv", False), ("transposed", True)])
def layers_with_a_normalisation_in_them(torch, log, name, transposed):
    fusion = torch.nn.utils.fusion
    torch.manual_seed(0)
    for bias in (False, True):
        kind = torch.nn.ConvTranspose2d if transposed else torch.nn.Conv2d
        layer, norm = kind(2, 3, 2, bias=bias).eval(), torch.nn.BatchNorm2d(3, eps=0.1).eval()
        norm.running_mean.fill_(0.3)
        norm.weight.data.fill_(1.5)
        fused = fusion.fuse_conv_bn_eval(layer, norm, transpose=transposed)
        x = torch.ones(1, 2, 4, 4)
        log.values(fused(x), norm(layer(x)))
        log(fused.bias.requires_grad, fused.weight.requires_grad)
        plain, flat = torch.nn.Linear(2, 3, bias=bias).eval(), torch.nn.BatchNorm1d(3).eval()
        log.values(fusion.fuse_linear_bn_eval(plain, flat)(torch.ones(1, 2)))


@behaviour
def truncated_normal_values(torch, log):
    for low, high in ((-2, 2), (-1, 0), (0.5, 1), (1.5, 2), (-4, -1)):
        torch.manual_seed(5)
        log.values(torch.nn.init.trunc_normal_(torch.empty(40), 0.1, 0.8, low, high))
    coarse = torch.empty(2000, dtype=torch.bfloat16)  # in which some values are the bounds
    log.values(torch.nn.init.trunc_normal_(coarse, 0.0, 1.0, -1.0, 1.0))


@behaviour_of_each([(str(rank), rank) for rank in (1, 2, 3)])
def sizes_that_a_transposed_convolution_is_asked_for(torch, log, name, rank):
    kind = getattr(torch.nn, f"ConvTranspose{rank}d")
    x = torch.ones(1, 1, *(3,) * rank)
    for options in ({}, {"padding": 1}, {"dilation": 2}):
        layer = kind(1, 1, 3, stride=3, bias=False, **options)
        torch.nn.init.ones_(layer.weight)
        for size in range(4, 15):
            log.raises(lambda m=layer, n=size: m(x, output_size=[n] * rank).detach().sum())
        log.raises(layer, x, output_size=[1])


@behaviour
def words_of_embeddings(torch, log):
    for kind in (torch.nn.Embedding, torch.nn.EmbeddingBag):
        for options in ({}, {"padding_idx": 1}, {"max_norm": 2.0, "norm_type": 1.0},
                        {"scale_grad_by_freq": True}, {"sparse": True}):
            log(repr(kind(3, 2, **options)))
    log(repr(torch.nn.EmbeddingBag(3, 2, mode="max")))


@behaviour_of_each([(str(needs), needs) for needs in ((True, False), (False, True), (True, True),
                                                     (False, False))])
def hooks_of_modules_with_several_inputs(torch, log, name, needs):
    class Product(torch.nn.Module):
        def forward(self, x, y):
            return x * y, x + 1

    module = Product()
    module.register_full_backward_pre_hook(lambda m, g: log([v is None for v in g]))
    module.register_full_backward_hook(
        lambda m, gi, go: log([v is None for v in gi], [v is None for v in go]))
    x, y = (torch.arange(3.0, requires_grad=need) for need in needs)
    first, second = module(x, y)
    log(first.requires_grad, second.requires_grad)
    if any(needs):
        first.sum().backward()
    for v in (x, y):
        log(None if v.grad is None else v.grad.tolist())


# Options and states that few modules meet


@behaviour_of_each(["Conv1d", "Conv2d", "Conv3d"])
def convolutions_pad_in_every_mode(torch, log, kind):
    dims = int(kind[4])
    x = torch.arange(2.0 * 5 ** dims).reshape(1, 2, *(5,) * dims).sin()
    paddings = [1, "same", "valid", tuple(range(dims))]
    for mode in ("zeros", "reflect", "replicate", "circular"):
        for padding in paddings:
            for size, dilation in ((3, 1), (2, 2), (tuple(range(2, 2 + dims)), 1)):
                layer = getattr(torch.nn, kind)(2, 2, size, padding=padding, dilation=dilation,
                                                padding_mode=mode)
                log.values(layer(x))
                log(repr(layer))


@behaviour_of_each([1, 2, 3])
def transposed_convolutions_are_told_the_size_of_their_output(torch, log, dims):
    layer = getattr(torch.nn, f"ConvTranspose{dims}d")(2, 3, 3, stride=2)
    x = torch.arange(2.0 * 3 ** dims).reshape(1, 2, *(3,) * dims).sin()
    for size in (7, 8, 9, 6):
        for given in ((size,) * dims, (1, 3, *(size,) * dims), (1, *(size,) * dims)):
            for shown in (x, x[0]):
                try:
                    log.values(layer(shown, output_size=given))
                except (ValueError, RuntimeError) as error:
                    log(type(error).__name__, str(error))


@behaviour
def bags_over_a_given_matrix(torch, log):
    matrix = torch.arange(8.0).reshape(4, 2)
    make, index = torch.nn.EmbeddingBag.from_pretrained, torch.tensor([[0, 1], [3, 3]])
    for options in ({}, {"freeze": False}, {"mode": "sum", "padding_idx": 3}, {"mode": "max"},
                    {"max_norm": 1.0, "norm_type": 1.0}, {"include_last_offset": True},
                    {"freeze": False, "sparse": True, "scale_grad_by_freq": False}):
        bag = make(matrix.clone(), **options)
        log(repr(bag), bag.weight.requires_grad)
        log.values(bag.weight)
        if bag.include_last_offset:
            log.values(bag(index[0], torch.tensor([0, 1, 2])))
        else:
            log.values(bag(index))
    log(make(matrix).weight.data_ptr() == matrix.data_ptr())
    log.raises(make, matrix[0])
    log.raises(torch.nn.EmbeddingBag, 3, 2, _weight=matrix)


@behaviour_of_each(["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"])
def instance_norms_refuse_statistics_of_states_without_a_version(torch, log, kind):
    make = getattr(torch.nn, kind)
    full = make(2, track_running_stats=True).state_dict()
    for tracks, left_out in ((False, ()), (True, ()), (False, ("running_mean",)),
                             (False, ("running_mean", "running_var"))):
        state = OrderedDict((name, value) for name, value in full.items() if name not in left_out)
        state.pop("num_batches_tracked")
        module = torch.nn.Sequential(make(2, track_running_stats=tracks))
        given = {f"0.{name}": value for name, value in state.items()}
        log.raises(module.load_state_dict, given)
        log.raises(module.load_state_dict, given, strict=False)
        log(sorted(given))


@behaviour
def counts_of_batches_missing_in_old_states_are_kept(torch, log):
    full = torch.nn.BatchNorm1d(2).state_dict()
    del full["num_batches_tracked"]
    for version in (None, 1, 2):
        for tracked in (5, None):
            module = torch.nn.BatchNorm1d(2)
            module.num_batches_tracked = None if tracked is None else torch.tensor(tracked)
            state = OrderedDict(full)
            state._metadata = {"": {"version": version} if version else {}}
            log.raises(module.load_state_dict, state)
            if module.num_batches_tracked is not None:
                log.values(module.num_batches_tracked)
    for kind, x in (("BatchNorm1d", torch.ones(2)), ("BatchNorm2d", torch.ones(2, 2)),
                    ("BatchNorm3d", torch.ones(2, 2)), ("InstanceNorm1d", torch.ones(2))):
        log.raises(getattr(torch.nn, kind)(2), x)


@behaviour
def recurrent_layers_with_dropout(torch, log):
    for kind in ("RNN", "LSTM", "GRU"):
        make = getattr(torch.nn, kind)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            make(2, 3, dropout=0.5)
            make(2, 3, 2, dropout=0.5)
            make(2, 3)
        log([str(warning.message) for warning in heard])
        layer = make(2, 3, 3, dropout=1.0, bidirectional=True)
        log(repr(layer), [[tuple(w.shape) for w in weights] for weights in layer.all_weights])
        log(all(w is layer._parameters[name] for weights, names in zip(
            layer.all_weights, layer._all_weights) for w, name in zip(weights, names)))
        x = torch.arange(8.0).reshape(4, 1, 2).sin()
        log.values(layer(x)[0], layer.eval()(x)[0])
        for wrong in ("a", -0.1, 1.1, True):
            log.raises(make, 2, 3, dropout=wrong)


@behaviour
def cells_refuse_states_of_other_ranks(torch, log):
    x, wide = torch.ones(2, 3), torch.ones(1, 2, 4)
    for kind in ("RNNCell", "GRUCell"):
        log.raises(getattr(torch.nn, kind)(3, 4), x, wide)
    for state in ((wide, wide[0]), (wide[0], wide)):
        log.raises(torch.nn.LSTMCell(3, 4), x, state)


@behaviour
def unmatched_keys_are_printed(torch, log):
    layer = torch.nn.Linear(2, 3)
    log(layer.load_state_dict({"weight": layer.weight, "more": layer.bias}, strict=False))
    log(repr(layer.load_state_dict({"more": layer.bias}, strict=False)))
    log(repr(layer.load_state_dict(layer.state_dict())))


@behaviour
def upsampling_of_older_files_computes_the_scale_anew(torch, log):
    state = torch.nn.Upsample(scale_factor=1.5).__getstate__()
    x = torch.arange(5.0).reshape(1, 1, 5)
    for recompute in (None, True, False):
        given = {k: v for k, v in state.items() if k != "recompute_scale_factor"}
        if recompute is not None:
            given["recompute_scale_factor"] = recompute
        module = torch.nn.Upsample(scale_factor=1.0)
        module.__setstate__(given)
        log(module.recompute_scale_factor)
        log.values(module(x))


@behaviour
def arguments_go_on_to_the_next_class(torch, log):
    class Named:
        def __init__(self, name, *, size=0):
            self.name, self.size = name, size

    class Both(torch.nn.Module, Named):
        call_super_init = True

        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.layer = torch.nn.Linear(1, 1)

    made = Both("one", size=3)
    log(made.name, made.size, [name for name, _ in made.named_parameters()])


@behaviour
def clusters_without_a_target_are_left_out(torch, log):
    layer = torch.nn.AdaptiveLogSoftmaxWithLoss(3, 9, [2, 4, 6])
    x = torch.arange(12.0).reshape(4, 3).sin()
    for targets in ([0, 1, 1, 0], [2, 5, 3, 2], [8, 6, 7, 8], [0, 3, 5, 8]):
        output, loss = layer(x, torch.tensor(targets))
        log.values(output, loss)


@behaviour
def nothing_is_drawn_for_no_elements(torch, log):
    init = torch.nn.init
    for fill in (init.kaiming_uniform_, init.kaiming_normal_, init.orthogonal_):
        before, after = torch.get_rng_state(), None
        given = torch.empty(0, 3)
        log(fill(given) is given)
        after = torch.get_rng_state()
        log(bool((before == after).all()))


@behaviour
def older_backward_hooks_on_what_has_no_node_see_nothing(torch, log):
    seen = []
    module = torch.nn.Identity()
    module.register_backward_hook(lambda *args: seen.append(args))
    x = torch.ones(2, requires_grad=True)
    (module(torch.ones(2)) * x + module(x)).sum().backward()
    log(len(seen), x.grad)

    class InList(torch.nn.Module):
        def forward(self, x):
            return [x * 2, torch.ones(2)]

    for call in (lambda m: m(x)[0], lambda m: m(torch.ones(2))[0] * x):
        module = InList()
        module.register_backward_hook(lambda *args: seen.append(args))
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            call(module).sum().backward()
        log(len(seen), [str(warning.message) for warning in heard])


@behaviour
def gradients_that_enter_below_the_outputs_are_not_shown(torch, log):
    seen, inner = [], {}

    class Keeps(torch.nn.Module):
        def forward(self, x):
            inner["x"] = x * 2
            return inner["x"].sin()

    module = Keeps()
    module.register_full_backward_hook(lambda *args: seen.append(args[1:]))
    x = torch.ones(2, requires_grad=True)
    module(x)
    inner["x"].sum().backward()
    log(len(seen), x.grad)


@behaviour
def modules_do_not_move_to_devices_that_are_not_there(torch, log):
    for name in ("xpu", "ipu", "mtia", "cuda"):
        try:
            getattr(torch.nn.Linear(1, 1), name)()
        except Exception:
            log(name)
