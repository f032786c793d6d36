"""Tensors between processes: queues, shared memory, and processes that are started together."""

import copy
import gc
import os
import pickle
import signal
import sys
import threading
from pathlib import Path

import pytest

import retrograd as torch
import retrograd.multiprocessing as mp
from retrograd.backend import shared_memory
from retrograd.multiprocessing.spawn import ProcessException

METHODS = ["fork", "spawn"]


def blocks():
    """How many blocks of shared memory this process sees."""
    return Path("/proc/self/maps").read_text().count("memfd:retrograd")


# ---------------------------------------------------------------- what is shared


def test_the_names_of_pythons_module_are_here():
    import multiprocessing

    assert all(getattr(mp, name) is getattr(multiprocessing, name)
               for name in multiprocessing.__all__)
    assert torch.multiprocessing is mp


def test_a_tensor_moves_with_everything_that_looks_at_its_memory():
    x = torch.arange(6.0).reshape(2, 3)
    row, column, other = x[1], x[:, 0], x.detach()
    memory = x.untyped_storage()
    assert not x.is_shared() and not memory.is_shared()
    assert x.share_memory_() is x
    assert all(t.is_shared() for t in (x, row, column, other, memory))
    row += 10
    assert x.tolist() == other.tolist() == [[0, 1, 2], [13, 14, 15]]
    assert column.tolist() == [0, 13] and column.stride() == (3,)
    assert x.data_ptr() == other.data_ptr() == memory.data_ptr()
    address = x.data_ptr()
    assert x.share_memory_().data_ptr() == address  # it is there already


@pytest.mark.parametrize("make", [
    lambda: torch.tensor(3), lambda: torch.zeros(0, 3), lambda: torch.ones(1).expand(4),
    lambda: torch.arange(6).reshape(2, 3).t(), lambda: torch.arange(9)[::2],
    lambda: torch.ones(3, dtype=torch.bfloat16), lambda: torch.ones(3, dtype=torch.float16),
    lambda: torch.ones(2, dtype=torch.complex64), lambda: torch.tensor([True, False]),
    lambda: torch.ones(2, requires_grad=True), lambda: torch.nn.Parameter(torch.ones(2))])
def test_values_strides_and_offsets_stay(make):
    x, expected = make(), make()
    x.share_memory_()
    assert x.is_shared() and torch.equal(x, expected) and type(x) is type(expected)
    assert (x.stride(), x.storage_offset()) == (expected.stride(), expected.storage_offset())
    assert (x.requires_grad, x.is_leaf) == (expected.requires_grad, expected.is_leaf)


def test_objects_that_compute_their_class_are_not_asked_for_it():
    class Warns:
        @property
        def __class__(self):
            raise FutureWarning("this object is going to have another name")

    bystander = Warns()
    x = torch.ones(3)
    y = x[1:]
    x.share_memory_()
    assert y.is_shared() and type(bystander) is Warns


def test_tensors_that_are_alone_are_moved_without_a_search(monkeypatch):
    def search():
        raise AssertionError("all objects were looked at")

    monkeypatch.setattr("gc.get_objects", search)
    for tensor in (torch.ones(3), torch.arange(6) + 1, torch.zeros(()), torch.empty(0)):
        assert tensor.share_memory_().is_shared()
    x = torch.ones(3)
    for other in (x[1:], x.data, x.detach(), x.untyped_storage()):
        with pytest.raises(AssertionError, match="all objects were looked at"):
            x.share_memory_()
        assert not x.is_shared() and not other.is_shared()


def test_gradients_flow_through_shared_memory():
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    y.share_memory_()
    (y * x).sum().backward()
    assert x.grad.tolist() == [4.0, 4.0, 4.0] and y.grad_fn is not None
    assert not copy.deepcopy(x.share_memory_()).is_shared()
    assert not pickle.loads(pickle.dumps(x)).is_shared() and not x.clone().is_shared()


