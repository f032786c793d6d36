"""Modules at the limits of their arguments, and ways through them that are seldom taken."""

from __future__ import annotations

import math
import warnings

from parity.harness import behaviour, behaviour_of_each

REFUSED = {
    **{f"FractionalMaxPool3d {k}": lambda nn, t, k=k: nn.FractionalMaxPool3d(k, 2).kernel_size
       for k in (0, 1, -1, (0, 2, 2), (2, 2, 0), (2, -1, 2))},
    **{f"FractionalMaxPool2d {k}": lambda nn, t, k=k: nn.FractionalMaxPool2d(k, 2).kernel_size
       for k in (0, 1, (0, 2), (2, 0))},
    **{f"FractionalMaxPool{d}d ratio {r}":
       lambda nn, t, r=r, d=d: getattr(nn, f"FractionalMaxPool{d}d")(2, output_ratio=r).output_ratio
       for d, ratios in ((2, (0.5, 0.0, 1.0, (0.5, 1.0), (0.0, 0.5), (0.5, 0.25), 1.5)),
                         (3, (0.5, (0.5, 1.0, 0.5), (0.5, 0.5, 0.0), (0.1, 0.2, 0.3))))
       for r in ratios},
    "FractionalMaxPool2d both": lambda nn, t: nn.FractionalMaxPool2d(2, 2, 0.5),
    "FractionalMaxPool2d none": lambda nn, t: nn.FractionalMaxPool2d(2),
    **{f"Softmax2d {d}": lambda nn, t, d=d: nn.Softmax2d()(t.arange(2.0 ** d).reshape((2,) * d))
       for d in (2, 3, 4, 5)},
    **{f"Linear {s}": lambda nn, t, s=s: nn.Linear(3, 4)(t.ones(s))
       for s in ((7,), (2, 7), (2, 3, 7), (2, 5, 7), (3, 2), (0, 4))},
    **{f"{kind} padding {n}": lambda nn, t, n=n, kind=kind: (
        lambda made: (made.padding_idx, (made.weight == 0).all(1).tolist()))(
            getattr(nn, kind)(4, 2, padding_idx=n))
       for kind in ("Embedding", "EmbeddingBag") for n in (None, 0, 1, 3, 4, -1, -4, -5)},
    **{f"Conv2d same {s}": lambda nn, t, s=s: nn.Conv2d(1, 1, 3, s, "same").padding
       for s in (1, 2, (1, 2), (2, 1), (1, 1))},
    **{f"Conv1d {o}": lambda nn, t, o=o: nn.Conv1d(*o)
       for o in ((4, 4, 1, 1, 0, 1, 3), (4, 3, 1, 1, 0, 1, 2), (3, 4, 1, 1, 0, 1, 2),
                 (4, 4, 1, 1, 0, 1, 0), (4, 4, 1, 1, 0, 1, -1))},
    **{f"{kind} margin {m}": lambda nn, t, m=m, kind=kind: getattr(nn, kind)(margin=m).margin
       for kind in ("TripletMarginLoss", "TripletMarginWithDistanceLoss")
       for m in (0, 0.0, -1, 0.1)},
    **{f"MultiMarginLoss {p} {w}": lambda nn, t, p=p, w=w: nn.MultiMarginLoss(
        p, weight=None if w is None else t.ones(w)).p
       for p, w in ((1, None), (2, None), (3, None), (0, None), (1, (2,)), (1, (2, 1)), (1, ()))},
    **{f"GroupNorm {g} {c}": lambda nn, t, g=g, c=c: nn.GroupNorm(g, c)
       for g, c in ((2, 4), (3, 4), (4, 4), (1, 4), (4, 2))},
    **{f"{kind}{d}d of {n}": lambda nn, t, d=d, n=n, kind=kind: getattr(nn, f"{kind}{d}d")(1)(
        t.arange(2.0 ** n).reshape((2,) * n))
       for kind in ("CircularPad", "ReflectionPad", "ReplicationPad", "ZeroPad")
       for d in (1, 2, 3) for n in (1, 2, 3, 4, 5, 6)},
    **{f"{kind}{d}d of {n} channels {c}": lambda nn, t, d=d, n=n, c=c, kind=kind:
       getattr(nn, f"{kind}{d}d")(2, affine=True)(t.arange(float(3 ** (n - 1) * c)).reshape(
           (*((3,) if n == d + 2 else ()), c, *(3,) * d)[-n:]))
       for kind in ("InstanceNorm",) for d in (1, 2, 3) for n in (d + 1, d + 2) for c in (2, 3)},
    **{f"BatchNorm{d}d of {n}": lambda nn, t, d=d, n=n: getattr(nn, f"BatchNorm{d}d")(2)(
        t.arange(2.0 ** n).reshape((2,) * n)) for d in (1, 2, 3) for n in range(1, 7)},
    **{f"MultiheadAttention {e} {h}": lambda nn, t, e=e, h=h: nn.MultiheadAttention(e, h).head_dim
       for e, h in ((4, 2), (4, 3), (0, 1), (4, 0), (-4, 2))},
}


