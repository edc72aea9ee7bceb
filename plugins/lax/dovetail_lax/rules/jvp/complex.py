"""Differentiation of taking complex numbers apart and putting them together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules

from ...primitives.complex import complex_p, conj_p, imag_p, real_p
from ...scalars import scalar
from .kinds import fit, linear

linear(real_p)
linear(imag_p)
linear(conj_p)


@jvp_rules.register(complex_p)
def _complex(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    out = complex_p.bind(*primals)
    zero = scalar(0.0, _dtype(tangents))
    dx, dy = (zero if t is None else t for t in tangents)
    return out, fit(complex_p.bind(dx, dy), out)


def _dtype(tangents: Sequence[Any]) -> Any:
    return next(t.dtype for t in tangents if t is not None)
