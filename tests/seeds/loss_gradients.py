# ruff: noqa
# %% nodes of a simple expression
import torch

x = torch.tensor([2.0], requires_grad=True)
y = x * x
z = y + 3

print(y.grad_fn)
print(z.grad_fn)

# %% backward through it
import torch

x = torch.tensor([2.0], requires_grad=True)
y = x * x
z = y + 3
z.backward()

print(x.grad)
print(y.grad)

# %% a tensor used twice
import torch

x = torch.tensor([2.0], requires_grad=True)
y = x * x
a = y + 1
b = y * 2
c = a + b
c.backward()

print(x.grad)
