"""Data sets, samplers, loaders and their worker processes: the same program under both."""

from __future__ import annotations

import functools
import random
from collections import OrderedDict, UserDict, UserList, namedtuple

import numpy as np

from parity.harness import behaviour, behaviour_of_each

Point = namedtuple("Point", "x y")


def until_it_raises(program):
    """The same program, with the exception that ends it as its last observation."""
    @functools.wraps(program)
    def run(torch, log, *case):
        try:
            program(torch, log, *case)
        except Exception as error:
            log(type(error).__name__, str(error))

    return run


def numbers(torch, count=10):
    return torch.utils.data.TensorDataset(torch.arange(count), torch.arange(count) * 0.5)


def observed(value):
    """A tensor's values, or a number."""
    return value.tolist() if hasattr(value, "tolist") else value


def drawing(torch, stream=False):
    """Samples of random numbers, from every generator that a worker seeds."""
    data = torch.utils.data

    class Drawing(data.IterableDataset if stream else data.Dataset):
        def __getitem__(self, index):
            info = data.get_worker_info()
            return (index, random.random(), torch.rand(2), torch.initial_seed() % 2**53,
                    np.random.rand(), info.id, info.num_workers, info.seed % 2**53)

        def __iter__(self):
            info = data.get_worker_info()
            return (self[index] for index in range(info.id, 7, info.num_workers))

        def __len__(self):
            return 6

    return Drawing()


# ---------------------------------------------------------------- workers


WORKERS = {
    "plain": {}, "shuffle": {"shuffle": True}, "batches": {"batch_size": 4, "shuffle": True},
    "single": {"batch_size": None}, "prefetch": {"prefetch_factor": 1, "batch_size": 2},
    "persistent": {"persistent_workers": True, "shuffle": True},
    "sampler": {"sampler": [3, 1, 4, 1], "batch_size": 3},
    "batch_sampler": {"batch_sampler": [[3, 1], [4]]}, "drop_last": {"batch_size": 4,
                                                                     "drop_last": True}}


@behaviour_of_each(WORKERS)
def workers_draw_the_same_numbers(torch, log, name):
    torch.manual_seed(7)
    loader = torch.utils.data.DataLoader(drawing(torch), num_workers=2, **WORKERS[name])
    for _ in range(2):
        for batch in loader:
            log(*map(observed, batch))
    log(torch.rand(1), len(loader))


@behaviour
def workers_of_a_stream_take_turns(torch, log):
    generator = torch.Generator().manual_seed(2)
    for options in ({}, {"batch_size": 2}, {"batch_size": 3, "drop_last": True},
                    {"batch_size": None}, {"persistent_workers": True}):
        loader = torch.utils.data.DataLoader(drawing(torch, stream=True), num_workers=2,
                                             generator=generator, **options)
        for _ in range(2):
            for batch in loader:
                log(*map(observed, batch))
    log(generator.get_state().sum())


@behaviour
def samplers_are_asked_as_often_and_when(torch, log):
    class Eager(torch.utils.data.Sampler):
        def __iter__(self):
            log(int(torch.randint(100, ())))
            return iter([1, 2])

    for workers in (0, 1):
        torch.manual_seed(0)
        loader = torch.utils.data.DataLoader(numbers(torch), None, sampler=Eager(),
                                             num_workers=workers)
        for batch in loader:
            log(*map(observed, batch))
        log(torch.rand(1))


@behaviour
def batches_from_workers_are_tensors_of_their_own(torch, log):
    loader = torch.utils.data.DataLoader(numbers(torch), 4, num_workers=1)
    for index, values in loader:
        log(index, values, index.is_shared(), index.storage_offset(), values.stride(),
            index.untyped_storage().nbytes())


