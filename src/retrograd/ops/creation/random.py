"""Random tensors: factories, draws for each element, and draws in place."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

from ...backend import xp
from ...backend.interface import kind_of, library_of
from ...base import dtypes, layouts
from ...base.errors import CannotBatch, in_bytes, no_overload, wrong_type
from ...core.arguments import fits
from ...core.op import Array, Index, Sizes, op, publish
from ...core.out_argument import refuse_derivative, run_into
from ...core.out_rules import Out
from ...core.signatures import named
from ...core.tensor import Tensor, method, wrap, wrap_any, wrap_array
from ...random import VMAPS, Generator, Stream, default_generator, stream_for, stream_of
from ..batching import all_aligned, batched, folded, inner_rank, repeated, run, unfolded
from ..shapes.expanding import _check_expand as checked_expansion, joint_shape
from ..shapes.reshaping import with_rank, zeros_of
from ..shapes.slicing import _select
from .filled import blank_like, overridden
from .options import blank, is_plain_size, leaf, out_dtype, place, settle, size_argument, size_from

# ---------------------------------------------------------------- factories


_vmaps, _device = VMAPS.get, dtypes.DEFAULT_DEVICE.get
_FLOAT32, _FEW = xp.FLOAT32, 64


def drawn(draw: Callable[[tuple[int, ...]], Any], shape: Any) -> Any:
    """Raw data ``draw(shape)``, or a batch of it for each vmap that wants different numbers."""
    wanted = [(level, size) for how, level, size in VMAPS.get() if how == "different"]
    data = draw((*(size for _, size in wanted), *shape))
    if wanted:
        from ...transforms import Batched

        for level, _ in wanted:
            data = Batched(level, data)
    return data


def drawn_like(input: Tensor, draw: Callable[[Tensor], Tensor]) -> Tensor | None:
    """``draw`` of the whole batch, of which ``input`` is a value; None if they are not all drawn.

    So the numbers come in the order in which the batch lies in memory.
    """
    from ...transforms import Batched, innermost, levels_of

    around = VMAPS.get()
    data, levels = input._data, sorted(levels_of(input._data))
    if any(how != "different" for how, _, _ in around) or levels != sorted(
            level for _, level, _ in around):
        return None
    token = VMAPS.set(())
    try:
        made = draw(wrap_any(innermost(data)))
    finally:
        VMAPS.reset(token)
    inner = made._data
    for level in levels:
        inner = Batched(level, inner)
    out = wrap_any(inner)
    out._edge = made._edge
    return out


def _drawn(function: str, draw: Any, ready: Any, doc: str) -> Any:
    """A factory ``function(*size)`` that fills its result with ``draw(stream, shape, dtype)``.

    A few numbers may be there already, as ``ready(stream, count)``.
    """

    @named(function, doc)
    def factory(*size: Any, generator: Generator | None = None, out: Tensor | None = None,
                dtype: Any = None, layout: Any = None, device: Any = None,
                pin_memory: bool = False, requires_grad: bool = False, **named: Any) -> Tensor:
        meta = place(function, device, layout)
        kind = out_dtype(function, dtype, out)
        if not size and "size" not in named:
            raise TypeError(f"{function}() received an invalid combination of arguments - got ()")
        shape = size_argument(function, size, named)
        stream = stream_of(generator, function)
        if meta:
            data = blank(shape, kind.np)
        elif VMAPS.get():
            data = drawn(lambda whole: draw(stream, whole, kind.np), shape)
        else:
            data = draw(stream, shape, kind.np)
        return settle(data, out, requires_grad, function, meta)

    @wraps(factory)
    def called(*size: Any, **options: Any) -> Tensor:
        if len(size) == 1 and not options and (n := size[0]).__class__ is int and n <= _FEW \
                and not _vmaps() and _device() is None and dtypes.default_numpy is _FLOAT32:
            data = ready(default_generator.stream, n)
            if data is not None:
                return wrap_array(data)
        try:
            if options or _vmaps() or not is_plain_size(size):
                return factory(*size, **options)
            return wrap(draw(default_generator.stream, size, dtypes.default_numpy))
        except MemoryError as error:
            raise in_bytes(error) from None

    publish(called, function, method=False)
    return called


def _drawn_like(function: str, draw: Any, doc: str, factory_of_size: Any) -> Any:
    """A factory ``function(input)`` of draws shaped and laid out as ``input``.

    In vmap ``factory_of_size`` draws, unless there is a number for each of a batch.
    """

    @named(function, doc)
    def factory(input: Tensor, *, generator: Generator | None = None, dtype: Any = None,
                layout: Any = None, device: Any = None, pin_memory: bool = False,
                requires_grad: bool = False, memory_format: Any = None) -> Tensor:
        if type(input) is not Tensor:
            handled = overridden(factory, input, generator=generator, dtype=dtype, device=device,
                                 requires_grad=requires_grad, memory_format=memory_format)
            if handled is not NotImplemented:
                return handled  # type: ignore[no-any-return]
        if VMAPS.get():
            kind = input.dtype if dtype is None else dtype
            whole = drawn_like(input, lambda batch: factory(
                batch, generator=generator, dtype=dtype, memory_format=memory_format,
                requires_grad=requires_grad))
            return whole if whole is not None else factory_of_size(
                tuple(input.shape), generator=generator, dtype=kind, requires_grad=requires_grad)
        data = blank_like(function, input, dtype, layout, device, memory_format)
        fill_in_memory_order(data, lambda shape: draw(stream_for(data, generator), shape, data))
        return leaf(data, requires_grad, function)

    publish(factory, function, method=False)
    return factory


def fill_in_memory_order(data: Any, draw: Any) -> None:
    """Draw numbers in the order in which the elements of a dense array lie in memory."""
    packed = data.transpose(library_of(data).dense_order(data))
    packed[...] = draw(packed.shape)


rand = _drawn("rand", Stream.uniform, Stream.ready_uniforms, "Uniform draws from [0, 1).")
randn = _drawn("randn", Stream.normal, Stream.ready_normals,
               "Draws from the standard normal distribution.")
rand_like = _drawn_like(
    "rand_like", lambda stream, shape, data: stream.uniform(shape, data.dtype),
    "Uniform draws from [0, 1), shaped as ``input``.", rand)
randn_like = _drawn_like(
    "randn_like", lambda stream, shape, data: stream.normal(
        shape, data.dtype, contiguous=library_of(data).is_contiguous(data)),
    "Draws from the standard normal distribution, shaped as ``input``.", randn)


def _bounds(low: Any, high: Any, size: Any) -> tuple[int, int, Any]:
    if isinstance(high, (tuple, list)):
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    for bound in (low, high):
        if isinstance(bound, float):
            raise TypeError("randint() received an invalid combination of arguments - got bounds "
                            "of type float, expected ints")
    return int(low), int(high), size


def randint(low: Any = 0, high: Any = None, size: Sizes | None = None, *,
            generator: Generator | None = None, out: Tensor | None = None, dtype: Any = None,
            layout: Any = None, device: Any = None, pin_memory: bool = False,
            requires_grad: bool = False) -> Tensor:
    """Integers from ``[low, high)``."""
    meta = place("randint", device, layout)
    low, high, size = _bounds(low, high, size)
    kind = out_dtype("randint", dtype, out, dtypes.int64)
    if not isinstance(size, (tuple, list)):
        raise TypeError("randint() received an invalid combination of arguments - got size of type "
                        f"{type(size).__name__}, expected a tuple of ints")
    shape = size_from("randint", (size,))
    stream = stream_of(generator)
    data = blank(shape, kind.np) if meta else drawn(
        lambda whole: stream.integers(low, high, whole, kind.np), shape)
    return settle(data, out, requires_grad, "randint", meta)


def randint_like(input: Tensor, low: Any = 0, high: Any = None, *,
                 generator: Generator | None = None, dtype: Any = None, layout: Any = None,
                 device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
                 memory_format: Any = None) -> Tensor:
    """Integers from ``[low, high)``, shaped as ``input``."""
    low, high, _ = _bounds(low, high, None)
    if VMAPS.get():
        whole = drawn_like(input, lambda batch: randint_like(
            batch, low, high, generator=generator, dtype=dtype, requires_grad=requires_grad))
        return whole if whole is not None else randint(
            low, high, tuple(input.shape), generator=generator,
            dtype=input.dtype if dtype is None else dtype, requires_grad=requires_grad)
    data = blank_like("randint_like", input, dtype, layout, device, memory_format)
    stream = stream_for(data, generator)
    fill_in_memory_order(data, lambda shape: stream.integers(low, high, shape, data.dtype))
    return leaf(data, requires_grad, "randint_like")


def randperm(n: int, *, generator: Generator | None = None, out: Tensor | None = None,
             dtype: Any = None, layout: Any = None, device: Any = None,
             pin_memory: bool = False, requires_grad: bool = False) -> Tensor:
    """The integers below ``n`` in random order."""
    meta = place("randperm", device, layout)
    kind = out_dtype("randperm", dtype, out, dtypes.int64)
    stream = stream_of(generator)

    def draw(whole: tuple[int, ...]) -> Any:
        rows = [stream.permutation(n, kind.np) for _ in range(math.prod(whole[:-1]))]
        return rows[0] if len(whole) == 1 else xp.stack(rows).reshape(whole)

    data = blank((n,), kind.np) if meta else drawn(draw, (n,))
    return settle(data, out, requires_grad, "randperm", meta)


# ---------------------------------------------------------------- drawn for each element


def for_each_vmap(input: Tensor) -> Tensor:
    """``input`` repeated for each vmap that wants different numbers."""
    if not VMAPS.get():
        return input
    from ...transforms import in_every_batch

    return in_every_batch(input, {level: size for how, level, size in VMAPS.get()
                                  if how == "different"})


def _randomness(batch: Any) -> str:
    """Whether the values of this batch want different numbers or the same."""
    return next((how for how, level, _ in VMAPS.get() if level == batch.level), "different")


def _need_different(batch: Any) -> None:
    if _randomness(batch) == "same":
        raise CannotBatch("vmap: the same random numbers are wanted for different distributions.")


def _overwritten(batch: Any, input: Any, *rest: Any) -> Any:
    """The batching rule of draws into memory."""
    if _randomness(batch) == "same":
        return repeated(batch.size, run(batch.name, _select(input, 0, 0), *rest))
    return run(batch.name, input, *rest)


@op(draws=True, node="BernoulliBackward0", vjp=lambda g: zeros_of(g, g.shape))
def _bernoulli(input: Array, generator: Any = None) -> Any:
    return stream_of(generator).bernoulli(xp.as_array(input))


@op(draws=True, node="PoissonBackward0", vjp=lambda g: zeros_of(g, g.shape))
def _poisson(input: Array, generator: Any = None) -> Any:
    return stream_of(generator).poisson(xp.as_array(input))


@method("bernoulli")
def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator | None = None,
              out: Tensor | None = None) -> Tensor:
    """Ones with the probabilities in ``input``, or with the one probability ``p``."""
    if p is None:
        return _into(out, _bernoulli(for_each_vmap(input), generator), "bernoulli")
    if VMAPS.get():
        stream, kind = stream_of(generator), input.dtype.np
        return leaf(drawn(lambda whole: stream.bernoulli(float(p), whole, kind), input.shape))
    data = blank_like("bernoulli", input, None, None, None, layouts.contiguous_format)
    fill_in_memory_order(data, lambda shape: stream_for(data, generator).bernoulli(
        float(p), shape, data.dtype))
    return settle(data, out, False, "bernoulli")


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Poisson draws with the rates in ``input``."""
    return _poisson(for_each_vmap(input), generator)  # type: ignore[no-any-return]