def described(torch, value):
    if isinstance(value, torch.Tensor):
        return [list(value.shape), [round(x, 4) for x in value.detach().flatten().tolist()]]
    return repr(value)


@behaviour_of_each(REFUSED)
def what_modules_refuse(torch, log, name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            log(described(torch, REFUSED[name](torch.nn, torch)))
        except Exception as error:
            log(type(error).__name__, str(error))
    log([str(w.message) for w in caught])


STATISTICS = {f"{m} {t} {a}": (m, t, a) for m in (0.1, None, 1.0) for t in (True, False)
              for a in (True, False)}


@behaviour_of_each(STATISTICS)
def running_statistics(torch, log, name):
    momentum, tracks, affine = STATISTICS[name]
    for kind, shape in (("BatchNorm1d", (4, 2)), ("BatchNorm2d", (2, 2, 3, 3)),
                        ("InstanceNorm1d", (2, 2, 5)), ("InstanceNorm2d", (2, 2, 3, 3))):
        norm = getattr(torch.nn, kind)(2, momentum=momentum, affine=affine,
                                       track_running_stats=tracks)
        log(sorted(norm.state_dict()))
        log([described(torch, b) for b in norm.buffers()])
        for step in range(3):
            log.values(norm(torch.arange(float(math.prod(shape))).reshape(shape) * (step + 1))
                       .detach())
            log([described(torch, b) for b in norm.buffers()])
        norm.eval()
        uneven = (torch.arange(float(math.prod(shape))) * 2.3).cos().reshape(shape)
        log.values(norm(uneven).detach())
        norm.reset_running_stats()
        log([described(torch, b) for b in norm.buffers()])
        if tracks:
            norm.running_mean = None
            log.refuses(norm, uneven)
            norm.running_var = None
            log.refuses(lambda norm=norm, uneven=uneven: norm(uneven).detach().tolist())


@behaviour_of_each(["RNNCell", "LSTMCell", "GRUCell"])
def cells(torch, log, kind):
    for bias in (True, False):
        torch.manual_seed(1)
        cell = getattr(torch.nn, kind)(3, 2, bias)
        cell.double()
        log(sorted(cell.state_dict()))
        for shape in ((3,), (2, 3), (5, 3)):
            inputs = torch.arange(float(math.prod(shape)), dtype=torch.float64).reshape(shape)
            found = cell(inputs)
            log.values(*(t.detach() for t in (found if isinstance(found, tuple) else (found,))))
            again = cell(inputs, found)
            log.values(*(t.detach() for t in (again if isinstance(again, tuple) else (again,))))
        log.raises(cell, torch.ones(2, 2, 3, dtype=torch.float64))
        log.raises(cell, torch.ones(2, 4, dtype=torch.float64))
    empty = getattr(torch.nn, kind)(3, 0)
    log([list(p.shape) for p in empty.parameters()])


PACKED = {f"{kind} {first} {sort}": (kind, first, sort) for kind in ("RNN", "LSTM", "GRU")
          for first in (True, False) for sort in (True, False)}


@behaviour_of_each(PACKED)
def packed_sequences(torch, log, name):
    kind, first, sort = PACKED[name]
    rnn = torch.nn.utils.rnn
    torch.manual_seed(3)
    network = getattr(torch.nn, kind)(2, 3, 2, batch_first=first, bidirectional=True).double()
    lengths = [4, 3, 1] if sort else [1, 4, 3]
    parts = [torch.arange(2.0 * n, dtype=torch.float64).reshape(n, 2) / 5 for n in lengths]
    packed = rnn.pack_sequence(parts, enforce_sorted=sort)
    start = torch.arange(36.0, dtype=torch.float64).reshape(4, 3, 3) / 30
    for state in (None, (start, start * 2) if kind == "LSTM" else start):
        out, end = network(packed, state)
        padded, sizes = rnn.pad_packed_sequence(out, first)
        log.values(padded.detach(), sizes)
        log.values(*(t.detach() for t in (end if isinstance(end, tuple) else (end,))))
        single, last = network(parts[1], None if state is None else tuple(s[:, 0] for s in state)
                               if kind == "LSTM" else state[:, 0])
        log.values(single.detach())
        log.values(*(t.detach() for t in (last if isinstance(last, tuple) else (last,))))


@behaviour
def what_a_module_is_moved_by(torch, log):
    module = torch.nn.Linear(1, 1)
    for args, options in (((True,), {}), (("cpu", 3), {}), ((3,), {}), ((), {"device": True}),
                          ((), {"dtype": torch.int32}), ((), {"dtype": "float64"}),
                          ((), {"device": 3.5}), (("cpu",), {"non_blocking": True}),
                          ((torch.float64,), {}), (("cpu", torch.float64, True), {}),
                          ((torch.ones(1, dtype=torch.float64),), {}), ((None,), {}),
                          ((None, torch.float64), {}), ((), {"device": None}),
                          ((), {"non_blocking": 1}), ((), {"memory_format": 3}),
                          ((), {"other": 3}), ((torch.complex64,), {}), (([1],), {})):
        def tried(args=args, options=options):
            return str(torch.nn.Linear(1, 1).to(*args, **options).weight.dtype)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            log.refuses(tried)
    log(str(module.weight.dtype))


@behaviour
def modules_without_memory(torch, log):
    for device in ("meta", "cpu", None):
        module = torch.nn.BatchNorm1d(2, device="meta")
        made = module.to_empty(device=device)
        log(made.weight.is_meta, made.running_mean.is_meta, made.weight.requires_grad)
    log.raises(torch.nn.Linear(1, 1, device="meta").to, "cpu")
    log(torch.nn.Linear(1, 1, device="meta").to("meta").weight.is_meta)
    log(torch.nn.Linear(1, 1, device="meta").to(torch.float64).weight.dtype)
    log(torch.nn.Linear(1, 1).to("meta").weight.is_meta)


PLACES = {f"{target} {source} {assign}": (target, source, assign) for target in ("meta", "cpu")
          for source in ("meta", "cpu") for assign in (True, False)}


@behaviour_of_each(PLACES)
def states_without_memory(torch, log, name):
    target, source, assign = PLACES[name]
    module = torch.nn.Linear(2, 1, device=target)
    state = torch.nn.Linear(2, 1, device=source).state_dict()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        log.refuses(lambda: repr(module.load_state_dict(state, assign=assign)))
    log([w.category.__name__ for w in caught], module.weight.is_meta, module.bias.is_meta,
        module.weight.requires_grad, isinstance(module.weight, torch.nn.Parameter))


@behaviour
def keys_that_do_not_fit(torch, log):
    module = torch.nn.Linear(2, 1)
    weight, bias = torch.ones(1, 2), torch.ones(1)
    for state in ({}, {"weight": weight}, {"weight": weight, "bias": bias, "more": bias},
                  {"more": 1, "bias": bias}):
        found = module.load_state_dict(state, strict=False)
        log(repr(found), str(found), found.missing_keys, found.unexpected_keys)
        log.raises(module.load_state_dict, state)


@behaviour
def older_ways_to_ask_for_a_state(torch, log):
    module = torch.nn.Sequential(torch.nn.Linear(1, 1))
    for args, options in (((), {}), (({},), {}), (({}, "a."), {}), (({}, "a.", True), {}),
                          (({}, "a."), {"prefix": "b."}), (({},), {"prefix": "b."}),
                          ((), {"prefix": "b.", "keep_vars": True}), (({}, "", True), {})):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = module.state_dict(*args, **options)
        log(list(found), [t.requires_grad for t in found.values()],
            [w.category.__name__ for w in caught])


@behaviour
def buffers_that_are_not_kept_become_so(torch, log):
    module = torch.nn.Module()
    for persistent in (False, True, False):
        module.register_buffer("b", torch.ones(1), persistent=persistent)
        log(list(module.state_dict()), sorted(module._non_persistent_buffers_set))
    del module.b
    log(sorted(module._non_persistent_buffers_set))
    module.register_buffer("b", torch.ones(1), persistent=False)
    module.b = torch.zeros(1)
    log(list(module.state_dict()))
    del module.b
    module.b = torch.nn.Parameter(torch.ones(1))
    log(list(module.state_dict()))
    module = torch.nn.Module()
    module.register_buffer("c", torch.ones(1), persistent=False)
    module.__dict__.setdefault("other", 1)
    module.c = None
    log(list(module.state_dict()), [n for n, _ in module.named_buffers()])


@behaviour
def members_that_are_there_twice(torch, log):
    one = torch.nn.Linear(1, 1)
    one.again, one.also = one.weight, one.bias
    both = torch.nn.Sequential(one, one)
    both.weight = one.weight
    both.register_buffer("b", torch.ones(1))
    both.register_buffer("c", both.b)
    for twice in (True, False):
        log([n for n, _ in both.named_parameters(remove_duplicate=twice)],
            [n for n, _ in both.named_buffers(remove_duplicate=twice)],
            [n for n, _ in both.named_modules(remove_duplicate=twice)])
    log(list(both.state_dict()), len(list(both.parameters())), len(list(both.children())))


SIZES = {f"{k} {v}": (k, v) for k in (None, 4, 6) for v in (None, 4, 6)}


@behaviour_of_each(SIZES)
def attention_to_keys_of_other_sizes(torch, log, name):
    torch.manual_seed(2)
    k, v = SIZES[name]
    attention = torch.nn.MultiheadAttention(4, 2, kdim=k, vdim=v, batch_first=True).double()
    log(list(attention.state_dict()), attention._qkv_same_embed_dim)
    query = torch.arange(24.0, dtype=torch.float64).reshape(2, 3, 4) / 10
    key = torch.arange(10.0 * (k or 4), dtype=torch.float64).reshape(2, 5, k or 4) / 20
    value = torch.arange(10.0 * (v or 4), dtype=torch.float64).reshape(2, 5, v or 4) / 30
    log.values(*(t.detach() for t in attention(query, key, value)))


@behaviour
def lists_of_parameters_keep_what_they_are_given(torch, log):
    parameter, tensor = torch.nn.Parameter(torch.ones(1)), torch.ones(1)
    made = torch.nn.ParameterList([parameter, tensor, 3, "x", None])
    log(made[0] is parameter, type(made[1]).__name__, made[1] is tensor, made[2], made[3], made[4])
    named = torch.nn.ParameterDict({"p": parameter, "t": tensor, "n": 3})
    log(named["p"] is parameter, type(named["t"]).__name__, named["n"])
    log([name for name, _ in named.named_parameters()])
    made[0] = torch.zeros(1)
    log(type(made[0]).__name__, len(list(made.parameters())))


# ---------------------------------------------------------------- encoders


def masks(torch):
    inf = -math.inf
    return {
        "none": None, "ends": torch.tensor([[False] * 4, [False, False, True, True]]),
        "middle": torch.tensor([[False] * 4, [False, True, False, True]]),
        "starts": torch.tensor([[False] * 4, [True, False, False, False]]),
        "float ends": torch.tensor([[0.0] * 4, [0.0, 0.0, 0.0, inf]]),
        "float middle": torch.tensor([[0.0] * 4, [0.0, inf, 0.0, 0.0]]),
        "nothing": torch.zeros(2, 4, dtype=torch.bool)}


ENCODERS = {f"{mask}, {how}": (mask, how) for mask in masks(__import__("torch"))
            for how in ("eval", "train", "grad", "frozen", "input wants grad", "masked",
                        "unchecked", "not nested", "normed")
            if how != "unchecked" or mask in ("none", "ends", "float ends", "nothing")}


@behaviour_of_each(ENCODERS)
def encoders_leave_padding_out(torch, log, name):
    mask, how = ENCODERS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        layer = torch.nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True)
        encoder = torch.nn.TransformerEncoder(
            layer, 2, norm=torch.nn.LayerNorm(4) if how == "normed" else None,
            enable_nested_tensor=how != "not nested", mask_check=how != "unchecked")
        encoder.train(how == "train")
        encoder.requires_grad_(how not in ("frozen", "input wants grad"))
        source = torch.arange(32.0).reshape(2, 4, 4).sin()
        source.requires_grad_(how == "input wants grad")
        square = torch.zeros(4, 4) if how == "masked" else None
        with torch.set_grad_enabled(how in ("grad", "frozen", "input wants grad")):
            log.values(encoder(source, square, masks(torch)[mask]).detach())


