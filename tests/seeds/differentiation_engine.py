# ruff: noqa
# %% a training step
# given:
import torch

model = torch.nn.Linear(3, 1)
X, y = torch.randn(8, 3), torch.randn(8, 1)
loss_fn = torch.nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# then:
pred = model(X)
loss = loss_fn(pred, y)
optimizer.zero_grad()
loss.backward()
optimizer.step()

# %% a first graph
import torch

x = torch.tensor(2.0, requires_grad=True)
y = x ** 2 + 3 * x
print(y)
print(y.requires_grad)
print(y.grad_fn)

# %% backward
# given:
import torch

x = torch.tensor(2.0, requires_grad=True)
y = x ** 2 + 3 * x
# then:
y.backward()

# %% backward and its gradient
# given:
import torch

x = torch.tensor(2.0, requires_grad=True)
y = x ** 2 + 3 * x
# then:
y.backward()
print(x.grad)

# %% leaf tensors
# given:
import torch
# then:
x = torch.tensor(2.0, requires_grad=True)
w = torch.tensor(3.0, requires_grad=True)
y = w * x

# %% is_leaf
# given:
import torch

x = torch.tensor(2.0, requires_grad=True)
w = torch.tensor(3.0, requires_grad=True)
y = w * x
# then:
print(x.is_leaf)
print(w.is_leaf)
print(y.is_leaf)

# %% gradients are stored on leaves
# given:
import torch

x = torch.tensor(2.0, requires_grad=True)
w = torch.tensor(3.0, requires_grad=True)
y = w * x
# then:
y.backward()
print(x.grad)
print(w.grad)
print(y.grad)

# %% retain_grad
# given:
import torch
# then:
x = torch.tensor(2.0, requires_grad=True)
a = x ** 2
a.retain_grad()
y = 3 * a
y.backward()
print(a.grad)

# %% only the branch that runs is recorded
# given:
import torch
# then:
x = torch.tensor(2.0, requires_grad=True)
if x.item() > 0:
    y = x ** 2
else:
    y = -x
y.backward()
print(x.grad)

# %% a training loop
# given:
import torch

model = torch.nn.Linear(3, 1)
loss_fn = torch.nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
dataset = torch.utils.data.TensorDataset(torch.randn(10, 3), torch.randn(10, 1))
dataloader = torch.utils.data.DataLoader(dataset, batch_size=4, shuffle=True)
# then:
for X, y in dataloader:
    pred = model(X)
    loss = loss_fn(pred, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# %% names of nodes
# given:
import torch
# then:
x = torch.tensor(2.0, requires_grad=True)
a = x + 1
b = a ** 2
c = b.mean()
print(a.grad_fn)
print(b.grad_fn)
print(c.grad_fn)

# %% accumulation
# given:
import torch
# then:
x = torch.tensor(2.0, requires_grad=True)
y1 = x ** 2
y1.backward()
print(x.grad)
y2 = 3 * x
y2.backward()
print(x.grad)

# %% clearing gradients
# given:
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss = model(torch.ones(4, 2)).pow(2).mean()
# then:
optimizer.zero_grad()
loss.backward()
optimizer.step()

# %% microbatches
# given:
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
microbatches = torch.arange(12.0).reshape(3, 2, 2)


def compute_loss(microbatch):
    return model(microbatch).pow(2).mean()


# then:
optimizer.zero_grad()
for microbatch in microbatches:
    loss = compute_loss(microbatch)
    loss = loss / len(microbatches)
    loss.backward()
optimizer.step()

# %% evaluation with no_grad
# given:
import torch

model, X = torch.nn.Linear(2, 1), torch.ones(3, 2)
# then:
model.eval()
with torch.no_grad():
    pred = model(X)

# %% evaluation with inference_mode
# given:
import torch

model, X = torch.nn.Linear(2, 1), torch.ones(3, 2)
# then:
model.eval()
with torch.inference_mode():
    pred = model(X)

# %% detach
# given:
import torch
# then:
x = torch.tensor(2.0, requires_grad=True)
y = x ** 2
z = y.detach()
print(y.requires_grad)
print(z.requires_grad)

# %% a detached loss
# given:
import torch
# then:
x = torch.tensor(2.0, requires_grad=True)
y = x ** 2
z = y.detach()
loss = 3 * z
print(loss.requires_grad)

# %% detaching by accident
# given:
import torch

encoder, decoder = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1)
loss_fn = torch.nn.MSELoss()
x, target = torch.randn(4, 3), torch.randn(4, 1)
# then:
h = encoder(x)
h = h.detach()
out = decoder(h)
loss = loss_fn(out, target)
loss.backward()
# use:
print(encoder.weight.grad, decoder.weight.grad.shape)

