"""vmap: its checks, its random numbers, and custom functions under it."""

from __future__ import annotations

from parity.harness import behaviour, behaviour_of_each
from shared import custom


def batch(torch):
    return torch.arange(6.0).reshape(3, 2)


# Arguments


@behaviour
def in_dims_are_checked(torch, log):
    x = batch(torch)
    vmap = torch.func.vmap
    log.raises(lambda: vmap(lambda: x)())
    log.raises(lambda: vmap(lambda x: x, in_dims="a")(x))
    log.raises(lambda: vmap(lambda x: x, in_dims=[0])(x))
    log.raises(lambda: vmap(lambda x: x, in_dims=None)(x))
    log.raises(lambda: vmap(lambda x: x, in_dims=(None,))(x))
    log.raises(lambda: vmap(lambda x, y: x, in_dims=(0,))(x, x))
    log.raises(lambda: vmap(lambda x: x, in_dims=2)(x))
    log.raises(lambda: vmap(lambda x: x, in_dims=-3)(x))
    log.raises(lambda: vmap(lambda x: x, in_dims=("a",))(x))
    log.raises(lambda: vmap(lambda x, y: x)(x, 1))
    log.raises(lambda: vmap(lambda x, y: x)(x, torch.zeros(4)))
    log.raises(lambda: vmap(lambda d: d["a"], in_dims=({"b": 0},))({"a": x}))
    log.raises(lambda: vmap(lambda d: d[0], in_dims=((0,),))([x]))


@behaviour
def in_dims_of_containers(torch, log):
    x = batch(torch)
    vmap = torch.func.vmap
    log(vmap(lambda d: d["a"] * d["b"][0], in_dims=({"a": 0, "b": [None]},))(
        {"a": x, "b": [torch.tensor(2.0)]}))
    log(vmap(lambda p: p[0] + p[1], in_dims=((0, 1),))((x, x.t())))
    log(vmap(lambda x, y: x * y, in_dims=(-1, None))(x, torch.ones(3)))
    log(vmap(lambda x, n: x * n, in_dims=(0, None))(x, 3))
    log(vmap(lambda a, b=None: a + b)(x, b=x))
    log(vmap(lambda a, b=None: a * b)(x, b=2))


@behaviour
def out_dims_are_checked(torch, log):
    x = batch(torch)
    vmap = torch.func.vmap
    log.raises(lambda: vmap(lambda x: 3)(x))
    log.raises(lambda: vmap(lambda x: None)(x))
    log.raises(lambda: vmap(lambda x: (x, 3.0))(x))
    log.raises(lambda: vmap(lambda x: x, out_dims=None)(x))
    log.raises(lambda: vmap(lambda x: x, out_dims=2)(x))
    log.raises(lambda: vmap(lambda x: x, out_dims=(0, 0))(x))
    log.raises(lambda: vmap(lambda x: (x, x), out_dims=(0,))(x))
    log.raises(lambda: vmap(lambda x: x, out_dims="a")(x))


@behaviour
def out_dims_place_the_batch(torch, log):
    x = batch(torch)
    vmap = torch.func.vmap
    log(vmap(lambda x: x, out_dims=-1)(x), vmap(lambda x: x, out_dims=(1,))(x))
    log(vmap(lambda x: (x, torch.ones(1)), out_dims=(0, None))(x))
    log(vmap(lambda x: (x, 3), out_dims=(0, None))(x))
    log(vmap(lambda x: {"a": x, "b": [x.sum()]}, out_dims={"a": 1, "b": 0})(x))
    log(vmap(lambda x: torch.ones(2))(x), vmap(lambda x: [x, x])(x), vmap(lambda x: ())(x))


@behaviour
def other_arguments_are_checked(torch, log):
    vmap = torch.func.vmap
    log.raises(lambda: vmap(lambda x: x, randomness="some"))
    log.raises(lambda: vmap(lambda x: x, chunk_size=0))
    log(vmap(torch.sin).__name__, torch.vmap(lambda x: x * 2)(batch(torch)))
    log(vmap(lambda x: x.sum())(torch.zeros(0, 2)))
    log(vmap(lambda x: x.cumsum(0), chunk_size=2, out_dims=1)(batch(torch)))


@behaviour
def a_batch_prints_as_one(torch, log):
    log(torch.func.vmap(lambda x: (print(x), x)[1])(batch(torch)))


# Random numbers


