"""Arithmetic by op and module, beside PyTorch's count of it."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
import torch

import retrograd


def counting(lib: Any, **options: Any) -> Any:
    module = importlib.import_module(f"{lib.__name__}.utils.flop_counter")
    return module.FlopCounterMode(**{"display": False, **options})


def net(lib: Any) -> Any:
    nn = lib.nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(3, 8, 3, padding=1, stride=2)
            self.out = nn.Linear(128, 10)
            self.up = nn.ConvTranspose1d(2, 3, 2)
            self.last = nn.Sequential(nn.Linear(10, 5, bias=False), nn.ReLU(), nn.Linear(5, 2))

        def forward(self, x: Any) -> Any:
            hidden = self.out(self.conv(x).relu().flatten(1))
            return self.last(hidden), self.up(hidden.view(-1, 2, 5))

    return Net()


def counts(mode: Any) -> dict[str, dict[str, int]]:
    return {place: {str(op): flops for op, flops in of_ops.items()}
            for place, of_ops in mode.get_flop_counts().items()}


@pytest.mark.parametrize("is_backward", [False, True])
def test_modules(is_backward: bool) -> None:
    found = []
    for lib in (torch, retrograd):
        model, x = net(lib), lib.ones(4, 3, 8, 8, requires_grad=True)
        with counting(lib) as mode:
            found_by_net = model(x)
            if is_backward:
                sum(part.sum() for part in found_by_net).backward()
        by_module = counts(mode)
        whole = by_module.pop("Net")  # which PyTorch leaves before the last of its gradients
        found.append((mode.get_total_flops(), by_module))
    table = mode.get_table(depth=2)
    assert found[0] == found[1] and whole == by_module["Global"]
    lines = table.splitlines()
    assert lines[0].split() == ["Module", "FLOP", "%", "Total"] and lines[2].startswith("Net ")
    assert ("- aten.convolution_backward" in table) is is_backward
    assert lines[2].split()[1:] == [f"{found[1][0] / 1000:.3f}K", "100.00%"]


def products(lib: Any) -> dict[str, Any]:
    def leaf(*shape: int) -> Any:
        return lib.ones(*shape, requires_grad=True)

    functional = lib.nn.functional
    return {
        "mm": lambda: leaf(5, 6) @ lib.ones(6, 7), "bmm": lambda: leaf(2, 5, 6) @ leaf(2, 6, 3),
        "addmm": lambda: lib.addmm(leaf(5, 7), leaf(5, 6), lib.ones(6, 7)),
        "baddbmm": lambda: lib.baddbmm(leaf(2, 5, 3), leaf(2, 5, 6), leaf(2, 6, 3)),
        "rows": lambda: leaf(2, 5, 6) @ leaf(6, 7), "mul": lambda: leaf(5, 6) * 2,
        "einsum": lambda: lib.einsum("bij,bjk->bik", leaf(2, 5, 6), lib.ones(2, 6, 3)),
        "linear": lambda: functional.linear(leaf(2, 5, 6), leaf(4, 6), leaf(4)),
        "attention": lambda: functional.scaled_dot_product_attention(
            leaf(2, 3, 4, 8), lib.ones(2, 3, 6, 8), lib.ones(2, 3, 6, 5)),
        "conv1d": lambda: functional.conv1d(leaf(2, 4, 9), leaf(6, 4, 3), leaf(6), dilation=2),
    }


@pytest.mark.parametrize("name", products(retrograd))
def test_products(name: str) -> None:
    totals = []
    for lib in (torch, retrograd):
        call = products(lib)[name]
        with counting(lib) as forward:
            call()
        with counting(lib) as both:
            call().sum().backward()
        totals.append((forward.get_total_flops(), both.get_total_flops()))
    assert totals[0] == totals[1]


def test_recorded_gradients_count_once() -> None:
    totals = []
    for lib in (torch, retrograd):
        a, b = lib.ones(3, 4, requires_grad=True), lib.ones(4, 5, requires_grad=True)
        with counting(lib) as mode:
            grad, = lib.autograd.grad((a @ b).square().sum(), a, create_graph=True)
            grad.sum().backward()
        totals.append(mode.get_total_flops())
    assert totals[0] == totals[1]


def test_nothing_is_left_on(capsys: pytest.CaptureFixture[str]) -> None:
    model, x = net(retrograd), retrograd.ones(4, 3, 8, 8)
    with pytest.raises(RuntimeError), counting(retrograd) as mode:
        model(x[:, :2])
    model(x)
    assert mode.get_total_flops() == 0 and not capsys.readouterr().out
    with counting(retrograd, display=True, depth=1):
        model(x)
    assert capsys.readouterr().out.count("\nNet ") == 1


@pytest.mark.parametrize("wanted", [(), (0,), (1,), (2,), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("forgets", [False, True])
def test_attention_counts_as_its_products(wanted: tuple[int, ...], forgets: bool,
                                          monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of the same function written out, which PyTorch counts here."""
    if forgets:  # the scores, as those of long sequences
        kernels = importlib.import_module("retrograd.ops.nn.attention").attention_kernels
        monkeypatch.setattr(kernels, "SCORES_KEPT", 0)
    found = []
    for lib in (torch, retrograd):
        parts = [lib.ones(2, 3, length, width, requires_grad=place in wanted)
                 for place, (length, width) in enumerate(((4, 8), (5, 8), (5, 6)))]
        with counting(lib) as mode:
            if lib is torch:
                out = (parts[0] @ parts[1].mT / 8 ** 0.5).softmax(-1) @ parts[2]
            else:
                out = lib.nn.functional.scaled_dot_product_attention(*parts)
            if wanted:
                out.sum().backward()
        found.append(mode.get_total_flops())
    assert found[0] == found[1]


