"""Files of PyTorch's read here, and files of ours read by PyTorch."""

from __future__ import annotations

import io
from collections import Counter, OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import old_files
import retrograd as rg
from retrograd import serialization

DTYPES = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128", "uint8", "uint16",
          "uint32", "uint64", "int8", "int16", "int32", "int64", "bool"]


def passed(value: Any, save: Any, load: Any, **options: Any) -> Any:
    file = io.BytesIO()
    save(value, file)
    file.seek(0)
    return load(file, **options)


WAYS = {
    "ours to theirs": (rg, serialization.save, torch.load),
    "theirs to ours": (torch, torch.save, serialization.load),
}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Any:
    return WAYS[request.param]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(way: Any, dtype: str) -> None:
    lib, save, load = way
    tensor = lib.tensor([0, 1, 2]).to(getattr(lib, dtype))
    found = passed(tensor, save, load)
    assert str(found.dtype) == f"torch.{dtype}"
    assert found.tolist() == tensor.tolist()


def test_containers_and_flags(way: Any) -> None:
    lib, save, load = way
    base = lib.arange(6.0).reshape(2, 3)
    noted = lib.ones(1)
    noted.note = 3
    value = {
        "list": [1, 2.5, "x", None, True, 10**30, b"y", 1 + 2j], "tuple": (1, (2,)), "set": {1, 2},
        "ordered": OrderedDict(k=1), "counter": Counter("aab"), "bytes": bytearray(b"z"),
        "nested": {"a": [{"b": (lib.ones(1), [OrderedDict(c=lib.zeros(2))])}]},
        "size": lib.Size([1, 2]), "dtype": lib.float16,
        "device": lib.device("cpu"), "base": base, "row": base[1], "turned": base.T,
        "parameter": lib.nn.Parameter(base.clone()), "leaf": lib.ones(2, requires_grad=True),
        "empty": lib.zeros(0, 3), "scalar": lib.tensor(3), "noted": noted,
        "state": lib.nn.Linear(2, 2).state_dict()}
    found = passed(value, save, load)
    assert list(found) == list(value)
    assert found["list"] == value["list"]
    for name in ("set", "ordered", "counter", "bytes", "tuple"):
        assert found[name] == value[name] and type(found[name]) is type(value[name])
    assert repr(found["nested"]) == repr(value["nested"])
    assert repr(found["size"]) == repr(value["size"])
    assert repr(found["dtype"]) == repr(value["dtype"])
    assert repr(found["parameter"]) == repr(value["parameter"])
    assert repr(found["leaf"]) == repr(value["leaf"])
    assert found["turned"].stride() == (1, 3)
    assert found["row"].data_ptr() == found["base"].data_ptr() + 12
    assert tuple(found["empty"].shape) == (0, 3)
    assert found["noted"].note == 3
    for key, tensor in value["state"].items():
        assert found["state"][key].tolist() == tensor.tolist()
    assert found["state"]._metadata == value["state"]._metadata


MODULES = {
    "sequential": lambda nn: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)),
    "norms": lambda nn: nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.LayerNorm(4)),
    "attention": lambda nn: nn.TransformerEncoderLayer(4, 2, 8, batch_first=True),
    "pooling": lambda nn: nn.Sequential(nn.Conv1d(1, 2, 2), nn.MaxPool1d(2), nn.Flatten()),
}


@pytest.mark.parametrize("name", MODULES)
def test_whole_modules(way: Any, name: str) -> None:
    lib, save, load = way
    module = MODULES[name](lib.nn).eval()
    found = passed(module, save, load, weights_only=False)
    assert repr(found) == repr(module)
    shape = (2, 5, 4) if name == "attention" else (2, 1, 6) if name == "pooling" else (2, 3)
    data = np.random.default_rng(0).standard_normal(shape).astype("float32")
    other = torch if lib is rg else rg
    with torch.no_grad(), rg.no_grad():
        np.testing.assert_allclose(found(other.tensor(data)).numpy(),
                                   module(lib.tensor(data)).numpy(), rtol=1e-5, atol=1e-6)