@behaviour_of_each(["ValueError", "KeyError", "StopIteration", "MyError"])
def the_loop_goes_on_after_an_error(torch, log, name):
    class MyError(Exception):
        def __init__(self, message):
            super().__init__(message)

    kind = {"MyError": MyError, "ValueError": ValueError, "KeyError": KeyError,
            "StopIteration": StopIteration}[name]
    globals()["MyError"] = MyError
    MyError.__qualname__ = "MyError"
    MyError.__module__ = __name__

    class Broken(torch.utils.data.Dataset):
        def __getitem__(self, index):
            if index % 3 == 1:
                raise kind("wrong")
            return index

        def __len__(self):
            return 6

    iterator = iter(torch.utils.data.DataLoader(Broken(), num_workers=2))
    for _ in range(7):
        try:
            log(next(iterator))
        except Exception as error:
            log(type(error).__name__, str(error).splitlines()[:1], str(error).splitlines()[-1:])


@behaviour
def a_failing_init_function_is_reported_once(torch, log):
    def init(worker):
        raise ValueError(f"worker {worker}")

    iterator = iter(torch.utils.data.DataLoader(range(2), num_workers=1, worker_init_fn=init))
    try:
        next(iterator)
    except ValueError as error:
        log(str(error).splitlines()[0], str(error).splitlines()[-1])


# ---------------------------------------------------------------- arguments


REFUSED = {
    "num_workers": {"num_workers": -1}, "timeout": {"timeout": -1},
    "prefetch": {"prefetch_factor": 2}, "prefetch_negative": {"prefetch_factor": -1,
                                                              "num_workers": 1},
    "persistent": {"persistent_workers": True}, "sampler": {"sampler": [1], "shuffle": True},
    "batch_sampler": {"batch_sampler": [[1]], "batch_size": 2},
    "batch_sampler_shuffle": {"batch_sampler": [[1]], "shuffle": True},
    "drop_last": {"batch_size": None, "drop_last": True}, "batch_size": {"batch_size": 0},
    "batch_size_bool": {"batch_size": True}, "drop_last_type": {"drop_last": 1},
    "context": {"multiprocessing_context": "fork"},
    "context_name": {"multiprocessing_context": "thread", "num_workers": 1},
    "context_type": {"multiprocessing_context": 3, "num_workers": 1},
    "too_many": {"num_workers": 300},
    "prefetch_zero_alone": {"prefetch_factor": 0},
    "batch_sampler_sampler": {"batch_sampler": [[1]], "sampler": [1]},
    "batch_sampler_drop_last": {"batch_sampler": [[1]], "drop_last": True},
    "batch_sampler_none": {"batch_sampler": [[1]], "batch_size": None},
    "sampler_unshuffled": {"sampler": [1], "shuffle": False},
    "persistent_one": {"persistent_workers": True, "num_workers": 1},
    "batch_size_negative": {"batch_size": -1}, "batch_size_float": {"batch_size": 1.0},
    "timeout_zero": {"timeout": 0.0}, "no_batches": {"batch_size": None, "drop_last": False}}


@behaviour_of_each(REFUSED)
@until_it_raises
def loaders_refuse(torch, log, name):
    loader = torch.utils.data.DataLoader(range(3), **REFUSED[name])
    log(loader.prefetch_factor, loader.drop_last, loader.batch_size)
    if name != "too_many":
        log([observed(batch) for batch in loader])


@behaviour_of_each(["timeout", "pin_memory", "pin_memory_device", "length", "pickle"])
@until_it_raises
def iterators_warn_and_refuse(torch, log, name):
    data = torch.utils.data
    if name == "timeout":
        iter(data.DataLoader(range(3), timeout=3))
    elif name == "length":
        class Short(data.IterableDataset):
            def __iter__(self):
                return iter(range(3))

            def __len__(self):
                return 2

            def __repr__(self):
                return "Short"

        loader = data.DataLoader(Short())
        log(len(loader), list(loader))
    elif name == "pickle":
        iter(data.DataLoader(range(3))).__getstate__()
    else:
        options = {"pin_memory_device": "cuda"} if name == "pin_memory_device" else {}
        log(list(data.DataLoader(range(3), pin_memory=True, **options)))