def test_what_cannot_be_shared_says_so():
    def inside(z):
        return z.share_memory_()

    with pytest.raises(RuntimeError, match="only tensors on NumPy's arrays can be shared"):
        torch.func.vmap(inside)(torch.ones(3))
    with pytest.raises(AssertionError, match="invalid sharing strategy 'telepathy'"):
        mp.set_sharing_strategy("telepathy")


@pytest.mark.parametrize("most", [1, 3, 5, 100])
def test_a_file_that_takes_some_bytes_at_a_time_is_written_whole(most, monkeypatch):
    pieces, write, calls = [b"abc", b"", b"defgh", b"i"], os.writev, []

    def some(descriptor, views):
        calls.append(len(views))
        return write(descriptor, [b"".join(views)[:most]])

    monkeypatch.setattr(os, "writev", some)
    descriptor = shared_memory.file_of(pieces)
    try:
        assert os.pread(descriptor, 100, 0) == b"abcdefghi"
    finally:
        os.close(descriptor)
    assert len(calls) == -(-9 // most)


def test_a_file_that_cannot_be_written_is_closed(monkeypatch):
    taken = []

    def full(descriptor, views):
        taken.append(descriptor)
        raise OSError("no space")

    monkeypatch.setattr(os, "writev", full)
    with pytest.raises(OSError, match="no space"):
        shared_memory.file_of([b"abc"])
    with pytest.raises(OSError):
        os.fstat(taken[0])


def test_without_memory_files_a_nameless_file_does(monkeypatch, tmp_path):
    monkeypatch.delattr(os, "memfd_create")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(shared_memory.tempfile, "tempdir", None)
    x = torch.arange(3.0).share_memory_()
    assert x.is_shared() and x.tolist() == [0.0, 1.0, 2.0] and not list(tmp_path.iterdir())
    monkeypatch.delattr(os, "writev")
    with pytest.raises(RuntimeError, match="POSIX systems only"):
        torch.arange(3.0).share_memory_()


def test_a_map_that_fails_says_how_large_it_was():
    with pytest.raises(OSError, match="8 bytes of shared memory cannot be mapped"):
        shared_memory.Block(os.open(os.devnull, os.O_RDONLY), 8)


def test_strategies():
    assert mp.get_all_sharing_strategies() == {"file_descriptor", "file_system"}
    mp.set_sharing_strategy("file_system")
    assert mp.get_sharing_strategy() == "file_system"
    mp.set_sharing_strategy("file_descriptor")


def test_memory_goes_with_the_last_tensor():
    gc.collect()
    before, files = blocks(), len(os.listdir("/proc/self/fd"))
    x = torch.ones(1000).share_memory_()
    view = x[3:]
    assert blocks() == before + 1
    del x
    assert view.sum().item() == 997 and blocks() == before + 1
    del view
    assert blocks() == before and len(os.listdir("/proc/self/fd")) == files


# ---------------------------------------------------------------- between processes


def add_one(tensor, module, queue, finished):
    tensor += 1
    with torch.no_grad():
        module.weight.fill_(7)
    mine = torch.zeros(3)
    queue.put((mine, mine[1:], torch.nn.Parameter(torch.ones(2)), torch.ones(2).bfloat16()))
    finished.wait()
    queue.put(mine.tolist())


@pytest.mark.parametrize("method", METHODS)
def test_both_processes_see_what_either_writes(method):
    context = mp.get_context(method)
    tensor, module = torch.zeros(4).share_memory_(), torch.nn.Linear(2, 2).share_memory()
    assert all(parameter.is_shared() for parameter in module.parameters())
    queue, finished = context.Queue(), context.Event()
    child = context.Process(target=add_one, args=(tensor, module, queue, finished))
    child.start()
    theirs, part, parameter, halves = queue.get(timeout=100)
    assert tensor.tolist() == [1.0] * 4 and module.weight.tolist() == [[7.0, 7.0]] * 2
    assert theirs.is_shared() and part.data_ptr() == theirs.data_ptr() + 4
    assert type(parameter) is torch.nn.Parameter and parameter.requires_grad
    assert halves.dtype == torch.bfloat16 and halves.tolist() == [1.0, 1.0]
    part += 5
    finished.set()
    assert queue.get(timeout=100) == theirs.tolist() == [0.0, 5.0, 5.0]
    child.join()
    assert child.exitcode == 0


def double(x):
    return 2 * x


def test_a_pool():
    with mp.get_context("fork").Pool(2) as pool:
        doubled = pool.map(double, [torch.ones(2), torch.zeros(1)])
        assert [tensor.tolist() for tensor in doubled] == [[2.0, 2.0], [0.0]]


def test_a_tensor_with_a_history_is_not_sent():
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        mp.reductions.ForkingPickler.dumps(torch.ones(2, requires_grad=True) * 2)


def test_a_tensor_that_comes_back_is_the_same_memory():
    context = mp.get_context("fork")
    queue = context.SimpleQueue()
    x = torch.zeros(2)
    queue.put(x)
    assert x.is_shared()
    back = queue.get()
    back += 1
    assert x.tolist() == [1.0, 1.0] and back.data_ptr() == x.data_ptr()


def test_a_loaders_batch_can_be_shared_again():
    (batch,) = torch.utils.data.DataLoader(torch.zeros(1, 3), None, num_workers=1)
    view, address = batch[1:], batch.data_ptr()
    context = mp.get_context("fork")
    queue = context.SimpleQueue()
    queue.put(batch)
    back = queue.get()
    back += 1
    assert view.tolist() == [1.0, 1.0] and batch.data_ptr() == address


def count_up(index, counter, lock):
    for _ in range(200):
        with lock:
            counter += 1


def test_training_side_by_side_adds_up():
    context = mp.get_context("fork")
    counter, lock = torch.zeros(()).share_memory_(), context.Lock()
    mp.start_processes(count_up, (counter, lock), nprocs=3, start_method="fork")
    assert counter.item() == 600


def test_tensors_are_shared_while_threads_make_others():
    stop = threading.Event()

    def work():
        while not stop.is_set():
            torch.ones(3)[1:].detach()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(20):
            x = torch.arange(4.0)
            view = x[1:]
            x.share_memory_()
            view += 1
            assert x.tolist() == [0.0, 2.0, 3.0, 4.0]
    finally:
        stop.set()
        thread.join()


# ---------------------------------------------------------------- processes that start together


def succeed(index, path):
    Path(path, str(index)).touch()


def fail(index, how):
    if index == 1:
        if how == "raise":
            raise ValueError("wrong number")
        if how == "exit":
            sys.exit(5)
        os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_start_with_their_numbers(method, tmp_path):
    assert mp.start_processes(succeed, (str(tmp_path),), nprocs=2, start_method=method) is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1"]


@pytest.mark.parametrize("how, kind, said, code", [
    ("raise", mp.ProcessRaisedException, "ValueError: wrong number", None),
    ("exit", mp.ProcessExitedException, "process 1 terminated with exit code 5", 5),
    ("kill", mp.ProcessExitedException, "process 1 terminated with signal SIGKILL", -9)])
def test_one_that_fails_ends_the_others(how, kind, said, code):
    context = mp.start_processes(fail, (how,), nprocs=2, join=False, start_method="fork")
    with pytest.raises(kind, match=said) as error:
        while not context.join():
            pass
    assert error.value.error_index == 1 and error.value.error_pid == context.pids()[1]
    assert getattr(error.value, "exit_code", None) == code
    assert isinstance(pickle.loads(pickle.dumps(error.value)), ProcessException)
    assert not any(process.is_alive() for process in context.processes)
    assert not any(Path(path).exists() for path in context.error_files)


def test_spawn_warns_of_another_start_method(tmp_path):
    with pytest.warns(FutureWarning, match="only supports start_method=spawn"):
        mp.spawn(succeed, (str(tmp_path),), nprocs=0, start_method="fork")
    context = mp.spawn(succeed, (str(tmp_path),), join=False)
    while not context.join(timeout=60):
        pass
    assert context.join() and (tmp_path / "0").exists()
