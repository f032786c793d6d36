"""Logistic regression by Newton's method, with torch.func."""
import torch
from torch.func import grad, hessian, jacrev, vmap

torch.manual_seed(13)
torch.set_default_dtype(torch.float64)
X = torch.cat([torch.ones(50, 1), torch.randn(50, 2)], 1)
y = (X @ torch.tensor([0.2, 1.5, -1.0]) + torch.randn(50) > 0).double()


def loss(w):
    return torch.nn.functional.softplus((1 - 2 * y) * (X @ w)).sum() + 0.5 * w @ w


w = torch.zeros(3)
for it in range(6):
    w = w - torch.linalg.solve(hessian(loss)(w), grad(loss)(w))
    print(it, f"{loss(w).item():.10f}")
print(w, vmap(lambda x: jacrev(torch.sin)(x))(w), torch.linalg.eigvalsh(hessian(loss)(w)))