@behaviour_of_each(["shuffle", "sampler", "batch_sampler"])
@until_it_raises
def streams_take_no_samplers(torch, log, name):
    class Stream(torch.utils.data.IterableDataset):
        pass

    torch.utils.data.DataLoader(Stream(), **{name: [1] if "sampler" in name else True})


@behaviour_of_each(["shuffle 0", "shuffle 0.0", "shuffle None", "shuffle 1", "shuffle 2",
                    "sampler 0", "sampler False", "batch_sampler False", "sampler None"])
@until_it_raises
def streams_take_options_that_say_nothing(torch, log, name):
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(3))

    option, value = name.split()
    loader = torch.utils.data.DataLoader(Stream(), **{option: eval(value)})
    log([observed(batch) for batch in loader], type(loader.sampler).__name__)


@behaviour
@until_it_raises
def attributes_of_loaders(torch, log):
    loader = torch.utils.data.DataLoader(range(5), 2)
    for name in ("batch_size", "num_workers", "prefetch_factor", "pin_memory", "drop_last",
                 "timeout", "persistent_workers", "in_order", "multiprocessing_context",
                 "generator", "worker_init_fn", "pin_memory_device"):
        log(name, getattr(loader, name))
    log(len(loader), len(iter(loader)), next(iter(loader)))
    loader.batch_size = 3


@behaviour_of_each(["workers", "two", "iterable", "collated", "unbatched", "batched", "context"])
def more_attributes_of_loaders(torch, log, name):
    data = torch.utils.data

    class Stream(data.IterableDataset):
        def __iter__(self):
            return iter(range(3))

    made = {"workers": lambda: data.DataLoader(range(3), num_workers=1),
            "two": lambda: data.DataLoader(range(3), num_workers=2, prefetch_factor=5, timeout=3),
            "iterable": lambda: data.DataLoader(Stream(), 2, False),
            "collated": lambda: data.DataLoader(range(3), 2, True, collate_fn=sum),
            "unbatched": lambda: data.DataLoader(range(3), None, True),
            "batched": lambda: data.DataLoader(range(3), batch_sampler=[[0], [1, 2]]),
            "context": lambda: data.DataLoader(range(3), num_workers=1,
                                               multiprocessing_context="fork")}[name]()
    for attribute in ("batch_size", "num_workers", "prefetch_factor", "pin_memory", "drop_last",
                      "timeout", "persistent_workers", "in_order", "_dataset_kind",
                      "_auto_collation", "_IterableDataset_len_called", "_iterator"):
        log(attribute, getattr(made, attribute))
    log(*(type(getattr(made, attribute)).__name__ for attribute in
          ("sampler", "batch_sampler", "_index_sampler", "multiprocessing_context")))
    log(getattr(made.collate_fn, "__name__", None), hasattr(made.sampler, "generator"))
    for attribute in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset",
                      "persistent_workers"):
        log.raises(setattr, made, attribute, None)
    made.num_workers, made.collate_fn, made.worker_init_fn = 0, list, print
    made.multiprocessing_context = None
    log([observed(batch) for batch in data.DataLoader(range(3), 2)])


@behaviour_of_each([0, 1])
def a_stream_longer_than_it_said(torch, log, workers):
    class Stream(torch.utils.data.IterableDataset):
        def __init__(self, said):
            self.said = said

        def __iter__(self):
            return iter(range(4))

        def __len__(self):
            return self.said

        def __repr__(self):
            return f"Stream of {self.said}"

    for said in (0, 3, 4):
        for asks in (False, True):
            loader = torch.utils.data.DataLoader(Stream(said), num_workers=workers,
                                                 persistent_workers=workers > 0)
            if asks:
                len(loader)
            for _ in range(2):
                log.warns(lambda loader=loader: [observed(batch) for batch in loader])


