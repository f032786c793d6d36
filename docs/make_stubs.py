"""Write the stubs of the namespaces that fill themselves, for checkers and editors.

Signatures and docstrings come from the functions as they are published; what a declaration leaves
open (``Any``, overloads) is said in stub_types.py.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Container, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

from stub_types import ARGUMENTS, OPERAND, OVERLOADS, RESULTS

import retrograd
from retrograd import fft, linalg, return_types, special
from retrograd.compat.legacy import TENSOR_TYPES
from retrograd.core.op import PUBLIC
from retrograd.core.signatures import public
from retrograd.core.tensor import Tensor
from retrograd.nn import functional
from retrograd.ops import late

late.load_all()

SOURCE = Path(retrograd.__file__).parent
HEADER = '''\
"""{doc}"""

# Written by `make stubs` from the declared functions and docs/stub_types.py.
# ruff: noqa
'''
WIDTH = 100

_BUILTINS = ("int", "float", "bool", "complex", "type", "str", "tuple", "slice", "list")
WORDS = {
    **dict.fromkeys(_BUILTINS, "builtins"), "Callable": "collections.abc",
    "Sequence": "collections.abc", "EllipsisType": "types", "Any": "typing", "Literal": "typing",
    "Self": "typing", "SupportsIndex": "typing", "overload": "typing", "Tensor": "{up}core.tensor",
    "Size": "{up}core.tensor", "Number": "{up}types", "Device": "{up}types",
    "SupportsArray": "{up}types", "dtype": "{up}base.dtypes", "layout": "{up}base.layouts",
    "memory_format": "{up}base.layouts", "Generator": "{up}random", "return_types": "{up}",
}
"""The modules that the words of annotations come from."""
INDEX = ("SupportsIndex | slice | EllipsisType | None | Tensor | SupportsArray | list[Any] | "
         "tuple[Any, ...]")


# ---------------------------------------------------------------- signatures


def signatures(space: str, name: str, function: Any) -> list[str]:
    """The signatures of a public function, as text."""
    written = OVERLOADS.get(f"{space}.{name}") or OVERLOADS.get(name)
    return written or [declared(space, name, function)]


def declared(space: str, name: str, function: Any) -> str:
    """The signature that a function shows, with the types that it leaves open."""
    shown = inspect.signature(function)
    parameters = [p.replace(annotation=Plain(argument(name, p)), default=default(p))
                  for p in shown.parameters.values()]
    result = str(shown.return_annotation).replace("Self", "Tensor")
    if result in ("Any", str(inspect.Signature.empty)):
        result = RESULTS.get(f"{space}.{name}") or RESULTS.get(name, "Tensor")
    if "return_types" in result:
        parameters = [p.replace(annotation=Plain("Sequence[Tensor] | None")) if p.name == "out"
                      else p for p in parameters]
    return str(shown.replace(parameters=parameters, return_annotation=Plain(result)))


class Plain:
    """Text that prints as it is, in the place of an annotation or a default."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text


def argument(name: str, parameter: inspect.Parameter) -> str:
    annotation = public(parameter.annotation)
    if annotation not in ("Any", "Array", str(inspect.Parameter.empty)):
        return annotation
    known = ARGUMENTS.get(f"{name}.{parameter.name}") or ARGUMENTS.get(parameter.name)
    if known is None and parameter.name != "self":
        raise LookupError(f"docs/stub_types.py does not say what the argument '{parameter.name}' "
                          f"of {name} may be")
    return known or "Tensor"


def default(parameter: inspect.Parameter) -> Any:
    """A default as a stub may write it."""
    value = parameter.default
    plain = value is inspect.Parameter.empty or value is None \
        or isinstance(value, (bool, int, float, str)) or value == ()
    return value if plain else Plain("...")


def as_method(signature: str) -> str:
    """The signature of the method that a function is, called on its first argument."""
    tree = parsed(signature)
    positional = [*tree.args.posonlyargs, *tree.args.args]
    positional[0].arg, positional[0].annotation = "self", None
    for found in list(tree.args.kwonlyargs):
        if found.arg == "out":
            place = tree.args.kwonlyargs.index(found)
            del tree.args.kwonlyargs[place], tree.args.kw_defaults[place]
    return unparsed(tree)


