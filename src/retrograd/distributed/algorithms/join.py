"""Waiting for processes that have more inputs than others: one process waits for nobody."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

__all__ = ["JoinHook", "Joinable", "Join"]


class JoinHook:
    """What a joinable does while it waits for others, and after the last one is through."""

    def main_hook(self) -> None:
        """Called again and again while other processes go on."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Called once, when all processes have joined."""


class Joinable(ABC):
    """A class that can take part in :class:`Join`."""

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """The hook that stands for this object after the process has joined."""

    @property
    @abstractmethod
    def join_device(self) -> Any:
        """The device of the collectives that the waiting needs."""

    @property
    @abstractmethod
    def join_process_group(self) -> Any:
        """The group of processes that wait for one another."""


class Join:
    """A block in which processes may have different numbers of inputs."""

    def __init__(self, joinables: list[Any], enable: bool = True,
                 throw_on_early_termination: bool = False, **kwargs: Any) -> None:
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        self._hooks = [joinable.join_hook(**kwargs) for joinable in joinables] if enable else []

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        if kind is None:
            for hook in self._hooks:  # this process is the last to join, and the first
                hook.post_hook(True)

    @staticmethod
    def notify_join_context(joinable: Joinable) -> None:
        """Tell other processes that this one has not joined: there are none."""
