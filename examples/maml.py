"""Model-agnostic meta-learning: gradients through the gradient steps of an inner loop.

Each task is a sine wave of another amplitude and phase. The outer loop looks for weights from which
one gradient step on ten points of a task is enough to fit it.
"""

import math

import retrograd as torch

HIDDEN = 24


def predict(weights, x):
    w1, b1, w2, b2, w3, b3 = weights
    h = torch.tanh(x @ w1 + b1)
    return torch.tanh(h @ w2 + b2) @ w3 + b3


def loss_of(weights, task, count=10):
    amplitude, phase = task
    x = torch.rand(count, 1) * 10 - 5
    return (predict(weights, x) - amplitude * torch.sin(x + phase)).square().mean()


def adapted(weights, task, rate=0.02):
    """The weights after one step on the task; a graph leads back to where they started."""
    slopes = torch.autograd.grad(loss_of(weights, task), weights, create_graph=True)
    return [w - rate * g for w, g in zip(weights, slopes, strict=True)]


def random_task():
    return 0.5 + 2 * float(torch.rand(())), math.pi * float(torch.rand(()))


def adapted_loss(weights, tasks):
    return torch.stack([loss_of(adapted(weights, task), task) for task in tasks]).mean()


def main(steps: int = 150) -> tuple[float, float]:
    """Train; return the loss after adapting to new tasks, before and after training."""
    torch.manual_seed(0)
    shapes = [(1, HIDDEN), (HIDDEN,), (HIDDEN, HIDDEN), (HIDDEN,), (HIDDEN, 1), (1,)]
    weights = [(torch.randn(s) / math.sqrt(s[0])).requires_grad_() for s in shapes]
    held_out = [random_task() for _ in range(20)]
    before = float(adapted_loss(weights, held_out).detach())
    optimizer = torch.optim.Adam(weights, lr=5e-3)
    for _ in range(steps):
        optimizer.zero_grad()
        adapted_loss(weights, [random_task() for _ in range(4)]).backward()
        optimizer.step()
    after = float(adapted_loss(weights, held_out).detach())
    print(f"loss on new tasks after one gradient step: {before:.2f} before, {after:.2f} after")
    return before, after


if __name__ == "__main__":
    main()
