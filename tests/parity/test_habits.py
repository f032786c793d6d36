"""Lines that people write from habit: each does under retrograd what it does under PyTorch."""

from __future__ import annotations

import contextlib
import io
import re
import warnings

import pytest
import torch

LINES = """
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
import torch.utils.data as data
import torch.backends.cudnn as cudnn
import torch.distributed as dist
import torch.autograd as autograd
import torch.nn.init as init
import torch.jit
import torch.cuda
import torch.cuda.amp as amp
import torch.onnx
import torch.hub
import torch.linalg
import torch.special
import torch.random
import torch.testing
import torch.utils.checkpoint as cp
import torch.optim.lr_scheduler as lr_scheduler
import torch._dynamo
import torch.compiler
import torch.library
import torch.amp
import torch.accelerator
import torch.mps
import torch.xpu
import torch.backends.cuda
import torch.backends.mps
import torch.backends.mkldnn
import torch.utils._pytree as pytree
import torch.utils.benchmark as benchmark
import torch.utils.hooks
import torch.utils.model_zoo as model_zoo
import torch.nn.utils as U
import torch.nn.utils.rnn as rnn_utils
import torch.multiprocessing as mp
import torch.distributions as D
from torch import nn, optim
from torch import Tensor
from torch import nn, Tensor
from torch.nn import Parameter, Module
from torch.nn import functional as F
from torch.nn import Linear, ReLU, Sequential, Conv2d, BatchNorm2d
from torch.nn.modules.utils import _pair
from torch.nn.parameter import Parameter
from torch.nn.utils import clip_grad_norm_
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.nn.init import xavier_uniform_, kaiming_normal_
from torch.optim import Adam, SGD, AdamW
from torch.optim.lr_scheduler import StepLR, CosineAnnealingLR, LambdaLR
from torch.optim.optimizer import Optimizer
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split
from torch.utils.data.distributed import DistributedSampler
from torch.utils.data.dataloader import default_collate
from torch.utils.tensorboard import SummaryWriter
from torch.utils.checkpoint import checkpoint
from torch.utils.hooks import RemovableHandle
from torch.utils._pytree import tree_map, tree_flatten, tree_unflatten
from torch.autograd import Variable, Function, grad
from torch.autograd.function import once_differentiable
from torch.cuda.amp import autocast, GradScaler
from torch.amp import autocast, GradScaler
from torch.testing import assert_close
from torch.distributions import Normal, Categorical, kl_divergence
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.nn import DataParallel
from torch.func import functional_call, grad, vmap, jacrev
from torch.types import Number, Device
from torch.jit import script, trace
from torch.hub import load_state_dict_from_url
from torch.profiler import profile, record_function, ProfilerActivity
from torch.overrides import handle_torch_function, has_torch_function
from torch.library import custom_op
device = torch.device("cuda" if torch.cuda.is_available() else "cpu"); print(device)
device = "cuda:0" if torch.cuda.is_available() else "cpu"; print(torch.ones(1).to(device))
device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else "cpu"
device = "mps" if torch.backends.mps.is_available() else "cpu"; print(device)
device = torch.device("mps" if torch.mps.is_available() else "cpu"); print(repr(device))
print(torch.cuda.device_count(), torch.cuda.is_initialized())
if torch.cuda.is_available(): torch.cuda.set_device(0)
torch.cuda.empty_cache()
torch.cuda.manual_seed(0)
torch.cuda.manual_seed_all(42)
torch.cuda.synchronize() if torch.cuda.is_available() else None
torch.cuda.synchronize()
torch.cuda.current_device()
torch.cuda.get_device_name(0)
torch.cuda.get_device_properties(0)
print(torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated())
print(torch.cuda.is_bf16_supported())
torch.ones(2).cuda()
torch.ones(2, device="cuda")
torch.nn.Linear(2, 2).to("cuda")
torch.nn.Linear(2, 2).cuda()
torch.nn.Linear(2, 2).cpu()
x = torch.ones(2).to("cpu", non_blocking=True); print(x)
x = torch.ones(2).to(torch.device("cpu"), torch.float64); print(x)
print(torch.ones(2).is_cuda, torch.ones(2).device, torch.ones(2).device.type)
torch.manual_seed(42); print(torch.rand(2))
torch.random.manual_seed(1); print(torch.randn(2))
g = torch.Generator(); g.manual_seed(0); print(torch.randperm(5, generator=g))
g = torch.Generator(device="cpu").manual_seed(3); print(torch.rand(1, generator=g))
state = torch.get_rng_state(); torch.set_rng_state(state)
torch.backends.cudnn.deterministic = True; print(torch.backends.cudnn.deterministic)
torch.backends.cudnn.benchmark = False; print(torch.backends.cudnn.benchmark)
torch.backends.cudnn.enabled = True
torch.backends.cudnn.benchmark = 1
torch.backends.cuda.matmul.allow_tf32 = True; print(torch.get_float32_matmul_precision())
torch.backends.cudnn.allow_tf32 = True
torch.set_float32_matmul_precision("high"); print(torch.backends.cuda.matmul.allow_tf32)
torch.set_float32_matmul_precision("highest"); print(torch.backends.cuda.matmul.allow_tf32)
print(torch.backends.cudnn.is_available(), torch.backends.cudnn.version())
print(torch.backends.mps.is_built(), torch.backends.cuda.is_built())
torch.use_deterministic_algorithms(True); print(torch.are_deterministic_algorithms_enabled())
torch.use_deterministic_algorithms(False)
torch.set_default_dtype(torch.float64); print(torch.ones(1).dtype)
torch.set_default_tensor_type("torch.FloatTensor")
torch.set_default_device("cpu")
torch.set_num_threads(1); print(torch.get_num_threads())
torch.set_printoptions(precision=2); print(torch.tensor([1.23456]))
torch.set_printoptions(sci_mode=False, linewidth=120)
torch.autograd.set_detect_anomaly(True); torch.autograd.set_detect_anomaly(False)
torch.set_grad_enabled(True)
print(torch.version.cuda, torch.version.hip)
torch.__version__.split(".")
print(torch.is_tensor(torch.ones(1)), torch.is_grad_enabled())
print(torch.tensor([1, 2, 3]).float().mean().item())
print(torch.randn(2, 2).shape, torch.zeros(2, 3).size())
print(torch.tensor([[1., 2.], [3., 4.]]))
print(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()))
print(sum(p.numel() for p in torch.nn.Linear(2, 3).parameters() if p.requires_grad))
print(torch.from_numpy(__import__("numpy").ones(2, "float32")))
print(torch.ones(2).detach().cpu().numpy())
print(torch.arange(3).tolist(), torch.eye(2))
print(torch.cat([torch.ones(1), torch.zeros(1)]), torch.stack([torch.ones(1)] * 2))
print(f"loss: {torch.tensor(1.5):.4f}")
print(torch.tensor(3).item(), int(torch.tensor(3)), float(torch.tensor(2.5)))
print(torch.float32, torch.long, torch.FloatTensor([1, 2]), torch.LongTensor([1]))
print(torch.finfo(torch.float32).eps, torch.iinfo(torch.int32).max)
import io; b = io.BytesIO(); torch.save({"a": torch.ones(2)}, b); b.seek(0); print(torch.load(b))
import io; b = io.BytesIO(); torch.save(torch.nn.Linear(1, 1).state_dict(), b)
m = torch.nn.Linear(2, 2); m.load_state_dict(m.state_dict()); print(m.training)
m = torch.nn.Linear(2, 2); m.eval(); m.train(); m.zero_grad(set_to_none=True); print(m)
m = torch.nn.Linear(2, 2).double(); print(next(m.parameters()).dtype)
o = torch.optim.Adam(torch.nn.Linear(1, 1).parameters(), lr=1e-3); print(o.state_dict()["state"])
o = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1, momentum=0.9); print(o)
torch.nn.utils.clip_grad_norm_(torch.nn.Linear(2, 2).parameters(), 1.0)
with torch.no_grad(): print(torch.ones(1, requires_grad=True) * 2)
with torch.inference_mode(): print(torch.ones(1) * 2)
with torch.enable_grad(): print(torch.is_grad_enabled())
with torch.autocast("cpu", dtype=torch.bfloat16): print((torch.ones(1, 1) @ torch.ones(1, 1)).dtype)
with torch.autocast(device_type="cuda", enabled=False): print(1)
with torch.cuda.amp.autocast(enabled=False): print(2)
scaler = torch.cuda.amp.GradScaler(enabled=False); print(scaler.get_scale())
scaler = torch.amp.GradScaler("cuda", enabled=False); print(scaler.is_enabled())
print(torch.distributed.is_available(), torch.distributed.is_initialized())
if torch.distributed.is_initialized(): torch.distributed.barrier()
print(torch.jit.is_scripting(), torch.jit.is_tracing(), torch.onnx.is_in_onnx_export())
print(torch.compiler.is_compiling(), torch.is_autocast_enabled())
torch._dynamo.reset()
torch._dynamo.config.suppress_errors = True
f = torch.jit.script(lambda x: x * 2) if False else None
f = torch.jit.ignore(lambda x: x * 2); print(f(2))
f = torch.jit.unused(lambda x: x); print(f(3))
f = torch.compiler.disable(lambda x: x + 1); print(f(1))
torch.testing.assert_close(torch.ones(2), torch.ones(2))
print(torch.allclose(torch.ones(2), torch.ones(2)), torch.equal(torch.ones(1), torch.ones(1)))
handle = torch.nn.Linear(1, 1).register_forward_hook(lambda m, i, o: None); handle.remove()
print(isinstance(torch.nn.Parameter(torch.ones(1)), torch.Tensor))
print(torch.get_default_dtype(), torch.get_default_device())
print(torch.ones(2, requires_grad=True).sum().grad_fn.name())
print(torch.set_flush_denormal(False), torch.sym_int(2.7))
torch.cuda.FloatTensor(2)
print(torch.OutOfMemoryError.__name__, issubclass(torch.cuda.OutOfMemoryError, RuntimeError))
try: torch.cuda.init()\nexcept AssertionError as e: print(e)
""".strip().splitlines()
LINES = [line.replace("\\n", "\n") for line in LINES]

