"""explain: which parameters a gradient reaches, along which path, and what cut off the others."""

from __future__ import annotations

import copy
import gc
import inspect
import io
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd import nn
from retrograd.core.cuts import EXITS, KNOWN, MANY, Memory
from retrograd.utils.checkpoint import checkpoint

SOURCE = str(Path(torch.__file__).parent.parent)


def line_of(function: Callable[..., Any], mark: str = "# cut") -> int:
    lines, first = inspect.getsourcelines(function)
    return first + [mark in line for line in lines].index(True)


class Encoder(nn.Module):
    """Its own layers, then a way to lose the gradient, then a decoder."""

    def __init__(self, lose: Callable[[Any], Any]):
        super().__init__()
        self.first, self.second = nn.Linear(3, 4), nn.Linear(4, 4)
        self.decoder, self.spare = nn.Linear(4, 1), nn.Linear(2, 2)
        self.lose = lose

    def forward(self, x: Any) -> Any:
        return self.decoder(self.lose(self.second(self.first(x).relu()))).mean()


def detached(h: Any) -> Any:
    return h.detach()  # cut


def by_data(h: Any) -> Any:
    return h.data * 2  # cut


def in_place(h: Any) -> Any:
    k = h * 2
    k.detach_()  # cut
    return k


def under_no_grad(h: Any) -> Any:
    with torch.no_grad():
        h = h.sin()  # cut
    return h + 1


def in_inference_mode(h: Any) -> Any:
    with torch.inference_mode():
        h = h.sin()  # cut
    return h.clone()


def integers(h: Any) -> Any:
    return h.long().float()  # cut


def indices(h: Any) -> Any:
    return torch.nn.functional.one_hot(h.argmax(1), 4).float()  # cut


def second_output(h: Any) -> Any:
    return h.max(1, keepdim=True).indices.expand(-1, 4).float()  # cut


def a_comparison(h: Any) -> Any:
    return (h > 0).float()  # cut


def signs_of_half(h: Any) -> Any:
    return h.bfloat16().detach().float()  # cut


CUTS = {detached: ".detach()", by_data: ".data", in_place: ".detach_()", under_no_grad: "no_grad",
        in_inference_mode: "inference_mode", integers: "cast", indices: "argmax",
        second_output: "max", a_comparison: "gt", signs_of_half: ".detach()"}


@pytest.mark.parametrize("lose", CUTS)
@pytest.mark.parametrize("is_over", [False, True])
def test_a_cut_is_named_with_its_line_and_operation(lose: Callable[[Any], Any],
                                                    is_over: bool) -> None:
    net = Encoder(lose)
    loss = net(torch.ones(5, 3))
    if is_over:
        loss.backward()
    found = torch.explain(loss, net)
    assert [p.name for p in found] == [name for name, _ in net.named_parameters()]
    assert found.is_over is is_over
    for name in ("first.weight", "first.bias", "second.weight", "second.bias"):
        (place,) = found[name].places
        assert found[name].status == "cut"
        assert CUTS[lose] in place.how
        assert (place.file, place.line) == (__file__, line_of(lose))
        assert "# cut" in place.source and place.function == lose.__name__
        assert place.is_certain or lose is second_output
        assert net.get_parameter(name).grad is None
    assert found["decoder.weight"].is_reached
    spare = found["spare.weight"]
    assert spare.status == ("cut" if lose is second_output else "unused")
    assert spare.why.startswith("unused, or cut by" if lose is second_output else "nothing that")


def as_list(h: Any) -> Any:
    return torch.tensor(h.tolist())  # cut


def as_number(h: Any) -> Any:
    return torch.full((5, 4), h.sum().item())  # cut


def by_numpy(h: Any) -> Any:
    return torch.from_numpy(np.sin(h.detach().numpy()))  # cut


def by_float(h: Any) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("retrograd.base.warning._given", _Everything())
        patch.setattr("retrograd.base.warning._always", False)  # as comparisons leave it on
        return torch.full((5, 4), float(h.sum()))  # cut


class _Everything:
    def __contains__(self, name: object) -> bool:
        return True


@pytest.mark.parametrize("lose, how", [(as_list, ".tolist()"), (as_number, ".item()"),
                                       (by_numpy, ".numpy()"), (by_float, ".item()")])
def test_values_that_left_the_tensors_are_named(lose: Callable[[Any], Any], how: str) -> None:
    EXITS.clear()
    net = Encoder(lose)
    loss = net(torch.ones(5, 3))
    loss.item()  # which comes after, and has nothing to do with it
    found = torch.explain(loss, net)
    assert found["first.weight"].status == "left"
    (place,) = found["first.weight"].places
    assert place.how == how and (place.file, place.line) == (__file__, line_of(lose))
    assert found["spare.weight"].status == "unused" and found["decoder.bias"].is_reached


@pytest.mark.parametrize("overwrite", [
    lambda h: h.zero_(),
    lambda h: h.fill_(3.0),
    lambda h: h.copy_(torch.ones(4)),
    lambda h: h.__setitem__(slice(None), 1.0)])
