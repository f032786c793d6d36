"""Corners of single rules: ties, poles, first steps, what is undone and what is left alone."""

import math
import warnings

import pytest

import retrograd as torch


def leaf(*numbers):
    return torch.tensor(numbers, requires_grad=True)


def gradients(output, *inputs):
    return [g.tolist() for g in torch.autograd.grad(output.sum(), inputs)]


def test_at_a_tie_with_a_tensor_bound_the_gradient_is_the_inputs():
    x, low, high = leaf(1.0, 2.0, 3.0), leaf(1.0, 1.0, 4.0), leaf(5.0, 2.0, 3.0)
    assert gradients(torch.clamp(x, min=low), x, low) == [[1, 1, 0], [0, 0, 1]]
    assert gradients(torch.clamp(x, max=high), x, high) == [[1, 1, 1], [0, 0, 0]]
    assert gradients(torch.clamp(x, low - 2, high), x, low, high) == [[1, 1, 1], [0] * 3, [0] * 3]


def test_a_negative_number_to_the_power_of_a_tensor_has_no_gradient_but_nan():
    x = leaf(2.0, 0.0, -1.0)
    assert all(map(math.isnan, gradients((-2.0) ** x, x)[0]))
    assert gradients(0.0 ** x[:2], x) == [[0, 0, 0]]
    assert gradients(2.0 ** x, x)[0] == pytest.approx([n * math.log(2) for n in (4, 1, 0.5)])


def test_r_alone_has_no_gradient():
    a = torch.eye(2, requires_grad=True)
    r = torch.linalg.qr(a, mode="r").R
    assert type(r.grad_fn).__name__ == "LinalgQrBackward0"
    with pytest.raises(RuntimeError, match="depends on Q, which is not computed when mode='r'"):
        r.sum().backward()


def test_the_gradient_of_xlogy_beside_zero():
    x = leaf(0.0, 1.0)
    assert gradients(torch.xlogy(x, 0.0), x) == [[0.0, -math.inf]]
    assert gradients(torch.xlogy(x, torch.zeros(2)), x) == [[0.0, -math.inf]]


@pytest.mark.parametrize("name", ["log_", "sqrt_", "reciprocal_", "log2_", "acos_", "rsqrt_"])
def test_a_write_beyond_the_domain_warns_of_nothing(name):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        x = torch.tensor([-2.0, 0.0, 2.0])
        getattr(x, name)()
        assert not x.isfinite().all()
    assert not told


def test_a_copy_that_a_batch_writes_to_is_not_its_input():
    x = torch.arange(8.0).reshape(2, 2, 2)
    found = torch.func.vmap(lambda v: v.diag().mul_(2))(x)
    assert found.tolist() == [[0, 6], [8, 14]]
    assert x.tolist() == torch.arange(8.0).reshape(2, 2, 2).tolist()


@pytest.mark.parametrize("nesterov", [False, True])
def test_the_first_differentiable_step_with_momentum(nesterov):
    c = leaf(3.0)
    p = leaf(1.0, 2.0) * 1
    p.grad = given = c * p.detach() ** 2
    optimizer = torch.optim.SGD([p], lr=0.1, momentum=0.5, nesterov=nesterov, differentiable=True)
    optimizer.step()
    buffer = optimizer.state[p]["momentum_buffer"]
    factor = 1.5 if nesterov else 1.0
    assert p.tolist() == pytest.approx([1 - 0.3 * factor, 2 - 1.2 * factor])
    assert buffer.tolist() == [3, 12] == given.tolist()
    assert buffer is not given and not buffer.requires_grad  # as PyTorch's, which is detached
    (through,) = torch.autograd.grad(p.sum(), c, allow_unused=True)
    assert (through is None) is not nesterov


def test_what_an_inner_batch_drew_is_undone_before_the_outer_one_is_looped():
    def inner(row):
        return row + torch.randn(2)

    def outer(x):
        noisy = torch.func.vmap(inner, randomness="different")(x)
        return noisy * x.sum().item()

    xs = torch.arange(12.0).reshape(2, 3, 2)
    torch.manual_seed(3)
    expected, after = torch.stack([outer(x) for x in xs]), torch.randn(2)
    torch.manual_seed(3)
    with pytest.warns(UserWarning, match="once for each of 2 values"):
        found = torch.func.vmap(outer, randomness="different")(xs)
    assert found.tolist() == expected.tolist()
    assert torch.randn(2).tolist() == after.tolist()


@pytest.mark.parametrize("function", [torch.scatter_reduce, torch.index_reduce])
def test_products_in_which_zeros_meet_are_differentiated_once(function):
    start = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    factors = torch.tensor([0.0, 0.0, 3.0], dtype=torch.float64, requires_grad=True)
    product = function(start, 0, torch.tensor([0, 0, 1]), factors, "prod")
    (slopes,) = torch.autograd.grad(product.sum(), factors, create_graph=True)
    assert slopes.tolist() == [0.0, 0.0, 2.0]
    with pytest.raises(RuntimeError, match="Double backward is unsupported for src when >1 zeros"):
        slopes.sum().backward()


