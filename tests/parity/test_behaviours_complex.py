"""Complex numbers: values, and gradients in PyTorch's conjugate convention."""

from __future__ import annotations

import math

from parity.harness import behaviour, behaviour_of_each


def leaf(torch, *values):
    return torch.tensor(list(values), dtype=torch.complex128, requires_grad=True)


UNARY = {
    "exp": lambda torch, z: z.exp(),
    "log": lambda torch, z: z.log(),
    "sqrt": lambda torch, z: z.sqrt(),
    "sin": lambda torch, z: z.sin(),
    "cos": lambda torch, z: z.cos(),
    "tanh": lambda torch, z: z.tanh(),
    "square": lambda torch, z: z**2,
    "cube": lambda torch, z: z**3,
    "complex power": lambda torch, z: z ** (1 + 2j),
    "tensor power": lambda torch, z: z**z,
    "number to a power": lambda torch, z: 2**z,
    "reciprocal": lambda torch, z: 1 / z,
    "conj": lambda torch, z: z.conj(),
    "real": lambda torch, z: z.real,
    "imag": lambda torch, z: z.imag,
    "abs": lambda torch, z: z.abs(),
    "angle": lambda torch, z: z.angle(),
    "abs squared": lambda torch, z: (z * z.conj()).real,
    "scale": lambda torch, z: z * (2 - 3j),
    "add": lambda torch, z: z + 1j,
    "negative": lambda torch, z: -z,
    "sum": lambda torch, z: z.sum(),
    "mean": lambda torch, z: z.mean(),
    "prod": lambda torch, z: z.prod(),
    "cumsum": lambda torch, z: z.cumsum(0),
    "matmul": lambda torch, z: torch.outer(z, z) @ z,
    "view_as_real": lambda torch, z: torch.view_as_real(z),
    "index": lambda torch, z: z[[0, 0, 1]],
    "flip": lambda torch, z: z.flip(0),
    "sgn": lambda torch, z: z.sgn(),
    "sigmoid": lambda torch, z: z.sigmoid(),
    "resolve_conj": lambda torch, z: z.conj().resolve_conj(),
    "conj_physical": lambda torch, z: torch.conj_physical(z),
    "norm": lambda torch, z: z.norm(),
    "var": lambda torch, z: z.var(),
    "where": lambda torch, z: torch.where(z.real > 0, z, z * 2j),
    "div": lambda torch, z: z / (z + 1),
    "real times complex": lambda torch, z: z.real * z,
    "polar": lambda torch, z: torch.polar(z.abs(), z.angle()),
    "complex": lambda torch, z: torch.complex(z.imag, z.real),
    "transpose": lambda torch, z: z.view(1, 2).mH,
}


@behaviour_of_each(UNARY.items())
def gradient_of_a_complex_function(torch, log, name, function):
    z = leaf(torch, 1 + 2j, -0.5 + 0.25j)
    y = function(torch, z)
    log.values(y)
    log(y.requires_grad)
    weights = torch.arange(1.0, y.numel() + 1, dtype=torch.float64).view(y.shape)
    if y.is_complex():
        weights = weights * (1 - 0.5j)
    y.backward(weights)
    log.values(z.grad)


@behaviour_of_each(UNARY.items())
def second_gradient_of_a_complex_function(torch, log, name, function):
    z = leaf(torch, 1 + 2j, -0.5 + 0.25j)
    y = function(torch, z)
    loss = (y.abs() ** 2).sum()
    (g,) = torch.autograd.grad(loss, z, create_graph=True)
    log.values(g)
    (h,) = torch.autograd.grad(torch.view_as_real(g.resolve_conj()).sum(), z, allow_unused=True)
    if h is not None:
        log.values(h)


@behaviour
def backward_of_a_complex_output_needs_a_gradient(torch, log):
    z = leaf(torch, 1 + 2j)
    log.raises((z * 2).sum().backward)
    log.raises(torch.autograd.grad, (z * 2).sum(), z)
    (z * 2).sum().backward(torch.tensor(1 + 0j, dtype=torch.complex128))
    log(z.grad)


@behaviour
def complex_gradient_must_match_the_output(torch, log):
    z = leaf(torch, 1 + 2j)
    log.raises((z * 2).backward, torch.ones(1, dtype=torch.float64))
    log.raises((z * 2).backward, torch.ones(1, dtype=torch.complex64))
    log.raises(z.abs().backward, torch.ones(1, dtype=torch.complex128))
    log(z.grad)


@behaviour
def holomorphic_and_not(torch, log):
    z = leaf(torch, 1 + 2j)
    one = torch.tensor([1 + 0j], dtype=torch.complex128)
    log(torch.autograd.grad(z**2, z, one), torch.autograd.grad(z.conj(), z, one))
    log(torch.autograd.grad(z**2, z, one * 1j), torch.autograd.grad(z.conj(), z, one * 1j))


@behaviour
def gradient_descent_follows_the_conjugate_gradient(torch, log):
    z = leaf(torch, 3 + 4j)
    for _ in range(5):
        loss = (z - (1 + 1j)).abs().pow(2).sum()
        loss.backward()
        with torch.no_grad():
            z -= 0.25 * z.grad
        z.grad = None
    log(z)


