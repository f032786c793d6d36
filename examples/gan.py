"""A generator learns to put points on a ring, against a critic with a gradient penalty.

What one learns: two networks trained against each other with one optimizer each, `detach` where a
gradient must not pass, and a penalty on the norm of a gradient, which is differentiated again.
"""

import retrograd as torch
from retrograd import nn

NOISE = 4


def network(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64),
                         nn.LeakyReLU(0.2), nn.Linear(64, outputs))


def ring(count: int) -> torch.Tensor:
    """Points near the unit circle."""
    angle = 2 * torch.pi * torch.rand(count, 1)
    return torch.cat([angle.cos(), angle.sin()], dim=1) + 0.02 * torch.randn(count, 2)


def penalty(critic: nn.Module, real: torch.Tensor, made: torch.Tensor) -> torch.Tensor:
    """How far the critic's slope is from 1 between real points and made ones."""
    share = torch.rand(len(real), 1)
    between = (share * real + (1 - share) * made).requires_grad_()
    (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return (slope.norm(dim=1) - 1).square().mean()


def main(steps: int = 600, size: int = 128) -> tuple[float, int]:
    """Train; return the mean distance of made points from the ring and the sectors they reach."""
    torch.manual_seed(0)
    generator, critic = network(NOISE, 2), network(2, 1)
    makes = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.9))
    judges = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))
    for _ in torch.progress(range(steps), "training"):
        for _ in range(3):
            real, made = ring(size), generator(torch.randn(size, NOISE)).detach()
            loss = critic(made).mean() - critic(real).mean() + 2 * penalty(critic, real, made)
            judges.zero_grad()
            loss.backward()
            judges.step()
        makes.zero_grad()
        (-critic(generator(torch.randn(size, NOISE))).mean()).backward()
        makes.step()
    with torch.no_grad():
        points = generator(torch.randn(1000, NOISE))
    distance = (points.norm(dim=1) - 1).abs().mean().item()
    sector = ((torch.atan2(points[:, 1], points[:, 0]) / torch.pi + 1) * 4).long().clamp(max=7)
    reached = int((torch.bincount(sector, minlength=8) > 30).sum())
    print(f"made points lie {distance:.3f} from the ring, in {reached} of 8 sectors")
    return distance, reached


if __name__ == "__main__":
    main()