def parsed(signature: str) -> ast.FunctionDef:
    tree = ast.parse(f"def f{signature}: ...").body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree


def unparsed(tree: ast.FunctionDef) -> str:
    return ast.unparse(tree).removeprefix("def f").removesuffix(":\n    ...")


# ---------------------------------------------------------------- text


class Scope:
    """A namespace of a stub: it renames the words of annotations that it gives a new meaning."""

    def __init__(self, names: Iterable[str], up: str = "."):
        self.hidden = {word for word in names if WORDS.get(word) == "builtins"}
        self.up = up
        self.used: set[str] = set()

    def translated(self, signature: str) -> str:
        tree = parsed(signature)
        arguments = tree.args
        for found in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs,
                      arguments.vararg, arguments.kwarg):
            if found is not None and found.annotation is not None:
                found.annotation = self._annotation(found.annotation)
        assert tree.returns is not None
        tree.returns = self._annotation(tree.returns)
        return unparsed(tree)

    def _annotation(self, node: ast.expr) -> ast.expr:
        for found in ast.walk(node):
            if isinstance(found, ast.Name):
                found.id = self.word(found.id)
        return node

    def word(self, word: str) -> str:
        self.used.add(word)
        return "_" + word if word in self.hidden else word

    def imports(self, defined: Container[str] = ()) -> list[str]:
        """The lines that bring in the words that were used and are not ``defined`` anyway."""
        return grouped(
            (WORDS[word].format(up=self.up), word, "_" + word if word in self.hidden else word)
            for word in self.used & WORDS.keys()
            if word in self.hidden or (WORDS[word] != "builtins" and word not in defined))


def grouped(imports: Iterable[tuple[str, str, str]], passed_on: bool = False) -> list[str]:
    """Import statements, by module, of (module, name, name here)."""
    by_module: dict[str, set[str]] = {}
    for module, name, here in imports:
        plain = name == here and not passed_on
        by_module.setdefault(module, set()).add(name if plain else f"{name} as {here}")
    return [line for module in sorted(by_module)
            for line in import_lines(module, sorted(by_module[module]))]


def import_lines(module: str, names: list[str]) -> Iterator[str]:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= WIDTH:
        yield line
        return
    yield f"from {module} import ("
    yield from (f"    {name}," for name in names)
    yield ")"


def function_text(name: str, found: list[str], doc: str | None, scope: Scope,
                  indent: str = "", ignored: str = "") -> Iterator[str]:
    """The definition of a function with its overloads and its docstring."""
    for signature in found:
        if len(found) > 1:
            yield f"{indent}@{scope.word('overload')}"
        yield from definition(indent, name, scope.translated(signature), ignored)
        if doc:
            yield from docstring(doc, indent + "    ")
        yield f"{indent}    ..."


def definition(indent: str, name: str, signature: str, ignored: str = "") -> Iterator[str]:
    """A ``def`` line, filled to the width of the page."""
    tree = parsed(signature)
    assert tree.returns is not None
    *most, last = list(pieces(tree.args)) or [""]
    head = f"{indent}def {name}("
    lines = [head]
    for text in [*(found + ", " for found in most), f"{last}) -> {ast.unparse(tree.returns)}:"]:
        if len(lines[-1] + text.rstrip()) > WIDTH and lines[-1].strip() != head.strip():
            lines.append(" " * len(head))
        lines[-1] += text
    lines[-1] += f"  # type: ignore[{ignored}]" if ignored else ""
    yield from (line.rstrip() for line in lines)


def pieces(given: ast.arguments) -> Iterator[str]:
    """The parameters of a function, one by one."""
    positional = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(positional) - len(given.defaults)) + list(given.defaults)
    for place, (found, value) in enumerate(zip(positional, defaults, strict=True), 1):
        yield piece(found, value)
        if place == len(given.posonlyargs):
            yield "/"
    if given.vararg is not None:
        yield "*" + piece(given.vararg)
    elif given.kwonlyargs:
        yield "*"
    for found, value in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield piece(found, value)
    if given.kwarg is not None:
        yield "**" + piece(given.kwarg)


