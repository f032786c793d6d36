"""Python's queues between processes: their pickler shares the memory of tensors."""

from multiprocessing.queues import Queue, SimpleQueue

__all__ = ["Queue", "SimpleQueue"]