def test_what_belongs_to_no_module_is_shown_as_a_whole() -> None:
    module, x = retrograd.nn.Linear(3, 4), retrograd.ones(2, 3)
    for loose, first in ((False, ["Linear", "48", "100.00%"]), (True, ["Global", "72", "100.00%"])):
        with counting(retrograd) as mode:
            module(x)
            if loose:
                x @ x.T
        rows = [line.split() for line in mode.get_table().splitlines()]
        assert rows[2] == first
        assert sum("Global" in row for row in rows) == loose
        assert ["Linear", "48", "66.67%" if loose else "100.00%"] in rows


def test_a_block_that_is_entered_again_counts_anew(capsys: pytest.CaptureFixture[str]) -> None:
    module, x = retrograd.nn.Linear(3, 4), retrograd.ones(2, 3)
    mode = counting(retrograd)
    for _ in range(2):
        with mode:
            module(x)
        assert mode.get_total_flops() == 48 and list(mode.get_flop_counts()) == ["Global", "Linear"]
    assert not capsys.readouterr().out
    with pytest.raises(KeyError), counting(retrograd, display=True):
        raise KeyError
    assert not capsys.readouterr().out


@pytest.mark.parametrize("depth, names", [
    (1, ["Net"]), (2, ["Net", "Net.conv", "Net.last", "Net.out", "Net.up"]),
    (3, ["Net", "Net.conv", "Net.last", "Net.last.0", "Net.last.2", "Net.out", "Net.up"])])
def test_how_far_a_table_goes(depth: int, names: list[str],
                              capsys: pytest.CaptureFixture[str]) -> None:
    def rows(text: str) -> list[str]:
        return [line.split()[0] for line in text.splitlines()[2:] if not line.startswith("- ")]

    with counting(retrograd, display=True, depth=depth) as mode:
        net(retrograd)(retrograd.ones(4, 3, 8, 8))
    shown = capsys.readouterr().out
    assert rows(shown) == names
    assert rows(mode.get_table()) == names and rows(mode.get_table(1)) == ["Net"]
    with counting(retrograd, depth=None) as mode:
        net(retrograd)(retrograd.ones(4, 3, 8, 8))
    assert len(rows(mode.get_table())) == 7


@pytest.mark.parametrize("size, shown", [(1, "2"), (7, "98"), (22, "968"), (23, "1058"),
                                         (70, "9800"), (71, "10.082K"), (224, "100.352K"),
                                         (708, "1002.528K"), (2237, "10.008M")])
def test_tables_to_the_letter(size: int, shown: str) -> None:
    module = retrograd.nn.Linear(size, size, bias=False)
    with counting(retrograd) as mode:
        module(retrograd.ones(1, size))
    width = max(len(shown), len("FLOP") + 2)
    assert mode.get_table() == "\n".join([
        f"Module     {'FLOP'.rjust(width)}    % Total",
        f"---------  {'-' * width}  ---------",
        f"Linear     {shown.rjust(width)}    100.00%",
        f"- aten.mm  {shown.rjust(width)}    100.00%"])
