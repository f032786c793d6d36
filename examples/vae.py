"""A variational autoencoder learns to draw digits.

What one learns: the reparametrised sample through which gradients pass, a loss of two parts (how
well a digit is drawn again, and how far its code is from a standard normal), and drawing new digits
from random codes.
"""

import retrograd as torch
from retrograd import nn
from retrograd.datasets import digits
from retrograd.utils.data import DataLoader, TensorDataset

CODE = 8
INK = " .:-=+*#%@"


class VAE(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 2 * CODE))
        self.decoder = nn.Sequential(nn.Linear(CODE, 128), nn.ReLU(), nn.Linear(128, 64))

    def forward(self, images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        mean, log_variance = self.encoder(images).chunk(2, dim=-1)
        code = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decoder(code), mean, log_variance


def bound(model: VAE, images: torch.Tensor) -> torch.Tensor:
    """The negative evidence bound, in nats for each image."""
    drawn, mean, log_variance = model(images)
    again = nn.functional.binary_cross_entropy_with_logits(drawn, images, reduction="sum")
    divergence = 0.5 * (mean.square() + log_variance.exp() - 1 - log_variance).sum()
    return (again + divergence) / len(images)


def main(epochs: int = 20) -> tuple[float, float]:
    """Train; return the bound on held-out digits before and after."""
    torch.manual_seed(0)
    images = digits()[0].flatten(1)
    images = images / images.max()
    train, unseen = images[:1500], images[1500:]
    loader = DataLoader(TensorDataset(train), 64, shuffle=True)
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    with torch.no_grad():
        before = bound(model, unseen).item()
    for _ in (bar := torch.progress(range(epochs), "training")):
        loss = torch.zeros(())
        for (batch,) in loader:
            loss = bound(model, batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        bar.note(f"loss {loss.item():.2f}")
    with torch.no_grad():
        after = bound(model, unseen).item()
        new = model.decoder(torch.randn(6, CODE)).sigmoid().reshape(6, 8, 8)
    print(f"bound on unseen digits: {before:.1f}, after {epochs} epochs {after:.1f} nats")
    for row in new.transpose(0, 1):
        print("   ".join("".join(2 * INK[int(9 * ink)] for ink in part) for part in row.tolist()))
    return before, after


if __name__ == "__main__":
    main()
