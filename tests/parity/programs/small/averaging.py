"""Averages of weights: by hand, and by swa_utils."""
import copy

import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel

torch.manual_seed(9)
model = nn.Linear(3, 1)
ema = copy.deepcopy(model)
swa = AveragedModel(model)
opt = torch.optim.SGD(model.parameters(), lr=0.2)
sched = SWALR(opt, swa_lr=0.05, anneal_epochs=5)
x = torch.randn(64, 3)
y = x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.3
for epoch in range(12):
    loss = nn.functional.huber_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for p, q in zip(ema.parameters(), model.parameters()):
            p.lerp_(q, 0.2)
    if epoch > 5:
        swa.update_parameters(model)
        sched.step()
print(ema.weight, swa.module.weight, swa.n_averaged, opt.param_groups[0]["lr"])
