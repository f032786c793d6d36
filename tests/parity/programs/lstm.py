"""A two-layer LSTM that follows a wave, with packed sequences and clipped gradients."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

torch.manual_seed(2)


class Follower(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(1, 16, num_layers=2, batch_first=True, dropout=0.1)
        self.out = nn.Linear(16, 1)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        h, _ = self.rnn(packed)
        h, _ = pad_packed_sequence(h, batch_first=True)
        return self.out(h)


t = torch.linspace(0, 6.28, 25)
waves = torch.stack([torch.sin(t * f + p) for f in (1.0, 1.5, 2.0) for p in (0.0, 0.7)])
x, y = waves[:, :-1, None], waves[:, 1:, None]
lengths = torch.tensor([24, 20, 24, 16, 24, 12])
mask = (torch.arange(24)[None, :] < lengths[:, None]).unsqueeze(-1).float()
model = Follower()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(50):
    opt.zero_grad()
    loss = ((model(x, lengths) - y) ** 2 * mask).sum() / mask.sum()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    print(step, f"{loss.item():.4g}")