def _into(out: Tensor | None, drawn: Tensor, function: str) -> Tensor:
    if out is None:
        return drawn
    refuse_derivative(function, [out, drawn])
    return settle(drawn._data, out, False, function)


@op(draws=True)
def _multinomial(input: Array, num_samples: int, replacement: bool, generator: Any) -> Any:
    return stream_of(generator).multinomial(
        xp.as_array(input), num_samples, replacement).copy()


@_multinomial.batch
def _(batch: Any, input: Any, num_samples: int, replacement: bool, generator: Any) -> Any:
    _need_different(batch)
    if inner_rank(input) == 1:
        return run("_multinomial", input, num_samples, replacement, generator)
    return unfolded(batch, run("_multinomial", folded(input), num_samples, replacement, generator))


@method("multinomial")
def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *,
                generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
    """Indices drawn with the weights in the rows of ``input``."""
    if input.ndim and input.shape[-1] > 1 << 24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    if out is not None and out.dtype is not dtypes.int64:  # before anything is said of the weights
        raise RuntimeError(f"multinomial expects Long tensor out, got: {out.dtype.alias}")
    return run_into(out, "multinomial", _MULTINOMIAL_OUT, _multinomial, for_each_vmap(input),
                    num_samples, replacement, generator)


_MULTINOMIAL_OUT = Out(silent=True)


