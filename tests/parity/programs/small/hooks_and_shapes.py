"""What passes through a network, seen by hooks."""
from collections import OrderedDict

import torch
from torch import nn

torch.manual_seed(8)
net = nn.Sequential(OrderedDict(conv=nn.Conv1d(2, 4, 3), act=nn.Hardswish(), pool=nn.MaxPool1d(2),
                                flat=nn.Flatten(), fc=nn.Linear(12, 3)))
seen = []
handles = [m.register_forward_hook(lambda m, i, o, n=n: seen.append((n, tuple(o.shape))))
           for n, m in net.named_children()]
x = torch.randn(2, 2, 8, requires_grad=True)
x.register_hook(lambda g: seen.append(("grad", tuple(g.shape))))
out = net(x)
out.retain_grad()
out.logsumexp(1).sum().backward()
print(seen, out.grad.sum(1))
for h in handles:
    h.remove()
net(x)
print(len(seen), {k: tuple(v.shape) for k, v in net.state_dict().items()})
