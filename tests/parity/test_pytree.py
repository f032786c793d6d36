"""``utils._pytree`` beside PyTorch: flattening, mapping, paths, specs and their text."""

from __future__ import annotations

import dataclasses
import json
import warnings
from collections import OrderedDict, defaultdict, deque, namedtuple
from enum import Enum

from parity.harness import behaviour, behaviour_of_each

Point = namedtuple("Point", "x y")
TREES = {
    "leaf": 1, "none": None, "empty": [], "list": [1, 2], "tuple": (1, (2,), ()), "dict": {"b": 1,
                                                                                          "a": 2},
    "nested": [1, {"a": (2, [3, {"c": 4}]), "b": None}, (5,)], "namedtuple": Point(1, [2, 3]),
    "OrderedDict": OrderedDict(b=1, a=[2]), "defaultdict": defaultdict(list, {"b": [1], "a": []}),
    "deque": deque([1, (2, 3)], maxlen=4), "mixed keys": {1: 2, "a": 3, (1, 2): 4},
}


def pytree(torch):
    __import__(f"{torch.__name__}.utils._pytree")
    return torch.utils._pytree


@behaviour_of_each(TREES)
def flattened_and_put_back(torch, log, name):
    tree, p = TREES[name], pytree(torch)
    leaves, spec = p.tree_flatten(tree)
    log(leaves, repr(spec), spec.num_leaves, spec.num_nodes, spec.num_children, spec.is_leaf())
    log(p.tree_unflatten(leaves, spec), p.tree_leaves(tree), list(p.tree_iter(tree)))
    log(spec == p.tree_structure(tree), hash(spec) == hash(p.tree_structure(tree)))
    log(p.tree_map(lambda v: [v], tree), p.tree_map_only(int, lambda v: -v, tree))
    log(p.tree_all(lambda v: v is not None, tree), p.tree_any(lambda v: v == 3, tree))
    log(p.tree_all_only(int, lambda v: v > 1, tree), p.tree_any_only(str, bool, tree))
    log([(p.keystr(path), leaf) for path, leaf in p.tree_leaves_with_path(tree)])
    log([p.key_get(tree, path) for path, _ in p.tree_leaves_with_path(tree)])
    log(p.tree_map_with_path(lambda path, v, w: (p.keystr(path), v, w), tree, tree))
    log.raises(lambda: p.treespec_dumps(spec))
    if name != "namedtuple":
        log(p.treespec_loads(p.treespec_dumps(spec)) == spec)
    log(p.treespec_pprint(spec))
    log.raises(lambda: p.tree_unflatten([*leaves, 1], spec))


@behaviour_of_each([(a, b) for a in TREES for b in TREES])
def mapping_over_two(torch, log, first, second):
    p = pytree(torch)
    log.raises(p.tree_map, lambda a, b: (a, b), TREES[first], TREES[second])
    spec = p.tree_structure(TREES[second])
    log(p._broadcast_to_and_flatten(TREES[first], spec))
    log(p.tree_structure(TREES[first]) == spec)


@behaviour
def leaves_by_predicate(torch, log):
    p = pytree(torch)
    tree = [(1, 2), [3, (4, 5)]]
    log(p.tree_leaves(tree, is_leaf=lambda v: isinstance(v, tuple)),
        p.tree_map(str, tree, is_leaf=lambda v: isinstance(v, tuple)), p.tree_is_leaf(1),
        p.tree_is_leaf([]), p.arg_tree_leaves([1], a=(2,)))
    log(p.tree_map_only(lambda v: v > 2, lambda v: -v, tree))
    log.raises(p.tree_map_only, 5, lambda v: v, tree)
    log(p.tree_map_(lambda v: None, tree) is tree)


@behaviour
def specs_by_hand(torch, log):
    p = pytree(torch)
    log(repr(p.treespec_tuple([p.treespec_leaf()] * 2)), repr(p.treespec_dict(a=p.treespec_leaf())))
    log.raises(p.treespec_tuple, [1])
    log.raises(p.treespec_dict, {"a": 1})
    log.raises(p.treespec_tuple, [p.treespec_leaf(), 1])
    log.raises(p.treespec_dict, {"a": p.treespec_leaf(), "b": 1})
    of_dict = p.tree_structure({"a": 1, "b": 2})
    for tree in ({"a": 1}, {"a": 1, "b": 2, "c": 3}, {"a": 1, "c": 3}):
        log.raises(of_dict.flatten_up_to, tree)
    spec = p.tree_structure([1, (2, 3)])
    log(repr(spec.child(1)), [repr(c) for c in spec.children()], spec.context, spec.type)
    log.warns(lambda: len(spec.children_specs))
    log.raises(p.treespec_loads, "[7, {}]")
    log.raises(p.treespec_dumps, spec, 9)
    log.refuses(setattr, spec, "type", list)


@behaviour
def classes_of_users(torch, log):
    p = pytree(torch)

    class Pair:
        def __init__(self, a, b, tag):
            self.a, self.b, self.tag = a, b, tag

    log.raises(p.tree_leaves_with_path, [1])
    p.register_pytree_node(Pair, lambda v: ([v.a, v.b], v.tag),
                           lambda values, tag: Pair(*values, tag), serialized_type_name="a.Pair")
    try:
        made = p.tree_map(lambda v: v + 1, [Pair(1, (2, 3), "t")])[0]
        log(made.a, made.b, made.tag, repr(p.tree_structure(made)))
        log(p.treespec_dumps(p.tree_structure(made)))
        log.refuses(p.tree_leaves_with_path, made)
        log.refuses(p.register_pytree_node, Pair, None, None)
        log.refuses(p.tree_map, lambda a, b: a, made, Pair(1, 2, "other"))
        x = torch.tensor(2.0)
        log(torch.func.grad(lambda pair: pair.a * pair.b)(Pair(x, x * 2, "t")).a)
    finally:
        p._deregister_pytree_node(Pair)
    log(len(p.tree_leaves(made)))