@op(draws=True, node="NormalBackward1", vjp=lambda g: zeros_of(g, g.shape))
def _normal_mean(input: Array, std: Any, generator: Any) -> Any:
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    drawn = stream_of(generator).normal(input.shape, input.dtype)
    return drawn * xp.asarray(std, dtype=input.dtype) + input


@op(draws=True, node="NormalBackward2", vjp=lambda g: zeros_of(g, g.shape))
def _normal_std(mean: Any, input: Array, generator: Any) -> Any:
    _check_std(input)
    drawn = stream_of(generator).normal(input.shape, input.dtype)
    return drawn * input + xp.asarray(mean, dtype=input.dtype)


@op(draws=True, node="NormalBackward3", broadcasts=True)
def _normal_both(mean: Array, std: Array, generator: Any) -> Any:
    _check_std(std)
    shape = joint_shape(mean.shape, std.shape)
    drawn = stream_of(generator).normal(shape, xp.promote_types(mean.dtype, std.dtype))
    return drawn * std + mean


@_bernoulli.batch
@_poisson.batch
@_normal_mean.batch
@_normal_std.batch
def _(batch: Any, *values: Any) -> Any:
    _need_different(batch)
    return run(batch.name, *values)


_normal_both.vjp(mean=lambda g: zeros_of(g, g.shape), std=lambda g: zeros_of(g, g.shape))


