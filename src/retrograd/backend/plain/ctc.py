"""Connectionist temporal classification on raw arrays: all alignments of labels with time.

Labels stand between blanks, ``blank a blank b blank``; an alignment visits these places in order,
may stay, and may leave out a blank between two labels that differ. Arrays are (time, samples,
places), and hold logarithms of probabilities.
"""

from __future__ import annotations

import math
from typing import Any

from .. import xp

Ints = tuple[int, ...]


def _lengths(lengths: Ints) -> Any:
    return xp.asarray(lengths, dtype=xp.INT64)


def _places(log_probs: Any, targets: Any, target_lengths: Ints, blank: int) -> tuple[Any, ...]:
    """The class at each place, where a blank may be left out before it, and what it emits."""
    given = xp.arange(targets.shape[1]) < _lengths(target_lengths)[:, None]
    wrong = given & ((targets < 0) | (targets >= log_probs.shape[2]))
    if xp.any(wrong):
        raise RuntimeError(f"Expected targets to be class indices below {log_probs.shape[2]}, but "
                           f"got {int(targets[wrong][0])}")
    labels = xp.where(given, targets, blank)
    classes = xp.full((len(labels), 2 * labels.shape[1] + 1), blank, xp.INT64)
    classes[:, 1::2] = labels
    skip = xp.full(classes.shape, -math.inf, log_probs.dtype)
    skip[:, 3::2] = xp.where(labels[:, 1:] != labels[:, :-1], 0.0, -math.inf)
    whole = xp.broadcast_to(classes[None], (len(log_probs), *classes.shape))
    return classes, skip, xp.take_along_axis(log_probs, whole, axis=2)


def _merged(*ways: Any) -> Any:
    """The logarithm of a sum of probabilities, all of which may be zero."""
    together = xp.stack(ways)
    top = xp.max(together, axis=0)
    base = xp.where(top == -math.inf, xp.zeros((), top.dtype), top)
    return xp.log(xp.sum(xp.exp(together - base), axis=0)) + base


def _moved(places: Any, steps: int) -> Any:
    """Each value ``steps`` places later, or earlier if that is negative."""
    out = xp.full(places.shape, -math.inf, places.dtype)
    if steps > 0:
        out[:, steps:] = places[:, :-steps]
    else:
        out[:, :steps] = places[:, -steps:]
    return out


def ctc_loss(log_probs: Any, targets: Any, input_lengths: Ints, target_lengths: Ints, blank: int
             ) -> tuple[Any, Any]:
    """Minus the log-likelihood of each sample's labels, and of being at each place at each time."""
    classes, skip, emitted = _places(log_probs, targets, target_lengths, blank)
    ways = xp.full(emitted.shape, -math.inf, log_probs.dtype)
    ways[0, :, :2] = emitted[0, :, :2]
    for t in range(1, len(ways)):
        before = ways[t - 1]
        ways[t] = _merged(before, _moved(before, 1), _moved(before, 2) + skip) + emitted[t]
    samples, times, ends = xp.arange(len(classes)), _lengths(input_lengths), _lengths(
        target_lengths) * 2
    last = ways[xp.maximum(times - 1, 0), samples]
    at_label = xp.where(ends > 0, last[samples, xp.maximum(ends - 1, 0)], -math.inf)
    found = -_merged(last[samples, ends], at_label)
    # In no time there is nothing but the empty sequence.
    found = xp.where(times == 0, xp.where(ends == 0, -0.0, math.inf), found)
    return found.astype(log_probs.dtype), ways


def ctc_gradient(g: Any, log_probs: Any, targets: Any, loss: Any, ways: Any, input_lengths: Ints,
                 target_lengths: Ints, blank: int, zero_infinity: bool) -> Any:
    """What reaches the scores that ``log_probs`` are the log-softmax of."""
    classes, skip, emitted = _places(log_probs, targets, target_lengths, blank)
    place, times = xp.arange(classes.shape[1]), _lengths(input_lengths)[:, None]
    from_end = place - _lengths(target_lengths)[:, None] * 2
    done = xp.where((from_end == 0) | (from_end == -1), 0.0, -math.inf).astype(log_probs.dtype)
    through = xp.empty(ways.shape, ways.dtype)
    after = xp.full(classes.shape, -math.inf, log_probs.dtype)
    for t in range(len(ways) - 1, -1, -1):
        onward = _merged(after, _moved(after, -1), _moved(after + skip, -2))
        rest = xp.where(times - 1 == t, done, onward)
        after = rest + emitted[t]
        through[t] = ways[t] + after
    shares = _of_classes(through, classes, log_probs.shape[2])
    found = (xp.exp(log_probs) - xp.exp(shares + loss[:, None] - log_probs)) * g[:, None]
    unused = xp.arange(len(ways))[:, None, None] >= times
    if zero_infinity:
        unused = unused | (loss == math.inf)[:, None]
    return xp.where(unused, xp.zeros((), found.dtype), found)


def _of_classes(through: Any, classes: Any, count: int) -> Any:
    """The places of each class together."""
    top = xp.max(through, axis=2, keepdims=True)
    base = xp.where(top == -math.inf, xp.zeros((), top.dtype), top)
    length, samples = through.shape[:2]
    flat = xp.zeros((length * samples * count,), through.dtype)
    starts = xp.arange(length * samples).reshape(length, samples, 1) * count
    xp.add_at(flat, (starts + classes).reshape(-1), xp.exp(through - base).reshape(-1))
    return xp.log(flat.reshape(length, samples, count)) + base