# %% backward accumulates into grad
# given:
import torch
# then:
x = torch.tensor(2.0, requires_grad=True)
y = x ** 3
y.backward()
print(x.grad)

# %% autograd.grad returns the gradient
# given:
import torch
# then:
x = torch.tensor(2.0, requires_grad=True)
y = x ** 3
grad_x = torch.autograd.grad(y, x)[0]
print(grad_x)
print(x.grad)

# %% higher-order derivatives
# given:
import torch
# then:
x = torch.tensor(2.0, requires_grad=True)
y = x ** 3
dy_dx = torch.autograd.grad(y, x, create_graph=True)[0]
d2y_dx2 = torch.autograd.grad(dy_dx, x)[0]
print(dy_dx)
print(d2y_dx2)

# %% a custom function
import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 2

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_x = grad_output * 2 * x
        return grad_x


x = torch.tensor(3.0, requires_grad=True)
y = Square.apply(x)
y.backward()
print(x.grad)

# %% gradcheck of a custom function
import torch
from torch.autograd import gradcheck


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 2

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x


x = torch.randn(3, dtype=torch.double, requires_grad=True)
test = gradcheck(Square.apply, (x,))
print(test)

# %% in-place operations
# given:
import torch

x = torch.tensor([-3.0, 2.0])
# then:
x.add_(1)
x.relu_()

# %% an in-place operation that breaks autograd
# given:
import torch
# then:
x = torch.randn(4, requires_grad=True)
y = x ** 2
x.add_(1.0)
loss = y.sum()
loss.backward()

# %% the out-of-place alternative
# given:
import torch

x = torch.randn(4, requires_grad=True)
# then:
x2 = x + 1.0

# %% views
# given:
import torch
# then:
x = torch.arange(6.0, requires_grad=True)
y = x.view(2, 3)
print(y)

# %% permute makes a tensor non-contiguous
# given:
import torch
# then:
x = torch.randn(2, 3, 4)
y = x.permute(0, 2, 1)
print(y.is_contiguous())

# %% contiguous copies
# given:
import torch

x = torch.randn(2, 3, 4)
y = x.permute(0, 2, 1)
# then:
z = y.contiguous()
# use:
print(z.is_contiguous(), z.stride())

# %% parameters require gradients
# given:
import torch
# then:
import torch.nn as nn

layer = nn.Linear(3, 4)
print(layer.weight.requires_grad)
print(layer.bias.requires_grad)

# %% gradients of parameters
# given:
import torch
import torch.nn as nn

layer = nn.Linear(3, 4)
# then:
X = torch.randn(8, 3)
Y = layer(X)
loss = Y.sum()
loss.backward()
print(layer.weight.grad.shape)
print(layer.bias.grad.shape)

# %% freezing a layer
# given:
import torch
import torch.nn as nn

layer = nn.Linear(3, 4)
# then:
for param in layer.parameters():
    param.requires_grad = False
# use:
print(layer(torch.ones(1, 3)).requires_grad)

# %% backward without a graph
# given:
import torch
# then:
x = torch.tensor(2.0)
y = x ** 2
y.backward()

# %% the fix
# given:
import torch
# then:
x = torch.tensor(2.0, requires_grad=True)
# use:
(x ** 2).backward()
print(x.grad)

# %% backward twice
# given:
import torch
# then:
x = torch.tensor(2.0, requires_grad=True)
y = x ** 2
y.backward()
y.backward()

# %% backward twice with retain_graph
# given:
import torch

x = torch.tensor(2.0, requires_grad=True)
y = x ** 2
# then:
y.backward(retain_graph=True)
# use:
y.backward()
print(x.grad)

# %% parameters without a gradient
# given:
import torch

model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
model[2](torch.ones(1, 2)).sum().backward()
# then:
for name, param in model.named_parameters():
    if param.grad is None:
        print(name, "has no gradient")
