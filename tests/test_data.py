"""Data sets, samplers and loaders."""

import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

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


@alone
def test_batches_in_the_order_of_their_arrival():
    loader = DataLoader(Late(8), None, num_workers=2, worker_init_fn=delayed, in_order=False)
    seen = list(loader)
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


def test_bad_data():
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        TensorDataset(torch.ones(2), torch.ones(3))
    with pytest.raises(TypeError, match="batch must contain tensors"):
        default_collate([None])
    with pytest.raises(ValueError, match="Sum of input lengths"):
        random_split(range(3), [1, 1])
