"""A small student learns from the scores of a large teacher, not from labels.

What one learns: distillation with softened scores: a teacher says how much a digit looks like each
of the others, which tells a student more than the label does. The student here never sees a label;
another student of the same size sees only the labels of a few digits.
"""

import retrograd as torch
from retrograd import nn
from retrograd.datasets import digits
from retrograd.nn import functional as F

SOFTNESS = 4.0


def learn(model: nn.Module, images: torch.Tensor, loss_of, steps: int) -> None:
    """Train on random batches; ``loss_of(scores, chosen)`` says what to learn from."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in torch.progress(range(steps), "training"):
        chosen = torch.randint(len(images), (64,))
        loss = loss_of(model(images[chosen]), chosen)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def student() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 24), nn.ReLU(), nn.Linear(24, 10))


def accuracy(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> float:
    with torch.no_grad():
        return (model.eval()(images).argmax(1) == labels).float().mean().item()


def main(steps: int = 400, labelled: int = 100) -> tuple[float, float, float]:
    """Return the accuracies of the teacher, of its student and of the student of few labels."""
    torch.manual_seed(0)
    images, labels = digits()
    unseen = images[1400:], labels[1400:]
    images, labels = images[:1400], labels[:1400]
    teacher = nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                            nn.Flatten(), nn.Dropout(0.3), nn.Linear(512, 64), nn.ReLU(),
                            nn.Linear(64, 10))
    learn(teacher, images, lambda scores, chosen: F.cross_entropy(scores, labels[chosen]), steps)
    with torch.no_grad():
        advice = (teacher.eval()(images) / SOFTNESS).log_softmax(-1)

    def distil(scores: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        return SOFTNESS**2 * F.kl_div((scores / SOFTNESS).log_softmax(-1), advice[chosen],
                                      reduction="batchmean", log_target=True)

    taught, alone = student(), student()
    learn(taught, images, distil, steps)
    few = images[:labelled], labels[:labelled]
    learn(alone, few[0], lambda scores, chosen: F.cross_entropy(scores, few[1][chosen]), steps)
    found = accuracy(teacher, *unseen), accuracy(taught, *unseen), accuracy(alone, *unseen)
    print(f"teacher {found[0]:.1%}, its student {found[1]:.1%}, "
          f"a student with {labelled} labels {found[2]:.1%}")
    return found


if __name__ == "__main__":
    main()
