"""What goes wrong, and what is said then."""
import torch


def attempt(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])


x = torch.ones(2, requires_grad=True)
attempt(lambda: torch.ones(2, 3) @ torch.ones(2, 3))
attempt(lambda: torch.ones(2) + torch.ones(3))
attempt(lambda: x.numpy())
attempt(lambda: (x * 2).backward())
attempt(lambda: torch.cat([torch.ones(1, 2), torch.ones(1, 3)]))
attempt(lambda: torch.ones(3).view(2, 2))
attempt(lambda: x.add_(1))
attempt(lambda: torch.nn.Linear(2, 3)(torch.ones(4)))
attempt(lambda: torch.tensor([1, 2]).mean())
attempt(lambda: torch.nn.Linear(2, 2).load_state_dict({}))
attempt(lambda: torch.ones(2)[5])
attempt(lambda: torch.zeros(2, 2).item())
attempt(lambda: bool(torch.ones(2)))
