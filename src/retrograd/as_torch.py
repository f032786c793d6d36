"""``retrograd.as_torch()``: this package under PyTorch's name, for programs that import ``torch``.

From then on ``import torch`` and the import of anything below it give this package's modules, in
this process and in those that :mod:`multiprocessing` starts from it. ``retrograd run`` does it for
a program, ``pytest -p retrograd.as_torch`` for tests, and a notebook begins with::

    import retrograd
    retrograd.as_torch()

The module is the function: it can be called, and it is a plugin of pytest's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import CodeType, ModuleType
from typing import Any

from .base import missing_names

VERSION = "2.13.0+retrograd"
"""What ``torch.__version__`` says: the PyTorch whose behaviour is offered, and by whom."""
_PACKAGE = __name__.partition(".")[0]
_OF_ANOTHER_VERSION = ("torch", "torch.version")
"""The modules that differ from ours, by their version; any other is the same object."""


def as_torch() -> None:
    """Serve ``torch`` and all that is below it from this package, from now on."""
    loaded = sys.modules.get("torch")
    if loaded is not None and not is_served():
        raise RuntimeError(
            f"PyTorch itself has been imported already, from {getattr(loaded, '__file__', None)}: "
            "retrograd.as_torch() must come before whatever imports torch")
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
        missing_names.MET = {}
        own = sys.modules[_PACKAGE]
        for kind in (own.Tensor, own.Size, own.dtype, own.device):
            kind.__module__ = "torch"  # libraries look there for whose a tensor is
        _serve_in_children()


def is_served() -> bool:
    """Whether ``torch`` is this package."""
    return _FINDER in sys.meta_path


def pytest_addoption() -> None:
    """What pytest calls as soon as it meets a plugin, before it loads any other."""
    as_torch()


class _Finder(MetaPathFinder):
    """Finds our module for each of PyTorch's, and our version for the distribution."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name.startswith(f"{_PACKAGE}.") and path is not None:
            found = PathFinder.find_spec(name, path, target)
        elif name in ("torch", "functorch") or name.startswith("torch."):
            found = _spec(name)
        else:
            return None
        if found is None:
            _refuse_import(name)
        return found

    def find_distributions(self, context: Any = None) -> Iterator[Any]:
        """What :mod:`importlib.metadata` says of ``torch``."""
        if context is None or context.name is None or context.name.lower() == "torch":
            from importlib.metadata import Distribution

            class Served(Distribution):
                def read_text(self, filename: str) -> str | None:
                    return {"METADATA": f"Metadata-Version: 2.1\nName: torch\nVersion: {VERSION}\n",
                            "top_level.txt": "torch\n"}.get(filename)

                def locate_file(self, path: Any) -> Any:
                    raise FileNotFoundError(f"torch is served by {_PACKAGE} and has no files")

            yield Served()


class _Loader(Loader):
    """Puts our module in the place of PyTorch's."""

    def create_module(self, spec: ModuleSpec) -> None:
        return None  # an empty one, which most often is replaced at once

    def get_code(self, name: str) -> CodeType | None:
        """What runs as ``-m torch...``."""
        spec: Any = find_spec(_own_name(name))
        return spec.loader.get_code(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        own = import_module(_own_name(name))
        if name not in _OF_ANOTHER_VERSION:
            sys.modules[name] = own
            return
        vars(module).update({n: value for n, value in vars(own).items()
                             if not n.startswith("__") and not isinstance(value, ModuleType)})
        vars(module).update(__doc__=own.__doc__, __dir__=own.__dir__, __version__=VERSION)
        if name == "torch":
            vars(module).update(__getattr__=_attribute_of_torch, torch=module)


_FINDER = _Finder()
_LOADER = _Loader()


def _own_name(name: str) -> str:
    if name == "functorch":  # which PyTorch brings along
        return f"{_PACKAGE}._functorch.deprecated"
    return _PACKAGE + name.removeprefix("torch")


def _spec(name: str) -> ModuleSpec | None:
    """Where a module of PyTorch's comes from; None if there is none of this name here."""
    parts = name.split(".")
    hidden = len(parts) > 1 and parts[1] in sys.modules[_PACKAGE]._INTERNAL
    found = None if hidden else find_spec(_own_name(name))
    if found is None:
        return None
    spec = ModuleSpec(name, _LOADER, origin=found.origin,
                      is_package=found.submodule_search_locations is not None)
    spec.has_location = found.has_location
    return spec


def _attribute_of_torch(name: str) -> Any:
    if name == "ops":  # custom ones; the package's own are declared under that name
        return import_module(f"{_PACKAGE}.library").NAMESPACES
    own = sys.modules[_PACKAGE]
    try:
        found = None if name in own._INTERNAL else getattr(own, name)
    except AttributeError:
        found = None
    if found is None:
        missing_names.refuse("torch", name)
    is_below = isinstance(found, ModuleType) and found.__name__ == f"{_PACKAGE}.{name}"
    return import_module(f"torch.{name}") if is_below else found


def _refuse_import(name: str) -> None:
    """Raise the error of a missing module or name, unless somebody merely asks whether it exists.

    Who asks is seen from the frames of the import system: ``from a import b`` looks for a module
    ``a.b`` at last, and would word its own error without a hint.
    """
    frame = sys._getframe(2)
    callers = set()
    while frame is not None and frame.f_code.co_filename.startswith("<frozen importlib"):
        callers.add(frame.f_code.co_name)
        frame = frame.f_back  # type: ignore[assignment]
    if "_find_and_load_unlocked" not in callers:
        return
    parent, _, child = name.rpartition(".")
    space = parent.partition(".")[2]
    missing_names.note(space, child)
    words = missing_names.hint(child, space, dir(sys.modules[parent]))
    parent = ".".join(filter(None, ("torch", space)))
    if "_handle_fromlist" in callers:
        raise ImportError(f"cannot import name {child!r} from {parent!r}{words}", name=parent)
    raise ModuleNotFoundError(f"No module named '{parent}.{child}'{words}", name=name)


def _serve_in_children() -> None:
    """Let the processes that are started anew, by spawning, serve ``torch`` as well."""
    from multiprocessing import spawn

    usual = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        data = usual(name)
        return {**data, "as_torch": _AtFirst(data.get("sys_path", sys.path))}

    spawn.get_preparation_data = get_preparation_data


class _AtFirst:
    """What a new process unpickles before anything of the program, and so does."""

    def __init__(self, path: list[str]) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return exec, (f"import sys\nsys.path[:] = {self.path!r}\nimport {_PACKAGE}\n"
                      f"{_PACKAGE}.as_torch()\n",)


class _Callable(ModuleType):
    """This module, which is its function."""

    def __call__(self) -> None:
        as_torch()


sys.modules[__name__].__class__ = _Callable
