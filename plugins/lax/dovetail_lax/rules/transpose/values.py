"""Transposition of changes of type, choices by what is known, copies and barriers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import is_linear, transpose_rules

from ...dtypes import kind_of
from ...primitives.values import (
    convert_element_type_p,
    copy_p,
    optimization_barrier_p,
    real_p,
    select_n_p,
)
from ...scalars import scalar
from .arithmetic import refuse_linear, unary, unbroadcast


def _convert(ct: Any, x: Any, **params: Any) -> Any:
    """The cotangent in the operand's type.

    Under the pairing ``Re(ct * t)`` a conversion to complex transposes to taking the real part, and
    one from complex to a conversion to complex.
    """
    want = x.aval
    if kind_of(ct.dtype) == "complex" != kind_of(want.dtype):
        ct = real_p.bind(ct)
    if ct.dtype == want.dtype:
        return ct
    return convert_element_type_p.bind(ct, new_dtype=want.dtype, weak_type=False)


unary(convert_element_type_p, _convert)


@transpose_rules.register(select_n_p)
def _select_n(ct: Any, which: Any, *cases: Any) -> list[Any]:
    if is_linear(which):
        refuse_linear("select_n", 0)
    zero = scalar(0.0, ct.dtype)
    out: list[Any] = [None]
    for i, case in enumerate(cases):
        if is_linear(case):
            chosen = select_n_p.bind(which, *[ct if j == i else zero for j in range(len(cases))])
            out.append(unbroadcast(chosen, case))
        else:
            out.append(None)
    return out


unary(copy_p, lambda ct, x: copy_p.bind(ct))


@transpose_rules.register(optimization_barrier_p)
def _optimization_barrier(cts: Sequence[Any], *operands: Any) -> list[Any]:
    moved = iter(optimization_barrier_p.bind(*[ct for ct in cts if ct is not None]))
    return [None if ct is None else next(moved) for ct in cts]
