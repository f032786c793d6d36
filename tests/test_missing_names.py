"""A name that does not exist: the error says what is nearby, or what there is instead."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import traceback
from typing import Any

import pytest

import retrograd as torch
from retrograd import nn
from retrograd.base.missing_names import hint, namespace, pytorch_names

TENSORS_SUGGEST = sys.version_info >= (3, 12)


def message(owner: Any, name: str) -> str:
    with pytest.raises(AttributeError) as caught:
        getattr(owner, name)
    assert caught.value.name == name
    return str(caught.value)


@pytest.mark.parametrize(("owner", "name", "nearby"), [
    (torch, "sine", "'sin'"),
    (torch, "float3", "'float32'"),
    (nn, "Linaer", "'Linear'"),
    (nn.functional, "rellu", "'relu'"),
    (torch.linalg, "slove", "'solve'"),
    (torch.special, "besel_j0", "'bessel_j0'"),
    (torch.optim, "Adm", "'Adam'"),
    (torch.optim.lr_scheduler, "StepRL", "'StepLR'"),
    (torch.autograd, "fucntional", "'functional'"),
    (torch.autograd.functional, "jacobain", "'jacobian'"),
    (torch.func, "vamp", "'vmap'"),
    (torch.utils, "dta", "'data'"),
    (torch.utils.data, "DataLoder", "'DataLoader'"),
    (nn.init, "xavier_unifrom_", "'xavier_uniform_'"),
])
def test_a_misspelt_name_says_what_is_nearby(owner: Any, name: str, nearby: str) -> None:
    text = message(owner, name)
    assert text.startswith(f"module '{owner.__name__}' has no attribute '{name}'. Did you mean ")
    assert nearby in text


@pytest.mark.parametrize(("place", "name", "nearby"), [
    ("", "sine", ". Did you mean 'sin'"), ("nn", "Linaer", ". Did you mean 'Linear'"),
    ("nn.functional", "rellu", ". Did you mean 'relu'"),
    ("autograd", "fucntional", ". Did you mean 'functional'"),
    ("linalg", "relu", "; there is retrograd.relu"),
])
def test_an_import_says_the_same(place: str, name: str, nearby: str) -> None:
    module = ".".join(filter(None, ("retrograd", place)))
    with pytest.raises(ImportError) as caught:
        exec(f"from {module} import {name}", {})
    assert str(caught.value).startswith(f"cannot import name '{name}' from '{module}'{nearby}")
    assert caught.value.name == module
    assert type(pickle.loads(pickle.dumps(caught.value))) is ImportError
    assert not hasattr(sys.modules[module], name)


def test_a_misspelt_attribute_of_a_module_says_what_is_nearby() -> None:
    model = nn.Sequential(nn.Linear(2, 3))
    assert message(model[0], "wieght") == \
        "'Linear' object has no attribute 'wieght'. Did you mean 'weight'?"
    assert "Did you mean 'parameters'" in message(model, "paramters")


def test_a_misspelt_attribute_of_a_tensor_says_what_is_nearby() -> None:
    text = message(torch.ones(2), "grda")
    nearby = ". Did you mean 'grad'" if TENSORS_SUGGEST else ""
    assert text.startswith("'Tensor' object has no attribute 'grda'" + nearby)
    assert "'Parameter' object has no attribute 'shpae'" in message(nn.Linear(2, 2).weight, "shpae")


@pytest.mark.parametrize(("owner", "name", "instead"), [
    (torch, "stft", ""),
    (torch, "save", "; there is pickle.dump"),
    (nn, "BatchNorm2d", "; there is retrograd.nn.functional.batch_norm"),
    (nn, "KLDivLoss", "; there is retrograd.nn.functional.kl_div"),
    (torch.optim, "RMSprop", ""),
    (torch.cuda, "memory_allocated", ""),
])
def test_what_pytorch_has_is_said_to_be_lacking(owner: Any, name: str, instead: str) -> None:
    if name in dir(owner):
        pytest.skip("it exists now")
    assert message(owner, name).startswith(
        f"module '{owner.__name__}' has no attribute '{name}': PyTorch has it, retrograd does "
        f"not yet{instead}")


@pytest.mark.parametrize(("name", "place"), [
    ("solve", "linalg.solve"), ("relu6", "nn.functional.relu6"), ("Linear", "nn.Linear"),
    ("StepLR", "optim.lr_scheduler.StepLR"), ("jacobian", "autograd.functional.jacobian"),
])
def test_a_name_that_stands_elsewhere_is_found(name: str, place: str) -> None:
    assert message(torch, name) == f"module 'retrograd' has no attribute '{name}'; there is " \
        f"retrograd.{place}"


def test_every_place_that_is_named_exists() -> None:
    for space, names in pytorch_names().items():
        for name in names:
            _, found, place = hint(name, space, ()).partition("; there is retrograd.")
            if found:
                owner, _, last = place.rpartition(".")
                assert last in namespace(owner), (space, name, place)


def test_python_makes_no_second_suggestion() -> None:
    try:
        torch.sine  # noqa: B018
    except AttributeError as error:
        shown = traceback.format_exception(error)[-1]
    assert shown.startswith("AttributeError: module 'retrograd' has no attribute 'sine'. Did you")
    assert shown.count("Did you mean") == 1


def test_words_are_found_when_they_are_read() -> None:
    program = ("import sys, retrograd as torch, retrograd.nn as nn\n"
               "before = set(sys.modules)\n"
               "x = torch.ones(2)\n"
               "for owner in (torch, x, nn, nn.Linear(2, 2)):\n"
               "    assert not hasattr(owner, 'nonsense') and not hasattr(owner, '_nonsense')\n"
               "    assert getattr(owner, '_ipython_display_', None) is None\n"
               "print(*sorted(set(sys.modules) - before))\n")
    done = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True,
                          check=True)
    assert "difflib" not in done.stdout.split()


def test_names_with_an_underscore_have_no_suggestions() -> None:
    assert message(torch, "_sin") == "module 'retrograd' has no attribute '_sin'"
    assert message(torch.ones(2), "__array_ufunc_") == \
        "'Tensor' object has no attribute '__array_ufunc_'"


def test_the_error_can_be_copied_and_pickled() -> None:
    try:
        torch.sine  # noqa: B018
    except AttributeError as error:
        for made in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
            assert type(made) is AttributeError
            assert str(made) == str(error)
            assert repr(made) == f"AttributeError({str(error)!r})"


def test_a_property_that_fails_is_heard() -> None:
    class Named(torch.Tensor):
        @property
        def label(self) -> str:
            return self.nonsense

    with pytest.raises(AttributeError, match="'Named' object has no attribute 'nonsense'"):
        torch.ones(2).as_subclass(Named).label  # noqa: B018
