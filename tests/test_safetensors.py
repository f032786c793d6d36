"""The safetensors package writes and reads our tensors, as PyTorch's and as arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrograd as rg
from test_as_torch import served

pytest.importorskip("safetensors")

DTYPES = ["float16", "bfloat16", "float32", "float64", "uint8", "uint16", "uint32", "uint64",
          "int8", "int16", "int32", "int64", "bool", "complex64"]


def test_tensors_of_every_dtype_go_through_safetensors_torch(tmp_path: Path) -> None:
    assert served(f"""
import torch
from safetensors import safe_open
from safetensors.torch import load, load_file, load_model, save, save_file, save_model
for name in {DTYPES}:
    tensor = torch.tensor([[0, 1, 2], [3, 4, 5]]).to(getattr(torch, name))
    save_file({{"x": tensor, "empty": tensor[:0].clone(), "scalar": tensor[0, 1].clone()}}, "file")
    for found in (load_file("file"), load(save({{"x": tensor, "scalar": tensor[0, 1].clone()}}))):
        assert found["x"].dtype is tensor.dtype and torch.equal(found["x"], tensor)
        assert found["scalar"].shape == () and found["scalar"] == tensor[0, 1]
model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 2))
model[1].weight = torch.nn.Parameter(model[0].weight.T.contiguous())
save_model(model, "model")
other = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 2))
print(load_model(other, "model"), all(map(torch.equal, model.parameters(), other.parameters())))
with safe_open("model", framework="pt") as file:
    part = file.get_slice("0.weight")[1:, 0]
    print(sorted(file.keys()), torch.equal(part, model[0].weight[1:, 0]))
tied = {{"a": model[0].weight, "b": model[0].weight}}
try:
    save_file(tied, "tied")
except RuntimeError as error:
    print(str(error).strip()[:25])
""", tmp_path).splitlines() == [
        "(set(), []) True", "['0.bias', '0.weight', '1.bias', '1.weight'] True",
        "Some tensors share memory"]


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d not in ("bfloat16",)])
def test_arrays_of_tensors_go_through_safetensors_numpy(dtype: str) -> None:
    from safetensors.numpy import load, save

    tensor = rg.tensor([[0, 1], [2, 3]]).to(getattr(rg, dtype))
    found = load(save({"x": np.asarray(tensor)}))["x"]
    assert rg.from_numpy(found.copy()).tolist() == tensor.tolist()


def test_tensors_themselves_are_told_what_safetensors_numpy_takes() -> None:
    from safetensors.numpy import save

    with pytest.raises(AttributeError, match=r"takes tensor\.numpy\(\); to save tensors as safe.*"
                                             r"retrograd\.as_torch\(\) and use safetensors\.torch"):
        save({"x": rg.ones(2)})


def test_a_mapped_file_is_private_or_shared(tmp_path: Path) -> None:
    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(8)))
    private = rg.UntypedStorage.from_file(str(path), nbytes=4)
    assert private.tolist() == [0, 1, 2, 3] and private.untyped() is private
    private[0] = 9
    assert path.read_bytes()[0] == 0
    shared = rg.UntypedStorage.from_file(str(path), shared=True, nbytes=10)
    shared[9] = 7
    del shared
    assert path.read_bytes() == bytes([*range(8), 0, 7])
    with pytest.raises(RuntimeError, match="unable to map 99 bytes of the file"):
        rg.UntypedStorage.from_file(str(path), nbytes=99)


def state() -> Any:
    return rg.nn.Linear(2, 3).state_dict()


def test_safetensors_numpy_wants_arrays() -> None:
    from safetensors.numpy import load, save

    arrays = {name: tensor.numpy() for name, tensor in state().items()}
    assert set(load(save(arrays))) == {"weight", "bias"}
    with pytest.raises(AttributeError):  # it asks arrays for their bytes, as of PyTorch's tensors
        save(state())
