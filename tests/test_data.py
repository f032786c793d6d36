"""Data sets, samplers and loaders."""

import gc
import itertools
import multiprocessing
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest

import retrograd as torch
from retrograd.datasets import digits
from retrograd.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    Subset,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    get_worker_info,
    random_split,
)
from retrograd.utils.data._utils import worker as worker_module
from retrograd.utils.data._utils.channel import Channel, channel_pair
from retrograd.utils.data._utils.iterators import (
    _MultiProcessingDataLoaderIter,
    _SingleProcessDataLoaderIter,
)


class Squares(Dataset):
    def __init__(self, count, delay=0.0):
        self.count = count
        self.delay = delay

    def __getitem__(self, index):
        time.sleep(self.delay * (index % 3))
        return index, float(index * index)

    def __len__(self):
        return self.count


class Stream(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        worker = get_worker_info()
        if worker is None:
            return iter(range(self.count))
        return iter(range(worker.id, self.count, worker.num_workers))


# ---------------------------------------------------------------- the digits


def test_the_digits_are_all_there():
    images, labels = digits()
    assert images.shape == (1797, 1, 8, 8) and images.dtype == torch.float32
    assert labels.shape == (1797,) and labels.dtype == torch.int64
    assert (images.min().item(), images.max().item()) == (0.0, 1.0)
    counts = [(labels == digit).sum().item() for digit in range(10)]
    assert counts == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert (images[0, 0, 0] * 16).tolist() == [0, 0, 5, 13, 9, 1, 0, 0]
    assert (images * 16).sum().item() == 561718


# ---------------------------------------------------------------- order


def test_a_shuffled_loader_sees_everything_once_and_repeats_with_the_seed():
    def order():
        torch.manual_seed(4)
        loader = DataLoader(TensorDataset(torch.arange(10)), batch_size=4, shuffle=True)
        return [[batch[0].tolist() for batch in loader] for _ in range(2)]

    first, second = order()
    assert order() == [first, second]
    assert first != second
    assert [len(batch) for batch in first] == [4, 4, 2]
    assert sorted(number for batch in first for number in batch) == list(range(10))


def test_the_order_for_a_seed_is_fixed():
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.arange(10)), batch_size=4, shuffle=True)
    assert [batch[0].tolist() for batch in loader] == [[6, 7, 1, 4], [2, 0, 9, 8], [3, 5]]


def test_a_generator_leaves_the_default_one_alone():
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(3)
    loader = DataLoader(range(10), batch_size=10, shuffle=True, generator=generator)
    assert next(iter(loader)).tolist() == [7, 4, 2, 9, 1, 5, 0, 8, 6, 3]
    assert torch.equal(torch.rand(1), expected)


def test_drop_last_and_lengths():
    data = TensorDataset(torch.arange(10))
    for drop, lengths in ((False, [4, 4, 2]), (True, [4, 4])):
        loader = DataLoader(data, batch_size=4, drop_last=drop)
        assert [len(batch[0]) for batch in loader] == lengths
        assert len(loader) == len(lengths)


def test_picking_rows_at_once_gives_what_stacking_gives():
    tensors = torch.arange(24.0).reshape(6, 2, 2), torch.arange(6)
    data = Subset(Subset(TensorDataset(*tensors), [5, 4, 3, 2, 1]), [0, 2, 4])

    class Slow(Dataset):
        def __getitem__(self, index):
            return data[index]

        def __len__(self):
            return len(data)

    quick, slow = list(DataLoader(data, 2)), list(DataLoader(Slow(), 2))
    for one, other in zip(quick, slow, strict=True):
        assert type(one) is type(other) is list
        assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def by_one_index(indices):
    """The same order, in numbers that are no ints of Python's."""
    return [np.int64(index) for index in indices]


@pytest.mark.parametrize("said, at_once", [
    ({}, True), ({"within": 1}, True), ({"within": 2}, True), ({"batch_size": None}, False),
    ({"collate_fn": lambda batch: default_collate(batch)}, False), ({"kind": True}, False),
    ({"sampler": by_one_index(range(4))}, False), ({"grown": True}, False),
    ({"grown": True, "within": 1}, False), ({"part": True}, False)],
    ids=lambda said: " ".join(said) if isinstance(said, dict) else str(said))
