"""One prediction, many losses, and the gradient of each."""
import torch
import torch.nn as nn

torch.manual_seed(14)
p, t = torch.rand(4, 5), torch.rand(4, 5)
k = torch.randint(5, (4,))
losses = {"mse": (nn.MSELoss(), t), "l1": (nn.L1Loss(), t), "smooth": (nn.SmoothL1Loss(), t),
          "huber": (nn.HuberLoss(delta=0.3), t), "bce": (nn.BCELoss(), t),
          "ce": (nn.CrossEntropyLoss(label_smoothing=0.1), k), "kl": (nn.KLDivLoss(
              reduction="batchmean"), t), "poisson": (nn.PoissonNLLLoss(), t),
          "margin": (nn.MultiMarginLoss(), k), "soft": (nn.SoftMarginLoss(), t.sign()),
          "multi": (nn.MultiLabelSoftMarginLoss(), t.round()), "nll": (nn.NLLLoss(), k)}
for name, (loss, target) in losses.items():
    q = p.clone().requires_grad_()
    value = loss(q, target)
    (g,) = torch.autograd.grad(value, q)
    print(f"{name:8} {value.item():.5f} {g.norm().item():.5f}")
