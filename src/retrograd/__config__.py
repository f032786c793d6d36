"""What this library is made of, in the place where programs print it."""

from __future__ import annotations

from .backend.numpy.native import description
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
    return "\n".join([*lines, f"  - {description()}", "  - CUDA, MKL, oneDNN: not used", ""])


def show_config() -> None:
    """Print what this library computes with: packages, native kernels, threads."""
    print(show(), end="")


def parallel_info() -> str:
    """How many threads products and other ops may use."""
    return f"threads of matrix products: {get_num_threads()}\n{description()}\n"