@behaviour
def dataclasses_and_constants(torch, log):
    p = pytree(torch)

    @dataclasses.dataclass
    class Data:
        x: int
        y: object = None

    @dataclasses.dataclass(frozen=True)
    class Setting:
        value: int

    p.register_dataclass(Data, serialized_type_name="a.Data")
    p.register_constant(Setting)
    try:
        leaves, spec = p.tree_flatten([Data(1), Data(2, (3, Setting(4)))])
        log(leaves, p.tree_unflatten(leaves, spec) == [Data(1), Data(2, (3, Setting(4)))],
            p.is_constant_class(Setting), repr(p.tree_structure(Data(1))))
        log([p.keystr(path) for path, _ in p.tree_leaves_with_path([Data(1, [2])])])
        log(p.tree_structure(Setting(1)) == p.tree_structure(Setting(1)),
            p.tree_structure(Setting(1)) == p.tree_structure(Setting(2)))
    finally:
        p._deregister_pytree_node(Data), p._deregister_pytree_node(Setting)
    log.refuses(p.register_dataclass, Data, field_names=["x"])
    for names, dropped in ((["x", "y"], ["y"]), (["x", "z"], ["y"]), (["x"], ["x"]), ([], ["x"]),
                           (["x", "y", "z"], []), (["y"], [])):
        log.raises(p.register_dataclass, Data, field_names=names, drop_field_names=dropped)
    log.refuses(p.register_dataclass, object)
    log.raises(p.register_constant, type("Plain", (), {}))


class Colour(Enum):
    RED = 1


@behaviour
def specs_as_text(torch, log):
    p = pytree(torch)
    log(p.treespec_dumps(p.tree_structure([1, {"a": (2,)}, deque([3], maxlen=2)])))
    spec = p.tree_structure({Colour.RED: 1})
    log.refuses(lambda: p.treespec_loads(p.treespec_dumps(spec)) == spec)
    p._register_namedtuple(Point, serialized_type_name="a.Point")
    try:
        spec = p.tree_structure([Point(1, 2)])
        log(p.treespec_dumps(spec), p.treespec_loads(p.treespec_dumps(spec)) == spec)
    finally:
        p._deregister_pytree_node(Point)
    log(p.is_namedtuple(Point), p.is_namedtuple_class(Point), p.is_namedtuple_instance((1,)))


@behaviour
def named_results_are_containers(torch, log):
    pytree = torch.utils._pytree
    for found in (torch.sort(torch.tensor([2.0, 1.0])), torch.linalg.slogdet(torch.eye(2))):
        leaves, spec = pytree.tree_flatten(found)
        log(len(leaves), type(pytree.tree_unflatten(leaves, spec)).__name__)
        log(pytree.tree_map(lambda t: t * 2, found))


@behaviour
def what_few_programs_ask_of_trees(torch, log):
    p = pytree(torch)

    class Pair:
        def __init__(self, first, second):
            self.first, self.second = first, second

    def flatten(pair):
        return [pair.first, pair.second], ["context", []]

    for factor in (1, 2):  # the second time with a warning
        try:
            p._private_register_pytree_node(Pair, flatten, lambda leaves, context, f=factor: Pair(
                *[leaf * f for leaf in leaves]))
        except ValueError as error:
            log(str(error))
    leaves, spec = p.tree_flatten([Pair(1, 2), 3])
    found = p.tree_unflatten(leaves, spec)
    log(leaves, found[0].first, found[0].second, found[1])
    log(spec == p.tree_structure([Pair(4, 5), 6]), spec == p.tree_structure([Pair(4, 5), [6]]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch asks itself in a way that it advises against
        log(p.LeafSpec() == p.tree_structure(1), p.LeafSpec() == p.tree_structure([]))
    seen = []
    tree = [1, {"a": 2.0, "b": 3}]
    log(p.tree_map_only_(int, seen.append, tree) is tree, seen)
    log.raises(lambda: p.tree_map_only_(float, seen.append, tree))
    log(seen)


@behaviour
def classes_by_their_fields(torch, log):
    p = pytree(torch)

    class Plain:
        def __init__(self, a, b):
            self.a, self.b = a, b

    @dataclasses.dataclass
    class Fields:
        a: int
        b: int
        c: int = 7

    log.raises(lambda: p.register_dataclass(Plain))
    p.register_dataclass(Plain, field_names=["a", "b"])
    log(p.tree_leaves(Plain(1, [2, 3])), p.tree_map(lambda v: -v, Plain(1, 2)).b)
    for names, dropped in ((["a"], []), (["a", "b", "d"], ["c"]), (["a", "c"], ["c"])):
        log.refuses(lambda n=names, d=dropped: p.register_dataclass(
            Fields, field_names=n, drop_field_names=d))
    p.register_dataclass(Fields, field_names=["b", "a"], drop_field_names=["c"])
    log(p.tree_leaves(Fields(1, 2, 3)), p.tree_map(lambda v: v * 10, Fields(1, 2, 3)))


@behaviour
def specs_of_what_is_no_enumeration_are_refused(torch, log):
    p = pytree(torch)
    log.raises(json.dumps, {1, 2}, cls=p.EnumEncoder)
    log(json.loads('{"a": [{"b": 1}]}', object_hook=p.enum_object_hook))
