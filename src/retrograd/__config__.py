"""What this library is made of, in the place where programs print it."""

from __future__ import annotations

from .compat.settings import get_num_threads
from .version import __version__


def show() -> str:
    """The library and what it computes with, one to a line."""
    from importlib.metadata import PackageNotFoundError, version

    lines = [f"retrograd {__version__} built with:"]
    for package in ("numpy", "scipy", "ml_dtypes"):
        try:
            lines.append(f"  - {package} {version(package)}")
        except PackageNotFoundError:
            lines.append(f"  - {package}: not installed")
    return "\n".join([*lines, "  - CUDA, MKL, oneDNN: not used", ""])


def parallel_info() -> str:
    """How many threads products may use."""
    return f"threads of matrix products: {get_num_threads()}\nthreads of other ops: 1\n"