# ---------------------------------------------------------------- data sets and samplers


CONCATENATED = {"two": (2, 3), "three": (3, 1, 2), "empty": (0, 2, 0, 3), "one": (4,),
                "none": (0, 0)}


@behaviour_of_each(CONCATENATED)
def concatenated_data_sets(torch, log, name):
    parts = [range(100 * i, 100 * i + length) for i, length in enumerate(CONCATENATED[name])]
    whole = torch.utils.data.ConcatDataset(parts)
    log(len(whole), whole.cumulative_sizes, whole.cumsum(parts))
    for index in range(-len(whole) - 2, len(whole) + 2):
        log.raises(whole.__getitem__, index)
    if len(whole):
        log(list(torch.utils.data.DataLoader(whole, 2)))
    log(len(torch.utils.data.ConcatDataset([whole, parts[0]])))


@behaviour_of_each(["first", "second", "all", "iterator"])
@until_it_raises
def concatenated_streams(torch, log, name):
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(2))

        def __len__(self):
            return 2

    made = {"first": [Stream(), range(2)], "second": [range(2), Stream()],
            "all": [Stream(), Stream()], "iterator": iter([range(2), range(3)])}[name]
    if name != "iterator":
        chain = torch.utils.data.ChainDataset(made)
        log.raises(len, chain)
        log.raises(list, chain)
    log(len(torch.utils.data.ConcatDataset(made)))


@behaviour
def parts_of_a_class_of_ones_own(torch, log):
    class One(torch.utils.data.Subset):
        def __getitem__(self, index):
            return -self.dataset[self.indices[index]]

    class Both(One):
        def __getitems__(self, indices):
            return [self[index] * 10 for index in indices]

    class Many(torch.utils.data.Subset):
        def __getitems__(self, indices):
            return [7 for _ in indices]

    for kind in (One, Both, Many):
        log.raises(lambda kind=kind: list(torch.utils.data.DataLoader(kind(range(9), [4, 2]), 2)))
        log.raises(lambda kind=kind: list(kind(range(9), [4, 2])))


@behaviour
def rows_with_a_history_are_stacked(torch, log):
    plain, grown = torch.arange(4.0), torch.arange(4.0, requires_grad=True)
    for tensors in ([plain], [plain, grown], [grown, plain], [grown]):
        data = torch.utils.data.TensorDataset(*tensors)
        for source in (data, torch.utils.data.Subset(data, [3, 1, 0])):
            for batch in torch.utils.data.DataLoader(source, 2):
                log(*batch)
                log.graph(*(t for t in batch if t.grad_fn is not None))


LENGTHS = {
    "whole": [3, 4], "halves": [0.5, 0.5], "thirds": [1 / 3] * 3, "whole one": [1.0],
    "one": [1], "nothing": [7, 0], "more": [0.1] * 10, "less": [0.2, 0.3], "a little more":
    [0.5, 0.5 + 1e-8], "a little less": [0.5, 0.5 - 1e-12], "negative": [-0.5, 1.5],
    "negative late": [0.5, 1.0, -0.5], "all in one": [1.0, 0.0], "all in the last": [0.0, 1.0],
    "rest": [0.34, 0.33, 0.33], "below": [3, 3], "above": [4, 4],
    "minus": [8, -1]}


@behaviour_of_each(LENGTHS)
def random_splits(torch, log, name):
    for count in (7, 1, 2, 10):
        torch.manual_seed(count)
        log.raises(lambda count=count: [
            (part.indices, len(part))
            for part in torch.utils.data.random_split(range(count), LENGTHS[name])])
        log(torch.rand(1))


@behaviour
def lengths_of_splits_are_whole_numbers(torch, log):
    for lengths in ([3.0, 4.0], [3, 4.0], [3.5, 3.5]):
        log.refuses(torch.utils.data.random_split, range(7), lengths)
    log([part.indices for part in torch.utils.data.random_split(range(7), np.array([3, 4]))])