def test_an_overwritten_value_passes_zeros_on(overwrite: Callable[[Any], Any]) -> None:
    w = torch.ones(4, requires_grad=True)
    h = w * 2
    overwrite(h)
    found = torch.explain(h.sum(), {"w": w})["w"]
    assert found.status == "overwritten" and [step.name for step in found.path][-1] == "Mul"
    assert found.places[0].line == overwrite.__code__.co_firstlineno
    h.sum().backward()
    assert w.grad is not None and not w.grad.any()


def test_paths_name_operations_and_lines() -> None:
    w = torch.ones(3, requires_grad=True)
    y = w.exp()
    line = inspect.currentframe().f_lineno - 1  # type: ignore[union-attr]
    found = torch.explain((y * 2).sum(), w)[0]
    assert [step.name for step in found.path] == ["Sum", "Mul", "Exp"]
    assert (found.path[2].file, found.path[2].line) == (__file__, line)
    deep = y
    for _ in range(5000):
        deep = deep + 1
    assert len(torch.explain(deep, [w])[0].path) == 5001
    assert "... 4993 more ..." in str(torch.explain(deep, [w]))
    assert torch.explain(w, [w])[0].why == "it is the loss"


def test_a_value_that_was_overwritten_since_it_was_saved_is_told_before_backward_fails() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    z = (y * y).sum()
    y.add_(1)
    found = torch.explain(z, x)
    assert found[0].is_reached and "modified by an inplace operation" in found.stale[0]
    assert "backward would fail" in str(found)


def test_a_graph_is_over_where_a_part_of_it_is() -> None:
    w = torch.ones(3, requires_grad=True)
    y = w.sin()
    y.sum().backward()
    assert torch.explain(y.exp().sum(), [w]).is_over


def test_so_is_a_result_that_was_saved() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    z = y.sum()
    y.data.add_(1)
    assert not torch.explain(z, x).stale
    with torch.no_grad():
        y.add_(1)
    assert "modified by an inplace operation" in torch.explain(z, x).stale[0]


def test_checkpoints_reach_what_their_functions_use() -> None:
    layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(12)])
    spare = nn.Linear(2, 2)

    def run(x: Any) -> Any:
        for layer in layers:
            x = layer(x)
        return x

    x = torch.ones(3, 2, requires_grad=True)
    parameters = dict(nn.ModuleDict({"layers": layers, "spare": spare}).named_parameters())
    for use_reentrant in (True, False):
        loss = checkpoint(run, x * 2, use_reentrant=use_reentrant).sum()
        for is_over in (False, True):
            found = torch.explain(loss, {**parameters, "x": x})
            assert {p.name for p in found if p.is_reached} == {"x"} | {
                name for name in parameters if name.startswith("layers")}
            assert found["spare.weight"].status == "unused" and found.is_over is is_over
            if not is_over:
                loss.backward()
        assert layers[0].weight.grad is not None

    def cutting(x: Any) -> Any:
        return layers[1](layers[0](x).detach())  # cut

    loss = checkpoint(cutting, x, use_reentrant=True).sum()
    found = torch.explain(loss, {"first": layers[0].weight, "second": layers[1].weight})
    (place,) = found["first"].places
    assert found["second"].is_reached and place.how == ".detach()" and "# cut" in place.source


def test_a_value_that_was_saved_twice_is_told_once() -> None:
    w = torch.ones(2, requires_grad=True)
    h = w * 1
    loss = (h * h).sum()
    h.add_(1)
    (told,) = torch.explain(loss, {"w": w}).stale
    assert "h * h" in told and "h.add_(1)" in told


def test_what_was_detached_says_by_which_line() -> None:
    net = nn.Linear(2, 2)
    copies = {"copy": net.weight.detach()}  # cut
    why = torch.explain(net(torch.ones(2)).sum(), copies)["copy"].why
    assert why.startswith("requires_grad is False\ncut by .detach()") and "# cut" in why
    net.bias.requires_grad_(False)
    assert torch.explain(net(torch.ones(2)).sum(), net)["bias"].why == "requires_grad is False"


def test_names_and_kinds_of_parameters() -> None:
    w, frozen = torch.ones(2, requires_grad=True), torch.ones(2)
    net = nn.Linear(2, 1)
    loss = (net(w) * frozen.sum()).sum()
    assert {p.name for p in torch.explain(loss)} == {"w", "net.weight", "net.bias"}
    assert [p.name for p in torch.explain(loss, [w, net.weight])] == ["w", "net.weight"]
    assert [p.name for p in torch.explain(loss, [("own", w), net.weight])] == ["own", "net.weight"]
    assert [p.name for p in torch.explain(loss, torch.optim.SGD([w]))] == ["w"]
    assert [p.name for p in torch.explain(loss, net.named_parameters())] == ["weight", "bias"]
    assert torch.explain(loss, {"frozen": frozen})["frozen"].status == "frozen"
    assert torch.explain(loss, [torch.ones(1, requires_grad=True)])[0].name == "parameter 0"
    with pytest.raises(KeyError):
        torch.explain(loss)["nothing"]
    for wrong in [(1.0, net), (loss, 3), (loss, [3]), ("loss", net)]:
        with pytest.raises(TypeError, match="explain"):
            torch.explain(*wrong)


