"""Files of parts that several processes write, which one process does not have."""

from __future__ import annotations

from typing import Any

__all__ = ["HuggingFaceStorageReader", "HuggingFaceStorageWriter"]


class _Refused:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("retrograd.distributed knows a world of one process, which "
                                  "writes whole files: use torch.save or safetensors")


class HuggingFaceStorageReader(_Refused):
    """Reads the parts of a checkpoint."""


class HuggingFaceStorageWriter(_Refused):
    """Writes the parts of a checkpoint."""