@behaviour
def samplers_of_unknown_numbers(torch, log):
    distributed = torch.distributed
    kept = distributed.get_world_size, distributed.get_rank
    distributed.get_world_size, distributed.get_rank = lambda: 3, lambda: 1
    try:
        for given in ((None, None), (4, None), (None, 2), (None, 0), (2, 1), (1, 0), (1, None),
                      (None, 3), (2, 2), (2, -1), (1, 1), (None, -1)):
            def tried(given=given):
                sampler = torch.utils.data.DistributedSampler(range(8), *given, shuffle=False)
                return (list(sampler), sampler.num_replicas, sampler.rank, sampler.epoch,
                        sampler.seed, sampler.drop_last, sampler.shuffle, sampler.num_samples)

            log.raises(tried)
    finally:
        distributed.get_world_size, distributed.get_rank = kept


@behaviour
def stacked_data_sets(torch, log):
    data = torch.utils.data

    class Many:
        def __len__(self):
            return 3

        def __getitem__(self, index):
            return index

        def __getitems__(self, indices):
            return [10 * index for index in indices]

    pairs, named = data.StackDataset(range(3), Many()), data.StackDataset(a="xyz", b=Many())
    log(pairs[1], named[2], len(pairs), pairs.__getitems__([0, 2]), named.__getitems__([1]))
    log(list(data.DataLoader(pairs, 2)), list(data.DataLoader(named, 2)))


@behaviour_of_each(["both", "none", "sizes", "nested"])
@until_it_raises
def stacked_data_sets_refuse(torch, log, name):
    data = torch.utils.data

    class Wrong(list):
        def __getitems__(self, indices):
            return []

    if name == "nested":
        data.StackDataset(Wrong([1, 2])).__getitems__([0, 1])
    args, kwargs = {"both": ((range(2),), {"a": range(2)}), "none": ((), {}),
                    "sizes": ((range(2), range(3)), {})}[name]
    data.StackDataset(*args, **kwargs)


@behaviour_of_each(["concat", "concat_stream", "concat_index", "chain", "subset", "random_split",
                    "fractions", "zero", "too_much", "cummulative"])
@until_it_raises
def other_data_sets(torch, log, name):
    data = torch.utils.data

    class Stream(data.IterableDataset):
        def __iter__(self):
            return iter(range(2))

    class Half(data.Subset):
        def __getitem__(self, index):
            return 2

    torch.manual_seed(5)
    if name == "concat":
        data.ConcatDataset([])
    elif name == "concat_stream":
        data.ConcatDataset([Stream()])
    elif name == "concat_index":
        data.ConcatDataset([range(2)])[-3]
    elif name == "chain":
        log(list(Stream() + Stream()))
        list(data.ChainDataset([range(2)]))
    elif name == "subset":
        log(data.Subset(range(10), [4, 2])[1], data.Subset(range(9), [4, 2]).__getitems__([0]))
        Half(range(3), [1])
    elif name == "random_split":
        log([list(part) for part in data.random_split(range(7), [3, 4])])
        generator = torch.Generator().manual_seed(3)
        log([part.indices for part in data.random_split(range(7), [3, 4], generator)])
        data.random_split(range(7), [3, 3])
    elif name == "fractions":
        log([list(part) for part in data.random_split(range(7), [0.3, 0.3, 0.4])])
        data.random_split(range(7), [1.5, -0.5])
    elif name == "zero":
        log([len(part) for part in data.random_split(range(2), [0.9, 0.1])])
        log([len(part) for part in data.random_split(range(1), [0.5, 0.5])])
    elif name == "too_much":
        data.random_split(range(7), [0.5, 0.6])
    else:
        log(data.ConcatDataset([range(2), range(3)]).cummulative_sizes)


