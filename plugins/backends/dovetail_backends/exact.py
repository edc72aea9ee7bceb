"""Programs whose results NumPy computes with the same bits as XLA's compiler for the CPU.

Moves of data, comparisons and integer arithmetic have one possible result, and so does a single
IEEE operation, which rounds once. Of several such operations the compiler may make others (it
contracts products and sums, and multiplies by reciprocals of constants), and it flushes subnormal
numbers to zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from ml_dtypes import finfo  # NumPy's knows not all that have its kind "f"

from dovetail_core import ClosedJaxpr, Eqn, Literal

from .reference import evaluate
from .tables import stablehlo_rules

MANY, LARGE = 400, 16384
"""Programs of more operations, or on arrays of more elements, are compiled."""


def is_exact(program: ClosedJaxpr) -> bool:
    """True if :func:`evaluate_exactly` may compute the program; cached with it."""
    return program.memo("exact", lambda: _is_exact(program))


def evaluate_exactly(program: ClosedJaxpr, args: Sequence[Any]) -> list[Any] | None:
    """The results of a program for which :func:`is_exact` holds, as NumPy arrays.

    None if a number is subnormal, which compiled programs flush to zero.
    """
    values = [np.asarray(x) for x in args]
    if any(map(_has_subnormals, values)):
        return None
    result = evaluate(program, *values)
    return None if any(map(_has_subnormals, result)) else result


def _has_subnormals(x: Any) -> bool:
    if x.dtype.kind != "f":
        return False
    size = np.abs(x)
    return bool(((size > 0) & (size < finfo(x.dtype).tiny)).any())


def _is_exact(program: ClosedJaxpr) -> bool:
    if program.is_high or program.jaxpr.effects:
        return False
    rounding = 0
    for count, (eqn, has_constants) in enumerate(_operations(program)):
        if eqn is None or count >= MANY or stablehlo_rules.is_overridden(eqn.primitive, "cpu"):
            return False
        if not all(map(_is_small, (*eqn.invars, *eqn.outvars))):
            return False
        if eqn.primitive.traits.moves:
            continue
        taken = {v.aval.dtype.kind for v in eqn.invars}  # type: ignore[attr-defined]
        kinds = taken | {v.aval.dtype.kind for v in eqn.outvars}  # type: ignore[attr-defined]
        rounds = "f" in taken
        rounding += rounds
        if rounding > 1 or (rounds and has_constants) or not _is_exact_for(eqn, kinds):
            return False
    return True


def _operations(program: ClosedJaxpr) -> Iterator[tuple[Eqn | None, bool]]:
    """The operations of a program and of those it calls, each with True if an operand is constant
    for the compiler; None for an operation that runs programs in another way."""
    constants: set[Any] = set(program.jaxpr.constvars)
    for eqn in program.jaxpr.eqns:
        is_constant = [x.__class__ is Literal or x in constants for x in eqn.invars]
        if all(is_constant):
            constants.update(eqn.outvars)
        regions = eqn.primitive.regions
        if regions is None:
            yield eqn, any(is_constant)
            continue
        called = regions(eqn.params)
        is_call = called.runs == "once" and len(called.regions) == 1
        if not is_call or any(is_constant) or _has_own_lowering(eqn):
            yield None, True
            continue
        yield from _operations(called.regions[0].program)


def _has_own_lowering(eqn: Eqn) -> bool:
    """True if the author of a call gave it a lowering rule, which its body may not agree with."""
    own = (eqn.primitive.rules or {}).get(stablehlo_rules.name)
    return own is not None and not getattr(own, "inlines", False)


def _is_small(v: Any) -> bool:
    return getattr(v.aval, "size", LARGE + 1) <= LARGE


def _is_exact_for(eqn: Eqn, kinds: set[str]) -> bool:
    exact = eqn.primitive.traits.exact
    if exact == "numbers":
        narrow = _is_narrow(eqn.invars, 4) or _is_narrow(eqn.outvars, 2)
        return kinds <= set("biuf") and not narrow
    return exact == "integers" and kinds <= set("biu")


def _is_narrow(values: Sequence[Any], size: int) -> bool:
    """True if a floating-point value has elements of fewer than ``size`` bytes."""
    return any(v.aval.dtype.itemsize < size for v in values if v.aval.dtype.kind == "f")