def piece(found: ast.arg, value: ast.expr | None = None) -> str:
    annotation = f": {ast.unparse(found.annotation)}" if found.annotation else ""
    if value is None:
        return found.arg + annotation
    return found.arg + annotation + (" = " if annotation else "=") + ast.unparse(value)


def docstring(doc: str, indent: str) -> Iterator[str]:
    lines = inspect.cleandoc(doc).splitlines()
    quote = 'r"""' if "\\" in doc else '"""'
    if len(lines) == 1:
        yield f'{indent}{quote}{lines[0]}"""'
        return
    yield f"{indent}{quote}{lines[0]}"
    yield from (indent + line if line else "" for line in lines[1:])
    yield f'{indent}"""'


def page(doc: str, *blocks: Iterable[str]) -> str:
    text = "\n\n".join("\n".join(block) for block in map(list, blocks) if block)
    return HEADER.format(doc=doc.strip()) + "\n" + text.strip() + "\n"


# ---------------------------------------------------------------- the pages


def namespace_page(module: Any, space: str, names: dict[str, Any], up: str,
                   also: Iterable[str] = ()) -> str:
    """The stub of a module that offers declared functions."""
    scope = Scope(names, up)
    body = list(functions(space, names, scope))
    return page(module.__doc__, [*scope.imports(), *also], body)


def functions(space: str, names: dict[str, Any], scope: Scope) -> Iterator[str]:
    for name, function in sorted(names.items()):
        yield from function_text(name, signatures(space, name, function), function.__doc__, scope)


def functional_page() -> str:
    names = {name: value for name, value in vars(functional).items()
             if inspect.isfunction(value) and not name.startswith("_")}
    return namespace_page(functional, "nn.functional", names, "..", [
        "from ..ops.products.scaled import ScalingType as ScalingType, SwizzleType as SwizzleType"])


COUNTS = ["    n_fields: int", "    n_sequence_fields: int", "    n_unnamed_fields: int"]


def return_types_page() -> str:
    """Named results: tuples whose items also have names."""
    blocks = [["from typing import Any", "", "from .core.tensor import Tensor"],
              ["class _Result(tuple[Tensor, ...]):", *COUNTS],
              ["def result_type(name: str, *fields: str) -> Any:",
               *docstring(return_types.result_type.__doc__ or "", "    "), "    ..."]]
    for name, kind in vars(return_types).items():
        if not (inspect.isclass(kind) and kind.__mro__[1].__name__ == "_Result"):
            continue
        fields = kind.__match_args__
        items = ", ".join(["Tensor"] * len(fields))
        block = [f"class {name}(tuple[{items}]):", *COUNTS,
                 "    def __new__(cls, values: Any) -> Any: ..."]
        for field in fields:
            block += ["    @property", f"    def {field}(self) -> Tensor: ..."]
        blocks.append(block)
    return page(return_types.__doc__ or "", *blocks)


ATTACHED = (FunctionType, property, staticmethod)


def tensor_page() -> str:
    """The methods that ops give to Tensor, as a base class for checkers."""
    own = own_names()
    attached = {name: value for name, value in vars(Tensor).items()
                if name not in own and isinstance(value, ATTACHED)
                and (is_offered(name) or name == "_make_subclass")}
    scope = Scope(attached, "..")
    methods = [line for name, value in sorted(attached.items())
               for line in method_text(name, value, scope)]
    scope.used |= set(re.findall(r"\w+", INDEX))
    return page("The methods and operators that ops give to Tensor, for checkers and editors.",
                scope.imports(), [f"Index = {INDEX}"], ["class TensorMethods:", *methods])


def is_offered(name: str) -> bool:
    if name == "__getattr__":
        return False  # it words what is missing
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))