@_normal_both.batch
def _(batch: Any, mean: Any, std: Any, generator: Any) -> Any:
    _need_different(batch)
    return run("_normal_both", *all_aligned(batch, mean=mean, std=std), generator)


def _check_std(std: Any) -> None:
    if kind_of(std.dtype) == "c":
        raise RuntimeError("normal expects standard deviation to be non-complex")
    if std.size and not (std >= 0).all():
        raise RuntimeError("normal expects all elements of std >= 0.0")


def normal(mean: Any = 0.0, std: Any = 1.0, size: Sizes | None = None, *,
           generator: Generator | None = None, out: Tensor | None = None, dtype: Any = None,
           layout: Any = None, device: Any = None, pin_memory: bool = False,
           requires_grad: bool = False) -> Tensor:
    """Normal draws with the given means and standard deviations."""
    if isinstance(mean, Tensor):
        mean = for_each_vmap(mean)
        found = _normal_both(mean, std, generator) if isinstance(std, Tensor) else _normal_mean(
            mean, float(std), generator)
        return _into(out, found, "normal")
    if isinstance(std, Tensor):
        return _into(out, _normal_std(float(mean), for_each_vmap(std), generator), "normal")
    meta = place("normal", device, layout)
    kind = out_dtype("normal", dtype, out)
    shape = size_from("normal", (size,))
    stream = stream_of(generator)
    data = blank(shape, kind.np) if meta else drawn(
        lambda whole: stream.normal(whole, kind.np, float(mean), float(std)), shape)
    return settle(data, out, requires_grad, "normal", meta)


for _function in (randint, randint_like, randperm, bernoulli, poisson, multinomial, normal):
    publish(_function, _function.__name__, method=False)


# ---------------------------------------------------------------- in place


def _written(name: str, node: str, kernel: Any) -> Any:
    """Declare ``Tensor.<name>_``, which overwrites a tensor with draws and cuts its gradient."""
    kernel.__name__ = name
    declared = op(draws=True, inplace=True, function=None, method=False, node=node)(kernel)
    declared.vjp(input=lambda g: zeros_of(g, g.shape))
    declared.batch(_overwritten)
    return declared


def laid_out(input: Any, draw: Any) -> Any:
    """Draws in the order in which the elements of ``input`` lie in memory."""
    array = xp.as_array(input)
    if xp.is_contiguous(array):
        return draw(array.shape)
    order = xp.dense_order(array)
    return draw(tuple([array.shape[d] for d in order])).transpose(_inverse(order))


def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def _uniform(input: Array, low: float = 0.0, high: float = 1.0, *, generator: Any = None) -> Any:
    """Uniform draws from ``[low, high)``."""
    return laid_out(input, lambda shape: stream_of(generator).uniform(
        shape, input.dtype, float(low), float(high)))


