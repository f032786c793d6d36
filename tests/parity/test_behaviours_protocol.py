"""Tensors as Python objects: operators, numbers, iteration, copying, pickling, subclassing."""

from __future__ import annotations

import copy
import math
import operator
import pickle

import numpy as np

from parity.harness import behaviour, behaviour_of_each

ARITHMETIC = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"]
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]
BITWISE = ["and_", "or_", "xor"]


# Operators


@behaviour_of_each(ARITHMETIC)
def arithmetic_between_tensors_and_scalars(torch, log, name):
    op = getattr(operator, name)
    x = torch.tensor([1.5, 2.0, 3.0], requires_grad=True)
    y = torch.tensor([2.0, 3.0, 0.5], requires_grad=True)
    for result in (op(x, y), op(x, 2), op(2, x), op(x, 1.5), op(2.5, x), op(x, y[0])):
        log(result)
    log.raises(op, True, x)


@behaviour_of_each(ARITHMETIC)
def arithmetic_gradients_through_operators(torch, log, name):
    op = getattr(operator, name)
    x = torch.tensor([1.5, 2.0, 3.0], requires_grad=True)
    y = torch.tensor([2.0, 3.0, 0.5], requires_grad=True)
    total = (op(x, y) * torch.tensor([1.0, 2.0, 3.0])).sum()
    log.raises(total.backward)
    log(x.grad, y.grad)


@behaviour_of_each(ARITHMETIC)
def arithmetic_on_integers(torch, log, name):
    op = getattr(operator, name)
    x, y = torch.tensor([7, -7, 5]), torch.tensor([2, 2, 3])
    log.values(op(x, y), op(x, 2), op(7, y), op(x, 2.0), op(x, y.to(torch.int32)))


@behaviour_of_each(ARITHMETIC)
def arithmetic_with_foreign_objects_is_a_type_error(torch, log, name):
    op = getattr(operator, name)
    x = torch.ones(2)
    for foreign in ("a", None, {}, object()):
        log.raises(op, x, foreign)
        log.raises(op, foreign, x)


@behaviour
def arithmetic_with_lists_is_a_type_error(torch, log):
    x = torch.ones(2)
    log.raises(lambda: x + [1, 2])
    log.raises(lambda: [1, 2] + x)
    log.raises(lambda: x * (1, 2))


@behaviour_of_each(ARITHMETIC)
def arithmetic_refuses_shapes_that_do_not_broadcast(torch, log, name):
    op = getattr(operator, name)
    log.raises(op, torch.ones(2), torch.ones(3))
    log.raises(op, torch.ones(2, 3), torch.ones(2, 2))
    log.raises(op, torch.ones(4, 1, 3), torch.ones(2, 2))


@behaviour_of_each(ARITHMETIC)
def in_place_operators_keep_the_object(torch, log, name):
    x = torch.tensor([4.0, 5.0])
    before = x
    x = getattr(operator, "i" + name)(x, torch.tensor([2.0, 3.0]))
    log(x is before, x)
    x = getattr(operator, "i" + name)(x, 2)
    log(x is before, x)


@behaviour
def in_place_operators_cannot_change_dtype_or_shape(torch, log):
    i, x = torch.tensor([1, 2]), torch.tensor([1.0, 2.0])
    log.raises(operator.iadd, i, 1.5)
    log.raises(operator.itruediv, i, 2)
    log.raises(operator.iadd, i, x)
    log.raises(operator.iadd, x, torch.ones(2, 2))
    log.raises(operator.imul, x, 1j)
    log(i, x)


@behaviour_of_each(COMPARISONS)
def comparisons_give_bool_tensors(torch, log, name):
    op = getattr(operator, name)
    x = torch.tensor([1.0, 2.0, math.nan], requires_grad=True)
    y = torch.tensor([2.0, 2.0, math.nan])
    log(op(x, y), op(x, 2), op(2, x), op(x, 1.5), op(torch.tensor([1, 2]), torch.tensor(1.5)))
    log.raises(op, x, torch.ones(2))