def test_rows_are_picked_at_once_where_nobody_sees_it(said, at_once, monkeypatch):
    """Not where a data set, a part of one or a way to collate is of a class of one's own."""
    rows, given = [], {"batch_size": 2} | said
    taken = TensorDataset.__getitem__
    monkeypatch.setattr(TensorDataset, "__getitem__",
                        lambda self, index: rows.append(index) or taken(self, index))
    kind = type("Own", (TensorDataset,), {}) if given.pop("kind", False) else TensorDataset
    part = type("Part", (Subset,), {}) if given.pop("part", False) else Subset
    data = kind(torch.arange(6.0), torch.arange(6.0, requires_grad=given.pop("grown", False)))
    depth = given.pop("within", part is not Subset)
    for _ in range(depth):
        data = part(data, [0, 1, 2, 3, 4, 5])
    found = torch.cat([one.reshape(-1) for one, _ in DataLoader(data, **given)])
    assert found.tolist() == list(range(len(found))) and len(rows) == (0 if at_once else len(found))


def test_samplers():
    torch.manual_seed(0)
    assert sorted(RandomSampler(range(5))) == [0, 1, 2, 3, 4]
    drawn = list(RandomSampler(range(5), replacement=True, num_samples=70))
    assert len(drawn) == 70 and set(drawn) == {0, 1, 2, 3, 4}
    assert list(BatchSampler(range(5), 2, drop_last=True)) == [[0, 1], [2, 3]]
    assert set(WeightedRandomSampler([0.0, 1.0, 0.0], 8)) == {1}


def test_random_split_covers_everything_once():
    parts = random_split(range(11), [0.5, 0.25, 0.25])
    assert [len(part) for part in parts] == [6, 3, 2]
    assert sorted(sample for part in parts for sample in part) == list(range(11))


def test_concatenation():
    data = ConcatDataset([range(3), range(10, 12)])
    assert [data[i] for i in range(len(data))] == [0, 1, 2, 10, 11]
    assert data[-1] == 11


def test_collate_keeps_structure():
    batch = default_collate([{"x": 1.5, "y": (1, "a")}, {"x": 2.5, "y": (2, "b")}])
    assert batch["x"].dtype == torch.float64 and batch["x"].tolist() == [1.5, 2.5]
    assert batch["y"][0].tolist() == [1, 2] and batch["y"][1] == ("a", "b")


# ---------------------------------------------------------------- worker processes


def processes():
    return {child.pid for child in multiprocessing.active_children()}


def blocks():
    """How many blocks of shared memory this process sees."""
    return Path("/proc/self/maps").read_text().count("memfd:retrograd")


def descriptors():
    """How many sockets and blocks of shared memory this process holds open."""
    found = 0
    for entry in os.scandir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            found += os.readlink(entry.path).startswith(("socket:", "/memfd:retrograd"))
    return found


@pytest.fixture
def nothing_is_left():
    """No process, shared memory or descriptor is there after the test that was not before."""
    gc.collect()
    shared, opened = set(os.listdir("/dev/shm")), descriptors()
    known, mapped = processes(), blocks()
    yield
    gc.collect()
    assert processes() <= known
    assert blocks() <= mapped
    assert {name for name in os.listdir("/dev/shm") if "retrograd" in name} <= shared
    assert descriptors() <= opened


alone = pytest.mark.usefixtures("nothing_is_left")
many = pytest.mark.filterwarnings("ignore:This DataLoader will create")  # workers for this machine


@alone
@many
@pytest.mark.parametrize("workers", [1, 3])
def test_workers_keep_the_order(workers):
    plain = [batch[1].tolist() for batch in DataLoader(Squares(20), batch_size=3)]
    loader = DataLoader(Squares(20, delay=0.001), batch_size=3, num_workers=workers)
    for _ in range(2):
        assert [batch[1].tolist() for batch in loader] == plain


@alone
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_share_a_stream(method):
    loader = DataLoader(Stream(10), batch_size=2, num_workers=2, multiprocessing_context=method)
    batches = list(loader)
    assert [batch.tolist() for batch in batches] == [[0, 2], [1, 3], [4, 6], [5, 7], [8], [9]]


class Watched(Squares):
    def __init__(self, count):
        super().__init__(count)
        self.asked = multiprocessing.Value("i")

    def __getitem__(self, index):
        with self.asked.get_lock():
            self.asked.value += 1
        return super().__getitem__(index)


def test_waiting_for_a_worker_takes_no_time_of_the_processor():
    batches = iter(DataLoader(Squares(3, delay=0.15), num_workers=1))
    next(batches)
    began = time.process_time()
    assert len(list(batches)) == 2  # which takes half a second
    assert time.process_time() - began < 0.2


@alone
def test_workers_run_ahead_and_stop_when_dropped():
    data = Watched(100)
    iterator = iter(DataLoader(data, num_workers=2, prefetch_factor=3))
    next(iterator)
    deadline = time.monotonic() + 60
    while data.asked.value < 7 and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(0.02)
    assert data.asked.value == 7
    assert len(processes()) >= 2
    del iterator
    assert not processes()


class Broken(Squares):
    """Does something to the worker at one index."""

    def __init__(self, count, at, act):
        super().__init__(count)
        self.at, self.act = at, act

    def __getitem__(self, index):
        if index == self.at:
            self.act()
        return super().__getitem__(index)


