"""A variational autoencoder on made-up binary patterns."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(4)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class VAE(nn.Module):
    def __init__(self, d=36, h=32, z=4):
        super().__init__()
        self.fc1 = nn.Linear(d, h)
        self.fc21, self.fc22 = nn.Linear(h, z), nn.Linear(h, z)
        self.fc3, self.fc4 = nn.Linear(z, h), nn.Linear(h, d)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def forward(self, x):
        h = F.elu(self.fc1(x))
        mu, logvar = self.fc21(h), self.fc22(h)
        z = self.reparameterize(mu, logvar)
        return torch.sigmoid(self.fc4(F.elu(self.fc3(z)))), mu, logvar


patterns = (torch.rand(6, 36) > 0.5).float()
data = patterns[torch.randint(0, 6, (240,))]
data = torch.where(torch.rand_like(data) < 0.05, 1 - data, data).to(device)
model = VAE().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(50):
    batch = data[torch.randperm(240, device=device)[:48]]
    recon, mu, logvar = model(batch)
    bce = F.binary_cross_entropy(recon, batch, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    loss = (bce + kld) / len(batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.4g}")