SAMPLERS = {
    "sequential": lambda data: data.SequentialSampler(range(4)),
    "random": lambda data: data.RandomSampler(range(5)),
    "random_more": lambda data: data.RandomSampler(range(5), num_samples=13),
    "random_replaced": lambda data: data.RandomSampler(range(5), True, 40),
    "random_64": lambda data: data.RandomSampler(range(5), True, 64),
    "subset": lambda data: data.SubsetRandomSampler([4, 6, 9]),
    "weighted": lambda data: data.WeightedRandomSampler([0.1, 0.9, 3.0], 6),
    "weighted_once": lambda data: data.WeightedRandomSampler([0.1, 0.9, 3.0], 3, False),
    "batch": lambda data: data.BatchSampler(range(7), 3, False),
    "batch_dropped": lambda data: data.BatchSampler(range(7), 3, True),
    "no_samples": lambda data: data.RandomSampler([]),
    "bool_samples": lambda data: data.RandomSampler(range(3), num_samples=True),
    "float_samples": lambda data: data.RandomSampler(range(3), num_samples=2.5),
    "replacement": lambda data: data.RandomSampler(range(3), replacement=1),
    "weighted_bool": lambda data: data.WeightedRandomSampler([1.0], True),
    "weighted_replacement": lambda data: data.WeightedRandomSampler([1.0], 1, 2),
    "weighted_2d": lambda data: data.WeightedRandomSampler([[1.0]], 1),
    "batch_float": lambda data: data.BatchSampler(range(3), 1.5, False),
    "batch_drop": lambda data: data.BatchSampler(range(3), 1, 0),
    "rank": lambda data: data.DistributedSampler(range(3), 2, 2),
    **{f"random {n} of {of}": lambda data, n=n, of=of: data.RandomSampler(range(of), False, n)
       for n, of in ((1, 5), (4, 5), (5, 5), (10, 5), (11, 5), (0, 5), (-1, 5), (3, 1))},
    **{f"replaced {n}": lambda data, n=n: data.RandomSampler(range(1000), True, n)
       for n in (1, 31, 32, 33, 63, 65, 96)},
    **{f"weighted {n}": lambda data, n=n: data.WeightedRandomSampler([1, 2], n)
       for n in (1, 0, -1, 1.0)},
    **{f"batches {n} of {of} {drop}": lambda data, n=n, of=of, drop=drop: data.BatchSampler(
        range(of), n, drop) for n in (1, 2, 3, 8) for of in (0, 1, 6, 7) for drop in (True, False)},
    "batch_negative": lambda data: data.BatchSampler(range(3), -2, False),
    "batch_bool": lambda data: data.BatchSampler(range(3), True, False),
    "batch_zero": lambda data: data.BatchSampler(range(3), 0, False),
    "replacement_none": lambda data: data.RandomSampler(range(3), replacement=None),
    "weights_0d": lambda data: data.WeightedRandomSampler(1.0, 1),
    "abstract": lambda data: data.Sampler()}


@behaviour_of_each(SAMPLERS)
@until_it_raises
def samplers(torch, log, name):
    torch.manual_seed(11)
    sampler = SAMPLERS[name](torch.utils.data)
    for _ in range(2):
        log(list(sampler))
    log(len(sampler), torch.rand(1))


@behaviour
def distributed_samplers(torch, log):
    for length in (0, 1, 5, 6, 11):
        for options in ({}, {"shuffle": False}, {"seed": 3}, {"drop_last": True}):
            for rank in range(3):
                if length == 0 and not options.get("drop_last"):
                    continue
                sampler = torch.utils.data.DistributedSampler(range(length), 3, rank, **options)
                log(list(sampler), len(sampler), sampler.total_size)
                sampler.set_epoch(2)
                log(list(sampler))


# ---------------------------------------------------------------- collating


class Bag(UserDict):
    def __init__(self, content, name="bag"):
        super().__init__(content)
        self.name = name


