"""How things look when they are printed."""
import torch

torch.set_printoptions(precision=3, sci_mode=False)
print(torch.linspace(0, 1, 5).view(5, 1) ** torch.arange(4))
print(torch.eye(3, dtype=torch.int32), torch.tensor([True, False]), torch.tensor([]))
print(torch.arange(2000.0), torch.full((2, 2), 1e-7), torch.tensor(3.5, requires_grad=True) * 2)
print(torch.tensor([1 + 2j, -1j]), torch.zeros(2, 0), torch.tensor([float("nan"), float("inf")]))
print(torch.randn(2, generator=torch.Generator().manual_seed(0), dtype=torch.bfloat16).dtype)
print(torch.Size([2, 3]), torch.device("cpu"), torch.float16, torch.finfo(torch.float32).eps)
print(torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.Sequential(torch.nn.ReLU())))
print(torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1))
