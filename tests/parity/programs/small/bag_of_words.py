"""Which of two topics a sentence is about: an embedding, averaged."""
import torch
import torch.nn as nn

train = [("the cat sat on the mat", 0), ("a dog chased the cat", 0), ("stocks fell on monday", 1),
         ("the market fell sharply", 1), ("my dog sleeps", 0), ("bonds and stocks rose", 1)]
vocab = {w: i + 1 for i, w in enumerate(sorted({w for s, _ in train for w in s.split()}))}
torch.manual_seed(1)


def encode(sentence, length=6):
    ids = [vocab.get(w, 0) for w in sentence.split()]
    return torch.tensor(ids + [0] * (length - len(ids)))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(vocab) + 1, 8, padding_idx=0)
        self.fc = nn.Linear(8, 2)

    def forward(self, ids):
        mask = (ids != 0).unsqueeze(-1).float()
        return self.fc((self.emb(ids) * mask).sum(1) / mask.sum(1).clamp(min=1))


X, Y = torch.stack([encode(s) for s, _ in train]), torch.tensor([y for _, y in train])
model, loss_fn = Model(), nn.CrossEntropyLoss()
opt = torch.optim.Adagrad(model.parameters(), lr=0.3)
for epoch in range(15):
    opt.zero_grad()
    loss = loss_fn(model(X), Y)
    loss.backward()
    opt.step()
    print(epoch, f"{loss:.4f}")
print(model(encode("the dog sat").unsqueeze(0)).argmax().item(), model)