COLLATED = {
    "ints": [1, 2], "floats": [1.5, 2.0], "bools": [True, False], "strings": ["a", "b"],
    "bytes": [b"a", b"b"], "tuples": [(1, 2.0), (3, 4.0)], "lists": [[1, 2], [3, 4]],
    "dicts": [{"a": 1}, {"a": 2}], "ordered": [OrderedDict(a=1), OrderedDict(a=2)],
    "named": [Point(1, 2), Point(3, 4)], "nested": [{"a": ([1], "x")}, {"a": ([2], "y")}],
    "arrays": [np.arange(2), np.arange(2)], "array_floats": [np.ones(2, np.float32)] * 2,
    "scalars": [np.float32(1), np.float32(2)], "numpy_bools": [np.bool_(True)],
    "zero_dim": [np.array(1.5), np.array(2.5)], "ranges": [range(2), range(2)],
    "user_lists": [UserList([1, 2]), UserList([3, 4])], "none": [None],
    "objects": [np.array([None])], "texts": [np.array(["a"])], "uneven": [[1, 2], [3]],
    "sets": [{1}], "complex": [1j], "long": ["a" * 3, 4]}


@behaviour_of_each(COLLATED)
@until_it_raises
def collating(torch, log, name):
    collated = torch.utils.data.default_collate(COLLATED[name])
    log(type(collated).__name__, collated)


@behaviour_of_each(COLLATED)
def converting(torch, log, name):
    converted = torch.utils.data.default_convert(COLLATED[name][0])
    log(type(converted).__name__)
    if name not in ("objects", "texts"):
        log(converted)


@behaviour
def containers_keep_what_else_they_have(torch, log):
    collated = torch.utils.data.default_collate([Bag({"x": 1}, "mine"), Bag({"x": 2})])
    log(collated.name, collated["x"])
    tensors = [torch.ones(2), torch.zeros(2)]
    log(torch.utils.data.default_collate(tensors), torch.utils.data.default_convert(tensors))


@behaviour
@until_it_raises
def the_registry_can_be_extended(torch, log):
    collate = torch.utils.data._utils.collate
    known = list(collate.default_collate_fn_map)
    log(len(known))

    class Pair:
        def __init__(self, value):
            self.value = value

    def collate_pairs(batch, *, collate_fn_map=None):
        return collate.collate([pair.value for pair in batch], collate_fn_map=collate_fn_map)

    collate.default_collate_fn_map[Pair] = collate_pairs
    try:
        log(torch.utils.data.default_collate([Pair(1), Pair(2)]),
            torch.utils.data.default_collate([(Pair(1.5), "a")]))
    finally:
        del collate.default_collate_fn_map[Pair]
    collate.collate([1])


@behaviour
def a_changed_registry_is_used_by_loaders(torch, log):
    registry = torch.utils.data._utils.collate.default_collate_fn_map
    ours = registry[torch.Tensor]
    registry[torch.Tensor] = lambda batch, *, collate_fn_map=None: len(batch)
    try:
        log(list(torch.utils.data.DataLoader(numbers(torch, 5), 2)))
    finally:
        registry[torch.Tensor] = ours


@behaviour
def a_part_of_a_part_by_many_numbers(torch, log):
    class Whole(torch.utils.data.Dataset):
        def __getitem__(self, index):
            return index

    part = torch.utils.data.Subset(Whole(), [5, 3, 8, 1])
    log(part[[0, 2]], part[1], torch.utils.data.Subset(part, [3, 0])[[1, 0]], len(part))


@behaviour
def lengths_of_streams(torch, log):
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(7))

        def __len__(self):
            return 7

    for options in ({"batch_size": None}, {"batch_size": 2}, {"batch_size": 2, "drop_last": True},
                    {"batch_size": 7}, {}):
        loader = torch.utils.data.DataLoader(Stream(), **options)
        log(len(loader), len(list(loader)))
