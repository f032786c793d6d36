"""What functions show of themselves: ``inspect.signature``, ``help`` and ``?``."""

from __future__ import annotations

import copy
import functools
import inspect
import pickle
import pydoc
import subprocess
import sys
import types

import pytest

import retrograd as torch
from retrograd.core.op import PUBLIC
from retrograd.core.tensor import Tensor

FUNCTIONS = {f"{space}.{name}": function for space, names in PUBLIC.items()
             for name, function in names.items() if not isinstance(function, type)}
METHODS = {f"Tensor.{name}": method for name, method in vars(Tensor).items()
           if inspect.isfunction(method)}
EVERYTHING = {**FUNCTIONS, **METHODS}

# A program that prints every signature at each stage of a function's life.
STAGES = """
import inspect, sys
sys.path[:0] = {path!r}
import retrograd, retrograd.codegen
from retrograd.core.op import PUBLIC, REGISTRY
from retrograd.core.tensor import Tensor

def signatures():
    spaces = {{**PUBLIC, "Tensor": vars(Tensor)}}
    return {{(space, name): str(inspect.signature(function)) for space, names in spaces.items()
            for name, function in names.items() if inspect.isfunction(function)}}

def changed(since):
    now = signatures()
    return sorted(key for key in since if now[key] != since[key])

first = signatures()
for op in REGISTRY.values():
    for variant in ("function", "inplace_function", "operator_function"):
        if getattr(op, variant): retrograd.codegen.build(op, variant)
print("compiled:", changed(first))

class Watching(retrograd.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {{}})

print("watched:", changed(first))
"""


def test_signatures_stay_through_compilation_and_subclasses() -> None:
    done = subprocess.run([sys.executable, "-c", STAGES.format(path=sys.path)], text=True,
                          capture_output=True, check=True)
    assert done.stdout.splitlines() == ["compiled: []", "watched: []"]


def test_signatures_have_names_and_no_made_up_defaults() -> None:
    shown = {name: inspect.signature(function) for name, function in EVERYTHING.items()}
    assert not [name for name, found in shown.items() if "required" in str(found)]
    assert not [name for name, found in shown.items()
                if [p.kind.name for p in found.parameters.values()]
                == ["VAR_POSITIONAL", "VAR_KEYWORD"]]


def shown(function: object) -> str:
    return str(inspect.signature(function)).replace("'", "")  # type: ignore[arg-type]


@pytest.mark.parametrize(("function", "expected"), [
    (torch.sin, "(input: Tensor, *, out: Tensor | None = None) -> Tensor"),
    (torch.sin_, "(input: Tensor) -> Tensor"),
    (torch.add, "(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1, "
                "out: Tensor | None = None) -> Tensor"),
    (torch.transpose, "(input: Tensor, dim0: int, dim1: int) -> Tensor"),
    (torch.softmax, "(input: Tensor, dim: int, dtype: Any = None, *, "
                     "out: Tensor | None = None) -> Tensor"),
    (torch.unbind, "(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]"),
    (Tensor.__add__, "(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1) "
                     "-> Tensor"),
    (torch.ones(2).mul_, "(other: Tensor | Number) -> Tensor"),
    (torch.linalg.eig, "(A: Tensor, *, out: Any = None) -> Any"),
    (torch.ones(2).gather, "(dim: int, index: Tensor, *, sparse_grad: bool = False, "
                           "out: Tensor | None = None) -> Tensor"),
])
def test_signatures_of_every_kind(function: object, expected: str) -> None:
    assert shown(function) == expected


def test_one_tensor_as_out_is_said_where_one_is_returned() -> None:
    found = [inspect.signature(function) for function in FUNCTIONS.values()
             if hasattr(function, "out") and not hasattr(function, "op")]
    outs = {(shown.return_annotation == "Tensor", shown.parameters["out"].annotation)
            for shown in found}
    assert outs == {(True, "Tensor | None"), (False, "Any")}


def test_help_shows_signature_and_docstring() -> None:
    # Newer Pythons write one parameter to a line, and no quotes.
    text = " ".join(pydoc.plain(pydoc.render_doc(torch.addmm)).replace("'", "").split())
    assert "addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1" in \
        text.replace("( ", "(")
    assert "beta * input + alpha * (mat1 @ mat2)" in text


def test_ipython_shows_signature_and_docstring() -> None:
    from IPython.core import oinspect

    info = oinspect.Inspector(theme_name="nocolor").info(torch.addmm, oname="addmm")
    assert info["definition"].startswith("addmm(")
    assert "mat1: Tensor" in info["definition"].replace("'", "")
    assert "beta" in info["docstring"]


def test_a_signature_is_an_ordinary_one() -> None:
    known = inspect.signature(torch.add)
    assert isinstance(known, inspect.Signature)
    assert list(known.parameters) == ["input", "other", "alpha", "out"]
    assert known == copy.deepcopy(known) == pickle.loads(pickle.dumps(known))
    assert known.replace(return_annotation=int).return_annotation is int
    if sys.version_info >= (3, 13):
        assert copy.replace(known, return_annotation=int).return_annotation is int
    assert known.bind(1, 2).arguments == {"input": 1, "other": 2}
    with pytest.raises(TypeError):
        known.bind()


@pytest.mark.parametrize("args", [(), (1, 2, 3, 4)])
def test_misuse_is_still_worded_by_the_op(args: tuple[int, ...]) -> None:
    with pytest.raises(TypeError, match=r"add\(\)"):
        torch.add(*args)


@pytest.mark.parametrize("space", ["", "nn.functional", "linalg", "special"])
def test_public_functions_are_pickled_by_their_public_names(space):
    owner = functools.reduce(getattr, space.split("."), torch) if space else torch
    for name in dir(owner):
        function = getattr(owner, name)
        if isinstance(function, types.FunctionType) and not name.startswith("_") \
                and not name.endswith("_"):
            assert pickle.loads(pickle.dumps(function)) is function, name


def test_methods_that_write_in_place_are_pickled_by_their_names() -> None:
    """Those that are no functions as well, of which there are many."""
    # As they are now: those that are declared late may have been declared meanwhile.
    methods = [getattr(Tensor, name.partition(".")[2]) for name, method in METHODS.items()
               if name.endswith("_") and not name.endswith("__") and method.__qualname__ == name]
    assert len(methods) > 80
    for method in methods:
        assert pickle.loads(pickle.dumps(method)) is method
