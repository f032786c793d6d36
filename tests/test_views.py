"""Views: shared memory, bases, and what may be written through them."""

import pytest

import retrograd as torch

VIEWS = {
    "view": lambda x: x.view(3, 2),
    "reshape": lambda x: x.reshape(-1),
    "transpose": lambda x: x.transpose(0, 1),
    "permute": lambda x: x.permute(1, 0),
    "squeeze": lambda x: x.unsqueeze(0).squeeze(0),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "select": lambda x: x[1],
    "slice": lambda x: x[:, 1:],
    "step": lambda x: x[:, ::2],
    "narrow": lambda x: x.narrow(1, 0, 2),
    "diagonal": lambda x: x.diagonal(),
    "unfold": lambda x: x.unfold(1, 2, 1),
    "as_strided": lambda x: x.as_strided((2, 2), (3, 1), 1),
    "t": lambda x: x.t(),
    "mT": lambda x: x.mT,
    "flatten": lambda x: x.flatten(),
    "view_as": lambda x: x.view_as(x),
    "chain": lambda x: x.t()[1:].view(2, 2)[0],
}


def numbered():
    return torch.arange(6.0).view(2, 3).clone()


@pytest.mark.parametrize("make", VIEWS.values(), ids=VIEWS)
def test_a_view_shares_the_memory_of_its_base(make):
    base = numbered()
    view = make(base)
    assert view._is_view() and view._base is base
    before = view.clone()
    base.add_(100)
    assert torch.equal(view, before + 100)
    assert view._version == base._version == 1


@pytest.mark.parametrize("make", VIEWS.values(), ids=VIEWS)
def test_gradients_flow_through_a_view(make):
    x = numbered().requires_grad_()
    make(x).sum().backward()
    counted = torch.zeros(6)
    for position in make(torch.arange(6).view(2, 3)).flatten().tolist():
        counted[position] += 1
    assert torch.equal(x.grad, counted.view(2, 3))


@pytest.mark.parametrize("make", [v for k, v in VIEWS.items() if k != "unfold"],
                         ids=[k for k in VIEWS if k != "unfold"])
def test_a_write_through_a_view_is_differentiated(make):
    x = numbered().requires_grad_()
    y = x * 1
    make(y).mul_(10)
    y.sum().backward()
    expected = torch.ones(2, 3)
    make(expected).mul_(10)
    assert torch.equal(x.grad, expected)


def test_views_that_died_are_forgotten():
    base = torch.zeros(4, requires_grad=True) * 1
    first = base[:1]
    for _ in range(1000):
        base[1:]
    assert len(base._vc.views) < 300
    base.add_(1)
    assert first.tolist() == [1.0] and first.grad_fn is not None
    many = [base[:2] for _ in range(1000)]  # and those that live are not
    base.mul_(3)
    assert all(view.tolist() == [3.0, 3.0] for view in many)
    assert len({type(view.grad_fn).__name__ for view in many}) == 1


def test_views_of_views_have_one_base():
    base = torch.zeros(2, 3)
    view = base.view(6)[1:].unsqueeze(0)
    assert view._base is base
    assert base._base is None and not base._is_view()


PARTS = {
    "slices": lambda x: x[:2, 1:], "ints": lambda x: x[1, -1], "both": lambda x: x[1, :2, ::2],
    "behind": lambda x: x[:, 0, 1:2], "empty": lambda x: x[3:, 2:1], "new": lambda x: x[None, 1, 0],
    "backwards": lambda x: x[1, :, ::-1]}


@pytest.mark.parametrize("cut", PARTS.values(), ids=PARTS)
def test_a_part_that_is_cut_at_once_is_what_single_cuts_lead_to(cut):
    base = torch.arange(24.0).view(2, 3, 4).clone()
    recorded = base.clone().requires_grad_()
    part, step_by_step = cut(base), cut(recorded)
    assert torch.equal(part, step_by_step.detach())
    assert part.stride() == step_by_step.stride()
    assert part.storage_offset() == step_by_step.storage_offset()
    assert part._is_view() == step_by_step._is_view()
    if part._is_view():
        assert part._base is base
        assert _steps_of(part) == _steps_of(step_by_step)