DRAWS = {
    "rand": lambda torch, x: torch.rand(2),
    "rand_scalar": lambda torch, x: torch.rand(()),
    "randn": lambda torch, x: torch.randn(2),
    "randperm": lambda torch, x: torch.randperm(4),
    "randint": lambda torch, x: torch.randint(0, 9, (2,)),
    "normal": lambda torch, x: torch.normal(0.0, 1.0, (2,)),
    "bernoulli_of_a_constant": lambda torch, x: torch.bernoulli(torch.full((2,), 0.5)),
    "dropout": lambda torch, x: torch.nn.functional.dropout(x + 1, 0.5),
    "dropout_of_a_constant": lambda torch, x: torch.nn.functional.dropout(torch.ones(4), 0.5),
    "rand_like": lambda torch, x: torch.rand_like(x),
    "randn_like_a_constant": lambda torch, x: torch.randn_like(torch.ones(2)),
    "randint_like": lambda torch, x: torch.randint_like(x, 9),
    "uniform_": lambda torch, x: x.clone().uniform_(),
    "normal_": lambda torch, x: x.clone().normal_(),
    "bernoulli_": lambda torch, x: x.clone().bernoulli_(0.5),
    "bernoulli_with_a_tensor": lambda torch, x: x.clone().bernoulli_(torch.tensor([0.5, 0.5])),
    "exponential_": lambda torch, x: x.clone().exponential_(),
    "multinomial_of_a_constant": lambda torch, x: torch.multinomial(torch.ones(4), 2),
}
DIFFERENT = {
    "normal_of_a_mean": lambda torch, x: torch.normal(x, 1.0),
    "normal_of_both": lambda torch, x: torch.normal(x, torch.ones(2)),
    "bernoulli": lambda torch, x: torch.bernoulli(x / 6),
    "poisson": lambda torch, x: torch.poisson(x),
    "multinomial": lambda torch, x: torch.multinomial(x + 1, 2),
    "bernoulli_of_a_number": lambda torch, x: torch.bernoulli(x, 0.5),
}


@behaviour_of_each(list(DRAWS))
def draws_are_the_same_or_different(torch, log, name):
    for randomness in ("same", "different"):
        torch.manual_seed(0)
        log(torch.func.vmap(lambda x: DRAWS[name](torch, x), randomness=randomness)(batch(torch)))
        log(torch.rand(2))


@behaviour_of_each(list(DIFFERENT))
def draws_of_different_distributions(torch, log, name):
    torch.manual_seed(0)
    log(torch.func.vmap(lambda x: DIFFERENT[name](torch, x), randomness="different")(batch(torch)))


@behaviour_of_each(list({**DRAWS, **DIFFERENT}))
def draws_are_errors_unless_allowed(torch, log, name):
    draw = {**DRAWS, **DIFFERENT}[name]
    log.raises(lambda: torch.func.vmap(lambda x: draw(torch, x))(batch(torch)))


@behaviour
def draws_in_nested_vmaps(torch, log):
    vmap = torch.func.vmap
    for outer in ("same", "different"):
        for inner in ("same", "different"):
            torch.manual_seed(0)
            log(vmap(lambda row, how=inner: vmap(lambda x: torch.rand(()), randomness=how)(row),
                     randomness=outer)(batch(torch)))
    log.raises(lambda: vmap(lambda row: vmap(lambda x: torch.rand(()), randomness="same")(row))(
        batch(torch)))
    log.raises(lambda: vmap(lambda row: vmap(lambda x: torch.rand(()))(row), randomness="same")(
        batch(torch)))


@behaviour
def draws_in_chunks(torch, log):
    for randomness in ("same", "different"):
        torch.manual_seed(0)
        log(torch.func.vmap(lambda x: torch.rand(2), randomness=randomness, chunk_size=2)(
            batch(torch)))


@behaviour
def different_draws_cannot_fill_one_tensor(torch, log):
    log.raises(lambda: torch.func.vmap(lambda x: torch.zeros(2).uniform_(),
                                       randomness="different")(batch(torch)))


# Custom functions


def doubling(torch, **members):
    Double = custom(torch, lambda ctx, g: g * 2, lambda x: x * 2, name="Double",
                    setup_context=lambda ctx, inputs, output: None)
    for name, member in members.items():
        setattr(Double, name, member)
    return Double