@behaviour
def equality_with_foreign_objects(torch, log):
    x = torch.ones(2)
    log(x == None, x != None)  # noqa: E711
    log.raises(lambda: x == "a")
    log.raises(lambda: x != "a")
    log.raises(lambda: x < "a")
    log.raises(lambda: x < None)


@behaviour_of_each(BITWISE)
def bitwise_operators(torch, log, name):
    op = getattr(operator, name)
    a, b = torch.tensor([True, True, False]), torch.tensor([True, False, False])
    i, j = torch.tensor([6, 5]), torch.tensor([3, 1])
    log(op(a, b), op(i, j), op(i, 4), op(4, i), op(a, True), op(a, 1))
    log.raises(op, torch.ones(2), torch.ones(2))
    log.raises(op, torch.ones(2), 1)


@behaviour
def shifts_and_invert(torch, log):
    i = torch.tensor([1, 2, 8])
    log(i << 1, i >> 1, ~i, ~torch.tensor([True, False]), 1 << i)
    log.raises(lambda: ~torch.ones(2))
    log.raises(lambda: torch.ones(2) << 1)


@behaviour
def unary_operators(torch, log):
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    log(-x, +x, abs(x), (+x) is x)
    log(-torch.tensor([1, 2]), abs(torch.tensor([-3])))
    log.raises(lambda: -torch.tensor([True]))
    log.raises(lambda: abs(torch.tensor([True])))


@behaviour
def matmul_operator(torch, log):
    a, b = torch.arange(6.0).reshape(2, 3), torch.arange(3.0)
    log(a @ b, b @ a.T, a @ a.T, b @ b)
    log.raises(lambda: a @ a)
    log.raises(lambda: a @ 2)
    log.raises(lambda: torch.tensor(1.0) @ b)
    log.raises(lambda: a @ b.long())


