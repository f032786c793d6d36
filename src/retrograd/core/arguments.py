"""Foreign arguments: which one is of a type that a function does not take.

Functions made of others look at the flags, numbers and sizes that a call gives; to look at every
argument would cost every call. They run, and only if that fails is it asked whether an argument was
the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from opcode import opmap
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from ..backend import xp
from ..backend.interface import is_array
from ..base.call_sites import is_internal
from ..base.errors import Required, in_bytes, is_of_dims, too_many_dims, type_name
from .signatures import public
from .tensor import Tensor

if TYPE_CHECKING:
    from .op import Op

_RAISE = opmap["RAISE_VARARGS"]

_NUMBERS = (bool, int, float, complex)
_SIZES = "tuple of ints"
_EXPECTED: dict[Any, str] = {bool: "bool", int: "int", float: "float", _SIZES: _SIZES}
_ANNOTATED = {name: kind for kind, name in _EXPECTED.items()}


def guard(function: Callable[..., Any], closures: bool = False, title: str = "") -> None:
    """Have a function name the foreign argument for which it fails; it stays the same object.

    An error of data that no function can look at says what to call instead.
    """
    if not isinstance(function, FunctionType) or hasattr(function, "unguarded") \
            or (function.__closure__ and not closures):
        return
    function.unguarded = put_in_front(  # type: ignore[attr-defined]
        function, lambda plain: plain, _guarded, {"MISSING": _MISSING, **judging(function, title)})


_QUICK: dict[str, tuple[Any, ...]] = {
    "bool": (bool, bool), "int": (int, int), "float": (float, float, int),
    "Sizes": (_SIZES, int, tuple, list)}
_QUICK |= {f"{word} | None": (*kinds, type(None)) for word, kinds in _QUICK.items()}
"""What is expected of an argument, by its annotation, and the types that need no closer look."""


def judging(function: FunctionType, title: str = "") -> dict[str, Any]:
    """What judges the flags and numbers of a call, and how many arguments come before the first.

    A call that gives no other is not judged if that one needs no closer look. Errors call the
    function by its ``title``, or by the name that it has then.
    """
    code, notes = function.__code__, function.__annotations__
    names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    judged = [(place, name, _QUICK[notes[name]]) for place, name in enumerate(names)
              if notes.get(name) in _QUICK]
    if not judged:
        return {"JUDGE": None, "FIRST": len(names), "QUICK": (), "TITLE": title}

    def judge(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        count = len(args)
        for place, name, quick in judged:
            if place < count:
                value = args[place]
            elif name in kwargs:
                value = kwargs[name]
            else:
                continue
            if type(value) not in quick and not fits(quick[0], value):
                where = f" (position {place + (names[0] != 'self')})" if place < count else ""
                raise TypeError(f"{title or _plain_name(function)}(): argument '{name}'{where} "
                                f"must be {_EXPECTED[quick[0]]}, not {type_name(value)}")

    first, _, quick = judged[0]
    return {"JUDGE": judge, "FIRST": first, "QUICK": quick[1:], "TITLE": title}


def _plain_name(function: FunctionType) -> str:
    return function.__name__.lstrip("_").removeprefix("functional_")


def _calling(*args, **kwargs):  # type: ignore[no-untyped-def]
    call = "CALL"
    return call(args, kwargs)  # type: ignore[operator]


def put_in_front(function: FunctionType, call: Callable[[Any], Any], code_of: Any = _calling,
                 constants: dict[Any, Any] | None = None) -> Any:
    """Give a function other code, which calls ``call`` of the one it was, and return that one.

    It stays the same object under every name it has; ``code_of`` names what it calls "CALL", and
    any other constants as ``constants`` does.
    """
    template = code_of.__code__
    plain = FunctionType(function.__code__, function.__globals__, function.__name__,
                         function.__defaults__, function.__closure__)
    plain.__kwdefaults__ = function.__kwdefaults__
    plain.__module__, plain.__annotations__ = function.__module__, function.__annotations__
    plain.__doc__ = function.__doc__
    plain.__dict__.update(function.__dict__)
    function.__wrapped__ = plain  # type: ignore[attr-defined]
    constants = {**(constants or {}), "CALL": call(plain)}
    function.__code__ = _closing_over(template, function.__code__.co_freevars).replace(
        co_consts=tuple(constants.get(c, c) for c in template.co_consts),
        co_name=function.__name__, co_qualname=function.__qualname__)
    function.__defaults__, function.__kwdefaults__ = code_of.__defaults__, None
    return plain


def _closing_over(code: CodeType, names: tuple[str, ...]) -> CodeType:
    """Code with free variables that it does not use, but brings into its frames.

    A function keeps its closure when its code is exchanged, and debuggers read all variables of a
    frame: one that was never brought there is no object.
    """
    if not names:
        return code
    bring = bytes((opmap["COPY_FREE_VARS"], len(names)))  # and its place: no line, one unit
    return code.replace(co_freevars=names, co_code=bring + code.co_code,
                        co_linetable=b"\xf8" + code.co_linetable,
                        co_exceptiontable=_one_later(code.co_exceptiontable))


def _one_later(table: bytes) -> bytes:
    """A table of exception handlers (start, length, target, depth) of code that begins later.

    Its numbers are written in digits of six bits, all but the last of each with bit six set, and
    bit seven is set where an entry begins.
    """
    numbers: list[int] = []
    number = 0
    for byte in table:
        number = number << 6 | byte & 63
        if not byte & 64:
            numbers.append(number)
            number = 0
    written = bytearray()
    for place, number in enumerate(numbers):
        number += place % 4 in (0, 2)
        first = max(number.bit_length() - 1, 0) // 6 * 6
        digits = [number >> shift & 63 for shift in range(first, -6, -6)]
        entry = [d | 64 for d in digits[:-1]] + [digits[-1]]
        entry[0] |= 128 * (place % 4 == 0)
        written += bytes(entry)
    return bytes(written)


_MISSING = object()


def _guarded(first=_MISSING, second=_MISSING, /, *rest, **kwargs):  # type: ignore[no-untyped-def]
    # Two arguments have names: a call that gives no more of them makes no tuple and no dict.
    call = "CALL"
    missing = "MISSING"
    try:
        if rest or kwargs or first is missing:
            pass
        elif second is missing:
            if "FIRST" > 0:  # type: ignore[operator]
                return call(first)  # type: ignore[operator]
        elif "FIRST" > 1 or ("FIRST" == 1 and type(second) in "QUICK"):  # type: ignore
            return call(first, second)  # type: ignore[operator]
        judge = "JUDGE"
        args = () if first is missing else (first,) if second is missing else (first, second, *rest)
        if judge and (kwargs or len(args) > "FIRST"):  # type: ignore[operator]
            judge(args, kwargs)  # type: ignore[operator]
        return call(*args, **kwargs) if kwargs else call(*args)  # type: ignore[operator]
    except Exception as error:
        from retrograd.core.arguments import refuse_foreign

        args = () if first is missing else (first,) if second is missing else (first, second, *rest)
        if hasattr(error, "call_instead"):
            return error.call_instead(call, args, kwargs)
        if "out" not in kwargs or not hasattr(call, "out"):
            refuse_foreign(call, args, kwargs, error, "TITLE")
            raise
    # It has no such argument of its own.
    from retrograd.core.extensions import extensions

    return extensions.call_with_out(call, args, kwargs)


def refuse_foreign(function: Any, args: Any, kwargs: dict[str, Any], error: Exception,
                   title: str = "", checked: Any = (), is_method: bool = False) -> None:
    """Raise the error of the first argument whose type is wrong, if there is one.

    Those in ``checked`` are known to be of a right one. A method's are counted behind its tensor.
    """
    if isinstance(error, MemoryError):
        raise in_bytes(error) from None
    if is_of_dims(error):
        raise too_many_dims(title or function.__name__.lstrip("_")) from None
    if _is_worded(error):
        return
    import inspect

    try:
        signature = inspect.signature(function)
        given = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return
    title = title or function.__name__.lstrip("_")
    first = 0 if is_method or "self" in given else 1
    for position, parameter in enumerate(signature.parameters.values(), first):
        if parameter.name not in given or parameter.name in checked:
            continue
        value = given[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            if parameter.annotation == "Tensor":
                _refuse_elements(position, value)
            continue
        argument = f"{title}(): argument '{parameter.name}'"
        where = "" if parameter.name in kwargs else f" (position {position})"
        expected = _foreign(parameter, value, error)
        if expected:
            raise TypeError(f"{argument}{where} must be {expected}, not {type_name(value)}"
                            ) from None
        if "Sequence[int]" in public(parameter.annotation) and isinstance(value, (tuple, list)):
            _refuse_no_ints(argument, where, value)


def refuse_options(op: Op, args: tuple[Any, ...], error: Exception, written: bool = False) -> None:
    """Raise the error of an option of a wrong type, if that is why a call of an op failed.

    A method that writes in place counts the arguments that come after its tensor.
    """
    if op.name.startswith("_"):  # the public function that called it knows what it was given
        return
    named = {p.name: arg for p, arg in zip(op.params, args, strict=True)}
    options = {p.name: named.pop(p.name) for p in op.params if p.keyword_only}
    title = op.title + "_" * written
    refuse_foreign(op.kernel, named.values(), options, error, title, {*op.arrays, *op.indices},
                   is_method=written and hasattr(Tensor, title))


def _is_worded(error: Exception) -> bool:
    """Whether an error was raised on purpose: by a statement of this package, or as a warning."""
    place = error.__traceback__
    if hasattr(error, "is_unplaced"):
        return False
    if place is None or isinstance(error, Warning):
        return True
    while place.tb_next is not None:
        place = place.tb_next
    code = place.tb_frame.f_code
    return is_internal(code.co_filename) and code.co_code[place.tb_lasti] == _RAISE


def _refuse_elements(position: int, values: tuple[Any, ...]) -> None:
    """Raise for the first of several tensors that is none."""
    for number, value in enumerate(values):
        if not isinstance(value, (Tensor, tuple, list)):
            raise TypeError(f"expected Tensor as element {number} in argument {position - 1}, but "
                            f"got {type_name(value)}") from None


def _refuse_no_ints(argument: str, where: str, values: Sequence[Any]) -> None:
    """Raise for the first of several whole numbers that is none."""
    for number, value in enumerate(values):
        if value is not None and not fits(int, value):
            if not number:
                raise TypeError(f"{argument}{where} must be tuple of ints, but found element of "
                                f"type {type_name(value)} at pos 0") from None
            raise TypeError(f"{argument} failed to unpack the object at pos {number + 1} with "
                            f'error "type must be tuple of ints,but got {type_name(value)}"'
                            ) from None


def _foreign(parameter: Any, value: Any, error: Exception) -> str:
    """What an argument should have been, or nothing if it may be what it is."""
    default = parameter.default
    if value is default or isinstance(value, Required):
        return ""
    annotation = public(parameter.annotation)
    words = annotation.split(" | ")
    if value is None and "None" in words:
        return ""
    if parameter.name == "self" or "Tensor" in words or "Number" in words:
        may_be_number = "Number" in words and not isinstance(error, AttributeError)
        return "" if isinstance(value, Tensor) or (may_be_number and (
            isinstance(value, _NUMBERS) or xp.is_scalar(value))) \
            else "Number" if "Tensor" not in words and "Number" in words else "Tensor"
    if "Sequence[Tensor]" in words:
        return "" if isinstance(value, (tuple, list)) else "tuple of Tensors"
    may_be_several = isinstance(value, (tuple, list))
    if "Sequence[" in annotation:
        return "" if may_be_several or fits(int, value) or (
            isinstance(value, str) and "str" in words) else "tuple of ints"
    kind = _ANNOTATED.get(annotation.removesuffix(" | None"))
    if annotation == "Any" and not (may_be_several and type(default) is int):
        kind = type(default)
    if kind in _EXPECTED:
        return "" if fits(kind, value) else _EXPECTED[kind]
    is_strange = isinstance(value, (dict, set, bytes)) or is_array(value) \
        or type(value) is object \
        or (isinstance(value, str) and not isinstance(default, str) and "str" not in words)
    return "Tensor or a number" if is_strange else ""


def fits(kind: Any, value: Any) -> bool:
    """Whether a value may stand where a bool, an int, a float or some ints are expected."""
    if kind is bool:
        return isinstance(value, bool)
    if kind is _SIZES:
        return isinstance(value, (tuple, list)) or fits(int, value)
    if isinstance(value, Tensor):
        return not value.ndim and (kind is float or not value.dtype.is_floating_point)
    if kind is int:
        return hasattr(value, "__index__") and not isinstance(value, bool) and not is_array(value)
    return hasattr(value, "__float__") and not is_array(value)
