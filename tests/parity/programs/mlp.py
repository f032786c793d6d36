"""A perceptron on noisy stripes, with dropout, momentum and a schedule."""
import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 32), nn.Tanh(),
                      nn.Linear(32, 2))
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=20, gamma=0.5)
for step in range(50):
    batch = torch.randperm(len(x))[:64]
    optimizer.zero_grad()
    loss = criterion(model(x[batch]), y[batch])
    loss.backward()
    optimizer.step()
    scheduler.step()
    print(step, f"{loss.item():.4g}")
