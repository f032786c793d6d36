"""Namespaces that say what is not here, and run eagerly what would be compiled."""

from __future__ import annotations

import copy
import importlib
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
from retrograd import nn
from tests.test_import import run


@pytest.mark.parametrize("name", ["cuda", "mps", "xpu", "mtia"])
def test_absent_accelerators_answer_and_refuse(name: str) -> None:
    module = importlib.import_module(f"retrograd.{name}")
    assert module.is_available() is False and module.device_count() == 0
    assert module.empty_cache() is None and module.manual_seed(0) is None
    assert module.is_available.__module__ == module.__name__
    for call in (module.synchronize, module.current_device, module.Stream, module.Event,
                 lambda: module.set_device(0), lambda: module.device(0).__enter__()):
        with pytest.raises((AssertionError, RuntimeError), match=f"(?i){name}"):
            call()
    assert module.set_device(-1) is None
    with module.device(-1):
        pass
    with pytest.raises(AttributeError, match=f"module 'retrograd.{name}' has no attribute"):
        module.nonsense  # noqa: B018


def test_no_accelerator() -> None:
    assert torch.accelerator.current_accelerator() is None
    assert not torch.accelerator.is_available()
    for call in (torch.accelerator.synchronize, torch.accelerator.empty_cache):
        with pytest.raises(RuntimeError, match="Cannot access accelerator device when none"):
            call()


@pytest.mark.parametrize("name", ["cudnn", "cuda", "mps", "mkl", "mkldnn", "openmp", "opt_einsum"])
def test_backends_are_modules(name: str) -> None:
    module = importlib.import_module(f"retrograd.backends.{name}")
    assert module is getattr(torch.backends, name) and module.__name__ in sys.modules
    assert not getattr(module, "is_available", getattr(module, "is_built", bool))()
    assert name in dir(torch.backends)


def test_settings_of_backends_are_kept_and_checked() -> None:
    cudnn = torch.backends.cudnn
    with cudnn.flags(benchmark=True, deterministic=True):
        assert cudnn.benchmark and cudnn.deterministic
    assert not cudnn.benchmark and not cudnn.deterministic
    with pytest.raises(RuntimeError, match="set_benchmark_cudnn expects a bool, but got int"):
        cudnn.benchmark = 1
    assert cudnn.benchmark is False and "benchmark" in dir(cudnn)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        cudnn.nonsense  # noqa: B018


def test_tf32_follows_the_precision_of_products() -> None:
    try:
        torch.set_float32_matmul_precision("high")
        assert torch.backends.cuda.matmul.allow_tf32 is True
        torch.backends.cuda.matmul.allow_tf32 = False
        assert torch.get_float32_matmul_precision() == "highest"
        with pytest.warns(UserWarning, match="bad is not one of 'highest', 'high', or 'medium'"):
            torch.set_float32_matmul_precision("bad")
        assert torch.get_float32_matmul_precision() == "highest"
    finally:
        torch.set_float32_matmul_precision("highest")


# ---------------------------------------------------------------- compiling


def test_a_compiled_module_is_the_module_in_a_wrapper() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.5))
    compiled = torch.compile(model, mode="max-autotune")
    assert type(compiled) is torch._dynamo.OptimizedModule and compiled._orig_mod is model
    assert list(compiled.state_dict()) == ["_orig_mod.0.weight", "_orig_mod.0.bias"]
    assert getattr(compiled, "0") is model[0] and isinstance(compiled, nn.Module)
    compiled.eval()
    assert not model.training and not compiled.training
    compiled.label = "mine"
    assert model.label == "mine" and "_orig_mod" in repr(compiled)
    x = torch.ones(1, 2)
    assert compiled(x).equal(model(x))
    for made in (copy.deepcopy(compiled), pickle.loads(pickle.dumps(compiled))):
        assert made(x).equal(model(x)) and made._orig_mod is not model


