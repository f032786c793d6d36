"""Trees, weak references, devices and checkpoints in ways that are seldom asked for."""

from __future__ import annotations

import enum
import importlib
import json
import warnings
from collections import OrderedDict, defaultdict, deque, namedtuple

from parity.harness import behaviour, behaviour_of_each

Pair = namedtuple("Pair", "a b")
Other = namedtuple("Other", "a b")
Third = namedtuple("Third", "a b")


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def module_of(torch, name):
    return importlib.import_module(f"{torch.__name__}.{name}")


class Constant:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Constant) and self.value == other.value

    def __hash__(self):
        return hash(self.value)


class Custom:
    def __init__(self, values, context):
        self.values, self.context = list(values), context


def registered(pytree):
    """Classes of one's own, once for each library."""
    if Custom not in pytree.SUPPORTED_NODES:
        pytree.register_pytree_node(
            Custom, lambda c: (c.values, c.context), Custom,
            serialized_type_name="tests.Custom", to_dumpable_context=json.dumps,
            from_dumpable_context=json.loads)
        pytree.register_constant(Constant)
        pytree._register_namedtuple(Pair, serialized_type_name="tests.Pair")
        pytree.register_pytree_node(Third, lambda t: (list(t), None), lambda v, c: Third(*v))


TREES = {
    "leaf": 1, "list": [1, 2], "tuple": (1, 2), "dict": {"a": 1, "b": 2}, "none": None,
    "ordered": OrderedDict(a=1, b=2), "default": defaultdict(list, a=1, b=2),
    "deque": deque([1, 2]), "short deque": deque([1, 2], maxlen=2), "pair": Pair(1, 2),
    "other": Other(1, 2), "third": Third(1, 2), "custom": Custom([1, 2], [3]),
    "other custom": Custom([1, 2], [4]), "constant": Constant(3), "other constant": Constant(4),
    "empty": [], "nested": [(1, {"a": [2]}), Pair(3, [4])], "mixed": {"b": 1, "a": 2},
    "long": [1, 2, 3], "wrong keys": {"a": 1, "c": 2}}


@behaviour_of_each(TREES)
def trees_and_their_specs(torch, log, name):
    pytree = module_of(torch, "utils._pytree")
    registered(pytree)
    leaves, spec = pytree.tree_flatten(TREES[name])
    log(leaves, spec.num_leaves, spec.num_nodes, spec.num_children, spec.is_leaf())
    log(hash(spec) == hash(pytree.tree_structure(TREES[name])))
    for other in TREES:
        their = pytree.tree_structure(TREES[other])
        log(other, their == spec, hash(their) == hash(spec) if their == spec else None)
        log.refuses(spec.flatten_up_to, TREES[other])
    log.refuses(lambda: json.loads(pytree.treespec_dumps(spec)[:1000]))
    log.refuses(lambda: pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec)
    log([pytree.keystr(path) for path, _ in pytree.tree_flatten_with_path(TREES[name])[0]]
        if name not in ("custom", "other custom", "nested", "third") else None)


@behaviour
def what_specs_of_named_tuples_say(torch, log):
    pytree = module_of(torch, "utils._pytree")
    registered(pytree)
    for value in (Pair(1, 2), Other(1, 2), [Pair(1, 2)], [Other(1, 2)]):
        log.refuses(lambda value=value: json.loads(
            pytree.treespec_dumps(pytree.tree_structure(value))))
    for cls in (Constant, Custom, int, 3, Constant(1), "Constant", None, Colour):
        log(pytree.is_constant_class(cls))
    for cls in (object, int, Colour, list):
        log.raises(lambda cls=cls: cls is object and pytree.register_constant(type("C", (), {})))


@behaviour
def members_of_enumerations_as_text(torch, log):
    pytree = module_of(torch, "utils._pytree")
    written = json.dumps({"colour": Colour.RED, "list": [Colour.BLUE]}, cls=pytree.EnumEncoder)
    log(json.loads(written))
    log(json.loads(written, object_hook=pytree.enum_object_hook) == {
        "colour": Colour.RED, "list": [Colour.BLUE]})
    log.refuses(json.dumps, object(), cls=pytree.EnumEncoder)
    log(pytree.enum_object_hook({"a": 1}))


