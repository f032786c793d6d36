"""Training is stopped, saved, loaded and goes on as if nothing had happened."""
import os
import tempfile

import torch
from torch import nn


def fresh():
    torch.manual_seed(10)
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
    return net, torch.optim.Adam(net.parameters(), lr=0.01)


x, y = torch.arange(40.0).view(10, 4).sin(), torch.arange(10.0).view(10, 1)


def train(net, opt, steps):
    for _ in range(steps):
        opt.zero_grad(set_to_none=True)
        loss = nn.L1Loss()(net(x), y)
        loss.backward()
        opt.step()
    return loss.item()


net, opt = fresh()
whole = train(net, opt, 10)
net, opt = fresh()
train(net, opt, 5)
path = os.path.join(tempfile.mkdtemp(), "checkpoint.pt")
torch.save({"model": net.state_dict(), "optimizer": opt.state_dict(), "epoch": 5}, path)
saved = torch.load(path, map_location="cpu", weights_only=True)
net, opt = fresh()
print(net.load_state_dict(saved["model"]), saved["epoch"])
opt.load_state_dict(saved["optimizer"])
print(f"{whole:.6f} {train(net, opt, 5):.6f}")