def lose():
    raise KeyError("lost")


class Picky(Exception):
    def __init__(self, number, name):
        super().__init__(f"{name}: {number}")


def be_picky():
    raise Picky(3, "three")


def raise_a_local_class():
    class Local(Exception):
        pass

    raise Local("nobody else knows me")


def kill_the_worker():
    os.kill(os.getpid(), signal.SIGKILL)


def exit_quietly():
    os._exit(7)


def hang():
    time.sleep(600)


def ignore_requests_to_end():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    hang()


@alone
def test_the_loop_goes_on_after_a_worker_raised():
    iterator = iter(DataLoader(Broken(6, 3, lose), num_workers=2))
    seen = [next(iterator)[0].item() for _ in range(3)]
    with pytest.raises(KeyError) as error:
        next(iterator)
    text = str(error.value)
    assert text.startswith("Caught KeyError in DataLoader worker process 1.\nOriginal Traceback")
    assert 'raise KeyError("lost")' in text and "\\n" not in text
    assert seen + [batch[0].item() for batch in iterator] == [0, 1, 2, 4, 5]


@alone
@pytest.mark.parametrize("act, said", [(be_picky, "Caught Picky in DataLoader worker process 0"),
                                       (raise_a_local_class, "nobody else knows me")])
def test_exceptions_that_cannot_be_made_again_are_runtime_errors(act, said):
    with pytest.raises(RuntimeError, match=said):
        list(DataLoader(Broken(1, 0, act), num_workers=1))


class Unsendable(Squares):
    def __getitem__(self, index):
        return (lambda: index) if index == 1 else super().__getitem__(index)[0]


@alone
def test_a_batch_that_cannot_be_pickled_is_an_error_of_its_own():
    iterator = iter(DataLoader(Unsendable(3), batch_size=None, num_workers=1))
    assert next(iterator) == 0
    with pytest.raises((AttributeError, pickle.PicklingError), match="worker process 0"):
        next(iterator)
    assert next(iterator) == 2
    grown = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        list(DataLoader([grown], batch_size=None, num_workers=1))


@alone
@pytest.mark.parametrize("act, how", [(kill_the_worker, "was killed by signal SIGKILL"),
                                      (exit_quietly, "has exited with code 7")])
@pytest.mark.parametrize("options", [{}, {"in_order": False}, {"persistent_workers": True}])
def test_a_worker_that_dies_is_named(act, how, options):
    loader = DataLoader(Broken(8, 3, act), num_workers=2, **options)
    iterator = iter(loader)
    with pytest.raises(RuntimeError) as error:
        list(iterator)
    assert "DataLoader worker (pid(s) " in str(error.value)
    assert f"exited unexpectedly: worker 1 {how}" in str(error.value)
    assert not processes()
    with pytest.raises(RuntimeError, match="worker 1"):
        next(iterator)
    if options.get("persistent_workers"):
        assert next(iter(loader))[0].item() == 0


@alone
@pytest.mark.parametrize("act", [hang, ignore_requests_to_end])
@pytest.mark.parametrize("in_order", [True, False])
def test_a_worker_that_hangs_times_out(act, in_order, monkeypatch):
    monkeypatch.setattr("retrograd.utils.data._utils.worker.CHECK_INTERVAL", 0.5)
    loader = DataLoader(Broken(1, 0, act), num_workers=1, timeout=0.3, in_order=in_order)
    with pytest.raises(RuntimeError, match=r"timed out after 0.3 seconds: worker 0 \(pid \d+\)"):
        list(loader)
    gc.collect()
    assert not processes()


INTERRUPTED = """
import multiprocessing, os, signal, sys, threading, time
sys.path[:0] = {path!r}
from test_data import Broken, hang
from retrograd.utils.data import DataLoader
from retrograd.utils.data._utils import worker

loader = DataLoader(Broken(9, 3, hang), num_workers=2, multiprocessing_context="fork")
worker.CHECK_INTERVAL = 0.5  # the patience with a worker that hangs
workers = []
try:
    for batch in loader:
        if not workers:
            workers = multiprocessing.active_children()
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
except KeyboardInterrupt:
    if {again!r}:
        raise
    print(*(worker.pid for worker in workers))
"""


@pytest.fixture
def interrupts_arrive():
    """Programs that a shell starts in the background ignore interrupts, and so do theirs."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts_arrive")
@pytest.mark.parametrize("again", [False, True])
def test_an_interrupted_loop_leaves_no_process(again):
    code = INTERRUPTED.format(path=[str(Path(__file__).parent)], again=again)
    if again:
        code = code.replace("raise", "print(*(worker.pid for worker in workers)); raise")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    workers = [int(pid) for pid in ran.stdout.split()]
    assert len(workers) == 2, ran.stderr
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
    assert ran.returncode == (-signal.SIGINT if again else 0)
    assert ran.stderr.count("Traceback") == again


ABANDONED = """
import multiprocessing, os, sys
sys.path[:0] = {path!r}
from test_data import Squares
from retrograd.utils.data import DataLoader