def test_a_module_compiled_in_place_runs_what_compiling_made_of_its_call(
        monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []

    def compiled(call: Any, **options: Any) -> Any:
        return lambda *args: ran.append(options) or call(*args)

    monkeypatch.setattr(torch, "compile", compiled)
    model, other, x = nn.Linear(2, 1), nn.Linear(2, 1), torch.ones(2)
    expected = model(x)
    hook = model.register_forward_hook(lambda module, args, output: output + 1)
    model.compile(fullgraph=True)
    assert model(x).equal(expected + 1) and ran == [{"fullgraph": True}]
    hook.remove()
    for made in (other, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert made(x).shape == (1,) and made._compiled_call_impl is None
    assert len(ran) == 1
    model._compiled_call_impl = None
    assert model(x).equal(expected) and len(ran) == 1


def test_compiling_says_once_that_nothing_is_compiled() -> None:
    program = """
import contextlib, io, logging, retrograd as torch
heard = io.StringIO()
logging.basicConfig(stream=heard)
torch.compile(torch.sin), torch.compile(torch.nn.Linear(1, 1))
torch.nn.Linear(1, 1).compile(), torch.nn.Linear(1, 1).compile()
print(heard.getvalue().count("programs run eagerly"))
"""
    assert run(program).split() == ["1"]


@pytest.mark.parametrize(("call", "words"), [
    (lambda: torch.compile(1), "A callable function is expected, but <class 'int'> is provided"),
    (lambda: torch.compile(len, mode="fast"), "Unrecognized mode=fast, should be one of: default"),
    (lambda: torch.compile(len, mode="default", options={}), "Either mode or options can be"),
])
def test_compile_refuses(call: Any, words: str) -> None:
    with pytest.raises((AssertionError, RuntimeError), match=words):
        call()


def test_scripts_are_python() -> None:
    with pytest.warns(DeprecationWarning, match="`torch.jit.script` is deprecated"):
        assert torch.jit.script(len) is len
    calls = []
    with pytest.warns(DeprecationWarning, match="`torch.jit.trace` is deprecated"):
        traced = torch.jit.trace(lambda x: calls.append(x) or x * 2, torch.ones(2))
    assert len(calls) == 1 and traced(torch.ones(1)).item() == 2
    for call in (torch.jit.save, torch.jit.load):
        with pytest.raises(RuntimeError, match="there is no compiled program to save or load"):
            call("model.pt")
    assert torch.jit.wait(torch.jit.fork(len, [1, 2])) == 2
    with pytest.raises(RuntimeError, match="only implemented for modules in eval mode"):
        torch.jit.freeze(nn.Linear(1, 1))


def test_nothing_is_exported() -> None:
    with pytest.raises(RuntimeError, match="retrograd cannot export to ONNX"):
        torch.onnx.export(nn.Linear(1, 1), torch.ones(1), "model.onnx")
    assert not torch.onnx.is_in_onnx_export()


# ---------------------------------------------------------------- hub


def test_a_model_from_a_folder(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text("SIZE = 3\n")
    (tmp_path / "hubconf.py").write_text(
        "dependencies = ['numpy']\nfrom parts import SIZE\nimport retrograd\n"
        "def model(bias=True):\n    'A layer.'\n    return retrograd.nn.Linear(SIZE, 1, bias)\n")
    made = torch.hub.load(str(tmp_path), "model", source="local", bias=False)
    assert made.in_features == 3 and made.bias is None
    assert torch.hub.list(str(tmp_path), source="local") == ["model"]
    assert torch.hub.help(str(tmp_path), "model", source="local") == "A layer."
    with pytest.raises(RuntimeError, match="Cannot find callable other in hubconf"):
        torch.hub.load(str(tmp_path), "other", source="local")
    assert str(tmp_path) not in sys.path
    sys.modules.pop("parts")


def test_nothing_is_downloaded(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="retrograd downloads nothing: 'pytorch/vision' would"):
        torch.hub.load("pytorch/vision", "resnet18")
    with pytest.raises(ValueError, match='Unknown source: "web"'):
        torch.hub.load("x", "y", source="web")
    url = "https://example.org/weights.pt"
    with pytest.raises(RuntimeError, match="retrograd downloads nothing: put https"):
        torch.hub.load_state_dict_from_url(url, model_dir=str(tmp_path))
    torch.save({"w": torch.ones(1)}, tmp_path / "weights.pt")
    assert torch.hub.load_state_dict_from_url(url, str(tmp_path))["w"].item() == 1


# ---------------------------------------------------------------- custom ops


def squares() -> Any:
    @torch.library.custom_op("testing_ops::squares", mutates_args=())
    def squares(x: torch.Tensor, factor: float = 1.0) -> torch.Tensor:
        return torch.from_numpy(x.detach().numpy() ** 2 * factor)

    def keep(ctx: Any, inputs: tuple, output: Any) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.factor = inputs[1]

    squares.register_autograd(
        lambda ctx, g: (2 * ctx.factor * ctx.saved_tensors[0] * g, None), setup_context=keep)
    squares.register_fake(lambda x, factor=1.0: torch.empty_like(x))
    return squares


def test_a_custom_op_has_its_own_gradient() -> None:
    op = squares()
    x = torch.tensor([1.0, 2.0], requires_grad=True, dtype=torch.float64)
    op(x, factor=3.0).sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]
    assert torch.autograd.gradcheck(op, (x,))
    assert torch.ops.testing_ops.squares(x).tolist() == [1.0, 4.0]
    assert set(torch.library.opcheck(op, (x,)).values()) == {"SUCCESS"}
    assert repr(op) == "<CustomOpDef(testing_ops::squares)>" and op.__name__ == "squares"


def test_custom_ops_are_found_by_programs_that_are_served_as_torch() -> None:
    program = """
from retrograd import as_torch
as_torch()
import torch
@torch.library.custom_op("mine::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2
print(torch.ops.mine.twice(torch.ones(1)).item())
try:
    torch.ops.elsewhere.twice
except AttributeError as error:
    print("namespace 'elsewhere'" in str(error))
"""
    assert run(program).split() == ["2.0", "True"]


def test_a_custom_op_in_batches() -> None:
    op = squares()
    op.register_vmap(lambda info, dims, x, factor: (op(x, factor), dims[0]))
    assert torch.vmap(op)(torch.arange(3.0)).tolist() == [0.0, 1.0, 4.0]


def test_what_custom_ops_refuse() -> None:
    @torch.library.custom_op("testing_ops::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    x = torch.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"backward through testing_ops.twice.default but no"):
        twice(x).sum().backward()

    @torch.library.custom_op("testing_ops::same", mutates_args=())
    def same(x: torch.Tensor) -> torch.Tensor:
        return x

    with pytest.raises(RuntimeError, match="must not also be an input to this custom operator"):
        same(x)
    with pytest.raises(ValueError, match='must be of the form "namespace::name"'):
        torch.library.custom_op("nameless", len, mutates_args=())
    with pytest.raises(ValueError, match=r"mutates_args names \['y'\]"):
        torch.library.custom_op("testing_ops::f", lambda x: x, mutates_args=("y",))
    with pytest.raises(ValueError, match="the namespace 'nn' is retrograd's own"):
        torch.library.custom_op("nn::f", lambda x: x, mutates_args=())


def test_a_custom_op_that_writes() -> None:
    @torch.library.custom_op("testing_ops::fill", mutates_args=("x",))
    def fill(x: torch.Tensor) -> None:
        x.fill_(3)

    x = torch.zeros(2)
    fill(x)
    assert x.tolist() == [3.0, 3.0] and x._version == 1
    with pytest.raises(RuntimeError, match="Cannot register autograd formula for non-functional"):
        fill.register_autograd(lambda ctx, g: g)

    @torch.library.custom_op("testing_ops::secret", mutates_args=())
    def secret(x: torch.Tensor) -> torch.Tensor:
        x.fill_(3)
        return x + 1

    with pytest.raises(RuntimeError, match="argument 'x' was written to, which mutates_args"):
        torch.library.opcheck(secret, (torch.zeros(2),))


def test_another_kernel() -> None:
    op = squares()

    @op.register_kernel("cpu")
    def _(x: torch.Tensor, factor: float = 1.0) -> torch.Tensor:
        return x * 0

    assert op(torch.ones(1)).item() == 0


def test_what_the_library_is_made_of() -> None:
    assert "numpy" in torch.__config__.show() and "threads" in torch.__config__.parallel_info()
    assert torch.version.cuda is None and torch.version.debug is False
    assert torch.sym_max(1, 2.0) == 2.0 and torch.sym_ite(True, 1, 2) == 1
    assert torch.set_flush_denormal(False) and not torch.set_flush_denormal(True)


def test_nothing_is_traced_and_no_tensor_is_fake() -> None:
    from retrograd import fx
    from retrograd._subclasses import FakeTensor, FakeTensorMode
    from retrograd._subclasses.fake_tensor import is_fake
    from retrograd.fx.experimental.proxy_tensor import get_proxy_mode

    assert not is_fake(torch.ones(1)) and get_proxy_mode() is None
    assert not isinstance(nn.Linear(1, 1), fx.GraphModule) and fx.wrap(len) is len
    for call in (fx.Graph, fx.Tracer, fx.Proxy, lambda: fx.symbolic_trace(nn.Linear(1, 1)),
                 lambda: FakeTensor(torch.ones(1)), FakeTensorMode):
        with pytest.raises(NotImplementedError, match=r"retrograd (does not trace|follows)"):
            call()
    with pytest.raises(RuntimeError, match="NVTX functions not installed"):
        torch.cuda.nvtx.range_push("block")
    with pytest.raises(RuntimeError, match="NVTX functions not installed"), \
            torch.cuda.nvtx.range("block"):
        pass
    assert not isinstance(3, torch.SymInt) and torch._C._get_tracing_state() is None


def test_ops_that_have_no_function_of_their_name() -> None:
    aten, x = torch.ops.aten, torch.randn(3, 4)
    copied = aten._to_copy.default(x, dtype=torch.float64)
    assert copied.dtype is torch.float64 and copied.data_ptr() != x.data_ptr()
    assert aten._to_copy(x).data_ptr() != x.data_ptr()
    assert torch.equal(aten.slice.Tensor(x, -1, 1, None, 2), x[:, 1::2])
    assert torch.equal(aten.index.Tensor(x, [None, torch.tensor([2, 0])]), x[:, [2, 0]])
    assert aten.alias(x)._base is x and aten.alias(x).data_ptr() == x.data_ptr()
    images, weight = torch.randn(2, 3, 5, 5), torch.randn(4, 3, 3, 3)
    g = torch.randn(2, 4, 3, 3)
    settings = ([1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    found = aten.convolution_backward(g, images, weight, [4], *settings, [True, False, True])
    assert found[1] is None and torch.allclose(found[2], g.sum((0, 2, 3)))
    expected = torch.nn.functional.conv_transpose2d(g, weight)
    assert torch.allclose(found[0], expected, atol=1e-5)