def test_classes_for_a_batch_of_rows_are_refused_in_the_words_of_sizes() -> None:
    with pytest.raises(RuntimeError, match=r"Expected target size \[2, 4\], got \[2\]"):
        torch.nn.functional.nll_loss(torch.zeros(2, 3, 4), torch.tensor([0, 1]))


def test_a_function_of_several_namespaces_is_named_after_the_first() -> None:
    for function in (torch.matmul, torch.xlogy, torch.logsumexp):
        assert function.__module__ == "retrograd"
    assert torch.linalg.matmul is torch.matmul and torch.special.xlogy is torch.xlogy


def test_debuggers_may_read_every_variable_of_a_frame():
    with pytest.raises(RuntimeError) as caught:
        torch.view_as_complex_copy(torch.ones(3))
    names = [sorted(entry.frame.f_locals) for entry in caught.traceback]
    assert len(names) > 2


@pytest.mark.parametrize("size", [3, 100_000])
@pytest.mark.parametrize("delta", [float("inf"), 1e60])
def test_a_huber_loss_without_a_bound_is_half_the_squared_error(delta, size):
    x = torch.linspace(-3, 3, size, requires_grad=True)
    loss = torch.nn.functional.huber_loss(x, torch.zeros(size), reduction="sum", delta=delta)
    assert torch.allclose(loss, x.square().sum() / 2)
    (slope,) = torch.autograd.grad(loss, x, create_graph=True)
    assert torch.allclose(slope, x)
    assert torch.allclose(torch.autograd.grad(slope.sum(), x)[0], torch.ones(size))


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("call", [
    torch.scatter, torch.scatter_add,
    *(lambda x, dim, index, src, reduce=reduce, own=own: torch.scatter_reduce(
        x, dim, index, src, reduce, include_self=own)
      for reduce in ("sum", "prod", "mean", "amax", "amin") for own in (False, True))])
def test_the_rest_of_a_source_that_is_scattered_has_no_gradient(call, dim):
    x = torch.arange(1.0, 13.0, dtype=torch.float64).reshape(3, 4).requires_grad_()
    src = (torch.arange(20.0, dtype=torch.float64).reshape(4, 5).sin() + 2).requires_grad_()
    index = torch.tensor([[0, 2, 1], [1, 0, 2]])

    def found(x, src):
        return call(x, dim, index, src) ** 2

    assert torch.autograd.gradcheck(found, (x, src))
    assert torch.autograd.gradgradcheck(found, (x, src))
    (grad,) = torch.autograd.grad(found(x, src).sum(), src)
    assert not grad[2:].any() and not grad[:, 3:].any() and grad[:2, :3].any()


@pytest.mark.parametrize("sides", [(2, -3), (-3, 2)])
def test_of_what_is_cut_off_nothing_comes_round(sides):
    x = torch.arange(6.0).reshape(1, 2, 3)
    with pytest.raises(RuntimeError, match="Negative padding value"):
        torch.nn.functional.pad(x, sides, "circular")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["i1", "i1e"])
def test_the_slope_of_bessels_function_beside_zero_is_a_half(name, dtype):
    pytest.importorskip("scipy")
    tiny = torch.finfo(dtype).smallest_normal
    x = torch.tensor([0.0, tiny / 1024, -tiny / 7, tiny], dtype=dtype, requires_grad=True)
    assert gradients(getattr(torch.special, name)(x), x) == [[0.5] * 4]


@pytest.mark.parametrize("call", [
    lambda: torch.ones([1] * 65), lambda: torch.empty([1] * 65), lambda: torch.rand([1] * 65),
    lambda: torch.ones(1).expand([1] * 65), lambda: torch.ones(1).reshape([1] * 65),
    lambda: torch.ones(1).view([1] * 65), lambda: torch.ones([1] * 64).unsqueeze(0),
    lambda: torch.ones([1] * 64)[None], lambda: torch.stack([torch.ones([1] * 64)] * 2),
    lambda: torch.ones(1).repeat([1] * 65), lambda: torch.tile(torch.ones(1), [1] * 65),
    lambda: torch.ones(1, requires_grad=True).expand([1] * 65),
    lambda: torch.arange(1.0).as_strided([1] * 65, [1] * 65),
    lambda: torch.ones([1] * 64).unfold(0, 1, 1), lambda: torch.ones([1] * 64).diag_embed(),
    lambda: torch.tensordot(torch.ones([1] * 40), torch.ones([1] * 40), 0),
    lambda: torch.vmap(lambda x: x[None, None] * 1)(torch.ones([1] * 64))])
def test_more_dims_than_numpy_knows_are_refused_in_words(call):
    with pytest.raises(RuntimeError, match="at most 64 dimensions here, which is NumPy's limit"):
        call()