iterator = iter(DataLoader(Squares(9), num_workers=2))
next(iterator)
print(*(worker.pid for worker in multiprocessing.active_children()), flush=True)
{end}
"""


@pytest.mark.parametrize("end", ["", "os.kill(os.getpid(), 9)", "1 / 0", "sys.exit(3)"])
def test_workers_do_not_survive_their_program(end):
    code = ABANDONED.format(path=[str(Path(__file__).parent)], end=end)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    workers = [int(pid) for pid in ran.stdout.split()]
    assert len(workers) == 2, ran.stderr
    deadline = time.monotonic() + 60
    while any(running(pid) for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(running(pid) for pid in workers)


def running(pid):
    """Whether a process is there and is not just waiting to be buried."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


class Asking(Squares):
    def __getitem__(self, index):
        info = get_worker_info()
        return info.id, info.num_workers, info.seed, info.dataset.count, torch.get_num_threads()


def remember(worker):
    get_worker_info().dataset.count = 10 * (worker + 1)


@alone
def test_workers_are_initialised_and_know_themselves():
    generator = torch.Generator().manual_seed(1)
    loader = DataLoader(Asking(4), None, num_workers=2, worker_init_fn=remember,
                        generator=generator)
    (one, other), (_, again) = [list(loader)[:2] for _ in range(2)]
    assert one[:2] == [0, 2] and other[:2] == [1, 2]
    assert other[2] == one[2] + 1 != again[2]
    assert (one[3], other[3]) == (10, 20) and one[4] == other[4] == 1
    assert get_worker_info() is None


@alone
def test_a_failing_init_function_is_reported():
    with pytest.raises(KeyError, match="lost"):
        list(DataLoader(Squares(2), num_workers=1, worker_init_fn=lambda worker: lose()))


@alone
def test_persistent_workers_stay_and_start_anew():
    loader = DataLoader(Asking(4), None, num_workers=2, persistent_workers=True)
    first = list(loader)
    there = processes()
    assert list(loader) == first and processes() == there
    next(iter(loader))  # what it leaves unread is not taken for the next epoch's
    assert list(loader) == first
    streams = DataLoader(Stream(6), num_workers=2, persistent_workers=True)
    assert [[b.item() for b in streams] for _ in range(2)] == [[0, 1, 2, 3, 4, 5]] * 2
    del loader, streams
    gc.collect()
    assert not processes()


def delayed(worker):
    get_worker_info().dataset.delay = 0.2 if worker == 0 else 0.0


class Late(Squares):
    def __getitem__(self, index):
        time.sleep(self.delay)
        return index


class Waiting(Squares):
    """The first worker has nothing before the other one is asked for its second sample."""

    def __init__(self, count):
        super().__init__(count)
        self.is_asked = multiprocessing.Event()

    def __getitem__(self, index):
        if get_worker_info().id == 0:
            self.is_asked.wait(60)
        elif index > 1:
            self.is_asked.set()
        return index


@alone
def test_batches_in_the_order_of_their_arrival():
    seen = list(DataLoader(Waiting(8), None, num_workers=2, in_order=False))
    assert sorted(seen) == list(range(8))
    assert seen[0] == 1


@alone
def test_long_messages_in_both_directions_do_not_block():
    class Text(Dataset):
        text = "x" * 300_000

        def __getitem__(self, index):
            return self.text

    batches = [list(range(100_000, 160_000))] * 6
    loader = DataLoader(Text(), batch_sampler=batches, num_workers=1, collate_fn=lambda b: b[0],
                        prefetch_factor=6)
    short = DataLoader(Text(), batch_sampler=[b[:1] * 3 for b in batches], num_workers=1)
    assert [len(batch) for batch in loader] == [300_000] * 6
    assert [len(batch) for batch in short] == [3] * 6


class Shapes(Dataset):
    """All kinds of tensors and arrays, and numbers of the sample in them."""

    def __getitem__(self, index):
        base = torch.arange(12.0).reshape(3, 4) + index
        return {"rows": base, "columns": base.t(), "part": base[1:, ::2],
                "expanded": torch.ones(1).expand(5), "empty": torch.zeros(0, 3),
                "number": torch.tensor(index), "bfloat16": base.bfloat16(), "half": base.half(),
                "complex": torch.complex(base, base), "bool": base > 3,
                "parameter": torch.nn.Parameter(base + 1), "large": torch.zeros(10**5)[7:9],
                "sparse": torch.zeros(10**4, 10)[:, 3], "array": base.numpy() * 2,
                "text": "a" * index, "none": None}


