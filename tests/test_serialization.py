"""save and load: what comes back, what is refused, and that a file never runs."""

from __future__ import annotations

import io
import os
import pickle
import random
import signal
import zipfile
from collections import Counter, OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import old_files
import retrograd as rg
from retrograd import serialization

FUZZED = int(os.environ.get("RETROGRAD_FUZZED_FILES", "1500"))
DTYPES = [rg.float16, rg.bfloat16, rg.float32, rg.float64, rg.complex64, rg.complex128, rg.uint8,
          rg.uint16, rg.uint32, rg.uint64, rg.int8, rg.int16, rg.int32, rg.int64, rg.bool]


def round_trip(value: Any, **options: Any) -> Any:
    return serialization.load(io.BytesIO(saved(value)), **options)


def saved(value: Any) -> bytes:
    file = io.BytesIO()
    serialization.save(value, file)
    return file.getvalue()


class Custom:
    """A class that a file may not name unless it is allowed."""

    def __init__(self) -> None:
        self.value = 3


# ---------------------------------------------------------------- what comes back


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_comes_back(dtype: Any) -> None:
    tensor = rg.tensor([0, 1, 2]).to(dtype)
    found = round_trip(tensor)
    assert found.dtype is dtype
    assert found.tolist() == tensor.tolist()


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (2, 3)])
def test_every_shape_comes_back(shape: tuple[int, ...]) -> None:
    assert round_trip(rg.ones(shape)).shape == shape


def test_plain_values_come_back() -> None:
    value = {"a": [1, 2.5, "x", None, True, 10**30, b"y", 1 + 2j], "b": (1, (2,)), "c": {1, 2},
             "d": OrderedDict(k=1), "e": Counter("aab"), "f": bytearray(b"z"),
             "g": rg.Size([1, 2]), "h": rg.float64, "i": rg.device("cpu")}
    assert round_trip(value) == value


def test_views_share_their_memory_again() -> None:
    base = rg.arange(6.0).reshape(2, 3)
    found = round_trip({"base": base, "row": base[1], "turned": base.T})
    assert found["turned"].stride() == (1, 3)
    found["row"].fill_(7)
    assert found["base"].tolist() == [[0, 1, 2], [7, 7, 7]]
    assert found["turned"][2].tolist() == [2, 7]


def test_parameters_and_attributes_come_back() -> None:
    parameter = rg.nn.Parameter(rg.ones(2), requires_grad=False)
    tensor = rg.ones(2, requires_grad=True)
    tensor.note = "kept"
    found = round_trip([parameter, tensor])
    assert isinstance(found[0], rg.nn.Parameter)
    assert not found[0].requires_grad
    assert found[1].requires_grad
    assert found[1].note == "kept"


def test_a_model_and_its_optimizer_are_resumed(tmp_path: Path) -> None:
    model = rg.nn.Sequential(rg.nn.Linear(2, 3), rg.nn.BatchNorm1d(3))
    optimizer = rg.optim.Adam(model.parameters())
    model(rg.randn(4, 2)).sum().backward()
    optimizer.step()
    serialization.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()},
                       tmp_path / "checkpoint.pt")
    found = serialization.load(tmp_path / "checkpoint.pt")
    other = rg.nn.Sequential(rg.nn.Linear(2, 3), rg.nn.BatchNorm1d(3))
    other.load_state_dict(found["model"])
    resumed = rg.optim.Adam(other.parameters())
    resumed.load_state_dict(found["optimizer"])
    for mine, theirs in zip(other.state_dict().values(), model.state_dict().values(), strict=True):
        assert mine.tolist() == theirs.tolist()
    step = resumed.state_dict()["state"][0]
    assert step["step"] == 1
    assert step["exp_avg"].tolist() == optimizer.state_dict()["state"][0]["exp_avg"].tolist()


