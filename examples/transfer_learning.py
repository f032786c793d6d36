"""What a network learned from five digits helps it to read the other five after a few steps.

What one learns: freezing layers with `requires_grad_(False)`, replacing a head, giving an optimizer
only what is to be trained, and saving and loading what was learned.
"""

import io

import retrograd as torch
from retrograd import nn
from retrograd.datasets import digits

Data = tuple[torch.Tensor, torch.Tensor]


def build() -> nn.ModuleDict:
    body = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Flatten())
    return nn.ModuleDict({"body": body, "head": nn.Linear(32 * 3 * 3, 5)})


def read(model: nn.ModuleDict, images: torch.Tensor) -> torch.Tensor:
    return model["head"](model["body"](images))


def train(model: nn.ModuleDict, data: Data, steps: int) -> None:
    """Train whatever of the model is not frozen."""
    images, labels = data
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=2e-3)
    for _ in torch.progress(range(steps), "training"):
        chosen = torch.randint(len(images), (min(64, len(images)),))
        loss = nn.functional.cross_entropy(read(model, images[chosen]), labels[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def accuracy(model: nn.ModuleDict, data: Data) -> float:
    with torch.no_grad():
        return (read(model, data[0]).argmax(1) == data[1]).float().mean().item()


def main(steps: int = 300, few_steps: int = 10) -> tuple[float, float]:
    """Return the accuracies on digits 5 to 9 with a frozen body, and when trained from nothing."""
    torch.manual_seed(0)
    images, labels = digits()
    low = labels < 5
    many = images[low], labels[low]
    new = images[~low][:400], labels[~low][:400] - 5
    unseen = images[~low][400:], labels[~low][400:] - 5

    first = build()
    train(first, many, steps)
    saved = io.BytesIO()
    torch.save(first["body"].state_dict(), saved)
    saved.seek(0)

    second = build()
    second["body"].load_state_dict(torch.load(saved))
    second["body"].requires_grad_(False)
    train(second, new, few_steps)
    scratch = build()
    train(scratch, new, few_steps)
    found = accuracy(second, unseen), accuracy(scratch, unseen)
    print(f"after {few_steps} steps {found[0]:.1%} of the new digits are read with the frozen "
          f"body, {found[1]:.1%} from nothing")
    return found


if __name__ == "__main__":
    main()
