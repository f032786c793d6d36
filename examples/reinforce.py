"""A pole is balanced on a cart by REINFORCE: what was followed by a long life is done more often.

What one learns: gradients through the probability of what was drawn rather than through the world,
a baseline that takes away noise, and a world of its own: 32 carts are moved at once as tensors.
"""

import retrograd as torch
from retrograd import nn

GRAVITY, CART, POLE, HALF_LENGTH, PUSH, TICK = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
LIMITS = torch.tensor([2.4, 12 * torch.pi / 180])
"""How far a cart may drive and a pole may lean."""


def move(state: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """The carts (place, speed, angle, turning) one tick later, each pushed to one side."""
    _, speed, angle, turning = state.unbind(1)
    force = PUSH * (2 * right - 1)
    sine, cosine, mass = angle.sin(), angle.cos(), CART + POLE
    common = (force + POLE * HALF_LENGTH * turning**2 * sine) / mass
    twist = (GRAVITY * sine - cosine * common) / (HALF_LENGTH * (4 / 3 - POLE * cosine**2 / mass))
    push = common - POLE * HALF_LENGTH * twist * cosine / mass
    change = torch.stack([speed, push, turning, twist], dim=1)
    return state + TICK * change


def play(policy: nn.Module, carts: int, longest: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Log probabilities of what each cart did at each tick, and whether it still stood."""
    state = 0.1 * torch.rand(carts, 4) - 0.05
    stands, chances, alive = torch.ones(carts), [], []
    for _ in range(longest):
        scores = policy(state).log_softmax(-1)
        action = torch.multinomial(scores.detach().exp(), 1)
        chances.append(scores.gather(1, action).squeeze(1))
        alive.append(stands)
        state = torch.where(stands[:, None] > 0, move(state, action.squeeze(1).float()), state)
        stands = stands * (state[:, ::2].abs() < LIMITS).all(1).float()
        if not stands.any():
            break
    return torch.stack(chances), torch.stack(alive)


def main(rounds: int = 60, carts: int = 32, longest: int = 200) -> tuple[float, float]:
    """Train; return the mean number of ticks that poles stand in the first and the last round."""
    torch.manual_seed(0)
    policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(policy.parameters(), lr=2e-2)
    lives = []
    for _ in (bar := torch.progress(range(rounds), "playing")):
        chances, alive = play(policy, carts, longest)
        lives.append(alive.sum(0).mean().item())
        bar.note(f"poles stand {lives[-1]:.0f} ticks")
        to_come = alive.flip(0).cumsum(0).flip(0)  # the life that is left after each action
        advantage = to_come - (to_come * alive).sum(1, keepdim=True) / alive.sum(1, keepdim=True)
        loss = -(chances * advantage * alive).sum() / alive.sum() / (advantage.std() + 1e-6)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"a pole stands {lives[0]:.0f} ticks at first, {lives[-1]:.0f} of {longest} in the end")
    return lives[0], lives[-1]


if __name__ == "__main__":
    main()
