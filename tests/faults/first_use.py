"""Uses ops, transforms, models and namespaces for the first time, in eight threads at once.

Run as a program, with a seed that says in which order the threads ask for the namespaces and
import modules.
"""

from __future__ import annotations

import functools
import io
import os
import random
import sys
import threading
import time
import traceback
from typing import Any

import retrograd as torch

THREADS, LONG = 8, 100
SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 0
SPACES = ["nn", "optim", "linalg", "distributions", "func", "utils", "amp", "special", "testing",
          "serialization", "cuda", "jit", "distributed", "multiprocessing", "backends", "nn.init",
          "autograd.functional", "nn.utils.rnn", "nn.parallel", "optim.lr_scheduler", "utils.data",
          "utils.checkpoint", "autograd.forward_ad"]
IMPORTS = [
    "import retrograd.nn.functional as F", "import retrograd.nn as nn", "import retrograd.optim",
    "from retrograd.nn.utils.rnn import pad_sequence", "import retrograd.linalg",
    "from retrograd.nn.parameter import Parameter", "from retrograd.optim.adam import Adam",
    "from retrograd.utils.data.dataloader import DataLoader", "import retrograd.distributed",
    "from retrograd.distributions.kl import kl_divergence", "import retrograd.jit",
    "from retrograd.nn.modules.linear import Linear", "from retrograd.utils.data import DataLoader",
    "from retrograd.optim.lr_scheduler import StepLR", "import retrograd.multiprocessing",
    "from retrograd.utils.checkpoint import checkpoint", "from retrograd.nn.modules import Module",
    "from retrograd.distributions import Normal", "from retrograd.amp import autocast",
    "import retrograd.func", "import retrograd.testing", "import retrograd.autograd.functional"]


def namespaces(i: int) -> Any:
    names = [*SPACES]
    random.Random(SEED * THREADS + i).shuffle(names)
    for name in names:
        space = functools.reduce(getattr, name.split("."), torch)
        for public in dir(space):
            getattr(space, public)
    normal = torch.distributions.Normal(torch.tensor(0.0), torch.tensor(1.0))
    return normal.log_prob(torch.tensor(0.5)).item(), torch.linalg.det(torch.eye(3)).item()


def imports(i: int) -> Any:
    statements = [*IMPORTS]
    random.Random(SEED * THREADS + i).shuffle(statements)
    for statement in statements:
        exec(statement, {})


def ops(i: int) -> Any:
    x = torch.tensor([0.5, 0.25, 0.75], dtype=torch.float64, requires_grad=True)
    w = torch.arange(1.0, 7.0, dtype=torch.float64).reshape(2, 3).requires_grad_()
    y = x.atanh().cosh() + x.erfinv().expm1() + x.sin() * x.log() / (x.exp() + 1) + x.pow(2.5) \
        + torch.softmax(x, 0) + torch.where(x > 0.3, x, x * 2) + x.sigmoid().tanh() + x.cumsum(0) \
        + torch.logsumexp(x, 0) + x.var() + x[1] + x[[0, 1, 1]]
    z = (w @ x).sum() + torch.cat([w, w]).prod() + torch.einsum("ij,j->i", w, x).sum() + w.std() \
        + w.t().reshape(-1)[::2].sum() + w.max(1)[0].sum() + torch.linalg.svdvals(w).sum()
    total = y.sum() + z
    (g,) = torch.autograd.grad(total, x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    written = x.detach().clone().add_(1).mul_(2)
    written[0] = 3
    c = torch.tensor([1 + 2j, 2.0], requires_grad=True)
    (c * c.conj()).abs().sum().backward()
    half = torch.tensor([1.5], dtype=torch.bfloat16) * torch.tensor([2.0], dtype=torch.float16)
    return total.item(), g.tolist(), h.tolist(), written.tolist(), c.grad.tolist(), half.item()


def transforms(i: int) -> Any:
    x = torch.tensor([0.5, 0.25, 0.75], dtype=torch.float64)

    def function(a: Any) -> Any:
        return (a.sin() * a.exp() + a.cumsum(0).tanh() + a.softmax(0).log()).sum() + a.erf().sum()

    func = torch.func
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, x).cosh()
        tangent = torch.autograd.forward_ad.unpack_dual(dual).tangent
    found = [func.grad(function)(x), func.jvp(function, (x,), (x,))[1], func.hessian(function)(x),
             func.vmap(func.grad(function))(torch.stack([x, x])), func.jacfwd(torch.cosh)(x),
             tangent, torch.autograd.functional.hessian(function, x)]
    return [t.tolist() for t in found]


def training(i: int) -> Any:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 3),
                          nn.BatchNorm1d(3))
    source = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=source))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    data = torch.utils.data.TensorDataset(torch.randn(16, 4, generator=source),
                                          torch.arange(16) % 3)
    losses = []
    for x, y in torch.utils.data.DataLoader(data, batch_size=8):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    return losses, torch.load(file)["0.bias"].tolist(), repr(model), str(hint())


def hint() -> Any:
    """The error of a name that does not exist, which looks through the namespaces."""
    try:
        return torch.no_such_name
    except AttributeError as error:
        return error


def wait(threads: list[threading.Thread]) -> None:
    """Until all are done or none has run for long; others may use or stop the machine."""
    idle, spent = 0, time.process_time()
    while idle < LONG and time.process_time() < LONG and any(t.is_alive() for t in threads):
        time.sleep(1)
        idle = idle + 1 if time.process_time() - spent < 0.01 else 0
        spent = time.process_time()


def main() -> None:
    sys.setswitchinterval(1e-6)
    work = [ops, transforms, namespaces, training, imports]
    work = work[SEED % len(work):] + work[:SEED % len(work)]  # each is once the first
    start, results, errors = threading.Barrier(THREADS), {}, []

    def run(i: int) -> None:
        try:
            start.wait()
            results[i] = repr([job(i) for job in work])
        except BaseException as error:
            errors.append("".join(traceback.format_exception(error)))

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    wait(threads)
    if errors:
        print(errors[0])
    elif any(thread.is_alive() for thread in threads):
        print("threads wait for each other")
    elif len(set(results.values())) > 1:
        print("different results", *sorted(set(results.values())), sep="\n")
    else:
        os._exit(0)
    sys.stdout.flush()
    os._exit(1)


if __name__ == "__main__":
    main()