@alone
def test_tensors_come_in_shared_memory_as_they_were():
    data = Shapes()
    for index, batch in enumerate(DataLoader(data, None, sampler=range(3), num_workers=1,
                                             collate_fn=lambda sample: sample)):
        expected = data[index]
        for name, tensor in expected.items():
            found = batch[name]
            if isinstance(tensor, torch.Tensor):
                assert type(found) is type(tensor) and found.dtype == tensor.dtype
                assert found.requires_grad == tensor.requires_grad and found.is_leaf
                assert found.is_shared() and torch.equal(found, tensor)
                if name != "sparse":
                    assert found.stride() == tensor.stride()
        batch["rows"] += 1  # it is ordinary memory, and its views are views of it
        assert torch.equal(batch["columns"], expected["columns"] + 1)
        assert (batch["array"] == expected["array"]).all() and batch["array"].flags.writeable
        assert batch["large"].untyped_storage().nbytes() < 100
        assert (batch["text"], batch["none"]) == ("a" * index, None)
        assert blocks() <= 2  # one for each batch: this one, and the one before
        del found, batch, tensor


@alone
def test_memory_lives_as_long_as_its_tensors_and_needs_no_descriptors():
    before = descriptors()
    loader = DataLoader(TensorDataset(torch.arange(4000.0)), 2, num_workers=2)
    iterator = iter(loader)
    kept = [batch[0] for batch in iterator]
    assert descriptors() == before
    assert torch.equal(torch.cat(kept), torch.arange(4000.0))
    assert blocks() >= 2000
    views = [kept[0][1:], kept[7].detach()]
    del kept, iterator
    assert blocks() == 2
    assert [view.tolist() for view in views] == [[1.0], [14.0, 15.0]]


@alone
def test_tensors_that_were_shared_before_are_passed_on_and_not_copied():
    data = torch.zeros(4, 3).share_memory_()
    for row in DataLoader(data, None, num_workers=2):
        row += 1
    assert data.tolist() == [[1.0] * 3] * 4


def passed_on(*messages):
    """What comes out of a channel, sent and received here."""
    here, there = channel_pair()
    with closing(here), closing(there):
        for message in messages:
            here.send(message)
        return [there.receive() for _ in messages]


@alone
@pytest.mark.parametrize("count, also", [(0, 1), (1, 0), (3, 0), (3, 1), (248, 1), (249, 0)])
def test_shared_blocks_go_along_with_a_message_up_to_what_a_socket_carries(count, also):
    shared = [torch.full((2,), float(i)).share_memory_() for i in range(count)]
    own = [torch.arange(3.0)] * also
    (found,) = passed_on((shared, own, torch.zeros(0, 2)))
    assert [t.tolist() for t in found[0]] == [[float(i)] * 2 for i in range(count)]
    assert [t.tolist() for t in found[1]] == [[0.0, 1.0, 2.0]] * also
    assert found[2].shape == (0, 2)
    for before, after in zip(shared, found[0]):
        after += 1
        assert torch.equal(before, after)


@alone
def test_more_shared_blocks_than_a_socket_carries_are_refused_in_words():
    shared = [torch.zeros(1).share_memory_() for _ in range(250)]
    with pytest.raises(RuntimeError, match="a batch with 250 tensors that were in shared memory"):
        passed_on(shared)


@alone
def test_messages_follow_each_other_and_pieces_of_every_length_stay_apart():
    pieces = [torch.arange(n, dtype=torch.uint8) for n in (0, 1, 63, 64, 65, 0, 128, 7)]
    for found in passed_on(pieces, "between", pieces[::-1]):
        if found != "between":
            assert sorted(t.tolist() for t in found) == sorted(t.tolist() for t in pieces)
    (empty,) = passed_on([torch.zeros(0), torch.zeros(3, 0)])
    assert [t.shape for t in empty] == [(0,), (3, 0)]


@alone
def test_a_message_may_arrive_in_bits():
    here, there = channel_pair()
    feeder, fed = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    here.send({"text": "x" * 1000, "numbers": list(range(50))})
    message = there.socket.recv(100_000)
    slow = Channel(fed)

    def feed():
        for start in range(0, len(message), 7):
            feeder.sendall(message[start:start + 7])
            time.sleep(0.0005)

    thread = threading.Thread(target=feed)
    thread.start()
    assert slow.receive() == {"text": "x" * 1000, "numbers": list(range(50))}
    thread.join()
    feeder.sendall(message[:9])
    feeder.close()
    with pytest.raises(EOFError):
        slow.receive()
    for end in (here, there, slow):
        end.close()


