"""Differentiation of choosing between values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules

from ...primitives.bits import and_p
from ...primitives.comparison import gt_p, lt_p
from ...primitives.selection import clamp_p, select_n_p
from ...scalars import scalar
from .kinds import fit, nary


@jvp_rules.register(select_n_p)
def _select_n(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    which, *_ = primals
    out = select_n_p.bind(*primals)
    zero = scalar(0.0, out.dtype)
    chosen = select_n_p.bind(which, *[zero if t is None else t for t in tangents[1:]])
    return out, fit(chosen, out)


def _where(pred: Any, t: Any, out: Any) -> Any:
    return select_n_p.bind(pred, scalar(0.0, out.dtype), t)


# On a bound the derivative in x is 0, and that in the bound as well.
nary(
    clamp_p,
    lambda t, out, low, x, high: _where(gt_p.bind(low, x), t, out),
    lambda t, out, low, x, high: _where(and_p.bind(gt_p.bind(x, low), lt_p.bind(x, high)), t, out),
    lambda t, out, low, x, high: _where(lt_p.bind(high, x), t, out),
)