def _normal(input: Array, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Any:
    """Normal draws."""
    contiguous = xp.is_contiguous(xp.as_array(input))
    return laid_out(input, lambda shape: stream_of(generator).normal(
        shape, input.dtype, float(mean), float(std), contiguous))


def _log_normal(input: Array, mean: float = 1.0, std: float = 2.0, *, generator: Any = None
                ) -> Any:
    """Exponentials of normal draws."""
    return laid_out(input, lambda shape: stream_of(generator).log_normal(
        shape, input.dtype, float(mean), float(std)))


def _exponential(input: Array, lambd: float = 1.0, *, generator: Any = None) -> Any:
    """Exponential draws of rate ``lambd``."""
    return laid_out(input, lambda shape: stream_of(generator).exponential(
        shape, input.dtype, float(lambd)))


def _cauchy(input: Array, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None
            ) -> Any:
    """Cauchy draws."""
    return laid_out(input, lambda shape: stream_of(generator).cauchy(
        shape, input.dtype, float(median), float(sigma)))


def _geometric(input: Array, p: float, *, generator: Any = None) -> Any:
    """Numbers of trials until the first success."""
    return laid_out(input, lambda shape: stream_of(generator).geometric(
        shape, input.dtype, float(p)))


def _random() -> Any:
    def kernel(input: Array, low: Any = None, high: Any = None, *, generator: Any = None) -> Any:
        """Integers from ``[low, high)``, or the whole range of the dtype."""
        return laid_out(input, lambda shape: stream_of(generator).integers(
            low, high, shape, input.dtype))

    return kernel


def _bernoulli_number(input: Array, p: float = 0.5, *, generator: Any = None) -> Any:
    return laid_out(input, lambda shape: stream_of(generator).bernoulli(
        float(p), shape, input.dtype))


_uniform_op = _written("uniform", "UniformBackward0", _uniform)
_written("normal", "NormalBackward0", _normal)
_written("log_normal", "LogNormalBackward0", _log_normal)
_written("exponential", "ExponentialBackward0", _exponential)
_written("cauchy", "CauchyBackward0", _cauchy)
_written("geometric", "GeometricBackward0", _geometric)
_random_op = _written("random", "RandomBackward0", _random())
_random_below = _written("_random_below", "RandomBackward1", _random())
_random_any = _written("_random_any", "RandomBackward2", _random())
_bernoulli_op = _written("bernoulli", "BernoulliBackward2", _bernoulli_number)


@op(draws=True, inplace=True, node="BernoulliBackward1", replaces="inplace arithmetic",
    vjp=lambda g: zeros_of(g, g.shape))
def _bernoulli_tensor(input: Array, p: Index, *, generator: Any = None) -> Any:
    chances = xp.as_array(p)
    if chances.shape != input.shape:
        chances = xp.expanded(chances, checked_expansion(chances, input.shape))
    order = xp.dense_order(xp.as_array(input))
    return stream_of(generator).bernoulli(
        chances.transpose(order), dtype=input.dtype).transpose(_inverse(order))


@_bernoulli_tensor.batch
def _(batch: Any, input: Any, p: Any, generator: Any) -> Any:
    if not batch["p"]:
        return _overwritten(batch, input, p, generator)
    _need_different(batch)
    input = batched(batch, "input", input)
    return run("_bernoulli_tensor", input, with_rank(p, inner_rank(input)), generator)


@method("bernoulli_")
def _bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Ones with probability ``p``, in place."""
    write = (_bernoulli_tensor if isinstance(p, Tensor) else _bernoulli_op).op.inplace_function
    return write(self, p, generator=generator)  # type: ignore[no-any-return]


def _bounds_by_name(function: str, bounds: tuple[Any, ...], named: dict[str, Any]
                    ) -> dict[str, Any]:
    """Where draws begin and end: the name of the first is a word of Python's own."""
    if len(bounds) > 2:
        raise TypeError(f"{function}() takes from 0 to 2 positional arguments but {len(bounds)} "
                        "were given")
    given = dict(zip(("from", "to"), bounds))
    for name in named:
        if name not in ("from", "to") or name in given:
            raise TypeError(f"{function}() got " + (
                f"multiple values for argument '{name}'" if name in given else
                f"an unexpected keyword argument '{name}'"))
    return {**given, **named}


@method("random_")
def _random_(self: Tensor, *bounds: Any, generator: Generator | None = None, **named: Any
             ) -> Tensor:
    """Integers from ``[from, to)``, or the whole range of the dtype, in place."""
    given = _bounds_by_name("random_", bounds, named)
    if not all(bound is None or fits(int, bound) for bound in given.values()):
        raise no_overload("random_", bounds, "*, Generator generator = None",
                          "int to, *, Generator generator = None",
                          "int from, int to, *, Generator generator = None", **named)
    if not given:
        declared, low, high = _random_any, None, None
    elif len(given) == 1 and (bounds or "to" in given):
        declared, low, high = _random_below, 0, *given.values()
    else:
        declared, low, high = _random_op, given["from"], given.get("to")
    write = declared.op.inplace_function
    return write(self, low, high, generator=generator)  # type: ignore[no-any-return]


@method("uniform_")
def _uniform_(self: Tensor, *bounds: Any, generator: Generator | None = None, **named: Any
              ) -> Tensor:
    """Uniform draws from ``[from, to)``, in place."""
    given = _bounds_by_name("uniform_", bounds, named)
    for position, (name, bound) in enumerate(given.items(), 1):
        if not fits(float, bound):
            raise wrong_type("uniform_", name, None if name in named else position, "float", bound)
    low, high = given.get("from", 0.0), given.get("to", 1.0)
    write = _uniform_op.op.inplace_function
    return write(self, low, high, generator=generator)  # type: ignore[no-any-return]
