"""A network learns the law of motion behind a spiral, through a solver of differential equations.

What one learns: a solver written in tensors is a function like any other, so gradients pass through
its steps to the network that gives the velocity.
"""

import retrograd as torch
from retrograd import nn


def solve(velocity, start: torch.Tensor, times: torch.Tensor) -> torch.Tensor:
    """The path from ``start``, by one step of Runge and Kutta's fourth order between two times."""
    path = [start]
    for step in times.diff():
        here = path[-1]
        a = velocity(here)
        b = velocity(here + step / 2 * a)
        c = velocity(here + step / 2 * b)
        d = velocity(here + step * c)
        path.append(here + step / 6 * (a + 2 * b + 2 * c + d))
    return torch.stack(path)


def spiral(place: torch.Tensor) -> torch.Tensor:
    """The law to be found: cubes of the coordinates, turned and damped."""
    return place**3 @ torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])


def main(steps: int = 600) -> tuple[float, float]:
    """Train on short pieces of the path; return the errors of the whole before and after."""
    torch.manual_seed(0)
    times = torch.linspace(0, 5, 101)
    with torch.no_grad():
        truth = solve(spiral, torch.tensor([2.0, 0.0]), times)
    network = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))

    def velocity(place: torch.Tensor) -> torch.Tensor:
        return network(place**3)

    def error() -> float:
        with torch.no_grad():
            return (solve(velocity, truth[0], times) - truth).abs().mean().item()

    before = error()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in (bar := torch.progress(range(steps), "training")):
        start = torch.randint(len(times) - 8, (32,))
        path = solve(velocity, truth[start], times[:8])
        loss = (path - torch.stack([truth[start + n] for n in range(8)])).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        bar.note(f"loss {loss.item():.4f}")
    after = error()
    print(f"mean distance from the true path: {before:.2f}, after training {after:.3f}")
    return before, after


if __name__ == "__main__":
    main()
