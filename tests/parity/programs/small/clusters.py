"""K-means with tensors alone."""
import torch

torch.manual_seed(6)
points = torch.cat([torch.randn(30, 2) + torch.tensor(c) for c in ([0., 0.], [6., 0.], [0., 6.])])
centers = points[torch.randperm(90)[:3]].clone()
for _ in range(8):
    nearest = torch.cdist(points, centers).argmin(dim=1)
    counts = torch.bincount(nearest, minlength=3).clamp(min=1)
    sums = torch.zeros(3, 2).index_add_(0, nearest, points)
    centers = sums / counts[:, None]
order = centers.sum(1).argsort()
print(centers[order].round(decimals=3), counts[order])
values, indices = torch.topk(points.norm(dim=1), 3)
print(values, indices, torch.unique(nearest, return_counts=True))