@behaviour
def real_inputs_get_real_gradients(torch, log):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * (1 + 2j)).abs().sum().backward()
    log(x.grad)
    w = torch.tensor(2.0, requires_grad=True)
    z = torch.tensor([1 + 1j], requires_grad=True)
    (w * z).sum().backward(torch.tensor(1j))
    log(w.grad, z.grad)


@behaviour
def abs_and_angle_at_zero(torch, log):
    z = leaf(torch, 0j)
    z.abs().sum().backward()
    log(z.grad)
    w = leaf(torch, 0j)
    w.angle().sum().backward()
    log(w.grad)
    log(torch.tensor([-1.0, 0.0, 1.0, math.nan]).angle())


@behaviour
def conj_is_computed_at_once(torch, log):
    z = torch.tensor([1 + 2j, 3 - 1j])
    c = z.conj()
    log(c, c.clone(), z.is_conj(), c.conj().is_conj())
    log(c.resolve_conj().is_conj(), (c * 1).is_conj())
    log.differs((c.is_conj(), c._is_view()), torch=(True, True), retrograd=(False, False))
    z[0] = 5j
    log.differs(c.tolist(), torch=[-5j, 3 + 1j], retrograd=[1 - 2j, 3 + 1j])
    c[1] = 1j
    log.differs(z.tolist(), torch=[5j, -1j], retrograd=[5j, 3 - 1j])


@behaviour
def conj_of_real_is_itself(torch, log):
    x = torch.tensor([1.0, 2.0])
    log(x.conj() is x, x.conj().is_conj(), x.real is x, x.angle())


@behaviour
def numpy_of_a_conjugate(torch, log):
    c = torch.tensor([1 + 2j]).conj()
    try:
        shared = c.numpy().tolist()
    except RuntimeError:
        shared = "needs resolve_conj()"
    log.differs(shared, torch="needs resolve_conj()", retrograd=[1 - 2j])
    log(c.resolve_conj().numpy(), c.tolist())


@behaviour
def comparisons_of_complex_numbers(torch, log):
    z = torch.tensor([1 + 2j, 3])
    log(z == z, z != 3, z == (1 + 2j))
    log.raises(lambda: z < z)
    log.raises(lambda: z > 1)
    log.raises(z.max)
    log.raises(z.sort)
    log.raises(z.argmax)
    log.raises(lambda: torch.maximum(z, z))
    log.raises(z.clamp, 0, 1)
    log.raises(z.floor)
    log.raises(z.relu)
    log.raises(lambda: z % 2)
    log.raises(lambda: z // 2)


@behaviour
def reductions_of_complex_numbers(torch, log):
    z = torch.tensor([[1 + 2j, 3], [0, 1j]])
    log(z.sum(), z.mean(0), z.prod(1), z.cumsum(0), z.any(), z.all(), z.norm(), z.std())


@behaviour
def isreal_and_predicates(torch, log):
    z = torch.tensor([1 + 0j, 1j, complex(math.nan, 0), complex(0, math.inf)])
    log(torch.isreal(z), torch.isnan(z), torch.isinf(z), torch.isfinite(z), z.is_complex())


@behaviour
def complex_matmul_and_its_gradient(torch, log):
    a = torch.tensor([[1 + 1j, 2], [0, 1j]], dtype=torch.complex128, requires_grad=True)
    b = torch.tensor([[1, 1j], [2 - 1j, 0]], dtype=torch.complex128, requires_grad=True)
    y = a @ b
    log.values(y)
    y.abs().sum().backward()
    log.values(a.grad, b.grad)


@behaviour
def complex_einsum_and_broadcast(torch, log):
    a = torch.tensor([1 + 1j, 2], dtype=torch.complex128, requires_grad=True)
    b = torch.tensor([[1.0], [2.0]], dtype=torch.float64, requires_grad=True)
    y = a * b
    y.abs().sum().backward()
    log.values(y, a.grad, b.grad)
    log.values(torch.einsum("i,i->", a.detach(), a.detach().conj()))


@behaviour
def writing_real_and_imaginary_parts(torch, log):
    z = leaf(torch, 1 + 2j, 3j)
    w = z * 1
    w.real = torch.tensor([5.0, 6.0], dtype=torch.float64)
    log.values(w)
    w.abs().sum().backward()
    log.values(z.grad)
    v = torch.zeros(2, dtype=torch.complex64)
    v.imag = torch.ones(2)
    v.real[0] = 7
    log(v)


@behaviour
def complex_scalars_with_real_tensors(torch, log):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    log(x + 1j, x * 1j, x - (1 + 1j), 1j / x)
    log(torch.tensor([1, 2]) * 1j, torch.tensor([True]) + 1j)


@behaviour
def complex_dtype_conversions(torch, log):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    z = x.to(torch.complex64)
    log(z)
    z.abs().sum().backward()
    log(x.grad)
    log.raises(lambda: int(torch.tensor(1j)))
    log(complex(torch.tensor(1 + 1j)))


@behaviour
def complex_log_sum_of_negative_numbers(torch, log):
    log.values(
        torch.tensor([-1 + 0j]).log(), torch.tensor([-4 + 0j]).sqrt(), torch.tensor([-1.0]).sqrt()
    )
    log.values(torch.tensor([0j]).log(), torch.tensor([-8 + 0j]) ** (1 / 3))
