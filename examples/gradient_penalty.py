"""A Wasserstein critic held to slopes of one by a gradient penalty.

The loss contains the norm of a gradient, so training differentiates through a gradient.
The critic learns to tell two clouds of points that lie a distance of 3 apart; the difference of its
mean values estimates that distance.
"""

import retrograd as torch


def penalty(critic, a, b):
    """How far the critic's slope is from 1 on points between the two clouds."""
    t = torch.rand(len(a), 1)
    between = (t * a + (1 - t) * b).requires_grad_()
    (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return (slope.norm(dim=1) - 1).square().mean(), slope.norm(dim=1).mean()


def main(steps: int = 150) -> tuple[float, float]:
    """Train a critic; return its estimate of the distance and its mean slope."""
    torch.manual_seed(0)
    critic = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
    optimizer = torch.optim.Adam(critic.parameters(), lr=2e-2)
    distance = slope = torch.zeros(())
    for _ in range(steps):
        a = 0.3 * torch.randn(64, 2)
        b = 0.3 * torch.randn(64, 2) + torch.tensor([3.0, 0.0])
        distance = critic(b).mean() - critic(a).mean()
        deviation, slope = penalty(critic, a, b)
        optimizer.zero_grad()
        (10 * deviation - distance).backward()
        optimizer.step()
    print(f"estimated distance {float(distance.detach()):.2f} (true: 3), "
          f"mean slope {float(slope.detach()):.2f}")
    return float(distance.detach()), float(slope.detach())


if __name__ == "__main__":
    main()
