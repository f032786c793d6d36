"""Whole training steps: modules, losses and optimizers."""

from __future__ import annotations

from typing import Any

from ..declaring import Step, line, taken, tensor, training


@line("train: an MLP 64-64-64 step, batch 32, Adam", goal=0.5)
def mlp(lib: Any) -> Step:
    lib.manual_seed(0)
    nn = lib.nn
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64))
    x, y = lib.randn(32, 64), lib.randn(32, 64)
    loss = nn.MSELoss()
    return training(lib.optim.Adam(model.parameters(), lr=1e-3), lambda: loss(model(x), y))


def classifier(lib: Any, model: Any, x: Any, rows: int, lr: float) -> Step:
    y = lib.randint(0, 10, (rows,))
    loss = lib.nn.CrossEntropyLoss()
    optimizer = lib.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    return training(optimizer, lambda: loss(model(x), y))


@line("train: a small convolutional net, batch 16, SGD")
def convnet(lib: Any) -> Step:
    lib.manual_seed(0)
    nn = lib.nn
    model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.Flatten(),
                          nn.Linear(16 * 16, 10))
    return classifier(lib, model, lib.randn(16, 1, 8, 8), 16, 0.1)


@line("train: LeNet on 28x28 images, batch 64, SGD")
def lenet(lib: Any) -> Step:
    lib.manual_seed(0)
    nn = lib.nn
    model = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))
    return classifier(lib, model, lib.randn(64, 1, 28, 28), 64, 0.01)


@line("train: a residual block with batch norm, batch 16")
def residual_block(lib: Any) -> Step:
    lib.manual_seed(0)
    nn = lib.nn
    body = nn.Sequential(nn.Conv2d(16, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
                         nn.Conv2d(16, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16))
    x = lib.randn(16, 16, 16, 16)

    def step() -> Any:
        loss = nn.functional.relu(body(x) + x).square().mean()
        loss.backward()
        return [loss, *taken(*body.parameters())]

    return step


@line("train: an LSTM module, 2 layers of 64, 32 steps, batch 16")
def lstm(lib: Any) -> Step:
    lib.manual_seed(0)
    model = lib.nn.LSTM(32, 64, num_layers=2)
    x = lib.randn(32, 16, 32)

    def step() -> Any:
        out, (hidden, cell) = model(x)
        loss = (out ** 2).mean() + hidden.mean() + cell.mean()
        loss.backward()
        return [loss, *taken(*model.parameters())]

    return step


@line("train: a transformer encoder layer, 128 wide, 64 tokens, batch 16")
def transformer_layer(lib: Any) -> Step:
    lib.manual_seed(0)
    model = lib.nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, batch_first=True)
    x = lib.randn(16, 64, 128)

    def step() -> Any:
        loss = model(x).square().mean()
        loss.backward()
        return [loss, *taken(*model.parameters())]

    return step


def gpt_block(lib: Any, width: int, heads: int) -> Any:
    """A block of GPT, as programs write it: attention and a perceptron, each after a norm."""
    nn = lib.nn

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def attend(self, x: Any) -> Any:
            batch, length, _ = x.shape
            q, k, v = (part.reshape(batch, length, heads, -1).transpose(1, 2)
                       for part in self.qkv(x).split(width, dim=2))
            found = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.out(found.transpose(1, 2).reshape(batch, length, width))

        def forward(self, x: Any) -> Any:
            x = x + self.attend(self.before(x))
            return x + self.down(nn.functional.gelu(self.up(self.between(x))))

    return Block()


@line("train: a GPT block, 256 wide, 128 tokens, batch 8")
def block(lib: Any) -> Step:
    lib.manual_seed(0)
    model = gpt_block(lib, 256, 8)
    x = lib.randn(8, 128, 256)

    def step() -> Any:
        loss = model(x).square().mean()
        loss.backward()
        return [loss, *taken(*model.parameters())]

    return step


@line("train: a small GPT, 2 blocks 64 wide, 64 tokens, batch 8, AdamW")
def gpt(lib: Any) -> Step:
    lib.manual_seed(0)
    nn = lib.nn

    class GPT(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(65, 64), nn.Embedding(64, 64)
            self.blocks = nn.Sequential(*(gpt_block(lib, 64, 4) for _ in range(2)))
            self.norm, self.head = nn.LayerNorm(64), nn.Linear(64, 65, bias=False)

        def forward(self, tokens: Any) -> Any:
            x = self.tokens(tokens) + self.places(lib.arange(tokens.shape[1]))
            return self.head(self.norm(self.blocks(x)))

    model = GPT()
    text = lib.randint(0, 65, (8, 65))
    inputs, wanted = text[:, :-1], text[:, 1:].reshape(-1)
    return training(lib.optim.AdamW(model.parameters(), lr=1e-3),
                    lambda: nn.functional.cross_entropy(model(inputs).reshape(-1, 65), wanted))


@line("train: an MLP by hand, 64-64-64, batch 32, gradients alone")
def bare_mlp(lib: Any) -> Step:
    w1, b1, w2 = (tensor(lib, seed, *shape).mul(0.1).requires_grad_()
                  for seed, shape in enumerate([(64, 64), (64,), (64, 64)]))
    x, y = tensor(lib, 3, 32, 64), tensor(lib, 4, 32, 64)

    def step() -> Any:
        ((lib.tanh(x @ w1 + b1) @ w2 - y) ** 2).mean().backward()
        return taken(w1, b1, w2)

    return step


def rosenbrock(x: Any) -> Any:
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


@line("train: LBFGS, 20 iterations on a function of 50 numbers")
def lbfgs(lib: Any) -> Step:
    def step() -> Any:
        x = lib.linspace(-1, 1, 50, dtype=lib.float64).requires_grad_()
        optimizer = lib.optim.LBFGS([x], lr=0.01, max_iter=20)

        def closure() -> Any:
            optimizer.zero_grad()
            loss = rosenbrock(x)
            loss.backward()
            return loss

        optimizer.step(closure)
        return x

    return step