WAITING: dict[str, str] = {}
"""Lines that do something else yet, each with the reason."""


def outcome(line: str, library: str) -> tuple[str, str]:
    """What a line prints and raises, run with one of the libraries as ``torch``."""
    import importlib

    torch = importlib.import_module(library)
    text = re.sub(r"\b(import|from) torch\b", rf"\1 {library}", line)
    printed, raised = io.StringIO(), ""
    torch.manual_seed(0)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
            warnings.simplefilter("ignore")
            exec(text, {"torch": torch})
    except Exception as error:
        raised = f"{type(error).__name__}: {error}".partition("\n")[0]
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
        torch.set_printoptions(profile="default")
        torch.set_grad_enabled(True)
        torch.use_deterministic_algorithms(False)
        torch.set_float32_matmul_precision("highest")
    return printed.getvalue().replace(library, "torch"), raised


@pytest.fixture(autouse=True)
def flags_may_be_set(monkeypatch):
    """PyTorch's own test helpers, which other tests load, forbid it for the whole process."""
    monkeypatch.setitem(torch.backends.flags_frozen.__globals__,
                        "__allow_nonbracketed_mutation_flag", True)


@pytest.mark.parametrize("line", LINES)
def test_a_line_does_the_same(line: str) -> None:
    ours, theirs = outcome(line, "retrograd"), outcome(line, "torch")
    if line in WAITING:
        assert ours != theirs, "this line need not wait any more"
        pytest.skip(WAITING[line])
    assert ours == theirs
