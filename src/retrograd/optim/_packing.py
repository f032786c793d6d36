"""Steps on packs of raw arrays: which parameters move together, and which one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter, is_, itemgetter
from typing import Any, ClassVar

from ..autograd.grad_mode import enable_grad, set_grad_enabled
from ..backend.numpy import fused
from ..base import call_sites
from ..base.modes import MODE
from ..core.extensions import SPARSE_TENSORS
from ..core.graph import INFERENCE
from ..core.tensor import Tensor
from .optimizer import Group, Optimizer, Params

_data = attrgetter("_data")


class Pack:
    """Parameters of one dtype whose optimizer state lies in one block of memory.

    The tensors in the optimizer's state are views of that block. Users may replace any of them, so
    before each step it is verified that nothing was exchanged since the pack was made.
    """

    def __init__(self, params: list[Tensor], states: list[dict], names: Sequence[str],
                 counts: Sequence[str], chunks_joined: int) -> None:
        self.params, self.states = params, states
        self.arrays = [param._array() for param in params]
        count_dtype = states[0][counts[0]]._data.dtype if counts else None
        self.block = fused.PackedParameters(self.arrays, len(names), len(counts), count_dtype,
                                            chunks_joined)
        views = [(name, self.block.row_views(row)) for row, name in enumerate(names)]
        views += [(name, self.block.count_views(column)) for column, name in enumerate(counts)]
        self.adopted = [self._adopt(name, arrays) for name, arrays in views]

    def _adopt(self, name: str, views: list[Any]) -> tuple[Callable, list[Tensor], list[Any]]:
        tensors = [state[name] for state in self.states]
        for tensor, view in zip(tensors, views):
            view[...] = tensor._data
            tensor._replace_data(view)
        return itemgetter(name), tensors, views

    def is_current(self, state: dict) -> bool:
        """Whether parameters and state are still the tensors and the memory packed here."""
        if not all(map(is_, map(_data, self.params), self.arrays)):
            return False
        if not self.adopted:
            return True
        if not all(map(is_, map(state.get, self.params), self.states)):
            return False
        try:
            return all(all(map(is_, map(get, self.states), tensors))
                       and all(map(is_, map(_data, tensors), views))
                       for get, tensors, views in self.adopted)
        except KeyError:
            return False

    def grads(self) -> list[Any]:
        """Return the gradients as arrays, None where there is none."""
        return [None if (grad := param._grad) is None else grad._data for param in self.params]

    def counters(self, grads: list[Any]) -> Iterator[Any]:
        """The versions of the parameters that have a gradient."""
        return iter([counter for param, grad in zip(self.params, grads)
                     if grad is not None and (counter := param._counter()) is not INFERENCE])


def count_writes(counters: Iterator[Any], writes: int, site: call_sites.Site) -> None:
    """Count ``writes`` to every parameter, as PyTorch would have made."""
    code, lasti = site
    for counter in counters:
        counter.n, counter.code, counter.lasti = counter.n + writes, code, lasti


class GroupUpdate:
    """How the parameters of one group are updated: in packs of those that are alike, or singly.

    ``names`` are the state tensors shaped like the parameter. An update is provisional if the step
    it is made for will give a parameter the state it lacks, or has an old gradient to new data.
    """

    def __init__(self, optimizer: PackedOptimizer, params: list[Tensor],
                 names: Sequence[str]) -> None:
        state, counts = optimizer.state, optimizer._counts
        self.params = list(params)
        self.names = names
        self.single: list[Tensor] = []
        self.idle: list[Tensor] = []
        self.provisional = False
        apart = len({id(param) for param in params}) == len(params) \
            and fused.lie_apart(list(map(_data, params)))
        groups: dict[Any, list[Tensor]] = {}
        for param in params:
            stateless = not optimizer._has_state(param)
            if param._grad is None and stateless:
                self.idle.append(param)
                continue
            packable = apart and fused.is_packable(param._data) and _form(param) is not None
            if not packable or not _suits(param._grad, param._data) or (names and stateless):
                self.single.append(param)
                self.provisional |= packable
                continue
            kind = _kind(param, [state[param][name] for name in names],
                         [state[param][name] for name in counts])
            (self.single if kind is None else groups.setdefault(kind, [])).append(param)
        self.packs = [
            Pack(members, [state[param] for param in members] if names else [], names, counts,
                 optimizer._chunks_joined)
            for members in groups.values()]

    def is_current(self, params: list[Tensor], names: Sequence[str], state: dict) -> bool:
        """Whether the update still fits the group and its state."""
        return (not self.provisional
                and names == self.names
                and len(params) == len(self.params)
                and all(map(is_, params, self.params))
                and not any(param._grad is not None for param in self.idle)
                and not any(is_sparse(param._grad) for pack in self.packs for param in pack.params
                            if SPARSE_TENSORS)
                and all(pack.is_current(state) for pack in self.packs))


def _suits(grad: Tensor | None, array: Any) -> bool:
    """Whether a gradient, if there is one, was computed for data of this form."""
    return grad is None or (not is_sparse(grad) and (grad._data.shape, grad._data.dtype)
                            == (array.shape, array.dtype))


def is_sparse(grad: Tensor | None) -> bool:
    """Whether a gradient has only some of its elements."""
    return type(grad) in SPARSE_TENSORS


def _kind(param: Tensor, rows: list[Any], numbers: list[Any]) -> tuple[Any, ...] | None:
    """What the members of a pack have in common; None if a pack cannot hold this state."""
    form, number_forms = _form(param), {_form(number) for number in numbers}
    if any(_form(row) != form for row in rows) or len(number_forms) > 1 \
            or {each and each[0] for each in number_forms} - {()}:
        return None
    # Those that move now, and those that moved as often, will mostly go on together.
    return (param._data.dtype, param._grad is None, *number_forms,
            *(number.item() for number in numbers))


def _form(tensor: Any) -> tuple[tuple[int, ...], Any] | None:
    """Shape and dtype; None for what is no tensor, or lies in memory that other processes see."""
    if not isinstance(tensor, Tensor) or tensor.is_shared():
        return None
    return tensor._data.shape, tensor._data.dtype


class PackedOptimizer(Optimizer):
    """An optimizer that moves packs of parameters at once, and differentiable steps singly."""

    _counts: ClassVar[tuple[str, ...]] = ()  # the state tensors that are numbers
    _chunks_joined = 1  # the slower a call, the more elements it is worth making for
    _later_options: ClassVar[dict[str, Any]] = {}  # a state saved long ago may lack them
    _takes_sparse = False  # gradients
    _refuses_autograd = True  # of steps taken together

    def __init__(self, params: Params, defaults: dict[str, Any]) -> None:
        super().__init__(params, defaults)
        if defaults.get("fused") and defaults.get("differentiable"):
            raise RuntimeError("`fused` does not support `differentiable`")
        if defaults.get("fused") and defaults.get("foreach"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        self._group_updates: dict[int, GroupUpdate] = {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._group_updates = {}
        for group in self.param_groups:
            for name, value in self._later_options.items():
                group.setdefault(name, value)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move every parameter that has a gradient; ``closure`` computes the loss anew."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for number, group in enumerate(self.param_groups):
            if group.get("foreach") and group.get("differentiable") and self._refuses_autograd:
                raise AssertionError("_foreach ops don't support autograd")
            if group.get("capturable"):
                raise AssertionError(
                    "If capturable=True, params and state_steps must be on supported devices: "
                    "['cuda', 'xpu', 'hpu', 'privateuseone', 'xla'].")
            packs, single = [], group["params"]
            if self._is_packed(group):
                update = self._group_update(number, group)
                packs, single = update.packs, update.single
            if single:  # before the packs: if one is refused, these stay where they are
                with set_grad_enabled(bool(group.get("differentiable"))):
                    self._move_singly(group, single)
            journal = MODE.get().journal
            for pack in packs:
                if journal is not None:
                    for param in pack.params:
                        journal.note_out("step", param, param._data)
                grads = pack.grads()
                counters, writes, site = pack.counters(grads), 1, call_sites.here()
                try:
                    writes = self._update_packed(group, pack.block, grads)
                finally:
                    try:
                        count_writes(counters, writes, site)
                    finally:  # an interrupt leaves the counters that are to come
                        count_writes(counters, writes, site)
        return loss

    def _group_update(self, number: int, group: Group) -> GroupUpdate:
        params, names = group["params"], self._state_names(group)
        update = self._group_updates.get(number)
        if update is None or not update.is_current(params, names, self.state):
            self._prepare(group)
            update = GroupUpdate(self, params, names)
            self._group_updates[number] = update
        return update

    def _is_packed(self, group: Group) -> bool:
        """Whether parameters of a group may be moved at once."""
        return not group.get("differentiable")

    def _refuse_sparse(self, params: list[Tensor]) -> None:
        if not self._takes_sparse and any(is_sparse(param._grad) for param in params):
            from .adam import Adam

            name = "Adam" if isinstance(self, Adam) else type(self).__name__
            raise RuntimeError(f"{name} does not support sparse gradients"
                               + ", please consider SparseAdam instead" * (name == "Adam"))

    def _move_singly(self, group: Group, params: list[Tensor]) -> None:
        self._refuse_sparse(params)
        for param in params:
            if param.grad is not None:
                self._move(group, param, param.grad)

    def _state_names(self, group: Group) -> tuple[str, ...]:
        """Return the names of the state tensors that are shaped like the parameter."""
        raise NotImplementedError

    def _prepare(self, group: Group) -> None:
        """Give parameters the state that packs need, if the first step alone does not."""

    def _has_state(self, param: Tensor) -> bool:
        return bool(self.state.get(param))

    def _update_packed(self, group: Group, block: fused.PackedParameters, grads: list[Any]) -> int:
        """Move all parameters of a block; return how often PyTorch would write to each."""
        raise NotImplementedError

    def _move(self, group: Group, param: Tensor, grad: Tensor) -> None:
        """Move one parameter by operations on tensors."""
        raise NotImplementedError
