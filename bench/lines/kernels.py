"""Programs in which the kernels and the memory decide."""

from __future__ import annotations

from typing import Any

from ..declaring import Step, line, taken, tensor


@line("kernels: matrix products 512x512, forward and backward", goal=1.1)
def products(lib: Any) -> Step:
    lib.manual_seed(0)
    a = lib.randn(512, 512, requires_grad=True)
    b = lib.randn(512, 512, requires_grad=True)

    def step() -> Any:
        (a @ b).sum().backward()
        return taken(a, b)

    return step


@line("kernels: GELU, layer norm and softmax on 1024x1024")
def gelu_norm_softmax(lib: Any) -> Step:
    functional = lib.nn.functional
    x, target = tensor(lib, 0, 1024, 1024).requires_grad_(), tensor(lib, 1, 1024, 1024)

    def step() -> Any:
        y = functional.layer_norm(functional.gelu(x), (1024,))
        (lib.softmax(y, -1) * target).sum().backward()
        return taken(x)

    return step


@line("kernels: arithmetic on 1024x1024")
def arithmetic(lib: Any) -> Step:
    x, y = tensor(lib, 0, 1024, 1024).requires_grad_(), tensor(lib, 1, 1024, 1024)

    def step() -> Any:
        (((x * y + x) * 0.5 - y).relu() * x).mean().backward()
        return taken(x)

    return step


@line("kernels: embedding, index_add and gather, 4,096 of 10,000 rows")
def rows(lib: Any) -> Step:
    lib.manual_seed(0)
    weight = lib.randn(10_000, 64, requires_grad=True)
    indices = lib.randint(0, 10_000, (4096,))
    places = lib.randint(0, 512, (4096,))
    columns = lib.randint(0, 64, (512, 32))

    def step() -> Any:
        found = lib.nn.functional.embedding(indices, weight)
        sums = lib.zeros(512, 64).index_add(0, places, found)
        sums.gather(1, columns).square().sum().backward()
        return taken(weight)

    return step


@line("kernels: attention by einsum, 8 heads, 128 tokens, batch 4")
def attention(lib: Any) -> Step:
    q, k, v = (tensor(lib, seed, 4, 128, 8, 32).requires_grad_() for seed in range(3))

    def step() -> Any:
        scores = lib.einsum("bqhd,bkhd->bhqk", q, k) / 32 ** 0.5
        found = lib.einsum("bhqk,bkhd->bqhd", lib.softmax(scores, -1), v)
        found.square().sum().backward()
        return taken(q, k, v)

    return step