def _steps_of(view):
    known, steps = view._view, []
    while known is not None:
        steps.append((known.op, known.static))
        known = known.parent
    return steps


def test_a_part_that_was_cut_at_once_gets_the_history_of_its_base():
    base, weight = torch.ones(3, 4), torch.ones(3, 4, requires_grad=True)
    part = base[1:, :2]
    base.mul_(weight)
    assert part.grad_fn is not None
    part.sum().backward()
    assert weight.grad.tolist() == [[0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0]]


def test_detach_is_no_view_of_the_graph():
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).detach()
    assert not y.requires_grad and y.is_leaf
    y.add_(1)
    assert y.tolist() == [3.0, 3.0]


def test_copies_are_not_views():
    base = numbered()
    for copy in (base.clone(), base.t().contiguous(), base[[0, 1]], base[base > 0], base + 0,
                 base.t().reshape(-1)):
        assert not copy._is_view() and copy._base is None


def test_several_views_of_one_call():
    x = torch.ones(4, requires_grad=True)
    y = x * 1
    a, b = y.split(2)
    assert a.grad_fn is b.grad_fn and (a.output_nr, b.output_nr) == (0, 1)
    with pytest.raises(RuntimeError, match=r"Output 0 of Split is a view and is being modified "
                                           r"inplace. This view is the output of a function that "
                                           r"returns multiple views"):
        a.add_(1)
    with torch.no_grad():
        a.add_(1)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="Output 1 of Split is a view and its base or another "
                                           "view of its base has been modified inplace"):
        _ = b.grad_fn


def test_several_views_of_a_plain_tensor_may_be_written_to():
    x = torch.zeros(4)
    for part in x.split(2):
        part.add_(1)
    for element in x:
        element.mul_(3)
    assert x.tolist() == [3.0] * 4


def test_detach_in_place_is_refused_for_views():
    x = torch.ones(2, requires_grad=True) * 1
    with pytest.raises(RuntimeError, match="Can't detach views in-place"):
        x[:1].detach_()
    x.detach_()
    assert x.is_leaf and not x.requires_grad


def test_a_view_of_a_leaf_follows_updates_under_no_grad():
    w = torch.ones(2, requires_grad=True)
    v = w.view(2, 1)
    with torch.no_grad():
        w.mul_(3)
    assert v.tolist() == [[3.0], [3.0]]
    (v * v).sum().backward()
    assert w.grad.tolist() == [6.0, 6.0]


def test_a_view_taken_under_no_grad_leads_nowhere():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        v = x.view(2)
    assert v.requires_grad
    assert [node and node.name() for node, _ in (v * x).grad_fn.next_functions] == [
        None, "torch::autograd::AccumulateGrad"]


def test_views_taken_and_used_under_no_grad_while_the_base_changes():
    w = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        flat = w.view(-1)
        w.add_(1)
        assert (flat * 2).tolist() == [4.0, 4.0]
        flat.add_(1)
    assert w.tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and its base or "
                                           "another view of its base has been modified inplace"):
        _ = flat.grad_fn


def test_requires_grad_on_a_view_of_a_plain_tensor():
    base = torch.zeros(3)
    v = base[:2].requires_grad_()
    assert v.is_leaf and not base.requires_grad
    (v * 2).sum().backward()
    assert v.grad.tolist() == [2.0, 2.0]
    base.add_(1)
    assert v.requires_grad and v.tolist() == [1.0, 1.0]


def test_a_view_outlives_its_base():
    def make():
        base = torch.arange(3.0)
        return base[1:]

    view = make()
    assert view.tolist() == [1.0, 2.0]
    assert view._base.tolist() == [0.0, 1.0, 2.0]