@behaviour
def custom_functions_with_a_rule(torch, log):
    def rule(info, in_dims, x):
        log(info.batch_size, info.randomness, in_dims)
        log.values(x)
        return x * 5, in_dims[0]

    cls = doubling(torch, vmap=staticmethod(rule))
    log(torch.func.vmap(cls.apply)(batch(torch)))
    log(torch.func.vmap(cls.apply, randomness="same")(batch(torch)))
    log(torch.func.grad(lambda x: torch.func.vmap(cls.apply)(x).sum())(batch(torch)).tolist())


@behaviour
def custom_functions_with_a_generated_rule(torch, log):
    cls = doubling(torch, generate_vmap_rule=True)
    vmap, grad = torch.func.vmap, torch.func.grad
    x = batch(torch)
    log(vmap(cls.apply)(x), vmap(vmap(cls.apply))(x))
    log(vmap(grad(lambda x: cls.apply(x).sum()))(x), grad(lambda x: vmap(cls.apply)(x).sum())(x))


@behaviour
def custom_functions_with_wrong_rules(torch, log):
    vmap = torch.func.vmap
    x = batch(torch)
    both = doubling(torch, generate_vmap_rule=True, vmap=staticmethod(lambda i, d, x: (x, 0)))
    log.raises(lambda: vmap(both.apply)(x))
    three = doubling(torch, vmap=staticmethod(lambda i, d, x: (x, 0, 1)))
    log.raises(lambda: vmap(three.apply)(x))
    many = doubling(torch, vmap=staticmethod(lambda i, d, x: (x, (0, 0))))
    log.raises(lambda: vmap(many.apply)(x))
    none = doubling(torch, vmap=staticmethod(lambda i, d, x: (torch.ones(2), None)))
    log(vmap(none.apply)(x))


# Views and writes


@behaviour
def views_and_writes_inside_vmap(torch, log):
    def program(x):
        y = x.clone()
        y[0] = 7.0
        y.view(-1)[1:].mul_(2)
        z = x.new_zeros(3)
        z[1] = x.sum()
        return y, z, torch.zeros_like(x).copy_(x), y.unsqueeze(0).expand(2, 2).t()

    log(torch.func.vmap(program)(batch(torch)))
    log(torch.func.vmap(program, in_dims=1)(batch(torch).t()))
    x = batch(torch)
    torch.func.vmap(lambda row: row.add_(1))(x)
    log(x)


@behaviour
def indexing_by_batches(torch, log):
    vmap = torch.func.vmap
    x = torch.arange(24.0).reshape(2, 3, 4)
    rows, columns = torch.tensor([[0, 2], [1, 1]]), torch.tensor([[3, 0], [1, 2]])
    log(vmap(lambda x, i: x[i])(x, rows), vmap(lambda x, i, j: x[i, j])(x, rows, columns))
    log(vmap(lambda i: x[0][i])(rows), vmap(lambda x, j: x[:, j])(x, columns))
    log(vmap(lambda x, i: torch.index_select(x, 0, i))(x, rows))
    log(vmap(lambda x, i: x.gather(0, i.expand(4, 2).t()))(x, rows))

    def put(x, i, v):
        y = x.clone()
        y[i] = v
        return y

    log(vmap(put)(x, rows, torch.ones(2, 2, 4)), vmap(put, in_dims=(0, 0, None))(x, rows, 5.0))
    log(vmap(lambda x: torch.where(x > 5, x, 0.0))(x), vmap(lambda x: x.masked_fill(x > 5, 0))(x))


# Memory that a program inside shares with tensors outside

VIEWS = {
    "itself": lambda torch, v: v,
    "slice": lambda torch, v: v[1:],
    "other shape": lambda torch, v: v.view(1, 2, 2),
    "transposed": lambda torch, v: v.t(),
    "diagonal": lambda torch, v: v.diagonal(),
    "row": lambda torch, v: v[0],
    "expanded": lambda torch, v: v[:, :1].expand(2, 3),
    "view of a view": lambda torch, v: v.t()[0].unsqueeze(1),
    "nested": lambda torch, v: torch.vmap(lambda r: r[1:])(v),
    "nested, other dims": lambda torch, v: torch.vmap(lambda r: r[1:], 1, 1)(v),
    "complex": lambda torch, v: torch.view_as_complex(v),
}