@alone
def test_a_closed_channel_is_at_its_end_whoever_holds_it():
    here, there = channel_pair()
    copy = here.socket.dup()
    here.close()
    there.socket.settimeout(5)
    with pytest.raises(EOFError):
        there.receive()
    there.close()
    there.close()
    copy.close()


@alone
@pytest.mark.parametrize("rows, columns, piece, sent", [
    (40, 5, lambda t: t, 800), (40, 5, lambda t: t[1:], 800), (40, 5, lambda t: t[20:], 800),
    (40, 5, lambda t: t[24:], 320), (40, 5, lambda t: t[:3], 60), (40, 5, lambda t: t[38:], 40),
    (400, 5, lambda t: t[:100, 2], 400), (400, 5, lambda t: t[:100, :3], 1992),
    (400, 5, lambda t: t[:100, ::3], 800), (400, 2, lambda t: t[:100, 0], 796)])
def test_of_a_large_tensor_only_the_part_is_sent_that_is_looked_at(rows, columns, piece, sent):
    base = torch.arange(float(rows * columns)).reshape(rows, columns)
    (found,) = passed_on(piece(base))
    assert torch.equal(found, piece(base))
    assert found.untyped_storage().nbytes() == sent
    # As seen from a tensor of all of it, which goes along, it stays a view.
    whole, part = passed_on((base, piece(base)))[0]
    whole += 1
    assert torch.equal(part, piece(base) + 1)


@alone
def test_tensors_with_a_history_and_classes_are_not_taken_for_plain_ones():
    class Named(torch.Tensor):
        pass

    named = torch.ones(2).as_subclass(Named)
    named.label = "mine"
    globals()["Named"] = Named
    Named.__qualname__ = "Named"
    weight = torch.nn.Parameter(torch.ones(2), requires_grad=False)
    (found,) = passed_on([named, weight, torch.ones(1, requires_grad=True)])
    assert (type(found[0]), found[0].label) == (Named, "mine")
    assert type(found[1]) is torch.nn.Parameter and not found[1].requires_grad
    assert found[2].requires_grad
    with pytest.raises(RuntimeError, match="requires_grad"):
        passed_on(torch.ones(1, requires_grad=True) * 2)


class Answering:
    """A worker's process, without a process: what is asked of it is in the hands of a test."""

    pid, exitcode = 123, None

    def __init__(self, alive=True):
        self.alive, self.joined = alive, []
        self.sentinel, self.other = os.pipe()

    def is_alive(self):
        return self.alive

    def start(self):
        pass

    def join(self, timeout=None):
        self.joined.append(timeout)

    def close(self):
        for descriptor in {self.sentinel, self.other}:
            os.close(descriptor)


@pytest.fixture
def answering(monkeypatch):
    """A worker, its process that is none, and the other end of its channel."""
    ends = []
    process = Answering()

    def pair():
        ends.extend(channel_pair())
        return ends[0], Channel(ends[1].socket.dup())

    monkeypatch.setattr(worker_module, "channel_pair", pair)

    class Context:
        @staticmethod
        def get_start_method():
            return "fork"

        @staticmethod
        def Process(**options):
            process.options = options
            return process

    job = worker_module.Job(None, None, (), 4, 5, 0, None)
    made = worker_module.Worker(Context, job, [])
    yield made, process, ends[1]
    for end in ends:
        end.close()
    process.close()


class Clock:
    """A clock that only those who wait put on."""

    now = 0.0

    def monotonic(self):
        return self.now


class TimelessPoll(Clock):
    """A poll that takes no time: what it would have waited is put on a clock instead."""

    def __init__(self, ready):
        self.ready, self.waits = ready, []
        self.register = ready.register

    def poll(self, milliseconds):
        found = self.ready.poll(0)
        if not found:
            self.waits.append(milliseconds / 1000)
            self.now += milliseconds / 1000
        return found


def test_a_worker_is_waited_for_as_long_as_was_said(answering, monkeypatch):
    worker, process, there = answering
    assert (worker.number, worker.active, worker.tasks, worker.timed_out) == (4, True, 0, False)
    assert process.options["daemon"] and process.options["args"][2] == [worker.channel]
    asked = []
    monkeypatch.setattr(process, "is_alive", lambda: asked.append(True) or True)
    with monkeypatch.context() as patched:
        waiting = TimelessPoll(worker._ready)
        patched.setattr(worker, "_ready", waiting)
        patched.setattr(worker_module, "time", waiting)
        patched.setattr(worker_module, "CHECK_INTERVAL", 0.0625)
        with pytest.raises(RuntimeError, match=r"timed out after 0\.21875 seconds: worker 4"):
            worker.result(0.21875)
        assert waiting.waits == [0.0625, 0.0625, 0.0625, 0.03125] and worker.timed_out
        assert len(asked) == 4  # whether it is alive, between the waits
        there.send((0, "in time"))
        assert worker.result(0.01) == (0, "in time")
        patched.setattr(worker_module, "CHECK_INTERVAL", 5.0)
        waiting.waits.clear()
        with pytest.raises(RuntimeError, match="timed out"):  # however seldom it is looked after
            worker.result(0.125)
        assert waiting.waits == [0.125]
    timer = threading.Timer(0.2, there.send, [(1, "late")])
    timer.start()
    assert worker.result(0) == (1, "late")  # without a limit
    timer.join()