LAYOUTS = {f"{first} {dim}": (first, dim) for first in (True, False) for dim in (2, 3)}


@behaviour_of_each(LAYOUTS)
def whether_a_mask_is_the_causal_one(torch, log, name):
    first, dim = LAYOUTS[name]

    class Watched(torch.nn.TransformerEncoderLayer):
        def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
            log(is_causal)
            return src

    encoder = torch.nn.TransformerEncoder(Watched(4, 2, batch_first=first), 1,
                                          enable_nested_tensor=False)
    source = torch.ones((3, 4) if dim == 2 else (2, 3, 4) if first else (3, 2, 4))
    square = torch.nn.Transformer.generate_square_subsequent_mask
    for mask in (None, square(3), torch.zeros(3, 3), square(4), square(2), square(3).T,
                 square(3, dtype=torch.float64), torch.ones(3, 3).triu(1).bool()):
        for asked in (None, True, False):
            log.raises(lambda mask=mask, asked=asked: encoder(source, mask, is_causal=asked).shape)


# ---------------------------------------------------------------- utilities


ORTHOGONAL = {f"{shape} {kind} {trivial}": (shape, kind, trivial)
              for shape in ((3, 3), (4, 2), (2, 4), (2, 4, 3), (2, 3, 4), (2, 3, 3))
              for kind in (None, "matrix_exp", "cayley", "householder")
              for trivial in (True, False)}


