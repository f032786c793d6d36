"""Ratings from factors of users and films, with a mask of what is known."""
import torch

g = torch.Generator().manual_seed(5)
truth = torch.randn(12, 3, generator=g) @ torch.randn(3, 9, generator=g)
known = torch.rand(12, 9, generator=g) < 0.7
u = torch.randn(12, 3, generator=g, requires_grad=True)
v = torch.randn(9, 3, generator=g, requires_grad=True)
opt = torch.optim.Adam([{"params": [u]}, {"params": [v], "lr": 0.02}], lr=0.05)
for epoch in range(60):
    error = (u @ v.mT - truth)[known].square().mean()
    loss = error + 1e-3 * (u.norm() ** 2 + v.norm() ** 2)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 20 == 19:
        print(epoch, f"{error.item():.4f}")
print(torch.linalg.matrix_rank(u.detach() @ v.detach().T).item())
