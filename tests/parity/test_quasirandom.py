"""Sobol's sequences beside PyTorch's, plain and scrambled."""

from __future__ import annotations

from parity.harness import behaviour, behaviour_of_each


@behaviour_of_each([(dimension, scramble) for dimension in (1, 3, 40)
                    for scramble in (False, True)])
def points_of_a_sequence(torch, log, dimension, scramble):
    engine = torch.quasirandom.SobolEngine(dimension, scramble, seed=5 if scramble else None)
    log(repr(engine), engine.MAXBIT, engine.MAXDIM, engine.num_generated)
    log(engine.draw(), engine.draw(7), engine.draw(3, dtype=torch.float64), engine.num_generated)
    log(engine.reset() is engine, engine.num_generated, engine.draw_base2(3))
    log(engine.fast_forward(100) is engine, engine.draw(2), engine.num_generated)
    given = torch.empty(0)
    log(engine.draw(2, out=given) is given, given)


@behaviour
def points_by_the_programs_seed(torch, log):
    torch.manual_seed(3)
    log(torch.quasirandom.SobolEngine(2, scramble=True).draw(3), torch.rand(2))


@behaviour
def what_a_sequence_refuses(torch, log):
    kind = torch.quasirandom.SobolEngine
    for call in (lambda: kind(0), lambda: kind(21202), lambda: kind(2).draw(0),
                 lambda: kind(2).fast_forward(3).draw_base2(2)):
        log.raises(call)
