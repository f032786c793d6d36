"""The parts of a loader: collating, fetching, worker processes and what passes between them."""

from . import collate, fetch, worker

__all__ = ["collate", "fetch", "worker"]
