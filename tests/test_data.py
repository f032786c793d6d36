"""Data sets, samplers and loaders."""

import threading
import time

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


# ---------------------------------------------------------------- worker threads


@pytest.mark.parametrize("workers", [1, 3])
def test_workers_keep_the_order(workers):
    plain = [batch[1].tolist() for batch in DataLoader(Squares(20), batch_size=3)]
    loader = DataLoader(Squares(20, delay=0.001), batch_size=3, num_workers=workers)
    for _ in range(2):
        assert [batch[1].tolist() for batch in loader] == plain


def test_workers_share_a_stream():
    batches = list(DataLoader(Stream(10), batch_size=2, num_workers=2))
    assert [batch.tolist() for batch in batches] == [[0, 2], [1, 3], [4, 6], [5, 7], [8], [9]]


def test_workers_run_ahead_and_stop_when_dropped():
    asked = []

    class Watched(Squares):
        def __getitem__(self, index):
            asked.append(index)
            return super().__getitem__(index)

    before = threading.active_count()
    iterator = iter(DataLoader(Watched(100), num_workers=2, prefetch_factor=3))
    next(iterator)
    deadline = time.monotonic() + 5
    while len(asked) < 6 and time.monotonic() < deadline:
        time.sleep(0.001)
    assert 6 <= len(asked) <= 7
    del iterator
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.001)
    assert threading.active_count() <= before


def test_worker_errors_reach_the_loop():
    class Broken(Squares):
        def __getitem__(self, index):
            if index == 3:
                raise KeyError("lost")
            return super().__getitem__(index)

    seen = []
    with pytest.raises(KeyError, match="lost") as error:
        seen.extend(iter(DataLoader(Broken(6), num_workers=2)))
    assert len(seen) == 0 or len(seen) == 3
    assert any("DataLoader worker thread 1" in note for note in error.value.__notes__)


def test_workers_are_initialised_and_know_themselves():
    started = []

    class Asking(Squares):
        def __getitem__(self, index):
            return get_worker_info().id

    loader = DataLoader(Asking(4), num_workers=2, worker_init_fn=started.append)
    assert [batch.item() for batch in loader] == [0, 1, 0, 1]
    assert sorted(started) == [0, 1]
    assert get_worker_info() is None


def test_slow_workers_time_out():
    class Stuck(Squares):
        def __getitem__(self, index):
            time.sleep(0.5)

    with pytest.raises(RuntimeError, match=r"timed out after 0.01 seconds"):
        list(DataLoader(Stuck(1), num_workers=1, timeout=0.01))


# ---------------------------------------------------------------- misuse


@pytest.mark.parametrize(
    "options, message",
    [
        ({"batch_size": 0}, "batch_size should be a positive integer value, but got batch_size=0"),
        ({"num_workers": -1}, "num_workers option should be non-negative"),
        ({"shuffle": True, "sampler": [1]}, "sampler option is mutually exclusive with shuffle"),
        ({"batch_size": None, "drop_last": True}, "disables auto-batching"),
        ({"num_workers": 1, "multiprocessing_context": "fork"}, "workers .* are threads"),
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
