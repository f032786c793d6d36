"""ONNX: programs are not recorded as graphs of its operators here, so that none can be written."""

from __future__ import annotations

from typing import Any, NoReturn

from .base.missing_names import suggest_names as _suggest_names


def export(*args: Any, **kwargs: Any) -> NoReturn:
    """Refuse: retrograd does not translate programs to ONNX."""
    raise RuntimeError("retrograd cannot export to ONNX: it has no translation of its ops to "
                       "ONNX's. Save the state_dict with retrograd.save and export it with PyTorch")


dynamo_export = export


def is_in_onnx_export() -> bool:
    """Whether a program is being exported: never."""
    return False


_suggest_names(__name__)
