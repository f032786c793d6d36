# ruff: noqa
# %% enabling gradient tracking
import torch

x = torch.tensor([2.0, 3.0], requires_grad=True)
print(f"Requires grad: {x.requires_grad}")
print(f"Gradient attribute: {x.grad}")

y = torch.tensor([4.0, 5.0])
y.requires_grad_(True)
print(f"After enabling: {y.requires_grad}")

z = torch.tensor([1.0, 2.0], requires_grad=False)
print(f"No grad tracking: {z.requires_grad}")

# %% building a computation graph
import torch

x = torch.tensor([3.0], requires_grad=True)

y = x ** 2
z = y * 2 + 1

print(f"x: {x}")
print(f"y: {y}")
print(f"z: {z}")

print(f"y.grad_fn: {y.grad_fn}")
print(f"z.grad_fn: {z.grad_fn}")

# %% computing gradients with backpropagation
import torch

x = torch.tensor([2.0], requires_grad=True)
y = x ** 2 + 3 * x + 2

y.backward()

print(f"dy/dx = {x.grad}")

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = (x ** 2).sum()

y.backward()
print(f"Gradients for vector: {x.grad}")

# %% gradient accumulation
import torch

x = torch.tensor([2.0], requires_grad=True)

y = x ** 2
y.backward()
print(f"First gradient: {x.grad}")

z = x ** 3
z.backward()
print(f"After second backward: {x.grad}")

x.grad.zero_()
print(f"After zero: {x.grad}")

# %% non-scalar outputs
import torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
y = x ** 2

y.backward(torch.ones_like(y))
print(f"Gradients from vector backward:\n{x.grad}")

x.grad.zero_()

y = x ** 2
loss1 = y.sum()
loss1.backward(retain_graph=True)
print(f"After first backward: {x.grad}")

loss2 = (y * 2).sum()
loss2.backward()
print(f"After second backward: {x.grad}")

# %% detaching and disabling gradients
import torch

x = torch.tensor([2.0], requires_grad=True)
y = x ** 2

y_detached = y.detach()
print(f"Original y requires grad: {y.requires_grad}")
print(f"Detached y requires grad: {y_detached.requires_grad}")

z = y_detached + 1
print(f"z.grad_fn: {z.grad_fn}")

with torch.no_grad():
    predictions = []
    for input_batch in range(5):
        logits = input_batch ** 2
        predictions.append(logits)

print(f"Predictions computed without tracking gradients")


@torch.no_grad()
def inference_function(x):
    return x ** 2 + 1


result = inference_function(torch.tensor([3.0], requires_grad=True))
print(f"Result from decorated function requires grad: {result.requires_grad}")

# %% standard training pattern
import torch

w = torch.tensor([0.5], requires_grad=True)
b = torch.tensor([0.1], requires_grad=True)

x_data = torch.tensor([1.0, 2.0, 3.0])
y_true = torch.tensor([2.0, 4.0, 6.0])

learning_rate = 0.01

for epoch in range(3):
    y_pred = w * x_data + b

    loss = ((y_pred - y_true) ** 2).mean()

    print(f"Epoch {epoch}: Loss = {loss.item():.4f}")

    loss.backward()

    print(f" w.grad = {w.grad.item():.4f}, b.grad = {b.grad.item():.4f}")

    with torch.no_grad():
        w -= learning_rate * w.grad
        b -= learning_rate * b.grad

    w.grad.zero_()
    b.grad.zero_()

# %% inspecting gradient flow
import torch

x = torch.tensor([2.0], requires_grad=True)
print(f"x.is_leaf: {x.is_leaf}")
print(f"x.grad_fn: {x.grad_fn}")

y = x ** 2
print(f"y.is_leaf: {y.is_leaf}")
print(f"y.grad_fn: {y.grad_fn}")

y.backward()
print(f"x.grad: {x.grad}")
print(f"y.grad: {y.grad}")
