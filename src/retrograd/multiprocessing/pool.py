"""Python's pool of processes: its pickler shares the memory of tensors."""

from multiprocessing.pool import Pool

__all__ = ["Pool"]
