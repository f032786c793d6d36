"""A small GPT learns to write like this project's own pages, one character after the other.

What one learns: a transformer decoder from parts (token and position embeddings, causal attention,
residual blocks with norms first), a split of text into training and validation, and sampling.
"""

import re
from pathlib import Path

import retrograd as torch
from retrograd import nn
from retrograd.nn import functional as F

ROOT = Path(__file__).resolve().parent.parent
PAGES = ["ARCHITECTURE.md", "README.md", "CONTRIBUTING.md", "docs/extending.md"]
CONTEXT = 48


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.think = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                   nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        parts = self.mix(self.before(x)).view(batch, length, 3, self.heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.think(self.between(x))


class GPT(nn.Module):
    def __init__(self, letters: int, width: int = 64, heads: int = 4, layers: int = 2) -> None:
        super().__init__()
        self.letter, self.place = nn.Embedding(letters, width), nn.Embedding(CONTEXT, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.last, self.head = nn.LayerNorm(width), nn.Linear(width, letters)

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        x = self.letter(letters) + self.place(torch.arange(letters.shape[1]))
        return self.head(self.last(self.blocks(x)))

    @torch.no_grad()
    def write(self, letters: torch.Tensor, count: int, temperature: float = 0.7) -> torch.Tensor:
        """Go on with a text, letter by letter."""
        for _ in range(count):
            scores = self(letters[:, -CONTEXT:])[:, -1] / temperature
            letters = torch.cat([letters, torch.multinomial(scores.softmax(-1), 1)], dim=1)
        return letters


def batch(text: torch.Tensor, size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Pieces of the text, and the letters that follow each of theirs."""
    starts = torch.randint(len(text) - CONTEXT, (size, 1))
    pieces = text[starts + torch.arange(CONTEXT + 1)]
    return pieces[:, :-1], pieces[:, 1:]


def main(steps: int = 600) -> tuple[float, float]:
    """Train; return the loss on unseen text before and after, in nats for each letter."""
    torch.manual_seed(0)
    pages = "\n".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
    text = re.sub(r"[^\x20-\x7e\n]", "", re.sub(" +", " ", pages))
    alphabet = sorted(set(text))
    number = {letter: n for n, letter in enumerate(alphabet)}
    data = torch.tensor([number[letter] for letter in text])
    train, unseen = data[:-len(data) // 10], data[-len(data) // 10:]
    model = GPT(len(alphabet))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)

    def loss(source: torch.Tensor, size: int) -> torch.Tensor:
        letters, following = batch(source, size)
        return F.cross_entropy(model(letters).flatten(0, 1), following.flatten())

    with torch.no_grad():
        before = loss(unseen, 64).item()
    for _ in (bar := torch.progress(range(steps), "training")):
        optimizer.zero_grad()
        found = loss(train, 16)
        found.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        bar.note(f"loss {found.item():.3f}")
    with torch.no_grad():
        after = loss(unseen, 64).item()
    print(f"loss on unseen text: {before:.2f}, after {steps} steps {after:.2f}")
    start = torch.tensor([[number[letter] for letter in "The "]])
    print("".join(alphabet[n] for n in model.write(start, 200)[0].tolist()))
    return before, after


if __name__ == "__main__":
    main()
