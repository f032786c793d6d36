"""A page of ordinary programs, written as people write them; checkers must have nothing to say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import retrograd as torch
import retrograd.nn as nn
import retrograd.nn.functional as F
from retrograd import Tensor, optim
from retrograd.autograd import Function
from retrograd.func import functional_call, grad, hessian, jacrev, jvp, vjp, vmap
from retrograd.types import Device, Number
from retrograd.utils.checkpoint import checkpoint
from retrograd.utils.data import DataLoader, Dataset, TensorDataset, random_split
from retrograd.utils.hooks import RemovableHandle

# ---------------------------------------------------------------- tensors


def tensors(device: Device = "cpu", scale: Number = 2) -> Tensor:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64, requires_grad=True)
    y = torch.zeros(2, 2, device=device) + torch.ones((2, 2)) * torch.eye(2)
    z = torch.randn(2, 3, generator=torch.Generator().manual_seed(0))
    w = torch.arange(0, 10, 2).float() / 10 - torch.linspace(0, 1, 5)
    rows: int = x.size(0)
    shape: torch.Size = x.size()
    count: int = x.shape[0] * x.numel() + len(x) + x.dim()
    number: float = x.sum().item()
    kind: torch.dtype = x.dtype
    print(rows, shape, count, kind, f"{number:.2f}", float(w[0]), int(w.argmax()), bool(w.any()))
    return (scale * x + y.double() - 1 / x + x**2 - 2**x + x @ y.double() % 3 // 1).sum() + z.mean()


def indexing(x: Tensor, mask: Tensor) -> list[Tensor]:
    x[0] = 1.0
    x[:, 1] = torch.zeros(2)
    x[mask] = 0
    x[..., None] *= 2
    first, second = x
    parts = [x[0], x[0, 1], x[1:], x[:, ::2], x[None], x[..., 0], x[mask], x[[0, 1]],
             x[torch.tensor([0, 1]), :], -first, ~mask, abs(second), x.T, x.mT]
    return [*parts, *x.unbind(), *x.split(1), *torch.chunk(x, 2)]


def reductions(x: Tensor) -> Tensor:
    values, indices = x.max(dim=1)
    best = torch.max(x, 0)
    total: Tensor = x.max() + x.sum(0) + x.sum(dim=(0, 1), keepdim=True) + x.mean(-1)
    ordered, order = torch.sort(x, descending=True)
    top = x.topk(2).values
    spread = x.std(unbiased=False) + x.var(dim=0) + x.norm() + torch.linalg.norm(x)
    return total + values + indices + best.values + best.indices + ordered + order + top + spread


def shapes(x: Tensor) -> Tensor:
    y = x.reshape(-1).view(2, 2).view((4,)).unsqueeze(0).squeeze().expand(3, -1)
    y = y.permute(1, 0).transpose(0, 1).contiguous().flatten(1).repeat(2, 1).t()
    y = torch.cat([y, y], dim=1) + torch.stack((y, y)).sum(0).repeat(1, 2)
    y = y.to(torch.float32).to("cpu").to(y).type_as(y).clone().detach().requires_grad_()
    return torch.where(y > 0, y, 0.0) + y.masked_fill(y < 0, 0) + y.clamp(min=0, max=1)


def interchange(x: Tensor) -> Any:
    array = x.detach().numpy()
    back = torch.from_numpy(array)
    text: str = repr(back)
    return text, back.tolist(), torch.allclose(back, x), torch.equal(back, x)


# ---------------------------------------------------------------- gradients


def gradients() -> Tensor:
    x = torch.randn(3, requires_grad=True)
    y = (x.sin() * torch.exp(x)).sum()
    y.backward(retain_graph=True)
    assert x.grad is not None
    before = x.grad.clone()
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    slope.pow(2).sum().backward()
    x.grad.zero_()
    x.grad = None
    with torch.no_grad():
        x -= 0.1 * before
        x.add_(before, alpha=-0.1)
    with torch.enable_grad(), torch.autograd.set_detect_anomaly(False):
        (x * 2).sum().backward()
    with torch.inference_mode():
        return x * 2


@torch.no_grad()
def evaluate(model: nn.Module, x: Tensor) -> float:
    model.eval()
    return model(x).mean().item()


class Cube(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g


def custom(x: Tensor) -> bool:
    y: Tensor = Cube.apply(x)
    y.sum().backward()
    return torch.autograd.gradcheck(Cube.apply, (x.double().detach().requires_grad_(),))


def hooks(x: Tensor) -> list[str]:
    seen: list[str] = []

    def double(gradient: Tensor) -> Tensor:
        seen.append("gradient")
        return gradient * 2

    handle: RemovableHandle = x.register_hook(double)
    y = (x * 2).sum()
    node = y.grad_fn
    if node is not None:
        node.register_hook(lambda inputs, outputs: seen.append(node.name()))
    y.backward()
    handle.remove()
    return seen


# ---------------------------------------------------------------- transforms


def loss_of(weights: Tensor, x: Tensor) -> Tensor:
    return torch.tanh(x @ weights).square().mean()


def transforms(weights: Tensor, x: Tensor) -> Tensor:
    slope = grad(loss_of)(weights, x)
    per_sample = vmap(grad(loss_of), in_dims=(None, 0))(weights, x)
    jacobian = jacrev(torch.sin)(x)
    curvature = hessian(loss_of)(weights, x)
    value, pushed = jvp(torch.sin, (x,), (torch.ones_like(x),))
    value, pull = vjp(torch.cos, x)
    (pulled,) = pull(value)
    batched = torch.vmap(torch.dot)(x, x)
    return slope + per_sample + jacobian + curvature + pushed + pulled + batched


# ---------------------------------------------------------------- modules and training


class Block(nn.Module):
    scale: Tensor

    def __init__(self, width: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.linear = nn.Linear(width, width)
        self.gate = nn.Parameter(torch.ones(width))
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("scale", torch.tensor(0.5))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.dropout(F.gelu(self.linear(self.norm(x)))) * self.gate * self.scale


class Network(nn.Module):
    def __init__(self, inputs: int, classes: int, depth: int = 2) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, 16)
        self.blocks = nn.ModuleList([Block(16) for _ in range(depth)])
        self.head = nn.Sequential(nn.ReLU(), nn.Linear(16, classes))

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.head(x)


class Points(Dataset[tuple[Tensor, int]]):
    def __init__(self, count: int) -> None:
        self.points = torch.rand(count, 4)

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return self.points[index], int(self.points[index].sum() > 2)


def batches(count: int) -> Iterator[tuple[Tensor, Tensor]]:
    train, test = random_split(Points(count), [count - 10, 10])
    yield from DataLoader(train, batch_size=8, shuffle=True)
    yield from DataLoader(test, batch_size=8)
    yield from DataLoader(TensorDataset(torch.rand(4, 4), torch.ones(4).long()), batch_size=2)


def train(epochs: int = 2, step: Callable[[float], None] = print) -> dict[str, Tensor]:
    torch.manual_seed(0)
    model = Network(4, 2)
    optimizer = optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    schedule = optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    criterion = nn.CrossEntropyLoss()
    model.train()
    for _ in range(epochs):
        total = 0.0
        for x, target in batches(40):
            optimizer.zero_grad()
            loss = criterion(model(x), target)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        schedule.step()
        step(total)
    correct = (model(torch.rand(3, 4)).argmax(dim=1) == torch.tensor([0, 1, 0])).float().mean()
    named = dict(model.named_parameters())
    functional_call(model, named, (torch.rand(3, 4),))
    step(correct.item() + sum(p.numel() for p in model.parameters()))
    optim.SGD([{"params": model.head.parameters(), "lr": 0.1}], lr=0.1, momentum=0.9).step()
    return model.state_dict()
