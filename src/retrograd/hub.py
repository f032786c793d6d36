"""Models described by a ``hubconf.py``, loaded from a folder; nothing is fetched from a network."""

from __future__ import annotations

import os
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any
from urllib.parse import urlparse

from .base.missing_names import suggest_names as _suggest_names

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
"""Finds the hash in the name of a file that PyTorch publishes."""
_folder: str | None = None


def _get_torch_home() -> str:
    """The folder of PyTorch's files, as PyTorch finds it."""
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.environ.get("TORCH_HOME", f"{cache}/torch"))


def get_dir() -> str:
    """The folder of downloaded files, as PyTorch finds it."""
    if _folder is not None:
        return _folder
    return os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Choose the folder of downloaded files."""
    global _folder
    _folder = os.path.expanduser(os.fspath(d))


def load(repo_or_dir: str, model: str, *args: Any, source: str = "github", trust_repo: Any = None,
         force_reload: bool = False, verbose: bool = True, skip_validation: bool = False,
         **kwargs: Any) -> Any:
    """What the function ``model`` of a folder's ``hubconf.py`` returns."""
    return _entry(_configuration(repo_or_dir, source), model)(*args, **kwargs)


def list(github: str, force_reload: bool = False, skip_validation: bool = False,
         trust_repo: Any = None, verbose: bool = True, source: str = "github") -> Any:
    """The names of the functions that a folder's ``hubconf.py`` offers."""
    found = vars(_configuration(github, source))
    return [name for name, value in found.items() if callable(value) and not name.startswith("_")]


def help(github: str, model: str, force_reload: bool = False, skip_validation: bool = False,
         trust_repo: Any = None, source: str = "github") -> Any:
    """The docstring of a function of a folder's ``hubconf.py``."""
    return _entry(_configuration(github, source), model).__doc__


def _configuration(folder: str, source: str) -> Any:
    """The ``hubconf`` module of a folder, with the modules beside it importable while it loads."""
    source = source.lower()
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        raise RuntimeError(f"retrograd downloads nothing: '{folder}' would come from GitHub. Clone "
                           "it and call load(folder, model, source=\"local\")")
    folder = os.path.expanduser(folder)
    path = os.path.join(folder, "hubconf.py")
    spec = spec_from_file_location("hubconf.py", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    missing = [name for name in getattr(module, "dependencies", ()) if not _is_there(name)]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    return module


def _is_there(package: str) -> bool:
    from importlib.util import find_spec

    return package == "torch" or find_spec(package) is not None


def _entry(module: Any, model: Any) -> Any:
    if not isinstance(model, str):
        raise ValueError("Invalid input: model should be a string of function name")
    found = getattr(module, model, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return found


def load_state_dict_from_url(url: str, model_dir: str | None = None, map_location: Any = None,
                             progress: bool = True, check_hash: bool = False,
                             file_name: str | None = None, weights_only: bool = False) -> Any:
    """A file that was downloaded before, from the folder where PyTorch keeps it."""
    from .serialization import load as load_file

    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(model_dir or os.path.join(get_dir(), "checkpoints"), name)
    if not os.path.exists(path):
        raise RuntimeError(f"retrograd downloads nothing: put {url} at {path}")
    return load_file(path, map_location=map_location, weights_only=weights_only)


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None,
                         progress: bool = True) -> None:
    """Refuse: nothing is downloaded."""
    raise RuntimeError(f"retrograd downloads nothing: put {url} at {dst}")


__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url",
           "set_dir"]

_suggest_names(__name__)
