"""A line through points, with the update written out."""
import torch

torch.manual_seed(0)
x = torch.linspace(-1, 1, 40)
y = 3 * x - 1 + 0.1 * torch.randn(40)
w = torch.zeros(1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for _ in range(30):
    loss = ((w * x + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in (w, b):
            p -= 0.3 * p.grad
            p.grad.zero_()
print(w, b, loss)
