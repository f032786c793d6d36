"""Newton's method with conjugate gradients: the Hessian is only ever multiplied with a vector."""

import retrograd as torch


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def newton_direction(x, gradient, steps=60):
    """Solve H d = -gradient by conjugate gradients, each step one Hessian-vector product."""
    d = torch.zeros_like(x)
    residual = -gradient
    p = residual.clone()
    enough = 0.1 * gradient.norm() * min(0.5, float(gradient.norm()) ** 0.5)
    for _ in range(steps):
        _, Hp = torch.autograd.functional.hvp(rosenbrock, x, p)
        curvature = p.dot(Hp)
        if curvature <= 0:  # not convex here: the best known direction must do
            return d if bool(d.any()) else -gradient
        length = residual.dot(residual) / curvature
        d = d + length * p
        following = residual - length * Hp
        if following.norm() < enough:
            return d
        p = following + following.dot(following) / residual.dot(residual) * p
        residual = following
    return d


def main() -> tuple[float, int]:
    """Minimise Rosenbrock's function of 20 variables; return the last value and the steps taken."""
    x = torch.full((20,), -1.0, dtype=torch.float64)
    value, gradient = torch.autograd.functional.vjp(rosenbrock, x)
    steps = 0
    while gradient.norm() > 1e-8:
        steps += 1
        d = newton_direction(x, gradient)
        step = 1.0
        while rosenbrock(x + step * d) > value + 1e-4 * step * gradient.dot(d) and step > 1e-8:
            step /= 2
        x = x + step * d
        value, gradient = torch.autograd.functional.vjp(rosenbrock, x)
    print(f"f = {float(value):.2e} after {steps} Newton steps, "
          f"largest error {float((x - 1).abs().max()):.1e}")
    return float(value), steps


if __name__ == "__main__":
    main()