@behaviour
def functions_that_flatten_each_kind(torch, log):
    pytree = module_of(torch, "utils._pytree")
    for name in ("tuple", "list", "dict", "namedtuple", "ordereddict", "defaultdict", "deque"):
        log([hasattr(pytree, f"_{name}_{what}")
             for what in ("flatten", "unflatten", "flatten_with_keys")])
    log(pytree._dict_flatten({"b": 1, "a": 2}), pytree._list_unflatten([1], None))


@behaviour
def weak_references_of_things_that_are_gone(torch, log):
    weak = module_of(torch, "utils.weak")
    one, two = torch.ones(1), torch.ones(1)
    first, again, other = weak.WeakIdRef(one), weak.WeakIdRef(one), weak.WeakIdRef(two)
    log(first == again, first == other, first == first)
    del one
    log(first == again, first == first, first == other, other == first, other == other)
    known = weak.WeakIdKeyDictionary()
    known[two] = 3
    log(len(known), two in known, 3 in known, torch.ones(1) in known, list(known.values()))
    del known[two]
    log(len(known))


@behaviour
def devices_of_new_tensors(torch, log):
    device = module_of(torch, "utils._device")
    with device.DeviceContext(torch.device("meta")):
        log(torch.ones(1).is_meta)
    log(torch.ones(1).is_meta)

    @device.set_device("meta")
    def make(n, *, m=1):
        return torch.ones(n, m)

    log(make(2, m=3).is_meta, make.__name__, torch.ones(1).is_meta)


# ---------------------------------------------------------------- checkpoints


@behaviour_of_each([True, False])
def random_numbers_after_a_checkpoint(torch, log, preserve):
    checkpoint = torch.utils.checkpoint.checkpoint
    for reentrant in (True, False):
        torch.manual_seed(3)
        x = torch.ones(2, requires_grad=True)
        y = checkpoint(lambda x: (x * 2).sin() * 3, x, use_reentrant=reentrant,
                       preserve_rng_state=preserve)
        torch.rand(3)
        y.sum().backward()
        log(torch.rand(2), x.grad)
        x.grad = None
        z = checkpoint(lambda x: x * torch.rand(2), x, use_reentrant=reentrant,
                       preserve_rng_state=True)
        torch.rand(1)
        z.sum().backward()
        log.values(z.detach(), x.grad, torch.rand(2))


@behaviour
def stopping_early_is_a_matter_of_the_block(torch, log):
    module = torch.utils.checkpoint
    calls = []

    def function(x):
        y = x.sin()
        calls.append("before")
        z = y.exp()
        calls.append("after")
        return z + 0

    def run(**options):
        x = torch.ones(2, requires_grad=True)
        module.checkpoint(function, x, use_reentrant=False, **options).sum().backward()
        found = list(calls)
        calls.clear()
        return found

    log(run(), run(early_stop=False), run(early_stop=True))
    for enable in (True, False):
        with module.set_checkpoint_early_stop(enable):
            log(run(), run(early_stop=False), run(early_stop=True))
            with module.set_checkpoint_early_stop(not enable):
                log(run())
            log(run())
        log(run(), run(early_stop=False))
    try:
        with module.set_checkpoint_early_stop(False):
            raise KeyError
    except KeyError:
        log(run())


@behaviour
def more_or_fewer_tensors_the_second_time(torch, log):
    for early_stop in (True, False):
        for first, second in ((1, 2), (2, 1), (1, 1), (3, 1), (1, 3)):
            times = [first, second]

            def function(x, times=times):
                for _ in range(times.pop(0)):
                    x = x.sin()
                return x

            def run(function=function, early_stop=early_stop):
                x = torch.ones(2, requires_grad=True)
                torch.utils.checkpoint.checkpoint(function, x, use_reentrant=False,
                                                  early_stop=early_stop).sum().backward()
                return x.grad.tolist()

            log.refuses(run)