@behaviour_of_each(ORTHOGONAL)
def orthogonal_matrices(torch, log, name):
    shape, kind, trivial = ORTHOGONAL[name]
    module = torch.nn.Module()
    count = math.prod(shape)
    weight = torch.nn.Parameter((torch.arange(float(count), dtype=torch.float64) ** 2 * 0.7).sin()
                                .reshape(shape))
    module.weight = weight
    torch.manual_seed(4)
    parametrizations = torch.nn.utils.parametrizations
    try:
        parametrizations.orthogonal(module, "weight", kind, use_trivialization=trivial)
        log.values(module.weight.detach())
        (module.weight * torch.arange(float(count), dtype=torch.float64).reshape(shape)).sum() \
            .backward()
        log.values(module.parametrizations.weight.original.grad)
        square = torch.linalg.qr(torch.arange(1.0, 10, dtype=torch.float64).reshape(3, 3)
                                 .square().cos())[0]
        module.weight = square if shape == (3, 3) else module.weight.detach().flip(-1)
        log.values(module.weight.detach())
    except Exception as error:
        log(type(error).__name__, str(error))


@behaviour
def what_is_assigned_to_orthogonal_matrices(torch, log):
    for value in (torch.eye(3), -torch.eye(3), torch.eye(3).flip(0), torch.eye(3) * 2,
                  torch.diag(torch.tensor([1.0, -1.0, 1.0]))):
        for kind in ("matrix_exp", "householder"):
            module = torch.nn.Linear(3, 3, False)
            torch.nn.utils.parametrizations.orthogonal(module, "weight", kind,
                                                       use_trivialization=kind == "matrix_exp")
            module.weight = value
            log.values(module.weight.detach() + 0.0)