def test_memory_can_stay_on_disk(tmp_path: Path) -> None:
    serialization.save({"x": rg.arange(4.0)}, tmp_path / "x.pt")
    before = (tmp_path / "x.pt").read_bytes()
    found = serialization.load(tmp_path / "x.pt", mmap=True)["x"]
    found.add_(1)  # a private copy of the page
    assert found.tolist() == [1, 2, 3, 4]
    assert (tmp_path / "x.pt").read_bytes() == before


def test_a_storage_begins_at_a_round_address() -> None:
    data = saved([rg.ones(3), rg.ones(5)])
    archive = zipfile.ZipFile(io.BytesIO(data))
    for info in archive.infolist():
        name, extra = data[info.header_offset + 26], data[info.header_offset + 28]
        if "/data/" in info.filename:
            assert (info.header_offset + 30 + name + extra) % 64 == 0


# ---------------------------------------------------------------- where it goes


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    serialization.save({"x": 1}, path)
    with pytest.raises((AttributeError, pickle.PicklingError)):
        serialization.save({"x": lambda: 0}, path)
    assert serialization.load(path) == {"x": 1}
    assert os.listdir(tmp_path) == ["x.pt"]


def test_an_interrupted_save_leaves_the_old_file(tmp_path: Path,
                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.pt"
    serialization.save({"x": 1}, path)

    def interrupt(*args: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        serialization.save({"x": 2}, path)
    assert serialization.load(path) == {"x": 1}
    assert os.listdir(tmp_path) == ["x.pt"]


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"Parent directory .* does not exist"):
        serialization.save({}, tmp_path / "nowhere" / "x.pt")


@pytest.mark.parametrize("where", ["cpu", rg.device("cpu"), {"cpu": "cpu"},
                                   lambda storage, location: storage])
def test_storages_are_put_where_they_are_wanted(where: Any) -> None:
    assert round_trip(rg.ones(2), map_location=where).tolist() == [1, 1]


def test_an_accelerator_that_is_not_there_is_refused() -> None:
    with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device"):
        round_trip(rg.ones(2), map_location="cuda")


def test_the_format_before_zip_archives_is_read() -> None:
    found = serialization.load(io.BytesIO(old_files.row_of_pickles()))
    assert found["a"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found["row"].data_ptr() == found["a"].data_ptr() + 12


@pytest.mark.parametrize("weights_only", [True, False])
def test_the_oldest_format_is_read(weights_only: bool) -> None:
    data = old_files.tar(old_files.members())
    found = serialization.load(io.BytesIO(data), weights_only=weights_only)
    assert found["a"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found["n"] == [1, 2.5, "x"]
    assert (found["long"].tolist(), found["scalar"].item()) == ([7, 8], 8)
    found["a"][1, 0] = 9  # they are one memory
    assert (found["row"].tolist(), found["part"].tolist()) == ([9, 4, 5], [2, 9, 4])


def test_storages_of_the_oldest_format_are_put_where_they_are_wanted() -> None:
    parts = old_files.members()
    parts["storages"] = parts["storages"].replace(b"X\x03\0\0\0cpu", b"X\x06\0\0\0cuda:0")
    data = old_files.tar(parts)
    with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device"):
        serialization.load(io.BytesIO(data))
    found = serialization.load(io.BytesIO(data), map_location="cpu")
    assert found["row"].tolist() == [3, 4, 5]


# ---------------------------------------------------------------- what is refused


def test_a_class_must_be_allowed() -> None:
    data = saved({"x": Custom()})
    with pytest.raises(pickle.UnpicklingError, match="was not an allowed global by default"):
        serialization.load(io.BytesIO(data))
    with serialization.safe_globals([Custom]):
        assert serialization.load(io.BytesIO(data))["x"].value == 3
    assert serialization.get_safe_globals() == []
    assert serialization.load(io.BytesIO(data), weights_only=False)["x"].value == 3
    names = serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(data))
    assert names == [f"{Custom.__module__}.Custom"]


def hostile(*opcodes: bytes) -> bytes:
    """An archive whose pickle is made of these opcodes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("x/data.pkl", b"\x80\x02" + b"".join(opcodes) + b".")
        archive.writestr("x/data/0", b"\0" * 16)
        archive.writestr("x/version", "3")
    return file.getvalue()


NAMED = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x00"
STORAGE = NAMED + b"0X\x03\x00\x00\x00cpuK\x04tQ"
REBUILD = b"ctorch._utils\n_rebuild_tensor_v2\n"
HOSTILE = {
    "system": [b"cos\nsystem\n", b"X\x09\x00\x00\x00touch /tm", b"\x85R"],
    "eval": [b"c__builtin__\neval\n", b"X\x03\x00\x00\x001+1", b"\x85R"],
    "getattr": [b"c__builtin__\ngetattr\n", b"N\x85R"],
    "import": [b"cantigravity\nx\n"],
    "a huge bytearray": [b"c__builtin__\nbytearray\n", b"\x8a\x05\x00\x00\x00\x00\x10", b"\x85R"],
    "bytes that are not there": [b"\x8e\x00\x00\x00\x00\x00\x10\x00\x00"],
    "a memo far away": [b"N", b"r\xff\xff\xff\x7f", b"j\x00\x00\x00\x7f"],
    "a tensor beyond its storage": [REBUILD, b"(", STORAGE, b"K\x00(K\x64tK\x01\x85\x89}tR"],
    "an offset beyond its storage": [REBUILD, b"(", STORAGE, b"K\x40(K\x01tK\x01\x85\x89}tR"],
    "a negative stride": [REBUILD, b"(", STORAGE, b"K\x00(K\x02tJ\xff\xff\xff\xff\x85\x89}tR"],
    "a storage of another size": [
        NAMED, b"0X\x03\x00\x00\x00cpu", b"\x8a\x05\x00\x00\x00\x00\x10tQ"],
    "a storage that is not there": [
        NAMED, b"9X\x03\x00\x00\x00cpuK\x04tQ"],
    "the state of a tensor": [REBUILD, b"(", STORAGE, b"K\x00(K\x02tK\x01\x85\x89}tR",
                              b"}X\x05\x00\x00\x00_dataNsb"],
    "a key nested without end": [b"}", b")" + b"\x85" * 100000, b"Ns"],
    "an attribute of the engine": [
        b"ctorch._tensor\n_rebuild_from_type_v2\n(", REBUILD, b"ctorch\nTensor\n(", STORAGE,
        b"K\x00(K\x02tK\x01\x85\x89}t}X\x05\x00\x00\x00_dataNstR"],
    "an instruction of text protocols": [b"(S'x'\ni__main__\nC\n"],
    "nothing on the stack": [b"R"],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pickles_are_refused(name: str) -> None:
    with pytest.raises((pickle.UnpicklingError, RuntimeError)) as caught:
        serialization.load(io.BytesIO(hostile(*HOSTILE[name])))
    advises = "can still be loaded" in str(caught.value)
    assert advises == (name in ("eval", "getattr", "import"))  # names that one might allow


def test_a_compressed_archive_is_refused() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/data.pkl", b"\x80\x02N.")
        archive.writestr("x/data/0", b"\0" * 10_000_000)
    with pytest.raises(RuntimeError, match="compressed"):
        serialization.load(io.BytesIO(file.getvalue()))


@pytest.mark.parametrize("data", [b"", b"hello world", b"PK\x03\x04", b"\x80\x02K\x01."])
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises((pickle.UnpicklingError, RuntimeError, EOFError)):
        serialization.load(io.BytesIO(data))


LONG = (1 << 40).to_bytes(8, "little")
DAMAGED_PARTS = {
    "a missing part": {"tensors": None},
    "a class": {"pickle": old_files.pickled({"x": "@os system"})},
    "a call": {"pickle": b"\x80\x02ctorch\nFloatTensor\n\x8a\x05\0\0\0\0\x10\x85R."},
    "the other byte order": {"sys_info": old_files.pickled({"little_endian": False})},
    "system information of another kind": {"sys_info": old_files.pickled([1])},
    "more storages than there are": {"storages": old_files.pickled(10**9)},
    "a storage of another kind": {"storages": old_files.pickled(1) + old_files.pickled([1, "cpu"])},
    "a storage larger than the file": {
        "storages": old_files.pickled(1) + old_files.storage(1, "Float", b"", 4)[:-8] + LONG},
    "a storage of a negative size": {
        "storages": old_files.pickled(1) + old_files.storage(1, "Int", b"", 4)[:-8] + b"\xff" * 8},
    "a view beyond its storage": {
        "storages": old_files.pickled(1) + old_files.storage(1, "Float", bytes(8), 4)
        + old_files.pickled([(3, 1, 1, 2)])},
    "a view of nothing": {"storages": old_files.pickled(0) + old_files.pickled([(3, 1, 1, 2)])},
    "a tensor of nothing": {
        "tensors": old_files.pickled(1) + old_files.tensor(10, 9, "Float", (), ())},
    "a tensor of a tensor": {
        "tensors": old_files.pickled(2) + old_files.tensor(10, 1, "Float", (), ())
        + old_files.tensor(11, 10, "Float", (), ())},
    "a tensor beyond its storage": {
        "tensors": old_files.pickled(1) + old_files.tensor(10, 1, "Float", (7,), (1,))},
    "a negative stride": {
        "tensors": old_files.pickled(1) + old_files.tensor(10, 1, "Float", (2,), (-1,), 3)},
    "too many dimensions": {
        "tensors": old_files.pickled(1) + old_files.tensor(10, 1, "Float", (1,) * 70, (1,) * 70)},
    "an object that is not there": {"pickle": old_files.pickled({"x": "#99"})},
}


@pytest.mark.parametrize("name", DAMAGED_PARTS)
def test_damaged_and_hostile_files_of_the_oldest_format_are_refused(name: str) -> None:
    parts = {**old_files.members(), **DAMAGED_PARTS[name]}
    data = old_files.tar({key: part for key, part in parts.items() if part is not None})
    with pytest.raises((pickle.UnpicklingError, RuntimeError)):
        serialization.load(io.BytesIO(data))


def test_an_old_file_may_not_claim_more_memory_than_it_is_long() -> None:
    data = old_files.row_of_pickles()
    more = data.replace(b"K\x06N", b"\x8a\x05\0\0\0\0\x10N")
    with pytest.raises(pickle.UnpicklingError, match="more than the file holds"):
        serialization.load(io.BytesIO(more))
    half = len(data) // 7  # each of two storages could be, both cannot
    more = data.replace(b"K\x06N", b"M" + half.to_bytes(2, "little") + b"N")
    more = b"1X\x03\0\0\0cpu".join(more.rsplit(b"0X\x03\0\0\0cpu", 1))
    with pytest.raises(pickle.UnpicklingError, match="more than the file holds"):
        serialization.load(io.BytesIO(more))


@pytest.mark.parametrize("place", [0, 130, 150, 257])
def test_a_changed_header_of_the_oldest_format_is_refused(place: int) -> None:
    data = bytearray(old_files.tar(old_files.members()))
    data[place] ^= 1
    with pytest.raises((pickle.UnpicklingError, RuntimeError)):
        serialization.load(io.BytesIO(bytes(data)))


def test_a_cut_file_of_an_old_format_is_refused() -> None:
    for data in (old_files.row_of_pickles(), old_files.tar(old_files.members()).rstrip(b"\0")):
        for end in range(0, len(data) - 512, 97):
            with pytest.raises((pickle.UnpicklingError, RuntimeError, EOFError)):
                serialization.load(io.BytesIO(data[:end]))


def test_a_cut_or_changed_file_is_refused() -> None:
    data = saved({"x": rg.arange(100.0)})
    for end in range(0, len(data) - 1, 37):
        with pytest.raises((pickle.UnpicklingError, RuntimeError, EOFError)):
            serialization.load(io.BytesIO(data[:end]))
    changed = bytearray(data)
    changed[data.index(b"\0\0\x80\x3f")] ^= 1  # a byte of the storage: its checksum is wrong
    with pytest.raises(RuntimeError, match="CRC"):
        serialization.load(io.BytesIO(bytes(changed)))


def mutate(data: bytearray, draw: random.Random) -> None:
    for _ in range(draw.choice([1, 1, 2, 4, 16])):
        if not data:
            return
        place, way = draw.randrange(len(data)), draw.random()
        if way < 0.6:
            data[place] = draw.randrange(256)
        elif way < 0.75:
            del data[place:place + draw.randrange(1, 20)]
        elif way < 0.9:
            data[place:place] = draw.randbytes(draw.randrange(1, 8))
        else:
            other = draw.randrange(len(data))
            data[place:place + 8] = data[other:other + 8]


def mutated(data: bytes, draw: random.Random) -> bytes:
    """The file with some bytes changed."""
    changed = bytearray(data)
    mutate(changed, draw)
    return bytes(changed)


def mutated_zip(data: bytes, draw: random.Random) -> bytes:
    """The same; or its pickle changed and the archive made right again."""
    if draw.random() < 0.3:
        return mutated(data, draw)
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        for info in old.infolist():
            part = old.read(info)
            new.writestr(info.filename, mutated(part, draw)
                         if info.filename.endswith("data.pkl") else part)
    return file.getvalue()


def mutated_tar(data: bytes, draw: random.Random) -> bytes:
    """The same; or one of its parts changed."""
    if draw.random() < 0.3:
        return mutated(data, draw)
    parts = old_files.members()
    name = draw.choice(list(parts))
    return old_files.tar({**parts, name: mutated(parts[name], draw)})


def file_of_many_things() -> bytes:
    base = rg.arange(6.0).reshape(2, 3)
    return saved({"a": base, "v": base[1], "p": rg.nn.Parameter(base.clone()),
                  "l": [1, 2.5, "x", None, True, (1, 2)], "u": rg.tensor([1], dtype=rg.uint16),
                  "m": rg.nn.Linear(2, 2).state_dict()})


def too_long(*args: Any) -> None:
    raise TimeoutError("a file took more than ten seconds to load")


MUTATED = {"zip": (file_of_many_things, mutated_zip),
           "row of pickles": (old_files.row_of_pickles, mutated),
           "tar": (lambda: old_files.tar(old_files.members()), mutated_tar)}


@pytest.mark.parametrize("kind", MUTATED)
def test_mutated_files_load_or_are_refused(kind: str) -> None:
    make, change = MUTATED[kind]
    data, draw = make(), random.Random(7)
    alarm = signal.alarm if "RETROGRAD_FUZZED_FILES" in os.environ else int  # for make fuzz
    before = signal.signal(signal.SIGALRM, too_long)
    try:
        for _ in range(FUZZED):
            changed = change(data, draw)
            alarm(10)
            with suppress(pickle.UnpicklingError, RuntimeError, EOFError, ValueError):
                serialization.load(io.BytesIO(changed))
    finally:
        alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_archives_are_read_by_pytorchs_names(tmp_path: Path) -> None:
    path = tmp_path / "file.pt"
    rg.save({"a": rg.ones(3)}, path)
    with open(path, "rb") as file:
        for source in (str(path), path, file):
            reader = rg.PyTorchFileReader(source)
            assert reader.has_record("data.pkl") and not reader.has_record("nonsense")
            assert "data/0" in reader.get_all_records() and reader.get_record_size("data/0") == 12
            assert reader.get_record("data/0") == b"\x00\x00\x80?" * 3
            with pytest.raises(RuntimeError, match="failed locating file nonsense: file not found"):
                reader.get_record("nonsense")
