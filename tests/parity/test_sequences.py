"""``nn.utils.rnn``: sequences of many lengths, padded and packed and back, in every order."""

from __future__ import annotations

from parity.harness import behaviour, behaviour_of_each

LENGTHS = {"falling": [4, 3, 1], "equal": [2, 2, 2], "rising": [1, 3, 5], "mixed": [2, 5, 1, 5],
           "single": [3], "ones": [1, 1]}


def rows(torch, lengths, *rest, grad=True):
    """A sequence of each length; every number in them is another one."""
    made, first = [], 1.0
    for n in lengths:
        count = n * max(torch.Size(rest).numel(), 1)
        made.append(torch.arange(first, first + count, dtype=torch.float64).reshape(
            n, *rest).requires_grad_(grad))
        first += count
    return made


def log_packed(log, packed):
    log(type(packed).__name__, len(packed))
    log.values(packed.data.detach(), packed.batch_sizes)
    for indices in (packed.sorted_indices, packed.unsorted_indices):
        log(indices is None)
        if indices is not None:
            log.values(indices)


@behaviour_of_each(LENGTHS)
def sequences_are_padded(torch, log, name):
    rnn = torch.nn.utils.rnn
    for rest in ((), (2,), (2, 1)):
        for options in ({}, {"batch_first": True}, {"padding_value": -7.5},
                        {"padding_side": "left"}, {"batch_first": True, "padding_side": "left"}):
            parts = rows(torch, LENGTHS[name], *rest)
            padded = rnn.pad_sequence(parts, **options)
            log(padded.shape)
            log.values(padded.detach())
            (padded * padded).sum().backward()
            log.values(*(part.grad for part in parts))
            if "padding_side" not in options:
                first = options.get("batch_first", False)
                found = rnn.unpad_sequence(padded, torch.tensor(LENGTHS[name]), first)
                log(len(found))
                log.values(*(part.detach() for part in found))


@behaviour_of_each(LENGTHS)
def sequences_are_packed_and_padded(torch, log, name):
    rnn, lengths = torch.nn.utils.rnn, LENGTHS[name]
    for first in (False, True):
        for given in (lengths, torch.tensor(lengths), torch.tensor(lengths, dtype=torch.int32)):
            parts = rows(torch, lengths, 2)
            padded = rnn.pad_sequence(parts, batch_first=first)
            packed = rnn.pack_padded_sequence(padded, given, first, enforce_sorted=False)
            log_packed(log, packed)
            for options in ({}, {"padding_value": 9.0}, {"total_length": 5},
                            {"total_length": 8, "padding_value": -1.0}):
                again, found = rnn.pad_packed_sequence(packed, first, **options)
                log(again.shape)
                log.values(again.detach(), found)
                log.raises(rnn.pad_packed_sequence, packed, first, -1.0, max(lengths) - 1)
            (packed.data ** 2).sum().backward()
            log.values(*(part.grad for part in parts))
            for other in rnn.unpack_sequence(packed):
                log.values(other.detach())
    if sorted(lengths, reverse=True) == lengths:
        log_packed(log, rnn.pack_sequence(rows(torch, lengths, grad=False)))
        log_packed(log, rnn.pack_padded_sequence(rnn.pad_sequence(rows(torch, lengths)), lengths))
    else:
        log.raises(rnn.pack_sequence, rows(torch, lengths))
    log_packed(log, rnn.pack_sequence(rows(torch, lengths), enforce_sorted=False))


@behaviour
def packed_sequences_as_such(torch, log):
    rnn = torch.nn.utils.rnn
    packed = rnn.pack_sequence(rows(torch, [1, 3, 2], 2, grad=False), enforce_sorted=False)
    for name in ("float", "double", "half", "long", "int", "short", "char", "byte", "cpu"):
        other = getattr(packed, name)()
        log(name, str(other.data.dtype), other is packed)
        log_packed(log, other)
    log(packed.is_cuda, packed.is_pinned(), packed.to(torch.float64) is packed,
        packed.to("cpu") is packed, str(packed.to(torch.float16).data.dtype))
    log.values(rnn.invert_permutation(torch.tensor([2, 0, 1])))
    log(rnn.invert_permutation(None))
    log_packed(log, rnn.PackedSequence(packed.data, packed.batch_sizes))
    log_packed(log, rnn.PackedSequence((packed.data, packed.batch_sizes)))
    log_packed(log, rnn.PackedSequence(packed.data, packed.batch_sizes, torch.tensor([2, 0, 1])))
    log.raises(rnn.PackedSequence, packed.data)
    log.raises(rnn.PackedSequence, (packed.data,))


