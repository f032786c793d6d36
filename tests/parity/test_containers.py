"""Containers of modules and parameters, with whatever their operators and methods may be given.

Each call is made on a fresh container in both libraries: what it returns or how it refuses, and
what the container holds afterwards, must be the same.
"""

from __future__ import annotations

import re
from collections import OrderedDict

from parity.harness import behaviour, behaviour_of_each

METHODS = {
    "Sequential": "__getitem__ __setitem__ __delitem__ __add__ __iadd__ __mul__ __rmul__ __imul__ "
                  "append insert extend pop __len__ __contains__ __call__",
    "ModuleList": "__getitem__ __setitem__ __delitem__ __add__ __iadd__ append insert extend pop "
                  "__len__ __contains__ __call__",
    "ModuleDict": "__getitem__ __setitem__ __delitem__ __contains__ __len__ keys items values pop "
                  "update clear __call__",
    "ParameterList": "__getitem__ __setitem__ __delitem__ append extend __iadd__ pop __len__ "
                     "__contains__ __call__",
    "ParameterDict": "__getitem__ __setitem__ __delitem__ __contains__ __len__ keys items values "
                     "pop popitem update clear get setdefault copy fromkeys __or__ __ror__ __ior__ "
                     "__call__",
}


def made(torch, kind):
    nn = torch.nn
    parts = [nn.ReLU(), nn.Tanh(), nn.Sigmoid()] if kind[0] in "SM" else [
        nn.Parameter(torch.ones(n)) for n in (1, 2, 3)]
    if kind == "Sequential":
        return nn.Sequential(*parts)
    return getattr(nn, kind)({"a": parts[0], "b": parts[1], "1": parts[2]} if kind.endswith("Dict")
                             else parts)


def given(torch, kind):
    """Lists of arguments by name."""
    nn = torch.nn
    one = nn.ELU() if kind[0] in "SM" else nn.Parameter(torch.zeros(4))
    single = {"number": 1, "last": -1, "beyond": 3, "before": -4, "zero": 0, "word": "a",
              "none": None, "digit": "1", "unknown": "zz", "part": slice(1, None),
              "steps": slice(None, None, 2),
              "fraction": 1.5, "flag": True, "member": one, "members": [one, one],
              "pairs": [("a", one), ("c", one)], "map": {"c": one, "b": one},
              "ordered": OrderedDict(d=one), "wrong pairs": [("a",)], "own": made(torch, kind),
              "triples": [("a", one, 1)], "text": "ab", "tensor": torch.ones(2),
              "odd map": {1: one}, "dotted": {"a.b": one}}
    cases = {"nothing": ()} | {name: (value,) for name, value in single.items()}
    return cases | {f"{name} and {other}": (single[name], single[other])
                    for name in ("number", "last", "beyond", "before", "word", "unknown", "part",
                                 "fraction", "members", "pairs")
                    for other in ("member", "none", "members", "number")}


def held(kind, container):
    if kind.endswith("Dict"):
        return [(key, shape(value)) for key, value in container.items()]
    return [shape(value) for value in container]


def shape(value):
    return tuple(value.shape) if hasattr(value, "shape") else type(value).__name__


def shown(kind, result, container):
    if result is container:
        return "itself"
    if type(result).__name__ == kind:
        return held(kind, result)
    if type(result).__name__.endswith(("keys", "values", "items", "iterator")):
        return [shape(item) if not isinstance(item, (str, tuple)) else
                item if isinstance(item, str) else (item[0], shape(item[1])) for item in result]
    return result if isinstance(result, (int, str, type(None))) else shape(result)


@behaviour_of_each([(f"{kind}.{method}", kind, method) for kind, methods in METHODS.items()
                    for method in methods.split()])
def what_containers_are_given(torch, log, _, kind, method):
    for name, arguments in given(torch, kind).items():
        if (kind, method) == ("ModuleList", "insert") and name.startswith(("last", "before")):
            continue  # PyTorch moves modules about before it finds that there is no such place
        container = made(torch, kind)
        log(name)
        try:
            result = getattr(container, method)(*arguments)
            log(shown(kind, result, container))
        except Exception as error:
            # Python words the errors of calls that do not fit; classes are from their library.
            worded = not isinstance(error, (TypeError, AttributeError))
            log(type(error).__name__, worded and re.sub("<class '.*?'>", "<class>", str(error)))
            if kind == "ParameterDict":
                continue  # PyTorch keeps a key that it refused
        log.raises(lambda container=container: held(kind, container))
        log.raises(lambda container=container: repr(container).count("\n"))


@behaviour
def containers_stay_whole_when_a_place_or_a_key_is_refused(torch, log):
    modules = made(torch, "ModuleList")
    try:
        modules.insert(-1, torch.nn.ELU())
        found = held("ModuleList", modules)
    except KeyError:
        found = list(modules._modules)
    log.differs(found, torch=["0", "1", "2", "3"], retrograd=["ReLU", "Tanh", "ELU", "Sigmoid"])
    parameters = made(torch, "ParameterDict")
    log.raises(parameters.__setitem__, 3, torch.nn.Parameter(torch.ones(1)))
    log.differs(len(parameters), torch=4, retrograd=3)