@behaviour_of_each(VIEWS)
def views_of_the_input_are_views_outside(torch, log, name):
    view = VIEWS[name]
    for dims in ((0, 0), (1, 0), (1, 1), (0, 1)):
        w = torch.arange(8.0).reshape(2, 2, 2).requires_grad_()
        x = w * 3
        y = torch.vmap(lambda v: view(torch, v), *dims)(x)
        log((y if y._base is None else y._base) is x, y._version)
        log.values(y)
        if name != "expanded":
            y.mul_(2)
            log(x._version, y._version)
            (x * x).sum().backward()
            log.values(x, y, w.grad)


WRITES = {
    "mul": lambda torch, v, w: v.mul_(2),
    "by the batch": lambda torch, v, w: v.mul_(w),
    "a part": lambda torch, v, w: v[1:].mul_(2),
    "an item": lambda torch, v, w: v.__setitem__(0, w.sum()) or v,
    "a view's part": lambda torch, v, w: v.view(1, 2, 2)[:, :1].exp_(),
    "twice": lambda torch, v, w: v.mul_(2).add_(w),
    "nested": lambda torch, v, w: torch.vmap(lambda a, b: a.mul_(b))(v, w),
    "and used": lambda torch, v, w: v.mul_(2) * v,
}


@behaviour_of_each(WRITES)
def writes_inside_are_history_outside(torch, log, name):
    write = WRITES[name]
    for dim in (0, 1):
        for is_view in (False, True):
            a = torch.arange(1.0, 9.0).reshape(2, 2, 2).requires_grad_()
            w = torch.arange(2.0, 6.0).reshape(2, 2).requires_grad_()
            base = a * 3
            before = base * base
            x = base[:, :] if is_view else base
            y = torch.vmap(lambda v, t: write(torch, v, t), (dim, 0))(x, w)
            log(base._version)
            log.values(x, y)
            found = torch.autograd.grad(y.sum() + (base * 3).sum(), (a, w), retain_graph=True,
                                        allow_unused=True)
            log(*found)
            log.refuses(before.sum().backward)


@behaviour
def a_leaf_is_not_written_inside(torch, log):
    w = torch.ones(3, 2, requires_grad=True)
    log.refuses(lambda: torch.vmap(lambda v: v.mul_(2))(w))
    log.refuses(lambda: torch.vmap(lambda v: v[:1].mul_(2))(w))
    with torch.no_grad():
        torch.vmap(lambda v: v.mul_(2))(w)
    log(w, w._version)
    e = torch.ones(1, 2).expand(3, 2)
    log.refuses(lambda: torch.vmap(lambda v: v.mul_(2), 1)(e))
    log(e)


def _item(x, r):
    x[0] = r[0]


def _slice(x, r):
    x[:] = r


OVERWRITTEN = {
    "copy": lambda torch, x, r: x.copy_(r), "fill": lambda torch, x, r: x.fill_(r[0]),
    "item": lambda torch, x, r: _item(x, r), "slice": lambda torch, x, r: _slice(x, r),
    "index_put": lambda torch, x, r: x.index_put_((torch.tensor([0, 1]),), r),
    "index_fill": lambda torch, x, r: x.index_fill_(0, torch.tensor([1]), r[0]),
    "data": lambda torch, x, r: x.data.copy_(r), "out": lambda torch, x, r: torch.sin(r, out=x),
    "view": lambda torch, x, r: x.view(-1).copy_(r),
}


@behaviour_of_each(OVERWRITTEN)
def values_of_a_batch_do_not_overwrite_one_tensor(torch, log, name):
    x = torch.zeros(2)
    other = torch.zeros(2)

    def program(r):
        other.add_(1)
        OVERWRITTEN[name](torch, x, r)
        return r * 1

    log.raises(lambda: torch.vmap(program)(batch(torch)))
    log(x, x._version)


# What a single value must be like


RANKS = {
    "inverse": (lambda torch: torch.linalg.inv, 1), "svd": (lambda torch: torch.linalg.svdvals, 1),
    "cholesky": (lambda torch: torch.linalg.cholesky, 1),
    "det": (lambda torch: torch.linalg.det, 1),
    "matrix_exp": (lambda torch: torch.linalg.matrix_exp, 1),
    "complex": (lambda torch: torch.view_as_complex, 0), "unbind": (lambda torch: torch.unbind, 0),
    "trace": (lambda torch: torch.trace, 3), "trace of a vector": (lambda torch: torch.trace, 1),
}