@behaviour
def layers_that_are_fused_or_not(torch, log):
    fusion = torch.nn.utils.fusion

    def made(layer, norm, trains=(False, False), lost=()):
        torch.manual_seed(1)
        layer, norm = layer.train(trains[0]), norm.train(trains[1])
        for name in lost:
            setattr(norm, name, None)
        return layer, norm

    nn = torch.nn
    for trains in ((False, False), (True, False), (False, True), (True, True)):
        log.refuses(lambda trains=trains: [list(p.shape) for p in fusion.fuse_conv_bn_eval(
            *made(nn.Conv1d(2, 3, 2), nn.BatchNorm1d(3), trains)).parameters()])
        for features in (3, 1, 2):
            log.refuses(lambda trains=trains, features=features: [
                list(p.shape) for p in fusion.fuse_linear_bn_eval(*made(
                    nn.Linear(2, 3), nn.BatchNorm1d(features), trains)).parameters()])
    for lost in (("running_mean",), ("running_var",), ("running_mean", "running_var")):
        log.refuses(lambda lost=lost: fusion.fuse_conv_bn_eval(
            *made(nn.Conv1d(2, 3, 2), nn.BatchNorm1d(3), lost=lost)))


@behaviour
def gradients_that_are_not_finite(torch, log):
    warnings.filterwarnings("ignore", category=RuntimeWarning)  # of NumPy, about inf times 0
    for value in (1.0, math.inf, math.nan, 0.0):
        for strict in (True, False):
            weight = torch.nn.Parameter(torch.ones(2))
            weight.grad = torch.tensor([value, 3.0])
            log.raises(lambda weight=weight, strict=strict: float(
                torch.nn.utils.clip_grad_norm_(weight, 2.0, error_if_nonfinite=strict)))
            log.values(weight.grad)


