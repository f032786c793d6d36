"""An embedding in which neighbours are near, by triplets."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
centers = torch.randn(4, 5) * 3
net = nn.Sequential(nn.Linear(5, 16), nn.LeakyReLU(), nn.Linear(16, 2))
criterion = nn.TripletMarginLoss(margin=1.0)
opt = torch.optim.SGD(net.parameters(), lr=0.05, nesterov=True, momentum=0.8)
for _ in range(20):
    kind = torch.randint(4, (32,))
    other = (kind + torch.randint(1, 4, (32,))) % 4
    a, p, n = (F.normalize(net(centers[k] + 0.3 * torch.randn(32, 5)), dim=1)
               for k in (kind, kind, other))
    loss = criterion(a, p, n)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.4f}", torch.cdist(net(centers), net(centers)).shape)
