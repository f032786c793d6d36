"""``testing``: what is close, and the words for what is not."""

from __future__ import annotations

import warnings

import numpy as np

from parity.harness import behaviour, behaviour_of_each

INF, NAN = float("inf"), float("nan")
COMPARED = {
    "tensors": lambda t: (t.tensor([1.0, 2.0, 3.0]), t.tensor([1.0, 2.0, 4.0])),
    "close": lambda t: (t.ones(3), t.ones(3) * (1 + 1e-6)),
    "nested": lambda t: ([t.ones(2), {"a": t.zeros(2, 3)}],
                         [t.ones(2), {"a": t.zeros(2, 3) + t.arange(3) * 1e-3}]),
    "shapes": lambda t: (t.ones(2), t.ones(3)),
    "dtypes": lambda t: (t.ones(2), t.ones(2).double()),
    "zero-dim": lambda t: (t.tensor(1.0), t.tensor(2.0)),
    "whole": lambda t: (t.arange(6).reshape(2, 3), t.arange(6).reshape(2, 3) + t.arange(3)),
    "bytes": lambda t: (t.tensor([1, 2], dtype=t.uint8), t.tensor([1, 5], dtype=t.uint8)),
    "unsigned": lambda t: (t.tensor([1, 2], dtype=t.uint16), t.tensor([1, 5], dtype=t.int32)),
    "truths": lambda t: (t.tensor([True, False]), t.tensor([True, True])),
    "complex": lambda t: (t.tensor([1 + 1j]), t.tensor([1 + 2j])),
    "bfloat16": lambda t: (t.ones(2, dtype=t.bfloat16), t.ones(2, dtype=t.bfloat16) * 1.1),
    "float16": lambda t: (t.ones(2, dtype=t.float16), t.ones(2, dtype=t.float16) * 1.1),
    "nan": lambda t: (t.tensor([NAN, 1.0]), t.tensor([NAN, 2.0])),
    "nan alone": lambda t: (t.tensor(NAN), t.tensor(NAN)),
    "infinite": lambda t: (t.tensor([INF, 1.0]), t.tensor([1.0, INF])),
    "empty": lambda t: (t.ones(0), t.ones(0)),
    "strides": lambda t: (t.ones(2, 3), t.ones(3, 2).t()),
    "grads": lambda t: (t.ones(2, requires_grad=True), t.zeros(2)),
    "numbers": lambda t: (1.0, 2.0),
    "number kinds": lambda t: (1.0, 2),
    "number to zero": lambda t: (1.0, 0.0),
    "nan numbers": lambda t: (NAN, NAN),
    "none": lambda t: (None, t.ones(1)),
    "nones": lambda t: ([None], [None]),
    "bools": lambda t: (True, False),
    "bools in a list": lambda t: ([True], [False]),
    "keys": lambda t: ({"a": 1}, {"b": 1}),
    "keys without order": lambda t: ({"b": 1.0, 2: 2}, {"b": 1.0, 2: 3}),
    "lengths": lambda t: ([[1, 2]], [[1, 2, 3]]),
    "strings": lambda t: ("a", "a"),
    "sets": lambda t: ({1, 2}, {1, 2}),
    "arrays": lambda t: (np.ones(2), np.zeros(2)),
    "numpy numbers": lambda t: (np.float32(2), np.float32(3)),
    "numpy truths": lambda t: (np.bool_(True), np.bool_(False)),
}
OPTIONS = {
    "plain": {}, "equal": {"rtol": 0, "atol": 0}, "loose": {"rtol": 0.6, "atol": 2.0},
    "half": {"rtol": 1e-3}, "nan": {"equal_nan": True}, "any dtype": {"check_dtype": False},
    "stride": {"check_stride": True}, "own words": {"msg": "as I say"},
    "more words": {"msg": lambda words: f"Header\n\n{words}\n\nFooter"},
    "same class": {"allow_subclasses": False},
}


@behaviour_of_each([(f"{case}, {option}", case, option) for case in COMPARED for option in OPTIONS])
def close_values_pass_and_others_are_described(torch, log, name, case, option):
    log.raises(torch.testing.assert_close, *COMPARED[case](torch), **OPTIONS[option])


@behaviour
def classes_of_tensors(torch, log):
    parameter = torch.nn.Parameter(torch.ones(2))
    torch.testing.assert_close(parameter, torch.ones(2))
    log.refuses(torch.testing.assert_close, parameter, torch.ones(2), allow_subclasses=False)
    log.refuses(torch.testing.assert_close, np.ones(2), torch.ones(2))
    log.refuses(torch.testing.assert_close, torch.ones(2), torch.ones(2), rtol=-1, atol=0)


@behaviour_of_each([("close", 1.0 + 1e-5), ("far", 1.1), ("nan", NAN)])
def the_predecessor(torch, log, name, value):
    log.warns(lambda: log.raises(torch.testing.assert_allclose, [1.0, value], torch.ones(2)))
    log.warns(lambda: log.raises(torch.testing.assert_allclose, torch.tensor([1.0, value]),
                                 [1, value], msg="so"))


DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
          "float64", "complex64", "complex128")
DRAWN = {
    "usual": {}, "range": {"low": -1, "high": 3}, "low": {"low": 2}, "reversed": {"low": 5,
                                                                                 "high": 1},
    "nan": {"low": NAN}, "outside": {"high": -500}, "equal": {"low": 1, "high": 1},
    "no zeros": {"exclude_zero": True, "low": 0, "high": 2}, "grad": {"requires_grad": True},
    "wide": {"low": -1e30, "high": 1e30}, "every second": {"noncontiguous": True},
    "two layouts": {"noncontiguous": True, "memory_format": "channels_last"},
    "channels last": {"memory_format": "channels_last"},
}


@behaviour_of_each([(f"{dtype}, {option}", dtype, option) for dtype in DTYPES for option in DRAWN])
def tensors_are_drawn(torch, log, name, dtype, option):
    options = dict(DRAWN[option])
    if "memory_format" in options:
        options["memory_format"] = getattr(torch, options["memory_format"])

    def draw(*shape):
        made = torch.testing.make_tensor(*shape, dtype=getattr(torch, dtype), device="cpu",
                                         **options)
        return made, made.stride() if made.numel() else None  # which no element depends on

    with warnings.catch_warnings(record=True):
        for shape in ((2, 3, 2, 2), ((2, 3, 2, 2),), ((),), (0, 2, 1, 1)):
            log.raises(draw, *shape)
