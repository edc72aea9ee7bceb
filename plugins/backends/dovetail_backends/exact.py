"""Programs whose results NumPy computes to the last bit as the CPU's compiler does.

Moving data, comparing, and arithmetic of integers have one result. One rounding of an IEEE
operation has one, too; of several the compiler makes others (it contracts products and sums, and
divides by constants by multiplying), and it takes subnormal numbers for zero.
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
"""Programs of more operations, or on arrays of more elements, are worth their compilation."""


def is_exact(program: ClosedJaxpr) -> bool:
    """Whether :func:`evaluate_exactly` may compute it; remembered with the program."""
    return program.memo("exact", lambda: _is_exact(program))


def evaluate_exactly(program: ClosedJaxpr, args: Sequence[Any]) -> list[Any] | None:
    """The results of a program for which :func:`is_exact` holds, as NumPy arrays.

    None where a number is subnormal, which compiled programs take for zero.
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
    for count, (eqn, knows) in enumerate(_operations(program)):
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
        if rounding > 1 or (rounds and knows) or not _is_exact_for(eqn, kinds):
            return False
    return True


def _operations(program: ClosedJaxpr) -> Iterator[tuple[Eqn | None, bool]]:
    """The operations of a program and of those it calls, and whether any of their operands is known
    to the compiler; None for one that runs programs in another way."""
    known: set[Any] = set(program.jaxpr.constvars)
    for eqn in program.jaxpr.eqns:
        knows = [x.__class__ is Literal or x in known for x in eqn.invars]
        if all(knows):
            known.update(eqn.outvars)
        regions = eqn.primitive.regions
        if regions is None:
            yield eqn, any(knows)
            continue
        called = regions(eqn.params)
        is_call = called.runs == "once" and len(called.regions) == 1
        if not is_call or any(knows) or _has_own_lowering(eqn):
            yield None, True
            continue
        yield from _operations(called.regions[0].program)


def _has_own_lowering(eqn: Eqn) -> bool:
    """Whether the author of a call says how it is lowered, in place of its body."""
    own = (eqn.primitive.rules or {}).get(stablehlo_rules.name)
    return own is not None and not getattr(own, "inlines", False)


def _is_small(v: Any) -> bool:
    return getattr(v.aval, "size", LARGE + 1) <= LARGE


def _is_exact_for(eqn: Eqn, kinds: set[str]) -> bool:
    exact = eqn.primitive.traits.exact
    if exact == "numbers":
        narrow = _narrow(eqn.invars, 4) or _narrow(eqn.outvars, 2)
        return kinds <= set("biuf") and not narrow
    return exact == "integers" and kinds <= set("biu")


def _narrow(values: Sequence[Any], size: int) -> bool:
    """Whether a real number is of fewer than so many bytes."""
    return any(v.aval.dtype.itemsize < size for v in values if v.aval.dtype.kind == "f")