def test_tensors_and_modules_without_memory(way: Any) -> None:
    lib, save, load = way
    noted = lib.nn.Parameter(lib.empty(2, dtype=lib.bfloat16, device="meta"), requires_grad=False)
    noted.note = 3
    model = lib.nn.Linear(3, 2, device="meta")
    value = {"turned": lib.empty(3, 2, device="meta").t(), "noted": noted, "again": noted,
             "state": model.state_dict(), "leaf": lib.ones(1, device="meta", requires_grad=True)}
    for options in ({}, {"map_location": "cpu"}, {"weights_only": False}):
        found = passed(value, save, load, **options)
        assert found["noted"] is found["again"] and found["noted"].note == 3
        for given, made in ((value[name], found[name]) for name in ("turned", "noted", "leaf")):
            assert made.is_meta and made.stride() == given.stride() and repr(made) == repr(given)
        assert repr(found["state"]) == repr(value["state"])
    whole = passed(model, save, load, weights_only=False)
    assert repr(whole) == repr(model) and whole.weight.is_meta and whole.weight.requires_grad


def test_an_optimizer_goes_on_where_the_other_stopped(way: Any) -> None:
    lib, save, load = way
    other = torch if lib is rg else rg
    start = np.random.default_rng(0).standard_normal((3, 2))

    def run(lib: Any, parameter: Any, optimizer: Any) -> None:
        for _ in range(3):
            optimizer.zero_grad()
            (parameter.tanh() ** 2).sum().backward()
            optimizer.step()

    first = lib.nn.Parameter(lib.tensor(start))
    optimizer = lib.optim.AdamW([first], lr=0.1)
    run(lib, first, optimizer)
    found = passed({"p": first, "o": optimizer.state_dict()}, save, load)
    second = other.nn.Parameter(found["p"].detach())
    resumed = other.optim.AdamW([second], lr=0.1)
    resumed.load_state_dict(found["o"])
    run(lib, first, optimizer)
    run(other, second, resumed)
    np.testing.assert_allclose(second.detach().numpy(), first.detach().numpy(), rtol=1e-12)


def test_files_on_disk_and_mapped(way: Any, tmp_path: Path) -> None:
    lib, save, load = way
    save({"x": lib.arange(5.0)}, tmp_path / "x.pt")
    assert load(tmp_path / "x.pt", mmap=True)["x"].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64"])
def test_the_format_before_zip_archives(dtype: str) -> None:
    base = torch.arange(6).to(getattr(torch, dtype)).reshape(2, 3)
    file = io.BytesIO()
    torch.save({"a": base, "b": base[1], "n": [1, "x"]}, file,
               _use_new_zipfile_serialization=False)
    file.seek(0)
    found = serialization.load(file)
    assert found["a"].tolist() == base.tolist()
    assert found["b"].data_ptr() == found["a"].data_ptr() + 3 * base.element_size()
    assert found["n"] == [1, "x"]


def test_the_oldest_format(tmp_path: Path) -> None:
    path = tmp_path / "old.pt"
    path.write_bytes(old_files.tar(old_files.members()))
    theirs, ours = torch.load(path, weights_only=False), serialization.load(path)
    assert repr(ours) == repr(theirs)
    for name in ("row", "part"):
        assert ours[name].data_ptr() - ours["a"].data_ptr() \
            == theirs[name].data_ptr() - theirs["a"].data_ptr()


def test_old_files_made_by_hand_are_read_by_both() -> None:
    data = old_files.row_of_pickles()
    assert repr(serialization.load(io.BytesIO(data))) == repr(torch.load(io.BytesIO(data)))


@pytest.mark.filterwarnings("ignore")
def test_the_same_is_refused() -> None:
    file = io.BytesIO()
    torch.save(torch.nn.Linear(2, 2), file)
    words = []
    for load in (torch.load, serialization.load):
        file.seek(0)
        with pytest.raises(Exception) as caught:
            load(file)
        words.append((type(caught.value), str(caught.value).split("\n\nCheck")[0]))
    assert words[0] == words[1]
