"""The in-place variant of an op."""

from __future__ import annotations

from ..core.binding import direct
from ..core.op import ARRAY, GENERATED, Op
from .calls import attempt_source, compute_source, level_source, takes_number, type_tests
from .compiling import site_source


def write_path(op: Op, slow: str) -> list[str]:
    """The ordinary write, which is not recorded: see ``core.inplace.goes_unrecorded``.

    A result of another shape or dtype, or a read-only array, is refused by the general path.
    """
    if op.kind != "elementwise" or op.promote is None or op.indices or op.outputs or op.writer or \
            op.any_dtype or any(op.by_name[n].kind != ARRAY for n in op.arrays):
        return []
    GENERATED[f"{op.name}_kernel"] = direct(op.kernel)
    first, *others = op.arrays
    check = [f"a_{n} = {n}._data" for n in others]
    check += [f"plain = {''.join(f'a_{n}.dtype is dt and ' for n in others)}"
              f"goes_unrecorded({', '.join(op.arrays)})"]
    if takes_number(op):
        # Not kept as the constants of _number_source are: optimizers write with ever new numbers.
        check = [f"if type({others[0]}) is float or type({others[0]}) is int:",
                 f"    a_{others[0]} = dt.type({others[0]}); plain = goes_unrecorded({first})",
                 f"elif type({others[0]}) is Tensor or type({others[0]}) in PLAIN:",
                 *("    " + line for line in check),
                 "else: plain = False"]
    write = [*([level_source(op)] if op.fast and others else []), *compute_source(op),
             f"if y.dtype is not dt or y.shape != {first}._data.shape: return {slow}",
             f"{first}._data[...] = y"]
    done = [f"vc = {first}._vc", f"if vc is None: vc = {first}._counter()", "vc.n += 1",
            *site_source(), "vc.code = code; vc.lasti = f.f_lasti", f"return {first}"]
    write = [*attempt_source(op, write), *("    " + line for line in done)]
    body = [*check, "if plain:", *("    " + line for line in write)]
    lines = [f"a_{first} = {first}._data", f"dt = a_{first}.dtype",
             f"if (dt is F4 or dt is F8) and a_{first}.__class__ is ndarray:",
             *("    " + line for line in body)]
    return [f"if {' and '.join(type_tests(op))}:", *("    " + line for line in lines)]
