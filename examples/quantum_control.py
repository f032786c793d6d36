"""Steering a quantum bit: gradients through complex matrices.

A field along z is always on; a pulse along x can be chosen in each of ten time slices. Gradient
ascent finds a pulse after which the state |0> has become (|0> + i|1>) / sqrt(2).
"""

import retrograd as torch

SLICES, DURATION, DRIFT = 10, 2.0, 0.6


def slice_evolution(amplitude, dt):
    """exp(-i dt (DRIFT Z + amplitude X)), by the formula for a rotation."""
    strength = torch.sqrt(amplitude ** 2 + DRIFT ** 2)
    cosine, sine = torch.cos(strength * dt), torch.sin(strength * dt) / strength
    diagonal = torch.complex(cosine, -sine * DRIFT)
    off = torch.complex(torch.zeros_like(sine), -sine * amplitude)
    return torch.stack([torch.stack([diagonal, off]), torch.stack([off, diagonal.conj()])])


def fidelity(pulse, start, target):
    """The probability of finding ``target`` after the pulse."""
    state = start
    for amplitude in pulse:
        state = slice_evolution(amplitude, DURATION / SLICES) @ state
    return (target.conj() @ state).abs() ** 2


def main(steps: int = 60) -> tuple[float, float]:
    """Optimise the pulse; return the fidelity before and after."""
    start = torch.tensor([1.0, 0.0], dtype=torch.complex128)
    target = torch.tensor([1.0, 1.0j], dtype=torch.complex128) / 2 ** 0.5
    pulse = torch.full((SLICES,), 0.3, dtype=torch.float64, requires_grad=True)
    before = float(fidelity(pulse, start, target).detach())
    optimizer = torch.optim.Adam([pulse], lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        (1 - fidelity(pulse, start, target)).backward()
        optimizer.step()
    after = float(fidelity(pulse, start, target).detach())
    print(f"fidelity {before:.4f} -> {after:.6f}")
    return before, after


if __name__ == "__main__":
    main()
