"""Transposition of choosing between values by what is known."""

from __future__ import annotations

from typing import Any

from dovetail_ad import is_linear, transpose_rules

from ...primitives.selection import select_n_p
from ...scalars import scalar
from .kinds import known, unbroadcast


@transpose_rules.register(select_n_p)
def _select_n(ct: Any, which: Any, *cases: Any) -> list[Any]:
    known("select_n", 0, which)
    zero = scalar(0.0, ct.dtype)
    out: list[Any] = [None]
    for i, case in enumerate(cases):
        if is_linear(case):
            chosen = select_n_p.bind(which, *[ct if j == i else zero for j in range(len(cases))])
            out.append(unbroadcast(chosen, case))
        else:
            out.append(None)
    return out