def test_a_worker_whose_answer_came_while_it_was_asked_gives_it_first(answering):
    worker, _, there = answering
    there.send((0, "first"))
    worker._wait_to_send(select.POLLIN | select.POLLOUT)
    there.send((1, "second"))
    assert [worker.result(1), worker.result(1)] == [(0, "first"), (1, "second")]
    worker._wait_to_send(select.POLLIN | select.POLLOUT)  # it can be written to: nothing to read
    assert not worker.arrived


@pytest.mark.parametrize("code, how", [(None, "has closed its connection"),
                                       (0, "has exited with code 0"), (3, "has exited with code 3"),
                                       (-9, "was killed by signal SIGKILL"),
                                       (-200, "was killed by signal 200")])
def test_how_a_worker_has_ended(answering, code, how, monkeypatch):
    monkeypatch.setattr(worker_module, "CHECK_INTERVAL", 0.02)
    worker, process, there = answering
    process.exitcode = code
    assert how in str(worker.death()) and process.joined == [0.02]
    process.alive = False
    with pytest.raises(RuntimeError, match=how):
        worker.result(5)
    there.close()
    with pytest.raises(RuntimeError, match=how):
        worker.result(0)
    with pytest.raises(RuntimeError, match=how):
        for task in range(3):
            worker.ask(task)


def test_the_end_of_a_process_is_noticed_at_once(answering):
    worker, process, _ = answering
    os.close(process.other)
    process.other = process.sentinel  # its only end now
    began = time.monotonic()
    with pytest.raises(RuntimeError, match="exited unexpectedly"):
        worker.result(0)
    assert time.monotonic() - began < 2


class Stopping:
    """A worker that ends when it is told so, a number of times, or joined for long enough."""

    def __init__(self, stubborn, clock, timed_out=False):
        self.stubborn, self.clock, self.timed_out, self.done = stubborn, clock, timed_out, []
        self.process = self.channel = self

    def close(self):
        self.done.append("close")

    def join(self, timeout):
        assert 0 <= timeout <= 0.25
        self.done.append("join")
        if self.stubborn:
            self.clock.now += timeout

    def is_alive(self):
        return self.stubborn > 0

    def terminate(self):
        self.done.append("terminate")
        self.stubborn -= 1

    kill = terminate


@pytest.mark.parametrize("stubborn, seconds", [((0, 0), 0), ((1, 0), 0.25), ((1, 1), 0.25),
                                               ((2, 1), 0.5)])
