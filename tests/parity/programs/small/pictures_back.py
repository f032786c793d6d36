"""A convolutional autoencoder: down by strides, up by transposed convolutions."""
import torch
from torch import nn

torch.manual_seed(7)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 6, 3, 2, 1), nn.GroupNorm(2, 6), nn.SiLU(),
                                  nn.Conv2d(6, 3, 3, 2, 1))
        self.up = nn.Sequential(
            nn.ConvTranspose2d(3, 6, 4, 2, 1), nn.InstanceNorm2d(6, affine=True), nn.PReLU(),
            nn.Upsample(scale_factor=2, mode="bilinear"), nn.Conv2d(6, 1, 3, padding=1))

    def forward(self, x):
        return torch.sigmoid(self.up(self.down(x)))


grid = torch.stack(torch.meshgrid(torch.arange(8), torch.arange(8), indexing="ij")).float()
centers = torch.rand(24, 2, 1, 1) * 8
images = torch.exp(-((grid - centers) ** 2).sum(1, keepdim=True) / 6)
model = Autoencoder()
opt = torch.optim.Adamax(model.parameters(), lr=5e-3)
for step in range(15):
    loss = nn.MSELoss()(model(images), images)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, f"{loss.item():.5f}")
print(sum(p.numel() for p in model.parameters()))
