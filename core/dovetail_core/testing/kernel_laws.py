"""The kernel's own laws: of the text of programs, of the checker, of dead-code elimination."""

from __future__ import annotations

from itertools import product

import numpy as np

from ..ir.programs import ClosedJaxpr
from ..ir.verification import check_jaxpr
from ..rules.dce import dce_closed
from ..rules.evaluation import eval_jaxpr
from ..rules.staging import stage_closed
from ..text.parser import parse_ir
from ..text.printer import print_ir, printed_constants
from .laws import law, skip
from .oracles import assert_close
from .samples import Sample


def staged(sample: Sample) -> ClosedJaxpr:
    """The program that applies the sample's primitive to its inputs."""
    return stage_closed(lambda *args: sample.flat(*args), sample.avals, sample.primitive.name)


def _choices(n: int) -> list[tuple[bool, ...]]:
    """All choices among outputs where they are few, else each one alone and all but each one."""
    if n < 4:
        return list(product([False, True], repeat=n))
    alone = [tuple(i == j for i in range(n)) for j in range(n)]
    return [*alone, *(tuple(not i for i in choice) for choice in alone)]


@law("text")
def text_law(sample: Sample) -> None:
    """The text of a program parses to an equal program, which has the same text."""
    program = staged(sample)
    text = print_ir(program)
    if "=<" in text:
        skip("a parameter has no text form")
    again = parse_ir(text, printed_constants(program))
    assert again == program, f"parsed differently:\n{text}\n{print_ir(again)}"
    assert print_ir(again) == text


@law("check")
def check_law(sample: Sample) -> None:
    """What staging makes of an operation passes the checker."""
    check_jaxpr(staged(sample))


@law("dce", without=("random",))
def dce_law(sample: Sample) -> None:
    """Removing what unused outputs need changes used outputs by rounding at most, no effect."""
    program = staged(sample)
    whole = eval_jaxpr(program.jaxpr, program.consts, *sample.args)
    for used in _choices(len(whole)):
        reduced, left = dce_closed(program, used)
        check_jaxpr(reduced, f"dead-code elimination with used outputs {used}")
        assert reduced.effects or not program.effects, "an effect was removed"
        args = [x for x, keep in zip(sample.args, left) if keep]
        out = eval_jaxpr(reduced.jaxpr, reduced.consts, *args)
        wanted = [x for x, keep in zip(whole, used) if keep]
        for a, b in zip(out, wanted, strict=True):
            what = f"with used outputs {used}"
            assert_close(np.asarray(a), np.asarray(b), what, scale=sample.scale)
