"""A convolutional network with batch norm reads handwritten digits.

What one learns: the usual loop of training with a data loader, a schedule of the learning rate, and
why `train()` and `eval()` matter: batch norm and dropout behave differently in the two.
"""

import retrograd as torch
from retrograd import nn
from retrograd.datasets import digits
from retrograd.utils.data import DataLoader, TensorDataset, random_split


def build() -> nn.Sequential:
    def block(inputs: int, outputs: int) -> list[nn.Module]:
        return [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs),
                nn.ReLU()]

    return nn.Sequential(*block(1, 16), *block(16, 32), nn.MaxPool2d(2), nn.Dropout(0.3),
                         nn.Flatten(), nn.Linear(32 * 4 * 4, 10))


def accuracy(model: nn.Module, loader: DataLoader) -> float:
    """The share of digits that are read correctly."""
    model.eval()
    with torch.no_grad():
        right = [(model(images).argmax(1) == labels).float() for images, labels in loader]
    model.train()
    return torch.cat(right).mean().item()


def main(epochs: int = 8) -> float:
    """Train; return the accuracy on digits that were held out."""
    torch.manual_seed(0)
    train, test = random_split(TensorDataset(*digits()), [0.8, 0.2])
    loader, held_out = DataLoader(train, 32, shuffle=True), DataLoader(test, 128)
    model = build()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, epochs * len(loader))
    for epoch in range(1, epochs + 1):
        batches = torch.progress(loader, f"epoch {epoch}")
        for images, labels in batches:
            loss = nn.functional.cross_entropy(model(images), labels, label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            batches.note(f"loss {loss.item():.3f}")
    found = accuracy(model, held_out)
    print(f"{found:.1%} of {len(test)} held-out digits are read correctly")
    return found


if __name__ == "__main__":
    main()