def own_names() -> set[str]:
    """What the class statement of Tensor defines itself."""
    tree = ast.parse((SOURCE / "core" / "tensor.py").read_text())
    body = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Tensor").body
    names = set()
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            names.add(statement.name)
        elif isinstance(statement, ast.Assign):
            names |= {t.id for t in statement.targets if isinstance(t, ast.Name)}
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            names.add(statement.target.id)
    return names


BINARY = re.compile(r"__[ri]?(add|sub|mul|matmul|truediv|floordiv|mod|div|pow|and|or|xor|lshift|"
                    r"rshift)__")


IN_PLACE = re.compile(r"__i\w+__|[a-z]\w*[a-z0-9]_|t_")
"""Methods that return the tensor that they are called on."""


def method_text(name: str, value: Any, scope: Scope) -> Iterator[str]:
    if isinstance(value, property):
        yield "    @property"
        yield from function_text(name, ["(self) -> Tensor"], value.__doc__, scope, "    ")
        if value.fset is not None:
            yield f"    @{name}.setter"
            yield f"    def {name}(self, value: {scope.word('Tensor')}) -> None: ..."
        return
    if isinstance(value, staticmethod):
        yield "    @staticmethod"
        yield from function_text(name, [declared("Tensor", name, value.__func__)],
                                 value.__func__.__doc__, scope, "    ")
        return
    is_equality = name in ("__eq__", "__ne__")  # which object has with another result
    if is_equality:
        found = ["(self, other: Any) -> Tensor"]
    elif BINARY.fullmatch(name):
        operand = "Tensor" if "matmul" in name else OPERAND
        found = [f"(self, other: {operand}) -> Tensor"]
    else:
        found = [as_method(s) for s in signatures("Tensor", name, value)]
    if IN_PLACE.fullmatch(name):
        found = [re.sub("-> Tensor$", "-> Self", s) for s in found]
    ignored = "override" if is_equality else ""
    yield from function_text(name, found, value.__doc__, scope, "    ", ignored)


def top_page() -> str:
    """The package itself: what it imports, what it loads when asked, what the ops declare."""
    names = PUBLIC["torch"]
    exported = [*top_level_imports(),
                *((f".{module}", name, name) for name, module in retrograd._LAZY_FUNCTIONS.items()),
                *((".", name, name) for name in retrograd._LAZY - retrograd._LAZY_FUNCTIONS.keys())]
    passed_on = {here for _, _, here in exported}
    scope = Scope({*names, *passed_on})
    body = list(functions("torch", names, scope))
    constants = ["newaxis: None", *(f"{name}: type[Tensor]" for name in sorted(TENSOR_TYPES))]
    return page(retrograd.__doc__ or "",
                [*scope.imports(passed_on), *grouped(exported, passed_on=True)], constants, body)


def top_level_imports() -> Iterator[tuple[str, str, str]]:
    """The public names that the package imports: (module, name, name here)."""
    for statement in ast.parse((SOURCE / "__init__.py").read_text()).body:
        if not isinstance(statement, ast.ImportFrom):
            continue
        module = "." * statement.level + (statement.module or "")
        for alias in statement.names:
            names = [alias.name] if alias.name != "*" else import_module(
                module, retrograd.__name__).__all__
            for name in names:
                here = alias.asname or name
                if here in dir(retrograd):
                    yield module, name, here


def pages() -> dict[Path, str]:
    """Every stub by the file that it belongs to."""
    return {
        SOURCE / "__init__.pyi": top_page(),
        SOURCE / "core" / "methods.pyi": tensor_page(),
        SOURCE / "nn" / "functional.pyi": functional_page(),
        SOURCE / "linalg.pyi": namespace_page(
            linalg, "linalg", PUBLIC["linalg"], ".",
            ["from .base.errors import LinAlgError as LinAlgError"]),
        SOURCE / "fft.pyi": namespace_page(fft, "fft", PUBLIC["fft"], ".",
                                           ["from .core.tensor import Tensor as Tensor"]),
        SOURCE / "special.pyi": namespace_page(special, "special", PUBLIC["special"], "."),
        SOURCE / "return_types.pyi": return_types_page(),
    }


def main() -> None:
    for path, text in pages().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
