"""What has no samples, what fails and what differs from PyTorch, each with its reason.

A reason that no longer holds has to be struck from here: the tests see to it.
"""

from __future__ import annotations

_NO_TENSOR = "makes a tensor, or answers about one, without being a function of its elements"
_MEMORY = "shares or leaves memory as it is: tests/test_creation.py and tests/test_tensor.py"
_WARNS = "deprecated: warns, and calls what has samples"

NO_SAMPLES: dict[str, str] = {
    **dict.fromkeys([
        "get_device", "broadcast_shapes", "tensor", "zeros", "ones", "full", "scalar_tensor",
        "arange", "range", "linspace", "logspace", "eye", "rand", "randn", "randint", "randperm",
    ], _NO_TENSOR),
    **dict.fromkeys([
        "asarray", "from_numpy", "frombuffer", "from_dlpack", "to_dlpack", "empty", "empty_strided",
        "empty_like", "zero_",
    ], _MEMORY),
    **dict.fromkeys(["chain_matmul", "cholesky", "qr", "nn.functional.upsample"], _WARNS),
    "linalg.eig": "its vectors have a free phase: tests/parity/test_op_db.py takes their moduli",
}
"""Public names without samples."""

KNOWN: dict[tuple[str, str, str], str] = {
    **{("diff", "vmap", dtype): "no differences at all are a copy into new zeros, as in PyTorch, and "
                                "a batch does not fit into those"
       for dtype in ("float64", "complex128")},
}
"""Failures in tests/test_every_op.py by op, check and dtype."""

DIFFERENCES: dict[tuple[str, str], str] = {}
"""Differences from PyTorch in tests/parity/test_every_op.py by op and dtype."""