def test_a_loss_without_any_history() -> None:
    net = nn.Linear(2, 1)
    with torch.no_grad():
        loss = net(torch.ones(2)).sum()
    found = torch.explain(loss, net)
    assert {p.status for p in found} == {"cut"} and "no_grad" in found[0].why
    assert {p.status for p in torch.explain(torch.ones(()), net)} == {"unused"}


def test_what_it_prints() -> None:
    net = Encoder(detached)
    found = torch.explain(net(torch.ones(5, 3)), net)
    lines = str(found).splitlines()
    assert lines[0] == "gradients reach 2 of 8 parameters"
    assert lines[2].split() == ["parameter", "shape", "gradient", "path", "from", "the", "loss,",
                                "or", "what", "is", "in", "the", "way"]
    assert repr(found) == str(found)
    from rich.console import Console

    console = Console(width=200, record=True, file=io.StringIO())
    console.print(found)
    text = console.export_text()
    assert "decoder.weight" in text and ".detach()" in text and "[4, 3]" in text


def test_cuts_keep_nothing_alive() -> None:
    w = torch.ones(3, requires_grad=True)
    y = (w * 2).exp()
    node = weakref.ref(y.grad_fn)
    cut = y.detach()
    with torch.no_grad():
        other = y * 2
    y.tolist()
    gone = weakref.ref(w)
    del y, w
    gc.collect()
    assert node() is None and gone() is None
    loss = (cut * other * torch.ones(3, requires_grad=True)).sum()
    fresh = torch.ones(3, requires_grad=True)
    unclear = torch.explain(loss, [fresh])[0]
    assert unclear.status == "cut" and not unclear.places[0].is_certain
    assert unclear.why.startswith("unused, or cut by")


def test_a_chain_of_cuts_is_remembered_up_to_a_length() -> None:
    w = torch.ones(3, requires_grad=True)
    average = torch.zeros(3)
    with torch.no_grad():
        for _ in range(1000):
            average = average * 0.9 + w * 0.1
    assert average._cut[5] < Memory.depth
    copied = copy.deepcopy(average)
    assert copied._cut is None


def test_large_graphs_are_not_walked_for_every_cut() -> None:
    x = w = torch.ones(3, requires_grad=True)
    for _ in range(Memory.nodes + 10):
        x = x + 1
    cut = x.detach()
    assert Memory.seen >= x.grad_fn.seq
    loss = (cut * torch.ones(3, requires_grad=True)).sum()
    assert torch.explain(loss, [w])[0].places[0].is_certain  # as long as it is there
    del x
    found = torch.explain(loss, [w])[0]
    assert found.status == "cut" and not found.places[0].is_certain


def test_what_lies_behind_many_cuts_is_kept_once_and_not_for_ever() -> None:
    w = torch.ones(2, requires_grad=True)
    first, *others = [(w * 2).sum().detach() for _ in range(20)]
    assert all(other._cut[3] is first._cut[3] for other in others)
    kept = [(torch.ones(2, requires_grad=True) * 2).detach() for _ in range(2 * MANY)]
    assert len({id(y._cut[3]) for y in kept}) == 2 * MANY
    assert len(KNOWN) <= MANY + 1


def test_transforms_custom_functions_and_threads() -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            return a * 2 + b

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2, g

    w, v = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    y = Double.apply(w, v.detach())
    assert [p.status for p in torch.explain(y.sum(), {"w": w, "v": v})] == ["reached", "cut"]
    mapped = torch.vmap(lambda row: row * w)(torch.ones(4, 3))
    assert torch.explain(mapped.sum(), w)[0].is_reached
    (slope,) = torch.autograd.grad((w ** 3).sum(), w, create_graph=True)
    assert torch.explain(slope.sum(), w)[0].is_reached
    seen: list[str] = []
    threads = [threading.Thread(target=lambda: seen.append(
        torch.explain((w * v.detach()).sum(), {"v": v})["v"].status)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == ["cut"] * 4


PROGRAM = """
import sys
import torch
from torch import nn

def main(steps):
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    head = nn.Linear(1, 1)
    for step in range(steps):
        y = model(torch.ones(4, 2))
        if step:
            y = y.detach()
        head(y).sum().backward()
    print("done", sys.argv[1:])

main(2)
"""


@pytest.mark.parametrize("options, reached", [(["--at", "first"], 6), ([], 2)])
def test_the_command_explains_a_pass(tmp_path: Path, options: list[str], reached: int) -> None:
    (tmp_path / "script.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "retrograd", "explain", "script.py", *options, "--", "--at", "x"],
        cwd=tmp_path, capture_output=True, text=True, env={"PYTHONPATH": SOURCE}, check=False)
    assert done.returncode == 0, done.stderr
    assert "done ['--at', 'x']" in done.stdout
    assert "2 backward passes" in done.stdout
    assert f"gradients reach {reached} of 6 parameters" in done.stdout
    assert ("y = y.detach()" in done.stdout) is (reached == 2)
