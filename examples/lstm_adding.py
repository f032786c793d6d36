"""An LSTM remembers two marked numbers in a sequence and adds them.

What one learns: recurrent modules on batches of sequences, and clipping of gradients. Every step
shows the network a number and a mark, which is 1 at two places and 0 elsewhere. Who does not
remember can only guess the mean of the sums, which costs 1/6.
"""

import retrograd as torch
from retrograd import nn


class Adder(nn.Module):
    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.memory = nn.LSTM(2, width, batch_first=True)
        self.answer = nn.Linear(width, 1)

    def forward(self, sequences: torch.Tensor) -> torch.Tensor:
        _, (last, _) = self.memory(sequences)
        return self.answer(last[-1]).squeeze(-1)


def sequences(count: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Numbers with marks, and the sum of the two that are marked."""
    numbers, marks = torch.rand(count, length), torch.zeros(count, length)
    half = length // 2
    rows = torch.arange(count)
    marks[rows, torch.randint(half, (count,))] = 1
    marks[rows, torch.randint(half, length, (count,))] = 1
    return torch.stack([numbers, marks], dim=-1), (numbers * marks).sum(1)


def main(steps: int = 600, length: int = 16) -> float:
    """Train; return the mean squared error on new sequences."""
    torch.manual_seed(0)
    model = Adder()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in (bar := torch.progress(range(steps), "training")):
        inputs, sums = sequences(64, length)
        loss = nn.functional.mse_loss(model(inputs), sums)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        bar.note(f"loss {loss.item():.4f}")
    with torch.no_grad():
        inputs, sums = sequences(1000, length)
        error = nn.functional.mse_loss(model(inputs), sums).item()
    print(f"mean squared error {error:.4f} (who does not remember: {1 / 6:.4f})")
    return error


if __name__ == "__main__":
    main()