@behaviour
def what_is_no_batch_of_sequences(torch, log):
    rnn, x = torch.nn.utils.rnn, torch.ones(3, 2, 4)
    log.raises(rnn.pad_sequence, 3)
    log.raises(rnn.pad_sequence, [])
    log.raises(rnn.pad_sequence, [x], padding_side="up")
    log.values(rnn.pad_sequence(x), rnn.pad_sequence(x, batch_first=True))
    log.raises(rnn.pack_padded_sequence, x, [3])
    log.raises(rnn.pack_padded_sequence, x, [3, 0])
    log.raises(rnn.pack_padded_sequence, x, [3, -1])
    log.raises(rnn.pack_padded_sequence, x, [2, 3])
    log.raises(rnn.pack_padded_sequence, x, [2, 3, 1], True)
    log.raises(rnn.pack_padded_sequence, x, [2, 2, 1], True, False)


@behaviour_of_each(["RNN", "LSTM", "GRU"])
def recurrent_layers_of_packed_sequences(torch, log, name):
    for options in ({}, {"bidirectional": True, "num_layers": 2}, {"batch_first": True}):
        torch.manual_seed(0)
        layer = getattr(torch.nn, name)(2, 3, dtype=torch.float64, **options)
        parts = rows(torch, [2, 5, 1], 2)
        packed = torch.nn.utils.rnn.pack_sequence([p * 0.1 for p in parts], enforce_sorted=False)
        out, state = layer(packed)
        log_packed(log, out)
        states = state if name == "LSTM" else (state,)
        log.values(*(s.detach() for s in states))
        sum((t ** 2).sum() for t in (out.data, *states)).backward()
        log.values(*(p.grad for p in (*parts, *layer.parameters())))
        start = tuple(torch.ones_like(s) for s in states)
        out, state = layer(packed, start if name == "LSTM" else start[0])
        log.values(out.data.detach(), *(s.detach() for s in (
            state if name == "LSTM" else (state,))))
        padded = torch.nn.utils.rnn.pad_sequence([p * 0.1 for p in parts])
        first = options.get("batch_first", False)
        log.raises(layer, padded, start[0][..., :2] if name != "LSTM" else start[0])
        log.raises(layer, padded[..., :1])
        one = parts[1].detach() * 0.1  # without a batch
        out, state = layer(one)
        log.values(out.detach(), *(s.detach() for s in (
            state if name == "LSTM" else (state,))))
        log(first, layer)


@behaviour_of_each([(kind, kind) for kind in ("RNN", "GRU", "LSTM")])
def inputs_states_and_weights_of_two_dtypes(torch, log, name, kind):
    single, double = torch.float32, torch.float64
    for of_input, of_state, of_weights in ((double, single, single), (single, single, double),
                                           (double, double, single), (single, double, single)):
        if kind == "LSTM" and of_weights is not double and of_state is not of_input:
            continue  # PyTorch has another kernel for this one
        layer = getattr(torch.nn, kind)(3, 4, dtype=of_weights)
        state = torch.ones(1, 2, 4, dtype=of_state)
        log.raises(layer, torch.ones(5, 2, 3, dtype=of_input),
                   (state, state) if kind == "LSTM" else state)
    layer = getattr(torch.nn, kind)(3, 4, dtype=double)
    layer.bias_hh_l0.data = layer.bias_hh_l0.data.float()
    log.raises(layer, torch.ones(5, 2, 3, dtype=double))


@behaviour
def packed_sequences_stay_where_they_are(torch, log):
    packed = torch.nn.utils.rnn.pack_sequence(rows(torch, [3, 2], 2))
    log(packed.cpu() is packed, packed.is_cuda, packed.is_pinned())
    try:
        packed.cuda()
    except Exception:
        log("no such device")
