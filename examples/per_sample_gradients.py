"""Per-sample gradients of an ordinary recorded loss, and training with each of them clipped.

The losses of a batch are computed as always. One batched backward pass with the rows of the
identity matrix gives every sample's own gradient: what differential privacy clips and blurs.
"""

import retrograd as torch


def sample_gradients(losses, parameters):
    """For each parameter the gradients of all losses, along a new first dimension."""
    rows = torch.eye(len(losses))
    return torch.autograd.grad(losses, parameters, rows, is_grads_batched=True, retain_graph=True)


def clipped_mean(gradients, limit):
    """The mean of the samples' gradients, none of them longer than ``limit``."""
    lengths = torch.stack([g.flatten(1).norm(dim=1) for g in gradients]).norm(dim=0)
    scale = (limit / lengths).clamp(max=1.0)
    return [(g * scale.reshape(-1, *[1] * (g.dim() - 1))).mean(0) for g in gradients]


def main(steps: int = 60) -> tuple[float, float, float]:
    """Train; return the deviation from gradients taken one by one, and the first and last loss."""
    torch.manual_seed(0)
    x = torch.randn(32, 3)
    y = x @ torch.tensor([1.0, -2.0, 0.5]) + 0.1 * torch.randn(32)
    y[0] = 100.0  # an outlier, whose influence clipping bounds
    model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    parameters = list(model.parameters())
    history, deviation = [], 0.0
    for step in range(steps):
        losses = (model(x).squeeze(1) - y).square()
        gradients = sample_gradients(losses, parameters)
        if step == 0:
            alone = [torch.autograd.grad(loss, parameters, retain_graph=True) for loss in losses]
            deviation = max(float((g - torch.stack(one)).abs().max())
                            for g, one in zip(gradients, zip(*alone, strict=True), strict=True))
        with torch.no_grad():
            for p, g in zip(parameters, clipped_mean(gradients, 1.0), strict=True):
                p -= 0.2 * g
        history.append(float(losses[1:].mean().detach()))
    print(f"deviation from one by one {deviation:.1e}; loss without the outlier "
          f"{history[0]:.2f} -> {history[-1]:.2f}")
    return deviation, history[0], history[-1]


if __name__ == "__main__":
    main()
