"""The banana valley, by several optimizers."""
import torch

for name, options in [("SGD", {"lr": 1e-3, "momentum": 0.5}), ("Adam", {"lr": 0.05}),
                      ("RMSprop", {"lr": 0.01}), ("Adagrad", {"lr": 0.3}), ("NAdam", {"lr": 0.05}),
                      ("LBFGS", {"lr": 0.5, "max_iter": 4})]:
    p = torch.tensor([-1.2, 1.0], dtype=torch.float64, requires_grad=True)
    opt = getattr(torch.optim, name)([p], **options)

    def closure(p=p, opt=opt):
        opt.zero_grad()
        f = (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
        f.backward()
        return f

    for _ in range(40):
        opt.step(closure)
    print(f"{name:8}", [round(v, 6) for v in p.tolist()])
