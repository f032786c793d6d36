"""A small residual network with batch norm on made-up pictures, through a DataLoader."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        return F.relu(x + self.bn2(self.conv2(out)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 8, 3, stride=2, padding=1)
        self.block = Residual(8)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        x = self.block(F.relu(self.stem(x)))
        return self.fc(torch.flatten(self.pool(x), 1))


torch.manual_seed(1)
labels = torch.randint(0, 4, (200,))
images = torch.randn(200, 1, 12, 12) + labels.view(-1, 1, 1, 1) * torch.linspace(0, 1, 12)
loader = DataLoader(TensorDataset(images, labels), batch_size=20, shuffle=True)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
step = 0
for _ in range(5):
    model.train()
    for data, target in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()
        print(step, f"{loss.item():.4g}")
        step += 1
model.eval()
with torch.no_grad():
    print("accuracy", (model(images).argmax(1) == labels).float().mean().item())
