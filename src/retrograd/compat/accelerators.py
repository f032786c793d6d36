"""Accelerators that are not here, each a module of the same names made by one function.

Questions are answered truthfully (there is none, and nothing lies on it), seeds and clean-ups are
accepted since there is nothing to seed or to clean, and whatever would need a device is refused.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

_ANSWERS: dict[str, Callable[[], Any]] = {
    "is_available is_initialized is_bf16_supported is_tf32_supported "
    "is_current_stream_capturing": lambda: False,
    "device_count memory_allocated max_memory_allocated memory_reserved max_memory_reserved":
        lambda: 0,
    "get_arch_list get_rng_state_all": list,
    "memory_stats": OrderedDict,
    "empty_cache manual_seed manual_seed_all seed seed_all set_rng_state set_rng_state_all "
    "reset_peak_memory_stats reset_max_memory_allocated reset_accumulated_memory_stats":
        lambda: None}
_REFUSED = "current_device synchronize mem_get_info get_device_name get_device_properties " \
           "get_device_capability current_stream default_stream set_stream init initial_seed " \
           "get_rng_state ipc_collect memory_summary set_per_process_memory_fraction " \
           "current_allocated_memory driver_allocated_memory recommended_max_memory " \
           "can_device_access_peer"
_CLASSES = ("Stream", "Event")


def absent(module: str, title: str, refusal: type[Exception], words: str,
           classes: tuple[str, ...] = ()) -> dict[str, Any]:
    """The names of the module of an accelerator called ``title``, which is not here."""
    made: dict[str, Any] = {}

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise refusal(words)

    def set_device(device: Any) -> None:
        """Choose a device: refused, but for a negative number, which chooses none."""
        if not (isinstance(device, int) and device < 0):
            refuse()

    for names, answer in _ANSWERS.items():
        for name in names.split():
            made[name] = _function(module, name, answer, f"What is so where {title} is absent.")
    for name in _REFUSED.split():
        made[name] = _function(module, name, refuse, f"Refused: there is no {title}.")
    for name in (*_CLASSES, *classes):
        made[name] = type(name, (), {"__init__": refuse, "__module__": module,
                                     "__doc__": f"Refused: there is no {title}."})
    set_device.__module__ = module
    return {**made, "set_device": set_device, "device": _device(module, title, refuse)}


def _function(module: str, name: str, answer: Callable[[], Any], doc: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        return answer()

    function.__name__ = function.__qualname__ = name
    function.__module__, function.__doc__ = module, doc
    return function


def _device(module: str, title: str, refuse: Callable[[], Any]) -> type:
    """The class of blocks that run on a device; a negative number leaves things as they are."""

    class device:
        def __init__(self, device: Any) -> None:
            self.idx = device if isinstance(device, int) else 0

        def __enter__(self) -> None:
            if self.idx >= 0:
                refuse()

        def __exit__(self, *exc: object) -> None:
            pass

    device.__module__, device.__qualname__ = module, "device"
    device.__doc__ = f"A block that runs on a {title} device: refused where there is none."
    return device
