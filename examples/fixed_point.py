"""The derivative of a fixed point, without differentiating the iteration that found it.

z = tanh(W z + x) is solved by iterating. Backward solves the transposed linear equation
u = g + Jᵀu with vector-Jacobian products, so that memory does not grow with the number of steps.
"""

import retrograd as torch


def step(W, x, z):
    return torch.tanh(W @ z + x)


class FixedPoint(torch.autograd.Function):
    """The z with z = step(W, x, z)."""

    @staticmethod
    def forward(ctx, W, x):
        z = torch.zeros_like(x)
        for _ in range(100):
            z = step(W, x, z)
        ctx.save_for_backward(W, x, z)
        return z

    @staticmethod
    def backward(ctx, g):
        with torch.enable_grad():
            W, x, z = (t.detach().requires_grad_() for t in ctx.saved_tensors)
            again = step(W, x, z)
        u = g
        for _ in range(100):
            (pulled,) = torch.autograd.grad(again, z, u, retain_graph=True)
            u = g + pulled
        return torch.autograd.grad(again, (W, x), u)


def main() -> float:
    """Compare with the derivative of 100 unrolled steps; return the largest difference."""
    torch.manual_seed(0)
    W = (0.3 * torch.randn(5, 5, dtype=torch.float64)).requires_grad_()
    x = torch.randn(5, dtype=torch.float64, requires_grad=True)
    implicit = torch.autograd.grad(FixedPoint.apply(W, x).square().sum(), (W, x))
    z = torch.zeros_like(x)
    for _ in range(100):
        z = step(W, x, z)
    unrolled = torch.autograd.grad(z.square().sum(), (W, x))
    difference = max(float((a - b).abs().max())
                     for a, b in zip(implicit, unrolled, strict=True))
    print(f"largest difference between implicit and unrolled gradients: {difference:.1e}")
    return difference


if __name__ == "__main__":
    main()