@behaviour_of_each(RANKS)
def a_batch_does_not_stand_in_for_a_dimension(torch, log, name):
    function, rank = RANKS[name]
    log.refuses(lambda: torch.vmap(function(torch))(torch.ones((2,) * (rank + 1))))


DRAWN_IN_ORDER = {
    "rand_like": lambda torch, t: torch.rand_like(t), "randn_like": lambda torch, t:
    torch.randn_like(t), "randint_like": lambda torch, t: torch.randint_like(t, 20),
    "bernoulli": lambda torch, t: torch.bernoulli(t, 0.5), "uniform": lambda torch, t:
    t.clone().uniform_(), "normal": lambda torch, t: torch.normal(t, 1.0),
}


@behaviour_of_each(DRAWN_IN_ORDER)
def numbers_come_in_the_order_of_the_batch_in_memory(torch, log, name):
    x = torch.ones(3, 2, 4)
    for dims in (0, 1, 2):
        torch.manual_seed(3)
        y = torch.vmap(lambda t: DRAWN_IN_ORDER[name](torch, t), dims, randomness="different")(x)
        log(y)
        log.layout(y)
    torch.manual_seed(3)
    inner = torch.vmap(lambda t: DRAWN_IN_ORDER[name](torch, t), 1, randomness="different")
    log(torch.vmap(inner, 1, randomness="different")(x))


@behaviour
def memory_in_order_is_left_alone(torch, log):
    x = torch.randn(3, 2, 5).movedim(0, 1)
    log(torch.vmap(torch.Tensor.contiguous, 1, 1)(x) is x)
    log(torch.vmap(torch.Tensor.contiguous, 0)(x).is_contiguous())


@behaviour
def what_is_the_same_for_all_is_a_view_outside_too(torch, log):
    x = torch.ones(1, 2, requires_grad=True)
    y = torch.vmap(lambda a, b: a.expand_as(b), (None, 0))(x, torch.ones(4, 3, 2))
    log(y._base is x, y.shape, y.stride())
    y.sum().backward()
    log(x.grad)


@behaviour_of_each([(f"{outer} {inner}", outer, inner) for outer in ("error", "same", "different")
                    for inner in ("error", "same", "different")])
def draws_into_parts_of_nested_batches(torch, log, name, outer, inner):
    rows, columns, neither = torch.zeros(2, 4), torch.zeros(3, 4), torch.zeros(4)
    for which in ("row", "column", "neither", "both"):
        if which == "both" and (outer, inner) == ("different", "same"):
            continue  # PyTorch refuses what has one meaning

        def drawn(row, column, which=which):
            target = {"row": row.clone(), "column": column.clone(), "neither": neither.clone(),
                      "both": row + column}[which]
            return target.normal_()

        try:
            found = torch.vmap(lambda row, drawn=drawn: torch.vmap(
                lambda column: drawn(row, column), randomness=inner)(columns),
                randomness=outer)(rows)
            log(found.shape, (found[:, 0] == found[:, 1]).all(), (found[0] == found[1]).all())
        except RuntimeError as error:
            log(which, str(error).split(". ")[0])


@behaviour_of_each([1, 2, 3, 4])
def batches_in_parts_are_joined(torch, log, chunk):
    for size in (1, 2, 3, 4):
        x = torch.arange(size * 2.0).reshape(size, 2).requires_grad_()
        for program in (lambda x: x * 2, lambda x: x, lambda x: {"a": x.sum(), "b": [x]}):
            found = torch.vmap(program, chunk_size=chunk)(x)
            log(found)
            parts = [found["a"], *found["b"]] if isinstance(found, dict) else [found]
            log([type(part.grad_fn).__name__ for part in parts], parts[-1] is x)
        log(torch.func.jacrev(lambda x: x * x, chunk_size=chunk)(x))
    log(tuple(torch.func.jacrev(lambda x: x * 2, chunk_size=chunk + 1)(x[:0]).shape))


@behaviour_of_each(["vmap", "jvp"])
def questions_about_memory_and_truth_inside(torch, log, name):
    run = torch.vmap if name == "vmap" else lambda f: lambda x: torch.func.jvp(f, (x,), (x,))[1]
    x = torch.arange(4.0).reshape(2, 2) + 1
    if name == "jvp":
        log(*[run(lambda v: v[0, 0] * 2 if v[0, 0] else v.sum())(x * n) for n in (3, 0)])

    def program(x):
        log(x[1:].storage_offset() - x.storage_offset(), x[0].storage_offset())
        return x

    run(program)(x)
