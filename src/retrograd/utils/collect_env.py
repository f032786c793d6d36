"""What a report of a problem should say of the machine; run it with ``python -m``."""

from __future__ import annotations

import platform
import sys
from typing import NamedTuple


class SystemEnv(NamedTuple):
    """The facts, one to a field, by PyTorch's names."""

    torch_version: str
    is_debug_build: str
    cuda_compiled_version: str
    os: str
    libc_version: str
    python_version: str
    python_platform: str
    is_cuda_available: str
    pip_packages: str
    cpu_info: str


def get_env_info() -> SystemEnv:
    """The facts of this machine."""
    from importlib.metadata import PackageNotFoundError, version

    from ..version import __version__

    packages = []
    for name in ("numpy", "scipy", "ml_dtypes", "safetensors"):
        try:
            packages.append(f"{name}=={version(name)}")
        except PackageNotFoundError:
            continue
    return SystemEnv(
        f"retrograd {__version__}", "False", "None", platform.platform(),
        "-".join(filter(None, platform.libc_ver())) or "N/A",
        f"{platform.python_version()} ({sys.maxsize.bit_length() + 1}-bit runtime)",
        platform.platform(), "False", "\n".join(packages), platform.processor() or
        platform.machine())


def get_pretty_env_info() -> str:
    """The facts as a text to paste."""
    return "\n".join(f"{name.replace('_', ' ')}: {value}"
                     for name, value in get_env_info()._asdict().items())


def main() -> None:
    """Print the facts."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
