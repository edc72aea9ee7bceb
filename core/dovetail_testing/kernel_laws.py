"""The kernel's own laws: of evaluation, decompositions, lowering of high types, dead code, text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from dovetail_base.options import enable_x64
from dovetail_core import (
    AbstractValue,
    ClosedJaxpr,
    Inferred,
    InputEffect,
    check_jaxpr,
    dce_closed,
    eval_jaxpr,
    low_types,
    lower_to_lo,
    lower_values,
    stage_closed,
    typeof,
)
from dovetail_text.parser import parse_ir
from dovetail_text.printer import print_ir, printed_constants

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


def assert_types(values: Sequence[Any], wanted: Sequence[AbstractValue], what: str) -> None:
    """Fail unless values are of the types ``wanted``: shape, dtype, and whether they are weak.

    NumPy's values are never weak.
    """
    assert len(values) == len(wanted), f"{what}: {len(values)} results, expected {len(wanted)}"
    for i, (x, want) in enumerate(zip(values, wanted)):
        result = typeof(x)
        if isinstance(x, (np.ndarray, np.generic)):
            result, want = result.strong(), want.strong()
        got, wants = result.str_short(), want.str_short()
        assert result == want, f"{what}: result {i} has type {got}, the type rule says {wants}"


def assert_untouched(sample: Sample, before: Sequence[bytes]) -> None:
    """Fail if an operand that is a NumPy array has changed (see :func:`contents`)."""
    for i, (x, y) in enumerate(zip(contents(sample), before)):
        assert x == y, f"operand {i} was overwritten: operands are read only"


def contents(sample: Sample) -> list[bytes]:
    """The bytes of the operands that are NumPy arrays; empty for the others."""
    return [x.tobytes() if isinstance(x, np.ndarray) else b"" for x in sample.operands]


def arrays_of(values: Sequence[Any]) -> list[np.ndarray[Any, Any]]:
    """The arrays of values, of high ones too."""
    return [np.asarray(_of_its_type(x)) for x in lower_values(values, "asked for by a law")]


def effects_of(program: ClosedJaxpr) -> Counter[Any]:
    """The number of times that each effect occurs among the equations; input effects by class."""
    effects = (f for e in program.eqns for f in e.effects)
    return Counter(type(f) if isinstance(f, InputEffect) else f for f in effects)


def assert_same_effects(program: ClosedJaxpr, inferred: Inferred, what: str) -> None:
    """Fail unless a program has each effect of an application once."""
    wanted = Counter(type(f) if isinstance(f, InputEffect) else f for f in inferred.effects)
    result = effects_of(program)
    for effect in {*wanted, *result}:
        assert result[effect] == wanted[effect], (
            f"{what}: the effect {effect} happens {result[effect]} times, expected {wanted[effect]}"
        )


@law("eval", mixed=False)
def eval_law(sample: Sample) -> None:
    """Results have the types of the type rule, and the values of the sample's oracle.

    The type rule returns the same types for the same operands, also under the other mode of 64-bit
    types, since its results are remembered; and no operand is written to.
    """
    inferred, before, avals = sample.infer(), contents(sample), sample.avals
    sample.primitive.forget()
    with enable_x64(enable_x64.value is bool(sample.fixed)):  # fixed operands are of this mode
        again = sample.infer(avals)
    assert again == inferred, f"the type rule says {again.avals} now, and said {inferred.avals}"
    result = sample.flat()
    assert_untouched(sample, before)
    assert_types(result, inferred.avals, "evaluation")
    if sample.oracle is None:
        return
    wanted: Any = sample.oracle(*map(_of_its_type, sample.operands), **sample.params)
    wanted = wanted if sample.primitive.multiple_results else [wanted]
    for got, want in zip(arrays_of(result), arrays_of(wanted), strict=True):
        assert_close(got, want, "evaluation against the oracle", factor=256, scale=sample.scale)


def _of_its_type(x: Any) -> Any:
    """A Python number as a NumPy scalar of the type that it has in programs."""
    if isinstance(x, (bool, int, float, complex)) and not isinstance(x, np.generic):
        return np.asarray(x, typeof(x).dtype)[()]  # type: ignore[attr-defined]
    return x


def _is_decomposed(sample: Sample) -> bool:
    return sample.primitive.decomposition is not None


@law("decomposition", without=("random",), applies=_is_decomposed, mixed=False)
def decomposition_law(sample: Sample) -> None:
    """A decomposition has the primitive's types and effects, and the results of evaluation."""
    primitive, inferred = sample.primitive, sample.infer()

    def decomposed(*args: Any) -> list[Any]:
        out: Any = primitive.decomposition(*args, **sample.params)  # type: ignore[misc]
        return list(out) if primitive.multiple_results else [out]

    program = stage_closed(decomposed, [typeof(x) for x in sample.operands], primitive.name)
    result, wanted = program.out_avals, list(inferred.avals)
    assert result == wanted, (
        f"the decomposition's results have types {_spell(result)}, the type rule says "
        f"{_spell(wanted)}"
    )
    assert_same_effects(program, inferred, "the decomposition")
    outs = eval_jaxpr(program.jaxpr, program.consts, *sample.operands)
    for got, want in zip(arrays_of(outs), arrays_of(sample.flat()), strict=True):
        what = "the decomposition against evaluation"
        assert_close(got, want, what, factor=256, scale=sample.scale)