@behaviour
def limits_of_activations(torch, log):
    nn = torch.nn
    x = torch.tensor([-7.0, -0.5, 0.5, 1.5, 6.5, 8.0])
    for made in (nn.ReLU6(), nn.Hardtanh(), nn.Hardtanh(-2.0, 3.0), nn.Threshold(1.0, 9.0),
                 nn.Softplus(2.0, 3.0), nn.ELU(2.0), nn.CELU(2.0), nn.LeakyReLU(0.5),
                 nn.Hardshrink(1.0), nn.Softshrink(1.0), nn.RReLU(0.25, 0.25), nn.GLU(0)):
        log(repr(made), made(x))
    log(nn.ReLU6().min_val, nn.ReLU6().max_val, nn.ReLU6(True).inplace)
    log.warns(lambda: (nn.Hardtanh(min_value=-3.0, max_value=4.0).min_val,
                       nn.Hardtanh(max_value=4.0).max_val))
    log.refuses(nn.Hardtanh, 1.0, 1.0)
    log.refuses(nn.Hardtanh, 2.0, 1.0)


@behaviour_of_each(["Softmax", "Softmin", "LogSoftmax"])
def dims_that_are_guessed(torch, log, kind):
    for dims in range(5):
        made = getattr(torch.nn, kind)()
        x = torch.arange(float(2 ** dims)).reshape((2,) * dims)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            log.values(made(x))
        log([str(w.message) for w in caught])


