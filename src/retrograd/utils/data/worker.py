"""Loading in the background: worker threads that fetch batches ahead of the consumer."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

_local = threading.local()
_EXHAUSTED = object()
_NEXT = object()


class WorkerInfo:
    """What a data set can learn about the worker that reads it."""

    def __init__(self, id: int, num_workers: int, seed: int, dataset: Any) -> None:
        self.id = id
        self.num_workers = num_workers
        self.seed = seed
        self.dataset = dataset

    def __repr__(self) -> str:
        return f"WorkerInfo(id={self.id}, num_workers={self.num_workers}, seed={self.seed})"


def get_worker_info() -> WorkerInfo | None:
    """Return the current worker's number and the number of workers; None outside of workers."""
    return getattr(_local, "info", None)


class Worker:
    """A thread that answers requests in order: one result, or error, for each."""

    def __init__(self, info: WorkerInfo, make_fetch: Callable[[], Callable[[Any], Any]],
                 init: Callable[[int], None] | None) -> None:
        self.info = info
        self.requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.results: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self.thread = threading.Thread(
            target=_run, args=(info, make_fetch, init, self.requests, self.results), daemon=True)
        self.thread.start()

    def result(self, timeout: float) -> Any:
        """Return the oldest outstanding result, or raise what the worker raised."""
        try:
            value, error = self.results.get(timeout=timeout or None)
        except queue.Empty:
            raise RuntimeError(f"DataLoader timed out after {timeout} seconds") from None
        if error is not None:
            error.add_note(f"Raised in DataLoader worker thread {self.info.id}.")
            raise error
        return value

    def stop(self) -> None:
        """Let the thread end once it has answered what it was asked."""
        self.requests.put(None)


def _run(info: WorkerInfo, make_fetch: Callable[[], Callable[[Any], Any]],
         init: Callable[[int], None] | None, requests: queue.SimpleQueue,
         results: queue.SimpleQueue) -> None:
    _local.info = info
    fetch: Callable[[Any], Any] | None = None
    while (request := requests.get()) is not None:
        try:
            if fetch is None:
                if init is not None:
                    init(info.id)
                fetch = make_fetch()
            results.put((fetch(request), None))
        except StopIteration:
            results.put((_EXHAUSTED, None))
        except BaseException as error:
            results.put((None, error))


def fetch_by_index(workers: list[Worker], batches: Iterator[Any], ahead: int,
                   timeout: float) -> Iterator[Any]:
    """Hand out index batches to the workers in turn; yield results in the order of the batches."""
    waiting: deque[Worker] = deque()
    turn = 0
    try:
        while True:
            while len(waiting) < ahead * len(workers):
                batch = next(batches, _EXHAUSTED)
                if batch is _EXHAUSTED:
                    break
                worker = workers[turn % len(workers)]
                turn += 1
                worker.requests.put(batch)
                waiting.append(worker)
            if not waiting:
                return
            yield waiting.popleft().result(timeout)
    finally:
        for worker in workers:
            worker.stop()


def fetch_in_turn(workers: list[Worker], ahead: int, timeout: float) -> Iterator[Any]:
    """Yield batches from workers that each run through a data set, taking turns until all end."""
    running = deque(workers)
    try:
        for worker in workers:
            for _ in range(ahead):
                worker.requests.put(_NEXT)
        while running:
            worker = running.popleft()
            batch = worker.result(timeout)
            if batch is _EXHAUSTED:
                continue
            worker.requests.put(_NEXT)
            running.append(worker)
            yield batch
    finally:
        for worker in workers:
            worker.stop()
