"""What a process tells the one that started it about its end."""

from __future__ import annotations

import functools
import json
import os
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["record"]


def record(fn: Callable[..., Any], error_handler: Any = None) -> Callable[..., Any]:
    """``fn``, the main function of a process, whose error is written down before it is raised.

    The launcher says where in TORCHELASTIC_ERROR_FILE; without one, nothing is written.
    """
    @functools.wraps(fn)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        try:
            return fn(*args, **kwargs)
        except Exception as error:
            place = os.environ.get("TORCHELASTIC_ERROR_FILE")
            if error_handler is not None:
                error_handler.record_exception(error)
            elif place:
                told = {"message": f"{type(error).__name__}: {error}", "extraInfo": {
                    "py_callstack": traceback.format_exc(), "timestamp": str(int(time.time()))}}
                written = Path(f"{place}.{os.getpid()}")
                written.write_text(json.dumps({"message": told}))
                written.replace(place)
            raise

    return recorded
