"""A function of one's own, with its own backward, fitted to a sine."""
import math

import torch


class Legendre3(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 0.5 * (5 * x**3 - 3 * x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 1.5 * (5 * x**2 - 1)


x = torch.linspace(-math.pi, math.pi, 200, dtype=torch.float64)
a, b, c, d = (torch.full((), v, dtype=torch.float64, requires_grad=True)
              for v in (0.0, -1.0, 0.0, 0.3))
for t in range(200):
    loss = (a + b * Legendre3.apply(c + d * x) - x.sin()).pow(2).sum()
    if t % 50 == 49:
        print(t, f"{loss.item():.6f}")
    loss.backward()
    with torch.no_grad():
        for p in (a, b, c, d):
            p -= 5e-6 * 10 * p.grad
            p.grad = None
print(torch.autograd.gradcheck(Legendre3.apply, (x[:5].clone().requires_grad_(),)))