def _spell(avals: Sequence[AbstractValue]) -> str:
    return f"({', '.join(a.str_short() for a in avals)})"


def _is_high(sample: Sample) -> bool:
    return sample.infer().is_high


@law("to_lo", applies=_is_high, mixed=False)
def to_lo_law(sample: Sample) -> None:
    """A high operation, lowered, is a program on arrays with its effects and its values."""
    program = staged(sample)
    low = lower_to_lo(program)
    check_jaxpr(low, "lowering to low types")
    result, wanted = low.out_avals, low_types(program.out_avals)
    assert [a.strong() for a in result] == [a.strong() for a in wanted], (
        f"lowered, its results are of types {_spell(result)}, of the high types {_spell(wanted)}"
    )
    assert_same_effects(low, sample.infer(), "lowered")
    if "random" in sample.tags:
        return
    args = lower_values(sample.args, "asked for by the law of to_lo")
    outs = eval_jaxpr(low.jaxpr, low.consts, *args)
    for got, want in zip(arrays_of(outs), arrays_of(sample.flat()), strict=True):
        assert_close(got, want, "lowered against evaluation", factor=256, scale=sample.scale)


@law("text", mixed=False)
def text_law(sample: Sample) -> None:
    """The text of a program parses to an equal program, which has the same text."""
    program = staged(sample)
    text = print_ir(program)
    if program.jaxpr.is_high:
        skip("high types have no text form")
    if "=<" in text:
        skip("a parameter has no text form")
    again = parse_ir(text, printed_constants(program))
    assert again == program, f"parsed differently:\n{text}\n{print_ir(again)}"
    assert print_ir(again) == text


@law("check", mixed=False)
def check_law(sample: Sample) -> None:
    """The program that staging makes of an operation passes the checker."""
    check_jaxpr(staged(sample))


@law("dce", without=("random",), mixed=False)
def dce_law(sample: Sample) -> None:
    """Dead-code elimination changes used outputs by rounding at most, and no effect."""
    program = staged(sample)
    full = eval_jaxpr(program.jaxpr, program.consts, *sample.args)
    for used in _choices(len(full)):
        reduced, left = dce_closed(program, used)
        what = f"with used outputs {used}"
        check_jaxpr(reduced, f"dead-code elimination {what}")
        assert reduced.effects or not program.effects, "an effect was removed"
        more = effects_of(reduced) - effects_of(program)
        assert not more, f"effects were repeated or added {what}: {dict(more)}"
        kept = [a for a, keep in zip(program.out_avals, used) if keep]
        assert reduced.out_avals == kept, f"types {_spell(reduced.out_avals)} {what}"
        args = [x for x, keep in zip(sample.args, left) if keep]
        out = eval_jaxpr(reduced.jaxpr, reduced.consts, *args)
        wanted = [x for x, keep in zip(full, used) if keep]
        for a, b in zip(arrays_of(out), arrays_of(wanted), strict=True):
            assert_close(a, b, what, scale=sample.scale)
