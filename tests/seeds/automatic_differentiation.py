# ruff: noqa
# %% requires_grad attribute
import torch

x = torch.tensor(3.0, requires_grad=True)
print(x)
print(x.requires_grad)
y = torch.tensor(2.0)
print(y.requires_grad)
y.requires_grad_(True)
print(y.requires_grad)
z = x * y
print(z.requires_grad)

# %% grad_fn and the graph
import torch

x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(3.0, requires_grad=True)
z = x ** 2 + y * 3
print(z)
print(z.grad_fn)
print(z.grad_fn.next_functions)

# %% backward of a scalar
import torch

x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(3.0, requires_grad=True)
z = x ** 2 + y * 3
z.backward()
print(x.grad)
print(y.grad)

# %% several backward calls accumulate
import torch

x = torch.tensor(2.0, requires_grad=True)
loss = x ** 2
loss.backward()
print(x.grad)
loss = x ** 2
loss.backward()
print(x.grad)
x.grad.zero_()
loss = x ** 2
loss.backward()
print(x.grad)

# %% backward of a vector
# The second backward over the same y fails, although the document expects it to work.
import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x ** 2
y.backward(gradient=torch.ones_like(y))
print(x.grad)
x.grad.zero_()
y.backward(gradient=torch.tensor([1.0, 0.5, 2.0]))
print(x.grad)
x.grad.zero_()
loss = (x ** 2).sum()
loss.backward()
print(x.grad)

# %% no_grad
import torch

x = torch.tensor(3.0, requires_grad=True)
with torch.no_grad():
    y = x ** 2
    print(y.requires_grad)
    print(y.grad_fn)
z = x ** 2
print(z.requires_grad)
model = torch.nn.Linear(10, 1)
inputs = torch.randn(32, 10)
with torch.no_grad():
    outputs = model(inputs)

# %% no_grad as a decorator
import torch
import torch.nn as nn

model = nn.Linear(10, 1)


@torch.no_grad()
def predict(model, x):
    """Inference function, no gradient computation needed"""
    return model(x)


x = torch.randn(5, 10)
output = predict(model, x)
print(output.requires_grad)

# %% detach
import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x ** 2 + x * 3
y_detached = y.detach()
print(y_detached.requires_grad)
print(y_detached.grad_fn)
y_detached.numpy()
losses = []
for i in range(3):
    loss = (x ** 2).sum()
    losses.append(loss.detach().item())
    loss.backward()
    x.grad.zero_()
print(losses)

# %% retain_graph
import torch

x = torch.tensor(2.0, requires_grad=True)
y = x ** 3
y.backward(retain_graph=True)
print(x.grad)
x.grad.zero_()
y.backward(retain_graph=True)
print(x.grad)
x.grad.zero_()
y.backward()
print(x.grad)

# %% the errors the document only mentions
import torch

x = torch.tensor(2.0, requires_grad=True)
y = x ** 3
try:
    y.numpy()
except RuntimeError as error:
    print(str(error).splitlines()[0])
y.backward()
y.backward()

# %% gradient descent by hand
# The document breaks off after the loss; the three lines below it complete the step.
import torch

torch.manual_seed(42)
X = torch.randn(100, 1)
y_true = 2 * X + 1 + 0.1 * torch.randn(100, 1)
w = torch.zeros(1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
lr = 0.1
epochs = 50
for epoch in range(epochs):
    y_pred = X * w + b
    loss = (y_pred - y_true).pow(2).mean()
    gradients = torch.autograd.grad(loss, (w, b))
    with torch.no_grad():
        w -= lr * gradients[0]
        b -= lr * gradients[1]
print(w, b, loss)
