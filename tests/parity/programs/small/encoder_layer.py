"""PyTorch's own transformer layer tells sequences that rise from those that fall."""
import torch
import torch.nn as nn

torch.manual_seed(3)
layer = nn.TransformerEncoderLayer(d_model=16, nhead=4, dim_feedforward=32, dropout=0.0,
                                   batch_first=True)
model = nn.ModuleDict({"inp": nn.Linear(1, 16), "enc": nn.TransformerEncoder(
    layer, 2, enable_nested_tensor=False), "out": nn.Linear(16, 1)})
pos = torch.randn(1, 6, 16) * 0.5
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 30)
for i in range(30):
    x = torch.rand(32, 6).cumsum(1)
    y = (torch.rand(32) > 0.5).float()
    x = torch.where(y.bool()[:, None], x, x.flip(1))
    z = model["enc"](model["inp"](x[..., None]) + pos).mean(1)
    loss = nn.functional.binary_cross_entropy_with_logits(model["out"](z).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if i % 5 == 0:
        print(i, f"{loss.item():.4f} {sched.get_last_lr()[0]:.6f}")
