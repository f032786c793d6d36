"""Reads a pickle without running it: an interpreter of the opcodes that data needs.

Python's own unpickler imports and calls whatever a file names. This one calls nothing but the
functions it is given, copies no more than the file holds, and refuses every other opcode.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable
from typing import Any

from ..base.errors import type_name

_MARK = object()
_DEEPEST_KEY = 16  # the hash of a tuple is a recursion in C, which a file may not steer
_HIGHEST_PROTOCOL = 5


class Unpickler:
    """One pickle inside ``data``, from ``position`` on.

    ``find_class(module, name)`` gives what a file's names mean; ``call(function, args, is_new)``
    calls one of them, or makes a bare instance of it, and ``build(instance, state)`` fills such a
    one: each raises for what is not allowed.
    """

    def __init__(self, data: Any, find_class: Callable[[str, str], Any],
                 call: Callable[[Any, tuple[Any, ...], bool], Any],
                 build: Callable[[Any, Any], None],
                 persistent_load: Callable[[Any], Any], encoding: str = "utf-8",
                 position: int = 0):
        self.data = memoryview(data)
        self.position = position
        self.find_class, self.call, self.build = find_class, call, build
        self.persistent_load, self.encoding = persistent_load, encoding
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def load(self) -> Any:
        """The object; ``position`` is then where the pickle ends."""
        try:
            return self._run()
        except pickle.UnpicklingError:
            raise
        except (IndexError, KeyError, ValueError, TypeError, OverflowError, struct.error,
                AttributeError, RecursionError) as error:
            raise pickle.UnpicklingError(
                f"the pickle is damaged near byte {self.position}: {error}") from error

    def _run(self) -> Any:
        while True:
            (code,) = self._take(1)
            if code == 0x2E:  # STOP
                return self.stack.pop()
            step = _STEPS.get(code)
            if step is None:
                raise pickle.UnpicklingError(f"Unsupported operand {code}")
            step(self)

    # ------------------------------------------------------------ reading

    def _take(self, count: int) -> memoryview:
        end = self.position + count
        if count < 0 or end > len(self.data):
            raise pickle.UnpicklingError(
                f"the pickle ends early: {count} bytes are missing at byte {self.position}")
        found = self.data[self.position:end]
        self.position = end
        return found

    def _number(self, format: str) -> Any:
        return struct.unpack(format, self._take(struct.calcsize(format)))[0]

    def _line(self) -> str:
        rest = bytes(self.data[self.position:self.position + 4096])
        line, newline, _ = rest.partition(b"\n")
        if not newline:
            raise pickle.UnpicklingError("the pickle has a line without an end")
        self.position += len(line) + 1
        return line.decode("utf-8")

    def _marked(self) -> list[Any]:
        """What was pushed since the last mark."""
        for place in range(len(self.stack) - 1, -1, -1):
            if self.stack[place] is _MARK:
                found = self.stack[place + 1:]
                del self.stack[place:]
                return found
        raise pickle.UnpicklingError("the pickle closes what it never opened")

    # ------------------------------------------------------------ opcodes

    def _protocol(self) -> None:
        (version,) = self._take(1)
        if version > _HIGHEST_PROTOCOL:
            raise pickle.UnpicklingError(f"unsupported pickle protocol: {version}")

    def _frame(self) -> None:
        self._number("<Q")

    def _push(self, value: Any) -> None:
        self.stack.append(value)

    def _text(self, size: int) -> None:
        self._push(str(self._take(size), "utf-8", "surrogatepass"))

    def _old_text(self, size: int) -> None:
        """A str of Python 2: bytes, or text in the encoding that was asked for."""
        found = bytes(self._take(size))
        self._push(found if self.encoding == "bytes" else found.decode(self.encoding))

    def _long(self, size: int) -> None:
        self._push(int.from_bytes(self._take(size), "little", signed=True))

    def _tuple(self, size: int) -> None:
        if len(self.stack) < size:
            raise pickle.UnpicklingError("the pickle takes what it never pushed")
        found = tuple(self.stack[len(self.stack) - size:])
        del self.stack[len(self.stack) - size:]
        self._push(found)

    def _setitems(self, pairs: list[Any]) -> None:
        target = self.stack[-1]
        if not isinstance(target, dict):
            raise pickle.UnpicklingError(
                f"Can only SETITEMS for dict, collections.OrderedDict, collections.Counter, but "
                f"got {type_name(target)}")
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            _check_key(key)
            target[key] = value

    def _setitem(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._setitems([key, value])

    def _dict(self) -> None:
        pairs = self._marked()
        self._push({})
        self._setitems(pairs)

    def _appends(self, values: list[Any]) -> None:
        target = self.stack[-1]
        if type(target) is not list:
            raise pickle.UnpicklingError(f"Can only append to lists, but got {type_name(target)}")
        target.extend(values)

    def _additems(self) -> None:
        values = self._marked()
        target = self.stack[-1]
        if type(target) is not set:
            raise pickle.UnpicklingError(f"Can only add to sets, but got {type_name(target)}")
        for value in values:
            _check_key(value)
            target.add(value)

    def _frozenset(self) -> None:
        values = self._marked()
        for value in values:
            _check_key(value)
        self._push(frozenset(values))

    def _stack_global(self) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        if type(name) is not str or type(module) is not str:
            raise pickle.UnpicklingError("STACK_GLOBAL requires str")
        self._push(self.find_class(module, name))

    def _global(self) -> None:
        module = self._line()
        self._push(self.find_class(module, self._line()))

    def _reduce(self, is_new: bool = False) -> None:
        args, function = self.stack.pop(), self.stack.pop()
        if type(args) is not tuple:
            raise pickle.UnpicklingError("the pickle calls a function without a tuple")
        self._push(self.call(function, args, is_new))

    def _build(self) -> None:
        state = self.stack.pop()
        self.build(self.stack[-1], state)

    def _put(self, place: int) -> None:
        self.memo[place] = self.stack[-1]

    def _get(self, place: int) -> None:
        self._push(self.memo[place])


def _check_key(key: Any, depth: int = 0) -> None:
    """Refuse keys that are no plain values, or tuples of such in tuples without end."""
    if type(key) in (tuple, frozenset):
        if depth > _DEEPEST_KEY:
            raise pickle.UnpicklingError("a key is nested too deeply")
        for part in key:
            _check_key(part, depth + 1)


_NAMED_STEPS: dict[str | int, Callable[[Unpickler], Any]] = {
    # numbers and constants
    "N": lambda u: u._push(None), 0x88: lambda u: u._push(True), 0x89: lambda u: u._push(False),
    "J": lambda u: u._push(u._number("<i")), "K": lambda u: u._push(u._number("<B")),
    "M": lambda u: u._push(u._number("<H")), "G": lambda u: u._push(u._number(">d")),
    0x8A: lambda u: u._long(u._number("<B")), 0x8B: lambda u: u._long(u._number("<i")),
    # text and bytes
    "X": lambda u: u._text(u._number("<I")), 0x8C: lambda u: u._text(u._number("<B")),
    0x8D: lambda u: u._text(u._number("<Q")),
    "U": lambda u: u._old_text(u._number("<B")), "T": lambda u: u._old_text(u._number("<i")),
    "C": lambda u: u._push(bytes(u._take(u._number("<B")))),
    "B": lambda u: u._push(bytes(u._take(u._number("<I")))),
    0x8E: lambda u: u._push(bytes(u._take(u._number("<Q")))),
    0x96: lambda u: u._push(bytearray(u._take(u._number("<Q")))),
    # containers
    ")": lambda u: u._push(()), "]": lambda u: u._push([]), "}": lambda u: u._push({}),
    0x8F: lambda u: u._push(set()), "(": lambda u: u._push(_MARK),
    "t": lambda u: u._push(tuple(u._marked())), "l": lambda u: u._push(u._marked()),
    0x85: lambda u: u._tuple(1), 0x86: lambda u: u._tuple(2), 0x87: lambda u: u._tuple(3),
    "d": Unpickler._dict, "s": Unpickler._setitem, "u": lambda u: u._setitems(u._marked()),
    "a": lambda u: u._appends([u.stack.pop()]), "e": lambda u: u._appends(u._marked()),
    0x90: Unpickler._additems, 0x91: Unpickler._frozenset,
    # names and calls
    "c": Unpickler._global, 0x93: Unpickler._stack_global,
    "R": Unpickler._reduce, 0x81: lambda u: u._reduce(True), "b": Unpickler._build,
    "Q": lambda u: u._push(u.persistent_load(u.stack.pop())),
    # the stack, the memo, the frame
    "0": lambda u: u.stack.pop(), "1": lambda u: u._marked(),
    "2": lambda u: u._push(u.stack[-1]),
    "q": lambda u: u._put(u._number("<B")), "r": lambda u: u._put(u._number("<I")),
    0x94: lambda u: u._put(len(u.memo)),
    "h": lambda u: u._get(u._number("<B")), "j": lambda u: u._get(u._number("<I")),
    0x80: Unpickler._protocol, 0x95: Unpickler._frame,
}
"""What each opcode does; those of text protocols, instances and extensions have no place here."""

_STEPS = {ord(code) if isinstance(code, str) else code: step
          for code, step in _NAMED_STEPS.items()}