@behaviour
def divmod_is_not_supported_but_reflected_mod_is(torch, log):
    log.raises(lambda: divmod(torch.tensor([7.0]), 2))
    log(7 % torch.tensor([4.0]), 7 // torch.tensor([2.0]), 2 ** torch.tensor([3.0]))


@behaviour
def integer_power_and_negative_exponents(torch, log):
    i = torch.tensor([2, 3])
    log(i**2, i**0, 2**i, i**2.0, i**i)
    log.raises(lambda: i**-1)
    log(torch.tensor([2.0]) ** -1, torch.tensor([-2.0]) ** 0.5, torch.tensor([0.0]) ** 0)


@behaviour
def integer_division_by_zero(torch, log):
    i = torch.tensor([1, 2])
    log.raises(lambda: i // 0)
    log.raises(lambda: i % 0)
    log(
        torch.tensor([1.0, -1.0, 0.0]) / 0, i / 0, torch.tensor([1.0]) // 0, torch.tensor([1.0]) % 0
    )


@behaviour
def numpy_arrays_and_scalars_in_arithmetic(torch, log):
    x = torch.tensor([1.0, 2.0])
    log(x + np.float32(1.5), x * np.int64(2), np.float64(2.0) * x, x + np.array([1.0, 2.0]))


@behaviour
def arrays_on_the_left_of_a_tensor(torch, log):
    x = torch.tensor([1.0, 2.0])
    a = np.array([3.0, 4.0])
    log.differs(refused(lambda: a + x), torch="TypeError", retrograd=None)
    log.differs(refused(lambda: a - x), torch="TypeError", retrograd=None)
    log.differs(refused(lambda: a * x), torch="TypeError", retrograd=None)
    log.differs(refused(lambda: a @ x), torch="TypeError", retrograd=None)
    log.differs(refused(lambda: a < x), torch="TypeError", retrograd=None)


def refused(call):
    """The name of the error that a call ends in, if it does."""
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return None


# Numbers


@behaviour
def conversions_to_python_numbers(torch, log):
    log(
        float(torch.tensor(1.5)),
        int(torch.tensor(2.7)),
        bool(torch.tensor(0.0)),
        complex(torch.tensor(1j)),
    )
    log(float(torch.tensor([[3]])), int(torch.tensor([True])), bool(torch.tensor([2])))
    log(float(torch.tensor(1.5, requires_grad=True)), operator.index(torch.tensor(3)))
    log(int(torch.tensor(-2.7)), complex(torch.tensor(2.0)))


@behaviour
def conversions_of_several_elements_are_refused(torch, log):
    for convert in (float, int, complex, bool, operator.index):
        log.raises(convert, torch.tensor([1, 2]))
        log.raises(convert, torch.tensor([]))
    log.raises(operator.index, torch.tensor(1.5))
    log.raises(operator.index, torch.tensor([1, 2]))
    log.raises(int, torch.tensor(math.nan))
    log.raises(int, torch.tensor(math.inf))
    log.raises(float, torch.tensor(1j))


@behaviour
def a_zero_dim_tensor_indexes_python_sequences(torch, log):
    log([10, 20, 30][torch.tensor(1)], "abc"[torch.tensor(2)], list(range(torch.tensor(3))))
    log.raises(lambda: [1, 2][torch.tensor(1.0)])
    log(hex(torch.tensor(255)))


@behaviour
def math_functions_accept_zero_dim_tensors(torch, log):
    log(math.sqrt(torch.tensor(4.0)), math.floor(torch.tensor(2.5)))
    log(math.ceil(torch.tensor(2.5)))
    log.refuses(round, torch.tensor(2.5))


@behaviour
def item_and_tolist(torch, log):
    log(torch.tensor(2).item(), torch.tensor([[2.5]]).item(), torch.tensor(True).item())
    log(torch.tensor(1 + 2j).item(), torch.tensor([1, 2]).tolist(), torch.tensor(3).tolist())
    log(torch.zeros(2, 0).tolist(), torch.arange(8).reshape(2, 2, 2).tolist())
    log.raises(torch.tensor([1, 2]).item)
    log.raises(torch.tensor([]).item)


@behaviour
def item_on_a_tensor_that_requires_grad(torch, log):
    x = torch.tensor(2.0, requires_grad=True)
    log(x.item(), x.tolist(), (x * 2).item())


@behaviour
def float_of_a_graph_tensor_does_not_warn_for_item_but_does_for_float(torch, log):
    x = torch.tensor(2.0, requires_grad=True)
    log(float(x), int(x), bool(x), float(x * 2))


@behaviour
def formatting_with_f_strings(torch, log):
    log(f"{torch.tensor(3.14159):.2f}", f"{torch.tensor(42):d}", f"{torch.tensor(2.5)}")
    log(f"{torch.tensor([1.0, 2.0])}", f"{torch.tensor(1.5, requires_grad=True)}")
    log(f"{torch.tensor([1.0])}", f"{torch.tensor(True)}", f"{torch.tensor(7):>5}")
    log.raises(lambda: f"{torch.tensor([1.0, 2.0]):.2f}")
    log.raises(lambda: f"{torch.tensor(1.5):d}")


@behaviour
def percent_and_str_format(torch, log):
    log(
        operator.mod("%.1f", torch.tensor(2.55)),
        f"{torch.tensor(0.5):.1%}",
        f"{torch.tensor(12.0):e}",
    )
    log(str(torch.tensor(2)), operator.mod("%s", torch.tensor([1, 2])))


# Containers


@behaviour
def length_and_iteration(torch, log):
    x = torch.arange(6.0).reshape(3, 2)
    log(len(x), list(x), [v.item() for v in x[0]])
    log.raises(len, torch.tensor(1.0))
    log.raises(iter, torch.tensor(1.0))
    log(len(torch.zeros(0)), list(torch.zeros(0)), len(torch.zeros(0, 3)), list(torch.zeros(2, 0)))


@behaviour
def unpacking_records_unbind(torch, log):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a, b = x
    log(a, b, a.grad_fn.next_functions[0][0].name(), b.output_nr)
    (a * b).backward()
    log(x.grad)


@behaviour
def reversed_and_contains(torch, log):
    x = torch.tensor([1.0, 2.0, 3.0])
    log(list(reversed(x)), 2.0 in x, 5.0 in x, torch.tensor(1.0) in x, torch.tensor(7.0) in x)
    log.raises(lambda: "a" in x)
    log(reversed(torch.tensor(1.0)), reversed(torch.arange(4).reshape(2, 2)))


@behaviour
def truth_of_tensors(torch, log):
    log(bool(torch.tensor([1])), bool(torch.tensor(0)), bool(torch.tensor([[0.0]])))
    log.raises(bool, torch.tensor([1, 2]))
    log.raises(bool, torch.tensor([]))
    log.raises(bool, torch.zeros(2, 0))
    log(not torch.tensor(0), bool(torch.tensor(math.nan)), bool(torch.tensor(1j)))


@behaviour
def hash_is_identity(torch, log):
    x = torch.tensor([1.0])
    y = torch.tensor([1.0])
    log(hash(x) == hash(x), hash(x) == id(x), len({x, y, x}), {x: 1}[x], x in {x: 1})


@behaviour
def a_list_of_tensors_compares_by_truth(torch, log):
    x = torch.tensor([1.0])
    log([x] == [torch.tensor([1.0])], x in [x], [x].index(x))
    log.raises(lambda: torch.tensor([1.0, 2.0]) in [torch.tensor([1.0, 2.0])])


@behaviour
def sum_and_max_of_python_work_on_tensors(torch, log):
    x = torch.tensor([1.0, 3.0, 2.0], requires_grad=True)
    log(sum(x), max(x), min(x), sorted(x.tolist()), any(x > 2), all(x > 0))
    log(sum([x, x]), sum(x * 2))


@behaviour
def attributes_can_be_added(torch, log):
    x = torch.tensor([1.0])
    x.note = "kept"
    log(x.note)
    log.raises(lambda: x.missing)
    log.raises(lambda: x.clone().note)


@behaviour
def read_only_attributes(torch, log):
    x = torch.tensor([1.0])
    log.refuses(setattr, x, "shape", (2,))
    log.refuses(setattr, x, "dtype", torch.float64)
    log.refuses(setattr, x, "is_leaf", True)
    log.refuses(setattr, x, "grad_fn", None)
    log.refuses(setattr, x, "T", x)


@behaviour
def dir_lists_the_methods(torch, log):
    names = set(dir(torch.tensor([1.0])))
    log(
        sorted(names & {"backward", "grad", "add_", "view", "numpy", "item", "T", "requires_grad_"})
    )


# Copies


@behaviour
def clone_is_differentiable_and_detach_is_not(torch, log):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.clone()
    log(y, y.data_ptr() == x.data_ptr(), x.detach(), x.detach().data_ptr() == x.data_ptr())
    y.sum().backward()
    log(x.grad)


@behaviour
def clone_keeps_strides_of_dense_tensors(torch, log):
    x = torch.arange(6.0).reshape(2, 3).T
    log.layout(x.clone(), x.clone(memory_format=torch.contiguous_format), x[::2].clone())
    log.layout(torch.zeros(1).expand(3).clone(), torch.zeros(2, 1).expand(2, 3).clone())


@behaviour
def copy_copy_shares_memory(torch, log):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = copy.copy(x)
    log(y, y.data_ptr() == x.data_ptr(), y is x)


@behaviour
def deepcopy_of_leaves_copies_data_and_grad(torch, log):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * 3).sum().backward()
    y = copy.deepcopy(x)
    log(y, y.grad, y.data_ptr() == x.data_ptr(), y.grad.data_ptr() == x.grad.data_ptr())


@behaviour
def deepcopy_of_non_leaves_is_refused(torch, log):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    log.raises(copy.deepcopy, x * 2)
    log.raises(copy.deepcopy, x[0])


@behaviour
def deepcopy_keeps_sharing_within_one_call(torch, log):
    x = torch.arange(4.0)
    pair = copy.deepcopy([x, x, x[1:]])
    log(pair[0] is pair[1], pair)
    pair[0][1] = 9
    log(pair[2], x)


@behaviour
def deepcopy_keeps_strides_and_attributes(torch, log):
    x = torch.arange(6.0).reshape(2, 3).T
    x.note = [1]
    y = copy.deepcopy(x)
    log.layout(y)
    log(y.note, y.note is x.note)


@behaviour
def pickle_round_trips(torch, log):
    for t in (
        torch.tensor([1.0, 2.0]),
        torch.tensor([1.0], requires_grad=True),
        torch.tensor(3, dtype=torch.int8),
        torch.tensor([1j]),
        torch.tensor([1.5], dtype=torch.bfloat16),
        torch.zeros(0, 3),
        torch.tensor([True]),
    ):
        log(pickle.loads(pickle.dumps(t)))


@behaviour
def pickle_drops_the_graph_and_the_grad(torch, log):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    y = pickle.loads(pickle.dumps(x))
    log(y, y.grad)
    log(pickle.loads(pickle.dumps((x * 2).detach())))


@behaviour
def pickle_keeps_strides_and_sharing(torch, log):
    x = torch.arange(6.0).reshape(2, 3)
    y, z = pickle.loads(pickle.dumps((x, x.T)))
    log.layout(y, z)
    log(y, z)


@behaviour
def pickle_of_dtypes_devices_and_sizes(torch, log):
    for value in (torch.float32, torch.device("cpu"), torch.Size([1, 2])):
        log(pickle.loads(pickle.dumps(value)), copy.deepcopy(value))


@behaviour
def states_are_pickled(torch, log):
    state = {"w": torch.tensor([1.0, 2.0]), "step": 3, "names": ["a"]}
    log(pickle.loads(pickle.dumps(state)))


@behaviour
def parameters_deepcopy_and_pickle(torch, log):
    p = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    log(p, copy.deepcopy(p), pickle.loads(pickle.dumps(p)), isinstance(p, torch.Tensor))
    log(torch.nn.Parameter(torch.tensor([1.0]), requires_grad=False), repr(p), p.data)


# NumPy and DLPack


@behaviour
def numpy_shares_memory(torch, log):
    x = torch.arange(3.0)
    a = x.numpy()
    a[0] = 9
    x[1] = 8
    log(x, a, type(a).__name__)


@behaviour_of_each(["float16", "float32", "float64", "complex64", "int8", "uint8", "int64", "bool"])
def numpy_keeps_the_dtype(torch, log, name):
    log(torch.tensor([0, 1], dtype=getattr(torch, name)).numpy())


@behaviour
def numpy_of_bfloat16_is_refused(torch, log):
    log.raises(torch.tensor([1.0], dtype=torch.bfloat16).numpy)


@behaviour
def numpy_of_a_tensor_that_requires_grad_is_refused(torch, log):
    x = torch.tensor([1.0], requires_grad=True)
    log.raises(x.numpy)
    log.raises((x * 2).numpy)
    log(x.detach().numpy(), x.numpy(force=True))
    log.raises(np.asarray, x)
    with torch.no_grad():
        log.raises(x.numpy)


@behaviour
def array_protocol(torch, log):
    x = torch.arange(4.0).reshape(2, 2)
    log(np.asarray(x), np.array(x, dtype=np.float64), np.asarray(x.T), x.__array__())
    a = np.asarray(x)
    a[0, 0] = 7
    log(x, np.sum(x.numpy()))


@behaviour
def numpy_functions_on_tensors(torch, log):
    x = torch.arange(4.0)
    log(np.exp(x.numpy()), type(np.sin(x)).__name__, np.stack([x, x]))


@behaviour
def numpy_of_views_keeps_strides(torch, log):
    x = torch.arange(6.0).reshape(2, 3)
    log(x.T.numpy().strides, x[:, ::2].numpy(), x[1].numpy(), x.T.numpy().flags.c_contiguous)


@behaviour
def dlpack_both_ways(torch, log):
    x = torch.arange(3.0)
    log(np.from_dlpack(x), torch.from_dlpack(np.arange(3.0)), torch.from_dlpack(x))
    y = torch.from_dlpack(x)
    y[0] = 5
    log(x, [int(part) for part in x.__dlpack_device__()])


@behaviour
def dlpack_refuses_tensors_that_require_grad(torch, log):
    x = torch.tensor([1.0], requires_grad=True)
    log.raises(torch.from_dlpack, x)
    log.raises(np.from_dlpack, x)
    log(torch.from_dlpack(x.detach()))


@behaviour
def torch_functions_refuse_numpy_arrays(torch, log):
    log.raises(torch.sin, np.zeros(2))
    log.raises(torch.matmul, np.zeros((2, 2)), torch.zeros(2, 2))
    log.raises(torch.cat, [np.zeros(2)])


# Subclassing


@behaviour
def subclass_keeps_its_type_through_operations(torch, log):
    class Marked(torch.Tensor):
        pass

    x = torch.tensor([1.0, 2.0]).as_subclass(Marked)
    log(x, x + 1, x.sum(), x[0], x.view(2, 1), isinstance(x + 1, Marked))
    log(type(x.detach()), type(x.clone()), type(2 * x), type(torch.ones(2) + x))


@behaviour
def subclass_through_backward(torch, log):
    class Marked(torch.Tensor):
        pass

    x = torch.tensor([1.0, 2.0]).as_subclass(Marked).requires_grad_()
    (x * x).sum().backward()
    log(x, x.grad)


@behaviour
def torch_function_is_called_for_functions_methods_and_operators(torch, log):
    class Traced(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            calls.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    calls = []
    x = torch.tensor([1.0, 2.0]).as_subclass(Traced)
    y = torch.exp(x)
    z = x.sum()
    w = x + 1
    v = torch.ones(2) * x
    names = list(calls)
    log(
        names,
        isinstance(y, Traced),
        isinstance(z, Traced),
        isinstance(w, Traced),
        isinstance(v, Traced),
    )


@behaviour
def torch_function_on_a_foreign_class(torch, log):
    class Diagonal:
        def __init__(self, n):
            self.n = n

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return f"{func.__name__} of {len(args)}"

    log(torch.mean(Diagonal(3)), torch.add(Diagonal(1), torch.ones(1)), torch.ones(1) + Diagonal(2))


@behaviour
def parameter_is_a_tensor_with_grad(torch, log):
    p = torch.nn.Parameter(torch.ones(2))
    log(p, p * 2, p.detach(), type(p.clone()), p.is_leaf)
    log.raises(torch.nn.Parameter, torch.tensor([1, 2]))
    log(torch.nn.Parameter(torch.tensor([1, 2]), requires_grad=False), torch.nn.Parameter().shape)


@behaviour
def the_tensor_constructor(torch, log):
    log(
        torch.Tensor([1, 2]), torch.Tensor(2, 3).shape, torch.Tensor().shape, torch.FloatTensor([1])
    )
    log(torch.LongTensor([1, 2]), torch.DoubleTensor([1.5]), torch.BoolTensor([True]))
    log.raises(torch.Tensor, "a")
    log(isinstance(torch.ones(1), torch.FloatTensor), isinstance(torch.ones(1), torch.LongTensor))
