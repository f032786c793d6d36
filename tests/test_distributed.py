"""A world of one process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import retrograd as torch
from retrograd import distributed as dist


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name, value in (("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", "29500"), ("RANK", "0"),
                        ("WORLD_SIZE", "1")):
        monkeypatch.setenv(name, value)
    return monkeypatch


@pytest.mark.parametrize("options", [
    {}, {"init_method": "env://"}, {"init_method": "tcp://127.0.0.1:1", "rank": 0, "world_size": 1},
    {"init_method": "tcp://127.0.0.1:1?rank=0&world_size=1"},
    {"init_method": "file:///nowhere/met", "rank": 0, "world_size": 1},
])
def test_ways_of_meeting(environment: pytest.MonkeyPatch, options: dict) -> None:
    dist.init_process_group("gloo", **options)
    assert (dist.get_rank(), dist.get_world_size()) == (0, 1)
    dist.destroy_process_group()
    assert not dist.is_initialized()


def test_a_world_of_more_is_refused(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("WORLD_SIZE", "2")
    with pytest.raises(RuntimeError, match="a world of one process, but world_size is 2: nothing"):
        dist.init_process_group("gloo")
    assert not dist.is_initialized()
    with pytest.raises(ValueError, match="rank 1 does not exist in a world of one process"):
        dist.init_process_group("gloo", rank=1, world_size=1)


def test_nobody_to_talk_to(environment: pytest.MonkeyPatch) -> None:
    dist.init_process_group("gloo")
    try:
        for call in (dist.send, dist.recv, dist.isend, dist.irecv):
            with pytest.raises(ValueError, match="there is no other process"):
                call(torch.ones(2), 0)
    finally:
        dist.destroy_process_group()


def test_results_carry_no_history(environment: pytest.MonkeyPatch) -> None:
    dist.init_process_group("gloo")
    try:
        x, out = torch.ones(2, requires_grad=True), torch.zeros(2)
        dist.all_gather([out], x * 2)
        assert out.tolist() == [2.0, 2.0] and not out.requires_grad
        dist.all_reduce(x)
        assert x.is_leaf and x.requires_grad
    finally:
        dist.destroy_process_group()


def test_the_older_place_of_the_names() -> None:
    from retrograd.distributed.distributed_c10d import _get_default_group, all_reduce

    assert all_reduce is dist.all_reduce
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        _get_default_group()


@pytest.mark.parametrize("backend", ["nccl", "mpi", "NCCL"])
def test_backends_that_are_not_there(backend: str) -> None:
    with pytest.raises(RuntimeError, match=r"Distributed package doesn't have (NCCL|MPI) built in"):
        dist.init_process_group(backend, rank=0, world_size=1)
    assert not dist.is_initialized() and not dist.is_backend_available(backend)


def test_nothing_is_spread_over_processes() -> None:
    from retrograd.distributed.device_mesh import init_device_mesh
    from retrograd.distributed.fsdp import FullyShardedDataParallel, fully_shard
    from retrograd.distributed.tensor import DTensor, distribute_tensor

    model = torch.nn.Linear(2, 2)
    for call in (lambda: DTensor(torch.ones(2)), lambda: DTensor.from_local(torch.ones(2)),
                 lambda: distribute_tensor(torch.ones(2)), lambda: fully_shard(model),
                 lambda: FullyShardedDataParallel(model)):
        with pytest.raises(NotImplementedError, match=r"use the (tensor|module) itself"):
            call()
    with pytest.raises(RuntimeError, match="a world of one process, but a mesh of 2 x 1 was"):
        init_device_mesh("cpu", (2, 1))
    assert not dist.rpc.is_available()


def test_joining(environment: pytest.MonkeyPatch) -> None:
    from retrograd.distributed.algorithms import Join, Joinable, JoinHook

    met = []

    class Hook(JoinHook):
        def post_hook(self, is_last_joiner: bool) -> None:
            met.append(is_last_joiner)

    class Model(Joinable):
        join_device = join_process_group = None

        def join_hook(self, **kwargs: object) -> JoinHook:
            met.append(kwargs)
            return Hook()

    with Join([Model()], divide=True):
        Join.notify_join_context(Model())
        assert met == [{"divide": True}]
    assert met == [{"divide": True}, True]
    with pytest.raises(KeyError), Join([Model()]):
        raise KeyError
    with Join([Model()], enable=False):
        pass
    assert met == [{"divide": True}, True, {}]
    with pytest.raises(ValueError, match="at least one joinable"):
        Join([])


def test_errors_of_main_functions_are_written_where_the_launcher_looks(
        monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from retrograd.distributed.elastic.multiprocessing.errors import record

    @record
    def main(number: int) -> int:
        """What the program does."""
        return 12 // number

    assert main(3) == 4 and main.__name__ == "main"
    with pytest.raises(ZeroDivisionError):
        main(0)
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(tmp_path / "error.json"))
    with pytest.raises(ZeroDivisionError):
        main(0)
    (written,) = tmp_path.iterdir()
    told = json.loads(written.read_text())["message"]
    assert written.name == "error.json" and told["message"].startswith("ZeroDivisionError")
    assert "12 // number" in told["extraInfo"]["py_callstack"]


def test_graphs_over_processes_are_refused() -> None:
    from retrograd.distributed import autograd

    assert not autograd.is_available()
    with pytest.raises(RuntimeError, match="no distributed autograd"):
        autograd.context()
