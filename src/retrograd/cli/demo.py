"""The demo: a small convolutional network learns to read handwritten digits."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import retrograd

from .. import nn, optim, viz
from ..core.tensor import Tensor
from ..datasets import digits
from ..utils.data import DataLoader, Subset, TensorDataset, random_split
from ..viz._charts import line_chart
from .progress import Steps, progress
from .report import Read, report

HELD_OUT = 0.2
BATCH = 32
LEARNING_RATE = 5e-3
_TITLE = "Learning to read handwritten digits"


class Score(NamedTuple):
    """Mean loss and share of right answers over some digits."""

    loss: float
    accuracy: float


def build_model() -> nn.Sequential:
    """Return the untrained network."""
    return nn.Sequential(
        nn.Conv2d(1, 16, kernel_size=3, padding=1), nn.ReLU(),
        nn.Conv2d(16, 32, kernel_size=3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.4), nn.Linear(512, 10))


def split_digits() -> tuple[Subset, Subset]:
    """Return training digits and held-out digits; no digit is in both."""
    train, test = random_split(TensorDataset(*digits()), [1 - HELD_OUT, HELD_OUT])
    return train, test


def evaluate(model: nn.Module, subset: Subset) -> Score:
    """Score the model on every digit of ``subset``, without training."""
    images, labels = subset.dataset[subset.indices]
    model.eval()
    with retrograd.no_grad():
        scores = model(images)
        loss = nn.functional.cross_entropy(scores, labels).item()
        right = (scores.argmax(1) == labels).sum().item()
    model.train()
    return Score(loss, right / len(labels))


def train_epoch(model: nn.Module, optimizer: optim.Optimizer, batches: Steps[Any]) -> None:
    """Go through the training digits once."""
    for images, labels in batches:
        optimizer.zero_grad()
        loss: Tensor = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        batches.note(f"loss {loss.item():.3f}")


def run_demo(epochs: int, seed: int, output: Path) -> int:
    """Train, print the accuracies and write the loss curve; return the exit status."""
    threads = retrograd.get_num_threads()
    # On a busy machine, threads wait for each other longer than these small matrices take.
    retrograd.set_num_threads(1)
    try:
        _train_and_report(epochs, seed, output)
    finally:
        retrograd.set_num_threads(threads)
    return 0


def _train_and_report(epochs: int, seed: int, output: Path) -> None:
    started = time.perf_counter()
    retrograd.manual_seed(seed)
    train, test = split_digits()
    model = build_model()
    count = sum(parameter.numel() for parameter in model.parameters())
    print(f"{len(train)} digits to train on, {len(test)} held out; {count:,} parameters")

    optimizer = optim.Adam(model.parameters(), lr=LEARNING_RATE)
    schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    loader = DataLoader(train, batch_size=BATCH, shuffle=True)
    history = [(evaluate(model, train), evaluate(model, test))]
    steps = viz.History(model, optimizer)
    for epoch in range(1, epochs + 1):
        train_epoch(model, optimizer, progress(loader, f"epoch {epoch:2}/{epochs}"))
        history.append((evaluate(model, train), evaluate(model, test)))
        (train_loss, _), (test_loss, _) = history[-1]
        steps.note(test=test_loss, train=train_loss)
        schedule.step()
        print(f"epoch {epoch:2}/{epochs}   train loss {train_loss:.4f}   "
              f"test loss {test_loss:.4f}", flush=True)

    final_train, final_test = history[-1]
    print(f"train accuracy {final_train.accuracy:.2%}")
    print(f"test accuracy  {final_test.accuracy:.2%}")
    output.write_text(_loss_curve(history), encoding="utf-8")
    print(f"loss curve     {output}")
    page = output.with_suffix(".html")
    page.write_text(report(
        _TITLE, f"A small convolutional network with {count:,} parameters learns to read digits of "
        "8 × 8 pixels.",
        {"of unseen digits read right": f"{final_test.accuracy:.1%}",
         "of those it trained on": f"{final_train.accuracy:.1%}", "epochs": str(epochs)},
        steps, _step_graph(model, train), _read(model, test)), encoding="utf-8")
    print(f"report         {page}")
    print(f"took {time.perf_counter() - started:.1f} s")


def _step_graph(model: nn.Module, subset: Subset) -> viz.Graph:
    """The graph of one more step, on the first digits, that changes nothing."""
    images, labels = subset.dataset[subset.indices[:BATCH]]
    model.zero_grad()
    with viz.recording():
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
    graph = viz.graph(loss, model)
    graph.title = "One training step"
    return graph


def _read(model: nn.Module, subset: Subset) -> list[Read]:
    """What the model takes each digit of ``subset`` for."""
    images, labels = subset.dataset[subset.indices]
    model.eval()
    with retrograd.no_grad():
        certain, answers = model(images).softmax(1).max(1)
    return [Read(*parts) for parts in zip(images, labels.tolist(), answers.tolist(),
                                          certain.tolist())]


def _loss_curve(history: list[tuple[Score, Score]]) -> str:
    train, test = zip(*history)
    return line_chart(
        {"test": [(epoch, score.loss) for epoch, score in enumerate(test)],
         "train": [(epoch, score.loss) for epoch, score in enumerate(train)]},
        title=_TITLE,
        subtitle=f"{test[-1].accuracy:.1%} of the held-out digits are read correctly after "
        f"{len(history) - 1} epochs", x_label="epoch", y_label="cross entropy (logarithmic)")