SEQUENCES = {f"{kind} {name}={value}": (kind, {name: value})
             for kind in ("RNN", "LSTM", "GRU")
             for name, value in (("hidden_size", 0), ("hidden_size", 1), ("num_layers", 0),
                                 ("num_layers", 1), ("dropout", 0.0), ("dropout", 1.0),
                                 ("dropout", 1.1), ("dropout", -0.1), ("dropout", True),
                                 ("proj_size", 0), ("proj_size", 1), ("proj_size", 2),
                                 ("proj_size", 3), ("proj_size", -1), ("hidden_size", 2.0),
                                 ("hidden_size", -1), ("num_layers", -1), ("input_size", 0))}


@behaviour_of_each(SEQUENCES)
def networks_of_every_size(torch, log, name):
    kind, options = SEQUENCES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        log.raises(lambda: [list(p.shape) for p in getattr(torch.nn, kind)(
            **{"input_size": 2, "hidden_size": 2, **options}).parameters()])


@behaviour_of_each([1, 2, 3])
def dims_of_inputs_of_convolutions(torch, log, dims):
    for kind in ("Conv", "ConvTranspose", "LazyConv", "LazyConvTranspose"):
        for given in range(1, dims + 4):
            torch.manual_seed(1)
            sizes = () if "Lazy" in kind else (2,)
            made = getattr(torch.nn, f"{kind}{dims}d")(*sizes, 3, 2)
            x = torch.arange(2.0 ** given).reshape((2,) * given)
            log.refuses(lambda made=made, x=x: list(made(x).shape))


@behaviour
def hooks_that_replace_what_is_given(torch, log):
    for replaced in (None, ((torch.ones(2),), {}), (torch.ones(2),), (1, 2, 3), [1, 2],
                     ((torch.zeros(2),), {"more": 1})):
        class Adding(torch.nn.Module):
            def forward(self, x, more=0):
                return x + more

        module = Adding()
        module.register_forward_pre_hook(lambda m, args, kwargs, replaced=replaced: replaced,
                                         with_kwargs=True)
        log.raises(module, torch.full((2,), 5.0), more=2)
        plain = Adding()
        plain.register_forward_pre_hook(
            lambda m, args, replaced=replaced: replaced and replaced[0])
        log.refuses(plain, torch.full((2,), 5.0))


@behaviour
def kinds_of_numbers_that_a_module_becomes(torch, log):
    class Kinds(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.real = torch.nn.Parameter(torch.ones(1))
            self.complex = torch.nn.Parameter(torch.ones(1, dtype=torch.complex64))
            self.register_buffer("whole", torch.ones(1, dtype=torch.int64))
            self.register_buffer("flag", torch.ones(1, dtype=torch.bool))

    for change in (lambda m: m.to(torch.float64), lambda m: m.to(torch.complex128),
                   lambda m: m.double(), lambda m: m.half(), lambda m: m.bfloat16(),
                   lambda m: m.float(), lambda m: m.type(torch.float64),
                   lambda m: m.to("cpu"), lambda m: m.to(torch.ones(1, dtype=torch.float16))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = change(Kinds())
        log([str(t.dtype) for t in (made.real, made.complex, made.whole, made.flag)])


@behaviour
def values_of_states_that_are_no_tensors(torch, log):
    class Like:
        shape, is_meta, dtype = (1,), False, None

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return args[0]

    for value in (3, None, "x", [1.0], (1.0,)):
        module = torch.nn.Linear(1, 1)
        log.raises(module.load_state_dict, {"weight": torch.ones(1, 1), "bias": value})
        log.values(module.weight.detach())


@behaviour_of_each(["BatchNorm", "LazyBatchNorm"])
def norms_with_and_without_a_bias(torch, log, kind):
    for dims in (1, 2, 3):
        sizes = () if kind.startswith("Lazy") else (2,)
        for affine in (True, False):
            for bias in (True, False):
                for tracks in (True, False):
                    norm = getattr(torch.nn, f"{kind}{dims}d")(
                        *sizes, affine=affine, bias=bias, track_running_stats=tracks)
                    log([name for name, _ in norm.named_parameters()],
                        [name for name, _ in norm.named_buffers()])
                    log.values(norm(torch.arange(2.0 ** (dims + 2)).reshape((2,) * (dims + 2)))
                               .detach())
                    log(list(norm.state_dict()), type(norm).__name__)
