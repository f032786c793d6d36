"""``explain``: which parameters a loss reaches, along which path, and what cuts off the others."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..base.call_sites import Site, user_frame
from ..base.errors import type_name, wrong_type
from ..base.tables import plain_table, rich_table
from ..core.cuts import EXITS, Cut, all_cuts
from ..core.graph import Node, Released, short_name
from ..core.saved_values import saved_value
from ..core.tensor import Tensor, edge_of
from .graph import GradientEdge
from .watching import holders_in, leaves_of

_WORDS = {"detach": ".detach()", "data": ".data", "detach_": ".detach_()",
          "no_grad": "no_grad or inference_mode, which was on",
          "item": ".item()", "tolist": ".tolist()", "numpy": ".numpy()",
          **dict.fromkeys(("to_copy", "to_exact"), "a cast to a dtype that has no gradients")}
_MOST_STEPS = 8


class Step(NamedTuple):
    """A recorded operation on the way of a gradient; the line is 0 where none was kept."""

    name: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.name} (line {self.line})" if self.line else self.name


class Place(NamedTuple):
    """Where gradients stop: by what, and the line of the program.

    ``is_certain`` says whether it is known that the parameter lies behind; else it may.
    """

    how: str
    file: str
    line: int
    function: str
    source: str
    is_certain: bool = True

    @classmethod
    def of(cls, how: str, site: Site, is_certain: bool = True) -> Place:
        code, line = site.code, site.line
        if code is None:
            return cls(how, "", 0, "", "", is_certain)
        return cls(how, code.co_filename, line, code.co_name,
                   linecache.getline(code.co_filename, line).strip(), is_certain)

    def __str__(self) -> str:
        if not self.line:
            return self.how
        where = f'File "{self.file}", line {self.line}, in {self.function}'
        return f"{self.how}\n{where}" + (f"\n  {self.source}" if self.source else "")


class Parameter(NamedTuple):
    """What was found out about one parameter.

    ``status`` is "reached", "overwritten" (reached, by zeros alone), "frozen" (it does not require
    grad), "cut", "left" (its values went through Python or NumPy), or "unused".
    """

    name: str
    parameter: Tensor
    status: str
    path: tuple[Step, ...] = ()
    places: tuple[Place, ...] = ()

    @property
    def is_reached(self) -> bool:
        return self.status == "reached"

    @property
    def why(self) -> str:
        """The path of its gradient, or what is in the way, in words."""
        if self.status == "reached":
            return shown_path(self.path)
        if self.status == "frozen":
            return "\n".join(["requires_grad is False", *[f"cut by {p}" for p in self.places]])
        if self.status == "unused":
            return "nothing that was computed from it is in the graph of the loss"
        start = {"overwritten": "its gradient is zero: overwritten in place by ",
                 "left": "left the graph by "}.get(self.status, "cut by ")
        told = [start + str(p) if p.is_certain else f"unused, or {start}{p}" for p in self.places]
        return "\n".join(told)


def shown_path(path: tuple[Step, ...]) -> str:
    """A path in one line: its first and last operations, if it has many."""
    if len(path) > _MOST_STEPS:
        half = _MOST_STEPS // 2
        left_out = f"... {len(path) - 2 * half} more ..."
        return " <- ".join([*map(str, path[:half]), left_out, *map(str, path[-half:])])
    return " <- ".join(map(str, path)) or "it is the loss"


class Explanation(Sequence[Parameter]):
    """What :func:`explain` found: one :class:`Parameter` for each, also by name; prints a table.

    ``stale`` holds the errors that a backward pass would raise, since saved values were
    overwritten in place, and ``is_over`` says whether one has freed the graph already.
    """

    def __init__(self, parameters: list[Parameter], stale: list[str], is_over: bool) -> None:
        self.parameters, self.stale, self.is_over = tuple(parameters), stale, is_over

    def __len__(self) -> int:
        return len(self.parameters)

    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, str):
            for parameter in self.parameters:
                if parameter.name == which:
                    return parameter
            raise KeyError(which)
        return self.parameters[which]

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self.parameters)

    @property
    def missing(self) -> list[Parameter]:
        """The parameters that require a gradient and get none, or zeros alone."""
        return [p for p in self.parameters if p.status not in ("reached", "frozen")]

    _HEADERS = ("parameter", "shape", "gradient", "path from the loss, or what is in the way")

    def _rows(self) -> list[tuple[str, ...]]:
        return [(p.name, str(list(p.parameter.shape)), p.status, p.why) for p in self.parameters]

    def _title(self) -> str:
        reached = sum(p.is_reached for p in self.parameters)
        return f"gradients reach {reached} of {len(self.parameters)} parameters"

    def _warnings(self) -> str:
        return "".join(f"\n\nbackward would fail: {words}" for words in self.stale)

    def __str__(self) -> str:
        table = plain_table(self._HEADERS, self._rows())
        return f"{self._title()}\n\n{table}{self._warnings()}"

    __repr__ = __str__

    def __rich__(self) -> Any:
        from rich.console import Group

        return Group(rich_table(self._title(), self._HEADERS, self._rows()), self._warnings())


def explain(loss: Any, model_or_params: Any = None) -> Explanation:
    """Say for each parameter whether a gradient of ``loss`` reaches it, and if not, why.

    The parameters are those of a module, an optimizer, a dict, (name, tensor) pairs or tensors;
    without any, those that the caller's variables hold. It may be asked before and after backward.

    >>> import retrograd as torch
    >>> w, b = torch.ones(2, requires_grad=True), torch.zeros(2, requires_grad=True)
    >>> found = torch.explain((w.detach() * b).sum(), {"w": w, "b": b})
    >>> found["b"].status, found["w"].status, found["w"].places[0].how
    ('reached', 'cut', '.detach()')
    """
    roots = tuple(loss) if isinstance(loss, (tuple, list)) else (loss,)
    for root in roots:
        if not isinstance(root, (Tensor, GradientEdge)):
            raise wrong_type("explain", "loss", None, "a Tensor", root)
    named = named_parameters(model_or_params)
    graph = _Reach(roots)
    return Explanation([graph.about(name, tensor) for name, tensor in named.items()],
                       graph.stale(), graph.is_over())


def why_unused(outputs: tuple[Any, ...], tensor: Any) -> str:
    """A sentence for the error of an input that no gradient reaches: where it was cut off."""
    if isinstance(tensor, GradientEdge):
        return ""
    found = _Reach(outputs).about("", tensor)
    why = found.why.replace("\n", "\n  ")
    return "" if not found.places else f"\nIt {'was ' if found.status == 'cut' else ''}{why}"


def named_parameters(given: Any, function: str = "explain", depth: int = 1) -> dict[str, Tensor]:
    """What a function was given as parameters, by name; tensors alone have those of variables."""
    if hasattr(given, "named_parameters"):
        return dict(given.named_parameters())
    frame = user_frame(sys._getframe(depth + 1))
    if given is None:
        return leaves_of(holders_in(frame))
    if isinstance(given, Tensor):
        given = [given]
    elif hasattr(given, "param_groups"):
        given = [p for group in given.param_groups for p in group["params"]]
    if hasattr(given, "items"):
        pairs = list(given.items())
    elif isinstance(given, Iterable):
        pairs = [pair if isinstance(pair, tuple) else (None, pair) for pair in given]
    else:
        name = "model_or_params" if function == "explain" else "params"
        raise wrong_type(function, name, None, "a Module, an Optimizer, a dict or tensors", given)
    known: dict[int, str] = {}
    if any(name is None for name, _ in pairs):
        known = {id(leaf): name for name, leaf in leaves_of(holders_in(frame)).items()}
    found: dict[str, Tensor] = {}
    for position, (name, tensor) in enumerate(pairs):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{function}(): a parameter must be a Tensor, not {type_name(tensor)}")
        found[name or known.get(id(tensor), f"parameter {position}")] = tensor
    return found


class _Reach:
    """What can be reached from some tensors, and where gradients stop on the way."""

    def __init__(self, roots: tuple[Any, ...]) -> None:
        edges = [root.as_edge() if isinstance(root, GradientEdge) else edge_of(root)
                 for root in roots]
        self.before: dict[Any, Any] = dict.fromkeys(edge for edge in edges if edge is not None)
        self.barriers: list[tuple[Any, Any]] = []  # nodes that overwrite, with what lies behind
        raw = [root._cut for root, edge in zip(roots, edges, strict=True)
               if edge is None and root._cut is not None]
        order = list(self.before)
        self._walk(order, self.before)
        self.nodes = [node for node in order if isinstance(node, Node)]
        for node in self.nodes:
            raw += node.cuts
            raw += [cut[:6] for cut in all_cuts(getattr(node, "cuts_inside", ()))
                    if cut.how != "no_grad"]
        self.cuts = all_cuts(raw)
        self.newest = max([node.seq for node in self.nodes], default=None)

    def _walk(self, order: list[Any], before: dict[Any, Any], stops: bool = True) -> None:
        for edge in order:
            if isinstance(edge, Tensor):
                continue
            further = (edge.node,) if edge.is_output else edge.edges()
            if stops and not edge.is_output and _overwrites(edge):
                self.barriers.append((edge, further[0]))
                further = further[1:]
            for after in further:
                if after is not None and after not in before:
                    before[after] = edge
                    order.append(after)

    def about(self, name: str, tensor: Tensor) -> Parameter:
        """What there is to say of one parameter."""
        if not tensor.requires_grad:
            places = [Place.of(words_of(cut), cut.site) for cut in all_cuts(filter(None,
                                                                                [tensor._cut]))]
            return Parameter(name, tensor, "frozen", places=tuple(places[:1]))
        edge = edge_of(tensor)
        if edge in self.before:
            return Parameter(name, tensor, "reached", self._path(edge, self.before))
        for node, behind in self.barriers:
            before: dict[Any, Any] = {behind: node}
            self._walk([behind], before, stops=False)
            if edge in before:
                path = (*self._path(node, self.before), *self._path(edge, before, node))
                return Parameter(name, tensor, "overwritten", path,
                                 (Place.of(short_name(node), node.site),))
        for node in self.nodes:
            if any(self._lies_behind(tensor, cut.behind)  # of a checkpoint, which is run again
                   for cut in all_cuts(getattr(node, "cuts_inside", ()))
                   if cut.how == "no_grad"):
                return Parameter(name, tensor, "reached", self._path(node, self.before))
        certain = [cut for cut in self.cuts if self._lies_behind(tensor, cut.behind)]
        if certain:
            return Parameter(name, tensor, "cut", places=self._places(certain, True))
        exits = [Cut(*raw[:4]) for raw in reversed(tuple(EXITS.values()))
                 if self.newest is None or raw[4] <= self.newest]
        left = [cut for cut in exits if self._lies_behind(tensor, cut.behind)]
        if left:
            return Parameter(name, tensor, "left", places=self._places(left, True))
        unclear = [cut for cut in self.cuts if _is_unclear(cut)]
        if unclear:
            return Parameter(name, tensor, "cut", places=self._places(unclear, False))
        return Parameter(name, tensor, "unused")

    def _places(self, cuts: list[Cut], is_certain: bool) -> tuple[Place, ...]:
        found = dict.fromkeys(Place.of(words_of(cut), cut.site, is_certain) for cut in cuts)
        return tuple(found)[:3]

    def _lies_behind(self, leaf: Tensor, behind: Any) -> bool:
        for reference in behind or ():
            found = reference()
            if found is leaf:
                return True
            if isinstance(found, Node):
                before: dict[Any, Any] = {found: None}
                self._walk([found], before, stops=False)
                if leaf in before:
                    return True
        return False

    def _path(self, edge: Any, before: dict[Any, Any], start: Any = None) -> tuple[Step, ...]:
        steps = []
        at = before[edge] if isinstance(edge, Tensor) else edge
        while at is not None and at is not start:
            if not at.is_output:
                site = at.site
                steps.append(Step(short_name(at), site.code.co_filename if site.code else "",
                                  site.line))
            at = before[at]
        return tuple(reversed(steps))

    def is_over(self) -> bool:
        """Whether a backward pass has freed what the graph saved."""
        return any(isinstance(kept, Released) for node in self.nodes for *_, kept in _saved(node))

    def stale(self) -> list[str]:
        """The errors of saved values that were overwritten since."""
        found = []
        for node in self.nodes:
            for slot, kind, kept in _saved(node):
                if kept is None or isinstance(kept, Released):
                    continue
                try:
                    saved_value(node, slot, kind)
                except RuntimeError as error:
                    found.append(str(error))
        return [*dict.fromkeys(found)][:3]  # one that was saved under two names is one


def _saved(node: Any) -> Iterator[tuple[str, str, Any]]:
    """What a node keeps of inputs and outputs, with where and which of these it is."""
    return ((slot, kind, getattr(node, slot if kind == "input" else "out_" + slot, None))
            for _, slot, kind in node.saved_names if kind != "static")


def _overwrites(node: Any) -> bool:
    """Whether a write left nothing of what was in the memory."""
    op = getattr(node, "op", None)
    return op is not None and (op.fills or op.name == "_copy")


def _is_unclear(cut: Cut) -> bool:
    """Whether anything may lie behind a cut."""
    return cut.behind is None or any(reference() is None for reference in cut.behind)


def words_of(cut: Cut) -> str:
    name = cut.how.strip("_")
    return _WORDS.get(cut.how) or _WORDS.get(name) or f"{name}, which has no derivative"
