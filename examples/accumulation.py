"""Gradients of small batches add up to that of a large one.

What one learns: `backward` adds to `.grad`, so a batch that does not fit into memory can be
computed in parts, if each part's loss is weighed by its share; the step is the same one then.
"""

import copy

import retrograd as torch
from retrograd import nn
from retrograd.datasets import digits

PARTS = 8


def step(model: nn.Module, optimizer: torch.optim.Optimizer, images: torch.Tensor,
         labels: torch.Tensor, parts: int) -> float:
    """One step of the optimizer with the gradient of the whole batch, computed in parts."""
    optimizer.zero_grad()
    total = 0.0
    for image, label in zip(images.chunk(parts), labels.chunk(parts), strict=True):
        loss = nn.functional.cross_entropy(model(image), label) * (len(image) / len(images))
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


def main(steps: int = 100) -> tuple[float, float, float]:
    """Train twice; return the largest difference of weights, the first loss and the last."""
    torch.manual_seed(0)
    images, labels = digits()
    images = images.double()
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10)).double()
    other = copy.deepcopy(model)
    models = [(m, torch.optim.SGD(m.parameters(), lr=0.2, momentum=0.9), parts)
              for m, parts in ((model, 1), (other, PARTS))]
    losses = []
    for _ in torch.progress(range(steps), "training"):
        chosen = torch.randperm(len(images))[:256]
        losses.append([step(m, o, images[chosen], labels[chosen], parts) for m, o, parts in models])
    difference = max((a - b).abs().max().item()
                     for a, b in zip(model.parameters(), other.parameters(), strict=True))
    print(f"loss {losses[0][0]:.3f} to {losses[-1][0]:.3f}; whole batches and {PARTS} parts differ "
          f"by {difference:.1e}")
    return difference, losses[0][0], losses[-1][0]


if __name__ == "__main__":
    main()
