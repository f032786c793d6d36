"""One pass over a loader: in this process, or by workers that fetch ahead."""

from __future__ import annotations

import itertools
import multiprocessing
import multiprocessing.connection
import os
import pickle
import weakref
from functools import partial
from typing import Any, Self

from ....base.modes import MODE
from ....base.warning import warn
from ....compat.settings import get_num_threads, set_num_threads
from ..sampler import draw_seed
from .fetch import _IterableDatasetFetcher, _MapDatasetFetcher
from .worker import RESUME, ExceptionWrapper, Exhausted, Job, Worker, WorkerDied, stop


class _DatasetKind:
    """What a data set offers: samples by index, or a stream of them."""

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(kind: int, dataset: Any, auto_collation: bool, collate_fn: Any,
                       drop_last: bool) -> Any:
        """The object that makes batches of such a data set."""
        fetcher = _MapDatasetFetcher if kind == _DatasetKind.Map else _IterableDatasetFetcher
        return fetcher(dataset, auto_collation, collate_fn, drop_last)


class _BaseDataLoaderIter:
    """One pass over a loader."""

    def __init__(self, loader: Any) -> None:
        self._dataset = loader.dataset
        self._dataset_kind = loader._dataset_kind
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._timeout = loader.timeout
        self._fetcher_options = loader._auto_collation, loader.collate_fn, loader.drop_last
        if loader.pin_memory:
            self._warn_of_pinning(loader)
        # The seed is drawn after the sampler was asked, so that the numbers are PyTorch's.
        self._sampler_iter = iter(self._index_sampler)
        self._base_seed = draw_seed(loader.generator)
        self._count(loader)

    def _warn_of_pinning(self, loader: Any) -> None:
        if loader.pin_memory_device:
            warn("pin_memory_device is deprecated, the current accelerator will be used "
                 f"as the device,ignore pin_memory_device='{loader.pin_memory_device}'.")
        warn("'pin_memory' argument is set as true but no accelerator is found, then "
             "device pinned memory won't be used.")

    def _count(self, loader: Any) -> None:
        """Count batches from here, for a stream that may be longer than it has said."""
        self._num_yielded = 0
        self._said = loader._IterableDataset_len_called \
            if self._dataset_kind == _DatasetKind.Iterable else None

    def __iter__(self) -> Self:
        return self

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        profile = MODE.get().profile
        data = self._next_data() if profile is None else profile.block(
            f"enumerate(DataLoader)#{type(self).__name__}.__next__", self._next_data)
        self._num_yielded += 1
        if self._said is not None and self._num_yielded > self._said:
            self._warn_of_length()
        return data

    def _warn_of_length(self) -> None:
        message = (f"Length of IterableDataset {self._dataset} was reported to be {self._said}"
                   f"(when accessing len(dataloader)), but {self._num_yielded} samples have been "
                   "fetched. ")
        if self._num_workers > 0:
            message += ("For multiprocessing data-loading, this could be caused by not properly "
                        "configuring the IterableDataset replica at each worker. Please see "
                        "https://pytorch.org/docs/stable/data.html"
                        "#torch.utils.data.IterableDataset for examples.")
        warn(message)

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> Any:
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Fetches each batch when it is asked for."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        if self._timeout != 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        if self._num_workers != 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires num_workers == 0")
        self._dataset_fetcher = _DatasetKind.create_fetcher(self._dataset_kind, self._dataset,
                                                            *self._fetcher_options)

    def _next_data(self) -> Any:
        return self._dataset_fetcher.fetch(next(self._sampler_iter))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Lets workers fetch batches ahead, and gives them out in the order of the sampler.

    Each worker answers on a connection of its own, in the order in which it was asked; so what was
    asked of one that dies is known, and no other is disturbed. An iterator that is dropped, by
    whatever error, ends its workers.
    """

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        if self._num_workers <= 0:
            raise AssertionError(
                "num_workers must be greater than 0 for MultiProcessingDataLoaderIter")
        if loader.prefetch_factor <= 0:
            raise AssertionError(
                "prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter")
        self._most_tasks = loader.prefetch_factor * self._num_workers
        self._in_order = loader.in_order
        self._persistent_workers = loader.persistent_workers
        self._next_task = 0  # never starts again: answers of an earlier epoch are recognised
        self._failure: str | None = None
        self._workers: list[Worker] = []
        self._shutdown_workers = weakref.finalize(self, stop, self._workers, os.getpid())
        try:
            self._start_workers(loader)
            self._begin(loader)
        except BaseException:
            self._shutdown_workers()
            raise

    def _start_workers(self, loader: Any) -> None:
        context: Any = loader.multiprocessing_context or multiprocessing.get_context()
        set_num_threads(get_num_threads())  # found here, it is known in processes that are forked
        make_fetcher = partial(_DatasetKind.create_fetcher, self._dataset_kind)
        for number in range(self._num_workers):
            job = Job(make_fetcher, self._dataset, self._fetcher_options, number,
                      self._num_workers, self._base_seed, loader.worker_init_fn)
            try:
                self._workers.append(Worker(context, job, self._workers))
            except (TypeError, AttributeError, pickle.PicklingError):
                warn(
                    "Got pickle error when attempting to start a worker Process. This might be "
                    "because the worker Process arguments are not picklable. Python 3.14+ changed "
                    "the multiprocessing start method in non-Mac POSIX platforms to 'forkserver', "
                    "which requires the worker Process arguments to be picklable. You can also "
                    "try multiprocessing.set_start_method('fork').")
                raise

    def _reset(self, loader: Any) -> None:
        """Begin another epoch with the same workers."""
        try:
            for worker in self._workers:
                worker.ask(RESUME)
            self._begin(loader)
        except WorkerDied:
            self._shutdown_workers()
            raise

    def _begin(self, loader: Any) -> None:
        self._count(loader)
        self._sampler_iter = iter(self._index_sampler)
        self._first_task = self._next_task
        self._asked: dict[int, Worker] = {}
        for worker in self._workers:
            worker.active, worker.tasks = True, 0
        self._turns = itertools.cycle(self._workers)
        for _ in range(self._most_tasks):
            self._ask_for_next()

    def _ask_for_next(self) -> None:
        """Ask the worker whose turn it is for the next batch of the sampler, if there is one."""
        try:
            index = next(self._sampler_iter)
        except StopIteration:
            return
        active = sum(worker.active for worker in self._workers)
        for worker in itertools.islice(self._turns, len(self._workers)):
            if worker.active and (self._in_order or worker.tasks < self._most_tasks // active):
                break
        else:
            return
        worker.ask(self._next_task, index)
        worker.tasks += 1
        self._asked[self._next_task] = worker
        self._next_task += 1

    def _next_data(self) -> Any:
        if self._failure is not None:
            raise WorkerDied(self._failure)
        try:
            data = self._next_answer()
        except WorkerDied as error:
            self._failure = str(error)
            self._shutdown_workers()
            raise
        if isinstance(data, ExceptionWrapper):
            data.reraise()
        return data

    def _next_answer(self) -> Any:
        while self._asked:
            worker = self._next_worker()
            task, answer = worker.result(self._timeout)
            if task < self._first_task:
                continue
            if isinstance(answer, Exhausted):
                worker.active = False
                self._asked = {t: other for t, other in self._asked.items() if other is not worker}
                self._ask_for_next()
                continue
            del self._asked[task]
            worker.tasks -= 1
            self._ask_for_next()
            return answer
        if not self._persistent_workers:
            self._shutdown_workers()
        raise StopIteration

    def _next_worker(self) -> Worker:
        """The worker that was asked for the next batch, or one whose answer is there."""
        workers = list(dict.fromkeys(self._asked.values()))
        if self._in_order or len(workers) == 1:
            return workers[0]
        by_handle: dict[Any, Worker] = {}
        for worker in workers:
            if worker.arrived:
                return worker
            by_handle[worker.channel.socket] = by_handle[worker.process.sentinel] = worker
        ready = multiprocessing.connection.wait(list(by_handle), self._timeout or None)
        return by_handle[ready[0]] if ready else workers[0]
