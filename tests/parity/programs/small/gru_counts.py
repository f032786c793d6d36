"""A GRU cell that counts ones, unrolled by hand."""
import torch
from torch import nn

torch.manual_seed(2)
cell, head = nn.GRUCell(1, 12), nn.Linear(12, 1)
params = list(cell.parameters()) + list(head.parameters())
opt = torch.optim.Adam(params, lr=0.02)
for it in range(25):
    bits = torch.randint(0, 2, (16, 7, 1)).float()
    h = torch.zeros(16, 12)
    for t in range(bits.size(1)):
        h = cell(bits[:, t], h)
    loss = nn.functional.smooth_l1_loss(head(h), bits.sum(1))
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(params, 0.5)
    opt.step()
    if it % 5 == 4:
        print(it, f"{loss.item():.4f}")
