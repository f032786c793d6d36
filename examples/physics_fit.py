"""A network is fitted to a differential equation, without ever seeing its solution.

What one learns: derivatives of a network by its input, twice, inside a loss that is differentiated
by the weights; and LBFGS, which takes a closure because it looks at the loss several times a step.
The equation is that of a damped swing, y'' + 0.4 y' + 4 y = 0, with y(0) = 1 and y'(0) = 0.
"""

import retrograd as torch
from retrograd import nn

DAMPING, STIFFNESS, END = 0.4, 4.0, 4.0


def derivative(values: torch.Tensor, times: torch.Tensor) -> torch.Tensor:
    return torch.autograd.grad(values.sum(), times, create_graph=True)[0]


def solution(times: torch.Tensor) -> torch.Tensor:
    """What is known of it from books, to compare with."""
    decay = DAMPING / 2
    frequency = (STIFFNESS - decay**2) ** 0.5
    return (-decay * times).exp() * ((frequency * times).cos()
                                     + decay / frequency * (frequency * times).sin())


def main(steps: int = 40) -> tuple[float, float]:
    """Fit; return the loss that is left and the largest error."""
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    try:
        model = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(),
                              nn.Linear(24, 1))
        times = torch.linspace(0, END, 64).unsqueeze(1).requires_grad_()
        optimizer = torch.optim.LBFGS(model.parameters(), max_iter=20, history_size=50,
                                      line_search_fn="strong_wolfe")

        def closure() -> torch.Tensor:
            optimizer.zero_grad()
            place = model(times)
            speed = derivative(place, times)
            residual = derivative(speed, times) + DAMPING * speed + STIFFNESS * place
            start = (place[0] - 1).square().sum() + speed[0].square().sum()
            loss = residual.square().mean() + 10 * start
            loss.backward()
            return loss

        loss = closure()
        for _ in (bar := torch.progress(range(steps), "fitting")):
            loss = optimizer.step(closure)
            bar.note(f"loss {loss.item():.1e}")
        with torch.no_grad():
            error = (model(times) - solution(times)).abs().max().item()
    finally:
        torch.set_default_dtype(torch.float32)
    print(f"loss {loss.item():.1e}; largest distance from the solution {error:.1e}")
    return loss.item(), error


if __name__ == "__main__":
    main()