def test_workers_are_ended_with_patience_for_all_of_them_together(stubborn, seconds, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(worker_module, "time", clock)
    monkeypatch.setattr(worker_module, "CHECK_INTERVAL", 0.25)
    workers = [Stopping(n, clock) for n in stubborn]
    given = list(workers)
    worker_module.stop(given, os.getpid())
    assert clock.now == seconds and not given
    for worker, n in zip(workers, stubborn):
        assert worker.done[:2] == ["close", "join"] and not worker.is_alive()
        assert worker.done.count("terminate") == n and worker.done.count("join") == 3
    late = Stopping(1, clock, timed_out=True)
    worker_module.stop([late], os.getpid())
    assert late.done == ["close", "terminate", "join", "join"]  # its time was up before
    other = Stopping(1, clock)
    worker_module.stop([other], os.getpid() + 1)
    assert other.done == []


def test_exceptions_on_their_way_say_where_they_were_raised():
    def wrapped(error, **options):
        try:
            raise error
        except Exception:
            return worker_module.ExceptionWrapper(**options)

    plain = wrapped(ValueError("text"))
    with pytest.raises(ValueError, match=r"Caught ValueError in background\.\nOriginal Traceback"):
        plain.reraise()
    with pytest.raises(KeyError) as caught:
        wrapped(KeyError("a\nb"), where="there").reraise()
    assert str(caught.value).startswith("Caught KeyError there.\nOriginal Traceback (most")

    class Told(Exception):
        message = "said"

        def __init__(self, *, message):
            super().__init__(message)

    with pytest.raises(Told, match="Caught Told there"):
        wrapped(Told(message="x"), where="there").reraise()
    error = OSError("given")
    given = worker_module.ExceptionWrapper((OSError, error, None))
    with pytest.raises(OSError, match="given"):
        given.reraise()


class Counted(IterableDataset):
    """Streams of several lengths, one for each worker."""

    def __init__(self, *lengths):
        self.lengths = lengths

    def __iter__(self):
        worker = get_worker_info()
        return iter(range(10 * worker.id, 10 * worker.id + self.lengths[worker.id]))


@alone
@many
@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("lengths", [(0, 3), (3, 0), (0, 0), (5, 1, 0), (1, 4, 2)])
@pytest.mark.parametrize("prefetch", [1, 2, 5])
def test_a_worker_that_is_done_leaves_its_turns_to_the_others(lengths, in_order, prefetch):
    loader = DataLoader(Counted(*lengths), None, num_workers=len(lengths), in_order=in_order,
                        prefetch_factor=prefetch, persistent_workers=True)
    turns = []
    for turn in range(max(lengths)):
        turns += [10 * i + turn for i, length in enumerate(lengths) if turn < length]
    for _ in range(2):
        found = list(loader)
        assert found == turns if in_order else sorted(found) == sorted(turns)
    del loader
    gc.collect()


@alone
def test_no_worker_is_asked_for_more_than_its_share_where_any_order_will_do():
    loader = DataLoader(Late(12), None, num_workers=2, worker_init_fn=delayed, in_order=False,
                        prefetch_factor=2)
    iterator = iter(loader)
    tasks = []
    for _ in iterator:
        tasks.append([worker.tasks for worker in iterator._workers])
    assert len(tasks) == 12
    assert all(0 <= n <= 2 for pair in tasks for n in pair)
    assert tasks[0] == [2, 2] and tasks[-1] in ([0, 0], [])
    assert iterator._next_task == 12


def test_an_epoch_that_was_left_early_does_not_show_in_the_next():
    loader = DataLoader(Squares(9), None, num_workers=2, persistent_workers=True)
    for stop in (1, 4, 8, 9):
        assert [index for index, _ in itertools.islice(loader, stop)] == list(range(stop))
    assert [index for index, _ in loader] == list(range(9))
    assert loader._iterator._next_task == 0 + 5 + 8 + 9 + 9 + 9


def test_a_loader_works_while_threads_do(nothing_is_left):
    stop = threading.Event()

    def work():
        weight = torch.ones(4, requires_grad=True)
        while not stop.is_set():
            (torch.rand(4) * weight).sum().backward()

    class Drawing(Dataset):
        def __getitem__(self, index):
            weight = torch.ones(4, requires_grad=True)
            (torch.rand(4) * weight).sum().backward()
            return weight.grad

        def __len__(self):
            return 4

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            assert len(list(DataLoader(Drawing(), 2, num_workers=2))) == 2
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_several_threads_use_loaders_at_once(nothing_is_left):
    seen = []

    def load():
        seen.append([batch[0].tolist() for batch in DataLoader(Squares(6), 2, num_workers=1)])

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [[[0, 1], [2, 3], [4, 5]]] * 4


def test_a_forked_child_leaves_the_workers_of_its_parent_alone():
    iterator = iter(DataLoader(Squares(6), num_workers=1))
    next(iterator)
    child = multiprocessing.get_context("fork").Process(target=iterator._shutdown_workers)
    child.start()
    child.join()
    assert len(list(iterator)) == 5


# ---------------------------------------------------------------- misuse


@pytest.mark.parametrize(
    "options, message",
    [
        ({"batch_size": 0}, "batch_size should be a positive integer value, but got batch_size=0"),
        ({"num_workers": -1}, "num_workers option should be non-negative"),
        ({"shuffle": True, "sampler": [1]}, "sampler option is mutually exclusive with shuffle"),
        ({"batch_size": None, "drop_last": True}, "disables auto-batching"),
        ({"num_workers": 1, "multiprocessing_context": "thread"}, "a valid start method in"),
        ({"multiprocessing_context": "fork"}, "can only be used with multi-process loading"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        DataLoader(range(3), **options)


def test_nothing_can_be_fetched_ahead_by_none():
    loader = DataLoader(range(3), num_workers=1, prefetch_factor=0)
    with pytest.raises(AssertionError, match="prefetch_factor must be greater than 0"):
        iter(loader)
    alone = DataLoader(range(3))
    with pytest.raises(AssertionError, match="num_workers must be greater than 0"):
        _MultiProcessingDataLoaderIter(alone)
    with pytest.raises(AssertionError, match="requires num_workers == 0"):
        _SingleProcessDataLoaderIter(DataLoader(range(3), num_workers=1))


def test_bad_data():
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        TensorDataset(torch.ones(2), torch.ones(3))
    with pytest.raises(TypeError, match="batch must contain tensors"):
        default_collate([None])
    with pytest.raises(ValueError, match="Sum of input lengths"):
        random_split(range(3), [1, 1])
