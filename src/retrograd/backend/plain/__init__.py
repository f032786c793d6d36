"""One portable body for each kernel: array calls that every library has, and nothing else.

A body says ``xp`` for the library, and keeps no array or function of it outside of functions, so
that it can be bound to another one. A library that is quicker in its own way has a module of the
same name with bodies of the same names and signatures, and takes the other ones from here.

Without a plain body, and so in need of one in each library, is what has to do with its memory:
arrays on memory that others own (``create.shared``, ``from_buffer``, ``from_dlpack``). NumPy alone
has the random stream, whose numbers another library reads, and the packed updates of optimizers,
which update other libraries' parameters one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any


def fill_with_plain_bodies(library: dict[str, Any], plain: ModuleType,
                           **over: Callable[[Any], Any]) -> None:
    """Give a library's module what it has no body of its own for.

    The bodies are bound to that module, and so call its own ones; ``over`` has what decorates some.
    """
    for name, value in vars(plain).items():
        if library.get(name, value) is not value:
            assert name not in over, f"{name} has its own body, to be decorated where it stands"
            continue
        if isinstance(value, FunctionType) and value.__module__ == plain.__name__:
            bound = FunctionType(value.__code__, library, name, value.__defaults__)
            bound.__kwdefaults__, bound.__doc__ = value.__kwdefaults__, value.__doc__
            bound.__annotations__ = value.__annotations__
            value = over[name](bound) if name in over else bound
        library[name] = value
