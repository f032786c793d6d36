# ruff: noqa
# %% autograd.backward
import torch

x = torch.tensor([1., 2., 3.], requires_grad=True)
y = x.sum()

torch.autograd.backward(y)
print(x.grad)

# %% autograd.grad
import torch

x = torch.tensor([1., 2., 3.], requires_grad=True)
y = x ** 2
z = y.sum()

grads = torch.autograd.grad(z, x)
print(grads[0])

# %% autograd.grad with is_grads_batched
# The document lists the argument without an example.
import torch

x = torch.tensor([1., 2., 3.], requires_grad=True)
y = x ** 2

jacobian = torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)
print(jacobian[0])

# %% no_grad
import torch

x = torch.tensor([1., 2., 3.], requires_grad=True)

with torch.no_grad():
    y = x ** 2
    print(y.requires_grad)

# %% no_grad as a decorator
# given:
import torch
# then:
@torch.no_grad()
def inference(model, data):
    return model(data)
# use:
print(inference(torch.nn.Linear(2, 1), torch.ones(1, 2)).requires_grad)

# %% enable_grad
import torch

x = torch.tensor([1., 2., 3.], requires_grad=True)

with torch.no_grad():
    with torch.enable_grad():
        y = x ** 2
        print(y.requires_grad)

# %% set_grad_enabled
import torch


def forward(x, training=True):
    with torch.set_grad_enabled(training):
        y = x ** 2
        return y


x = torch.tensor([1., 2., 3.], requires_grad=True)
y = forward(x, training=False)

# %% inference_mode
# given:
import torch

model, x = torch.nn.Linear(2, 1), torch.ones(3, 2)
# then:
import torch

with torch.inference_mode():
    y = model(x)

# %% gradcheck
import torch
from torch.autograd import gradcheck


def my_func(x):
    return x ** 2


x = torch.randn(3, 4, dtype=torch.double, requires_grad=True)
test = gradcheck(my_func, x, eps=1e-6, atol=1e-4)
print(f"Gradcheck passed: {test}")

# %% gradgradcheck
import torch
from torch.autograd import gradgradcheck


def my_func(x):
    return (x ** 3).sum()


x = torch.randn(3, 4, dtype=torch.double, requires_grad=True)
test = gradgradcheck(my_func, x)
print(f"Gradgradcheck passed: {test}")

# %% detect_anomaly
import torch

x = torch.tensor([1., 2., 3.], requires_grad=True)

with torch.autograd.detect_anomaly():
    y = x ** 2
    z = y.sum()
    z.backward()

# %% set_detect_anomaly
# given:
import torch
# then:
torch.autograd.set_detect_anomaly(True)
# use:
print(torch.is_anomaly_enabled())

# %% a custom function
import torch
from torch.autograd import Function


class MySquare(Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return input ** 2

    @staticmethod
    def backward(ctx, grad_output):
        input, = ctx.saved_tensors
        grad_input = 2 * input * grad_output
        return grad_input


x = torch.tensor([1., 2., 3.], requires_grad=True)
y = MySquare.apply(x)
y.sum().backward()
print(x.grad)

# %% save_for_backward
# given:
import torch
# then:
def forward(ctx, input, weight):
    ctx.save_for_backward(input, weight)
    return input @ weight
# use:
Product = type("Product", (torch.autograd.Function,), {"forward": staticmethod(forward)})
print(Product.apply(torch.ones(1, 2), torch.ones(2, 1, requires_grad=True)))

# %% saved_tensors
# given:
import torch


def forward(ctx, input, weight):
    ctx.save_for_backward(input, weight)
    return input @ weight


# then:
def backward(ctx, grad_output):
    input, weight = ctx.saved_tensors
    grad_input = grad_output @ weight.t()
    grad_weight = input.t() @ grad_output
    return grad_input, grad_weight
# use:
methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
Product = type("Product", (torch.autograd.Function,), methods)
input = torch.arange(6.0).reshape(2, 3).requires_grad_()
weight = torch.arange(3.0).reshape(3, 1).requires_grad_()
Product.apply(input, weight).sum().backward()
print(input.grad, weight.grad)

# %% gradients accumulate
import torch

x = torch.tensor([1., 2., 3.], requires_grad=True)

y = x.sum()
y.backward()
print(x.grad)

y = x.sum()
y.backward()
print(x.grad)

x.grad.zero_()
x.grad = None

# %% gradients of gradients
import torch

x = torch.tensor([1., 2., 3.], requires_grad=True)
y = x ** 3

grad_x = torch.autograd.grad(
    outputs=y,
    inputs=x,
    grad_outputs=torch.ones_like(y),
    create_graph=True
)[0]

grad_grad_x = torch.autograd.grad(
    outputs=grad_x,
    inputs=x,
    grad_outputs=torch.ones_like(grad_x)
)[0]

print(grad_x)
print(grad_grad_x)

# %% checkpoint
import torch
from torch.utils.checkpoint import checkpoint


def custom_forward(x, y):
    z = x * y
    z = z ** 2
    return z


x = torch.randn(100, 100, requires_grad=True)
y = torch.randn(100, 100, requires_grad=True)

z = custom_forward(x, y)

z = checkpoint(custom_forward, x, y)

# %% jacobian and hessian
# The hessian of a function that is not scalar fails, although the document expects a result.
import torch
from torch.autograd.functional import jacobian, hessian


def f(x):
    return x ** 2


x = torch.tensor([1., 2., 3.])

jac = jacobian(f, x)
print(jac)

hess = hessian(f, x)
print(hess)

# %% hessian of a scalar function
import torch
from torch.autograd.functional import hessian

x = torch.tensor([1., 2., 3.])
print(hessian(lambda x: (x ** 2).sum(), x))

# %% tip: inference_mode
# given:
import torch

model, inputs = torch.nn.Linear(2, 1), torch.ones(3, 2)
# then:
with torch.inference_mode():
    outputs = model(inputs)

# %% tip: clearing gradients
# given:
import torch

model = torch.nn.Linear(2, 1)
model(torch.ones(1, 2)).sum().backward()
# then:
model.zero_grad(set_to_none=True)
model.zero_grad()
# use:
print(model.weight.grad)

# %% tip: checkpointing a module
# given:
import torch

large_module, x = torch.nn.Linear(2, 1), torch.ones(3, 2)
# then:
from torch.utils.checkpoint import checkpoint
y = checkpoint(large_module, x)

# %% tip: in-place operations
# given:
import torch
# then:
x = torch.tensor([1., 2., 3.], requires_grad=True)
y = x ** 2
y += 1
# use:
y.sum().backward()
print(x.grad)

# %% tip: detach before numpy
# given:
import torch
# then:
x = torch.randn(3, requires_grad=True)
y = x.detach().numpy()

# %% tip: retain_graph
# given:
import torch

model = torch.nn.Linear(2, 1)
loss = model(torch.ones(1, 2)).pow(2).sum()
# then:
loss.backward(retain_graph=True)
model.zero_grad(set_to_none=True)