@behaviour
def inputs_of_checkpoints(torch, log):
    checkpoint = torch.utils.checkpoint.checkpoint
    with torch.inference_mode():
        inference = torch.ones(2)
    leaf = torch.ones(2, requires_grad=True)
    for place in (0, 1):
        args = [leaf, inference] if place else [inference, leaf]
        log.refuses(lambda args=args: checkpoint(lambda a, b: a + b, *args, use_reentrant=False)
                    .sum().backward())
    for reentrant in (True, False):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            log.refuses(lambda reentrant=reentrant: checkpoint(
                lambda a: a * 2, torch.ones(2), use_reentrant=reentrant).requires_grad)
        x = torch.ones(2, requires_grad=True) * 1
        out = checkpoint(lambda a, n, k: (a * n).sin(), x, 3, None, use_reentrant=reentrant)
        x.add_(1)
        log.refuses(out.sum().backward)


@behaviour_of_each(["mm", "sin", "both", "none", "nothing"])
def ops_that_are_kept_by_a_list(torch, log, name):
    aten = torch.ops.aten
    kept = {"mm": [aten.mm.default], "sin": [aten.sin.default],
            "both": [aten.mm.default, aten.sin.default], "none": []}.get(name)
    module = torch.utils.checkpoint
    counter = module_of(torch, "utils.flop_counter").FlopCounterMode(display=False)
    x, w = torch.ones(2, 3, requires_grad=True), torch.ones(3, 3, requires_grad=True)
    options = {} if kept is None else {
        "context_fn": lambda: module.create_selective_checkpoint_contexts(kept)}
    with counter:
        out = module.checkpoint(lambda x: (x @ w).sin() @ w, x, use_reentrant=False,
                                early_stop=False, **options)
        log(counter.get_total_flops())
        out.sum().backward()
    log(counter.get_total_flops())
    log.values(x.grad, w.grad)


@behaviour_of_each(["first", "second", "neither"])
def results_that_are_written_to(torch, log, which):
    module = torch.utils.checkpoint

    def function(x):
        values, places = x.sort()
        y = values.sin()
        if which == "first":
            values.mul_(1)
        if which == "second":
            places.mul_(1)
        return y * x

    for allowed in (False, True):
        def run(allowed=allowed):
            x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
            out = module.checkpoint(
                function, x, use_reentrant=False,
                context_fn=lambda: module.create_selective_checkpoint_contexts(
                    lambda ctx, op, *args, **kwargs: module.CheckpointPolicy.MUST_SAVE,
                    allow_cache_entry_mutation=allowed))
            out.sum().backward()
            return x.grad.tolist()

        log.refuses(run)


@behaviour_of_each(["mm", "conv", "linear"])
def arithmetic_behind_packed_values(torch, log, name):
    """Of gradients from values that hooks unpack, and of those that a function of one's own has."""
    class Own(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return x @ w

        @staticmethod
        def backward(ctx, g):
            x, w = ctx.saved_tensors
            return g @ w.T, x.T @ g

    x, w = torch.ones(3, 3, requires_grad=True), torch.ones(3, 3, requires_grad=True)
    call = {"mm": lambda: x @ w, "linear": lambda: torch.nn.functional.linear(x, w, w[0]),
            "conv": lambda: torch.nn.functional.conv1d(x, w[:, :, None])}[name]
    counting = module_of(torch, "utils.flop_counter").FlopCounterMode
    with counting(display=False) as mode:
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            out = call()
        out.sum().backward()
        log(mode.get_total_flops())
        call().sum().backward()
        log(mode.get_total_flops())
        Own.apply(x, w).sum().backward()
        log(mode.get_total_flops())


@behaviour
def measurements_side_by_side(torch, log):
    benchmark = module_of(torch, "utils.benchmark")

    def measured(label, description, *seconds):
        spec = benchmark.TaskSpec(stmt="f()", setup="", label=label, description=description,
                                  num_threads=1)
        return benchmark.Measurement(1, list(seconds), spec)

    for times in ((2e-9, 3e-3), (3e-3, 2e-9), (5e-6, 4e-4), (2.0, 1e-4), (1.0, 90.0)):
        compare = benchmark.Compare([measured("work", "one", times[0], times[0] * 1.01),
                                     measured("work", "two", times[1], times[1] * 1.01)])
        said = str(compare).strip().splitlines()
        log([line.rstrip() for line in said if "Times" in line])
