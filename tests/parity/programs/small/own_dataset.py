"""A dataset of one's own, with a sampler, a collate function and a split."""
import torch
from torch.utils.data import DataLoader, Dataset, Subset, WeightedRandomSampler, random_split


class Squares(Dataset):
    def __len__(self):
        return 20

    def __getitem__(self, i):
        return {"x": torch.tensor(float(i)), "y": i * i, "name": f"n{i}"}


g = torch.Generator().manual_seed(11)
a, b = random_split(Squares(), [0.75, 0.25], generator=g)
for batch in DataLoader(a, batch_size=4, shuffle=True, generator=g, drop_last=True):
    print(batch["x"], batch["y"], batch["name"])
weights = [1.0 if i % 2 else 3.0 for i in range(len(b))]
sampler = WeightedRandomSampler(weights, 6, generator=g)
print([s.item() for s in DataLoader(b, sampler=sampler, batch_size=None,
                                    collate_fn=None) for s in [s["x"]]])
pad = torch.nn.utils.rnn.pad_sequence
rows = Subset([torch.ones(n) for n in range(1, 7)], [0, 2, 4])
print(next(iter(DataLoader(rows, batch_size=3, collate_fn=lambda s: pad(s, batch_first=True)))))
