"""Single calls that make, copy, convert or draw tensors, beside PyTorch's."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from parity.harness import same_message

COPIES_AND_FACTS = [
    "torch.linspace(torch.tensor(1j),5,3)",
    "torch.logspace(torch.tensor(1j),torch.tensor(2),3)",
    "torch.linspace(np.float32(1),np.int64(5),3)",
    "x.clone()",
    "g.clone()",
    "x.t().clone()",
    "x.t().clone(memory_format=torch.contiguous_format)",
    "torch.clone(g)",
    "i4.clone(memory_format=torch.channels_last).stride()",
    "i4.contiguous(memory_format=torch.channels_last).stride()",
    "i4.contiguous(memory_format=torch.channels_last).is_contiguous(memory_format=torch.channels_last)",
    "i4.to(memory_format=torch.channels_last).stride()",
    "i4.to(memory_format=torch.channels_last).clone().stride()",
    "torch.zeros_like(i4.to(memory_format=torch.channels_last)).stride()",
    "x.contiguous(memory_format=torch.preserve_format)",
    "x.contiguous(memory_format=torch.channels_last)",
    "x.contiguous() is x",
    "x.t().contiguous()",
    "n(g).t().contiguous()",
    "x.is_contiguous(memory_format=torch.channels_last)",
    "g.detach()",
    "n(g).detach()",
    "x.detach() is x",
    "g.detach().data_ptr()==g.data_ptr()",
    "g.data",
    "n(g).data",
    "x.copy_(torch.ones(3))",
    "x.copy_(torch.ones(2,1))",
    "x.copy_(torch.ones(4))",
    "x.copy_(torch.ones(2,2,3))",
    "x.copy_(3)",
    "x.copy_(torch.ones(2,3,dtype=torch.int64))",
    "i.copy_(torch.tensor([1.7,2.2,3.9,-4.5]))",
    "n(x).copy_(g)",
    "x.copy_(g)",
    "g.copy_(x)",
    "n(g).copy_(x)",
    "n(g).copy_(g)",
    "x[0].copy_(g[1])",
    "x.t().copy_(g.t())",
    "x.copy_(c.real[:1])",
    "torch.zeros(2).copy_(c)",
    "torch.zeros(2,dtype=torch.complex64).copy_(torch.ones(2,requires_grad=True))",
    "x.expand(2,2,3).copy_(torch.ones(2,2,3))",
    "b.copy_(torch.tensor([0.5,0.]))",
    "x.copy_(torch.ones(2,3,requires_grad=True).double())",
    "x.fill_(3)",
    "x.fill_(torch.tensor(4.))",
    "x.fill_(torch.ones(2))",
    "n(g).fill_(3)",
    "n(g).fill_(torch.tensor(4.,requires_grad=True))",
    "g.fill_(1)",
    "i.fill_(2.7)",
    "i.fill_(1j)",
    "x.fill_(1j)",
    "x.fill_(True)",
    "x.zero_()",
    "n(g).zero_()",
    "x[0].zero_()",
    "torch.fill(g,2)",
    "torch.fill(g,torch.tensor(1.))",
    "torch.zeros(2,dtype=torch.uint8).fill_(-1)",
    "torch.zeros(2,dtype=torch.uint8).fill_(300)",
    "x.fill_('a')",
    "torch.zeros(2,dtype=torch.bool).fill_(2)",
    "x.double()",
    "g.double()",
    "n(g).half()",
    "x.float() is x",
    "x.int()",
    "x.long()",
    "x.bool()",
    "x.byte()",
    "x.char()",
    "x.short()",
    "x.cfloat()",
    "x.cdouble()",
    "x.bfloat16()",
    "g.cfloat()",
    "torch.tensor([1+1j],requires_grad=True).real",
    "g.long()",
    "x.t().double()",
    "x[:, ::2].double()",
    "x.to(torch.float64,memory_format=torch.contiguous_format)",
    "x.t().to(torch.float64,memory_format=torch.contiguous_format)",
    "x.t().to(torch.float64,memory_format=torch.preserve_format)",
    "x.to(x.double())",
    "x.to(copy=True)",
    "x.to('cpu') is x",
    "x.to(device=torch.device('cpu'),dtype=torch.int8)",
    "x.to(torch.float16,non_blocking=True)",
    "g.to(torch.float64).to(torch.float32)",
    "torch.tensor(1.5,requires_grad=True).to(torch.float64)",
    "z.int()",
    "x.requires_grad_().double().sum().grad_fn.next_functions[0][0].name()",
    "g.type_as(x.double())",
    "x.type(torch.int64)",
    "g.type('torch.DoubleTensor')",
    "x.expand(3,2,3).clone()",
    "x.expand(3,2,3).contiguous()",
    "torch.zeros(3,1).expand(3,4).double()",
    "x.numpy().strides",
    "x.t().numpy().strides",
    "x.tolist()",
    "z.tolist()",
    "b.tolist()",
    "c.tolist()",
    "torch.zeros(0,2).tolist()",
    "x.half().tolist()",
    "x.bfloat16().tolist()",
    "x.bfloat16().sum().item()",
    "x.nbytes",
    "x.itemsize",
    "x.element_size()",
    "x.numel()",
    "x.nelement()",
    "x.ndimension()",
    "x.storage_offset()",
    "x[1].storage_offset()",
    "x[:,1].storage_offset()",
    "x.is_floating_point()",
    "c.is_complex()",
    "i.is_signed()",
    "b.is_signed()",
    "torch.zeros(1,dtype=torch.uint8).is_signed()",
    "x.get_device()",
    "x.is_cuda",
    "x.layout",
    "x.device",
    "x.is_sparse",
    "x.is_conj()",
    "x.is_neg()",
    "x.resolve_conj() is x",
    "x.resolve_neg() is x",
    "x.is_inference()",
    "x.is_shared()",
    "x.is_quantized",
    "x.names",
    "x.has_names()",
    "x.data_ptr()>0",
    "x.item()",
    "z.item()",
    "i[0].item()",
    "b[0].item()",
    "c[0].item()",
    "x.__len__()",
    "list(x)",
    "list(x)[0]",
    "x.__contains__(2.)",
    "2 in x",
    "x.__iter__().__next__()",
    "torch.tensor(1).__index__()",
    "hash(x)==id(x)",
    "bool(torch.tensor([[0.]]))",
    "[1,2,3][torch.tensor(1)]",
    "'%.2f' % z",
    "f'{z:.3f}'",
    "f'{x}'",
    "f'{x:.3f}'",
    "'{:>10}'.format(z)",
    "str(z)",
    "int(z)",
    "round(z.item())",
    "float(b[0])",
    "complex(c[0])",
    "int(c[0])",
    "x.__array__().dtype",
    "np.asarray(x.t()).strides",
    "np.array(x,dtype=np.float64)",
    "np.sum(x.numpy())",
    "x.__reversed__()",
    "reversed(x)",
    "x.dim()",
    "x.shape[-1]",
    "x.shape.numel()",
    "x.size(-1)",
    "x.size(dim=1)",
    "x.stride(0)",
    "x.stride(-1)",
    "x.T.stride()",
    "type(x.shape)",
    "x.shape==(2,3)",
    "x.shape+(1,)",
    "len(x.shape)",
    "torch.Size([2,3])==x.shape",
    "x.new_tensor([1,2])",
    "g.new_zeros(2)",
    "g.new_ones(2,requires_grad=True)",
    "x.new_empty((0,))",
    "i.new_full((2,),2.5)",
    "i.new_zeros(2)",
    "torch.is_tensor(x)",
    "torch.numel(x)",
    "torch.is_nonzero(z)",
    "torch.get_default_dtype()",
    "torch.result_type(i,1.0)",
    "torch.pi",
    "torch.inf",
    "torch.e",
    "torch.nan",
    "torch.newaxis",
    "x[torch.newaxis].shape",
    "torch.float is torch.float32",
    "torch.long is torch.int64",
    "torch.uint16",
    "torch.cfloat",
    "torch.half",
    "torch.is_grad_enabled()",
    "torch.is_inference_mode_enabled()",
    "x.grad_fn",
    "x.output_nr",
    "g.is_leaf",
    "x.retains_grad",
    "n(g).retains_grad",
]

DRAWS = [
    "torch.rand(3)",
    "torch.rand(2,3,dtype=torch.float64)",
    "torch.rand(20)",
    "torch.rand((2,2))",
    "torch.rand(size=(2,))",
    "torch.rand(3,requires_grad=True)",
    "torch.rand(3,dtype=torch.int64)",
    "torch.rand(3,dtype=torch.float16)",
    "torch.rand(3,dtype=torch.bfloat16)",
    "torch.rand(3,dtype=torch.complex64)",
    "torch.rand(())",
    "torch.rand(0)",
    "torch.rand()",
    "torch.rand(2,out=torch.zeros(2))",
    "torch.randn(3)",
    "torch.randn(17)",
    "torch.randn(16,dtype=torch.float64)",
    "torch.randn(3,dtype=torch.complex64)",
    "torch.randn(3,dtype=torch.int32)",
    "torch.randn(3,dtype=torch.float16)",
    "torch.randn(20,dtype=torch.bfloat16)",
    "torch.randn(2,3,requires_grad=True)",
    "torch.randint(5,(4,))",
    "torch.randint(2,9,(4,))",
    "torch.randint(low=2,high=9,size=(4,))",
    "torch.randint(0,5,(3,),dtype=torch.float32)",
    "torch.randint(5,3,(2,))",
    "torch.randint(0,2**40,(3,))",
    "torch.randint(0,5,(3,),dtype=torch.uint8)",
    "torch.randint(5)",
    "torch.randint(0,5,3)",
    "torch.randint(0,0,(3,))",
    "torch.randint(high=5,size=(3,))",
    "torch.randint(0,5,(3,),dtype=torch.float32,requires_grad=True)",
    "torch.randint(5,size=(2,))",
    "torch.randint(0,300,(3,),dtype=torch.uint8)",
    "torch.randint(0.5,3,(2,))",
    "torch.randperm(6)",
    "torch.randperm(0)",
    "torch.randperm(-1)",
    "torch.randperm(4,dtype=torch.float32)",
    "torch.randperm(300,dtype=torch.uint8)",
    "torch.randperm(5,dtype=torch.int32)",
    "torch.normal(0.,1.,(3,))",
    "torch.normal(torch.zeros(3),1.)",
    "torch.normal(torch.zeros(3),torch.ones(3))",
    "torch.normal(2.,torch.ones(3))",
    "torch.normal(torch.arange(20.),torch.ones(20))",
    "torch.normal(torch.zeros(3),-1.)",
    "torch.normal(torch.zeros(3),-torch.ones(3))",
    "torch.normal(mean=0.,std=1.,size=(2,2))",
    "torch.normal(g,1.)",
    "torch.normal(0.,-1.,(2,))",
    "torch.normal(torch.zeros(2,1),torch.ones(3))",
    "torch.normal(torch.zeros(2),torch.ones(3))",
    "torch.normal(torch.zeros(3,dtype=torch.float64),torch.ones(3))",
    "torch.normal(torch.zeros(3,dtype=torch.int64),1.)",
    "torch.normal(torch.zeros(3),std=2.)",
    "torch.normal(torch.zeros(3))",
    "torch.normal(0,1,(2,))",
    "torch.bernoulli(P)",
    "torch.bernoulli(g)",
    "torch.bernoulli(torch.tensor([1.5]))",
    "torch.bernoulli(torch.tensor([1]))",
    "torch.bernoulli(P,0.5)",
    "P.bernoulli()",
    "P.bernoulli(0.3)",
    "torch.zeros(4).bernoulli_()",
    "torch.zeros(4).bernoulli_(0.2)",
    "torch.zeros(3).bernoulli_(P)",
    "torch.zeros(3,dtype=torch.int64).bernoulli_(0.5)",
    "torch.zeros(3).bernoulli_(2)",
    "torch.zeros(2,3).bernoulli_(P)",
    "torch.zeros(2).bernoulli_(P)",
    "torch.poisson(torch.tensor([1.,5.,20.]))",
    "torch.poisson(g)",
    "torch.poisson(torch.tensor([-1.]))",
    "torch.poisson(torch.tensor([1]))",
    "torch.multinomial(W,2)",
    "torch.multinomial(W,4,replacement=True)",
    "torch.multinomial(W,4)",
    "torch.multinomial(P,1)",
    "W.multinomial(1)",
    "torch.multinomial(torch.tensor([1,2]),1)",
    "torch.multinomial(W,0)",
    "torch.multinomial(torch.tensor([0.,0.]),1)",
    "torch.multinomial(torch.tensor([-1.,1.]),1)",
    "torch.multinomial(W.requires_grad_(),1)",
    "torch.rand_like(t)",
    "torch.randn_like(t)",
    "torch.randn_like(nd)",
    "torch.rand_like(nd)",
    "torch.randint_like(t,5)",
    "torch.randint_like(t,2,9)",
    "torch.rand_like(t,dtype=torch.float64)",
    "torch.rand_like(torch.zeros(2,dtype=torch.int64))",
    "torch.randn_like(t,memory_format=torch.contiguous_format)",
    "torch.rand_like(g)",
    "torch.rand_like(g,requires_grad=True)",
    "torch.randn_like(torch.zeros(5,1).expand(5,4))",
    "torch.randint_like(torch.zeros(3,dtype=torch.int64),3)",
    "torch.zeros(5).uniform_()",
    "torch.zeros(5).uniform_(-1,2)",
    "torch.zeros(5).uniform_(a=-1,b=2)",
    "torch.zeros(5).uniform_(2,1)",
    "torch.zeros(3,dtype=torch.int64).uniform_()",
    "torch.zeros(4,5).t().uniform_()",
    "torch.zeros(8,5)[::2].uniform_()",
    "torch.zeros(20).normal_(1,2)",
    "torch.zeros(4,5).t().normal_()",
    "torch.zeros(8,5)[::2].normal_()",
    "torch.zeros(3).normal_(mean=1,std=2)",
    "torch.zeros(3).normal_(0,-1)",
    "torch.zeros(5).exponential_(-1)",
    "torch.zeros(5).geometric_(0.3)",
    "torch.zeros(5,dtype=torch.int64).geometric_(0.3)",
    "torch.zeros(5).geometric_(1.5)",
    "torch.zeros(5).log_normal_()",
    "torch.zeros(5).cauchy_()",
    "torch.zeros(5).cauchy_(sigma=-1)",
    "torch.zeros(5).random_()",
    "torch.zeros(5).random_(10)",
    "torch.zeros(5).random_(2,10)",
    "torch.zeros(5,dtype=torch.uint8).random_()",
    "torch.zeros(5,dtype=torch.int64).random_()",
    "torch.zeros(5).random_(5,2)",
    "torch.zeros(5,dtype=torch.bool).random_()",
    "g.uniform_()",
    "(g*1).uniform_()",
    "(g*1).normal_()",
    "(g*1).random_()",
    "(g*1).bernoulli_()",
    "(g*1).bernoulli_(P)",
    "(g*1).exponential_()*0",
    "(g*1).log_normal_()*0",
    "(g*1).cauchy_()*0",
    "(g*1).geometric_(0.5)*0",
    "torch.rand(3,generator=torch.Generator().manual_seed(7))",
    "torch.randn(3,generator=torch.Generator())",
    "torch.rand(3,generator=3)",
    "torch.randperm(5,generator=torch.Generator().manual_seed(3))",
    "torch.Generator().initial_seed()",
    "torch.Generator().manual_seed(5).initial_seed()",
    "torch.Generator().device",
    "torch.get_rng_state().shape",
    "torch.get_rng_state().dtype",
    "torch.initial_seed()",
    "torch.manual_seed('a')",
    "torch.manual_seed(1.7).initial_seed()",
    "torch.manual_seed(-1).initial_seed()",
    "torch.manual_seed(2**64)",
    "torch.Generator().manual_seed(1.5)",
    "torch.set_rng_state(torch.zeros(3))",
    "torch.set_rng_state(torch.zeros(3,dtype=torch.uint8))",
    "torch.Generator().set_state(3)",
    "torch.manual_seed(torch.tensor(3)).initial_seed()",
    "torch.default_generator.initial_seed()",
    "torch.random.initial_seed()",
    "torch.random.manual_seed(3).initial_seed()",
]


def shown(value: Any) -> Any:
    """What of a result both libraries must agree on."""
    if type(value).__name__ == "Tensor":
        return (value.tolist(), str(value.dtype), tuple(value.shape), value.stride(),
                value.requires_grad, type(value.grad_fn).__name__, value._version, value.is_leaf,
                value.is_contiguous())
    if isinstance(value, tuple | list):
        return [shown(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist(), str(value.dtype)
    if isinstance(value, type):
        return value.__name__
    return value if isinstance(value, bool | int | float | complex | str) else repr(value)


def outcome(library: Any, expression: str) -> Any:
    """The result or the error of an expression over some ready-made tensors."""
    arange = library.arange(6.0)
    names = {
        "torch": library, "np": np, "copy": copy,
        "x": arange.view(2, 3), "g": arange.view(2, 3).requires_grad_(),
        "c": library.tensor([1 + 2j, 3 - 1j]), "i": library.arange(4),
        "b": library.tensor([True, False]), "z": library.tensor(2.5),
        "i4": library.zeros(2, 3, 4, 5), "n": lambda t: t * 1,
        "t": library.zeros(5, 4).t(), "nd": library.zeros(8, 5)[::2],
        "x64": library.zeros(4, dtype=library.float64), "P": library.tensor([0.1, 0.5, 0.9]),
        "W": library.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]),
    }
    if expression in DRAWS:
        names["g"] = library.full((3,), 0.5, requires_grad=True)
    library.manual_seed(42)
    try:
        return shown(eval(expression, names))
    except Exception as error:
        # Of a list of overloads the first line says what arrived, and where it went wrong.
        first = str(error).splitlines()[0]
        if "received an invalid combination of arguments" in first:
            first = first.split(" - got")[0]
        return type(error).__name__, re.sub(r" +\(Could this error.*", "", first)


def agree(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, float) and isinstance(ours, float):
        return ours == pytest.approx(theirs, rel=1e-5, abs=1e-7, nan_ok=True)
    if isinstance(theirs, complex) and isinstance(ours, complex):
        return abs(ours - theirs) <= 1e-5 * abs(theirs) + 1e-7
    if isinstance(theirs, tuple | list) and isinstance(ours, tuple | list):
        return len(ours) == len(theirs) and all(map(agree, ours, theirs))
    return bool(ours == theirs)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", [*COPIES_AND_FACTS, *DRAWS])
def test_call(expression: str) -> None:
    ours, theirs = outcome(retrograd, expression), outcome(torch, expression)
    assert agree(ours, theirs), f"retrograd: {ours}\nPyTorch:   {theirs}"


DTYPES = ["uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "bool",
          "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
WHOLE = [0, *(sign * (2**bits + beside) for sign in (1, -1) for beside in (-1, 0, 1)
              for bits in (0, 7, 8, 15, 16, 31, 32, 63) if sign > 0 or bits + beside < 64)]
NUMBERS = [*WHOLE, True, 0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 127.5, -128.5, 255.5, 1e39, 1e300,
           math.inf, -math.inf, math.nan, 1j, 2 + 0j, None, "1", object, np.float32(1.5),
           np.int16(-3), np.uint8(3), np.bool_(True), np.complex64(1)]
LARGER = [2**64 - 1, -(2**63) - 1, 2**64, -(2**64), 10**400]
DATA: dict[str, Callable[[Any, Any], Any]] = {
    "a number": lambda lib, n: n, "a list": lambda lib, n: [n], "the last": lambda lib, n: [1, n],
    "the first": lambda lib, n: [n, 1], "nested": lambda lib, n: [[n]],
    "beside a tensor": lambda lib, n: [lib.tensor(1), n]}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [None, *DTYPES])
def test_numbers_near_every_limit(dtype: str | None) -> None:
    def made(lib: Any, how: str, number: Any) -> Any:
        kind = dtype and getattr(lib, dtype)
        try:
            found = (lib.tensor(DATA[how](lib, number), dtype=kind) if how in DATA else
                     lib.full((2,), number, dtype=kind) if how == "full" else
                     lib.ones(2, dtype=kind).fill_(number))
            return str(found.dtype), repr(found.tolist())
        except Exception as error:
            return type(error).__name__, str(error).split("\n")[0]

    ways = [how for how in DATA if (how, dtype) != ("beside a tensor", "uint64")]  # it takes none
    calls = [(how, number) for how in ways for number in NUMBERS + LARGER]
    if dtype:  # of NumPy's numbers PyTorch finds other dtypes than they have
        calls += [(how, number) for how in ("full", "fill_") for number in NUMBERS]
    unlike = [(how, number, theirs, ours) for how, number in calls
              if (theirs := made(torch, how, number)) != (ours := made(retrograd, how, number))
              and not (theirs[0] == ours[0] and same_message(theirs[1], ours[1]))]
    assert not unlike, "\n".join(map(str, unlike[:9]))
