"""Transposition of taking complex numbers apart and putting them together.

Cotangents pair with tangents by ``Re(ct * t)``, so that products transpose to products. In it, for
instance, ``Re(ct Im(t)) = Re(-i ct t)``.
"""

from __future__ import annotations

from typing import Any

from dovetail_ad import is_linear, transpose_rules

from ...dtypes import kind_of
from ...primitives.arithmetic import neg_p
from ...primitives.complex import complex_p, conj_p, imag_p, real_p
from ...scalars import scalar
from .kinds import unary, unbroadcast


def _imag(ct: Any, x: Any) -> Any:
    return complex_p.bind(scalar(0.0, ct.dtype), neg_p.bind(ct))


def _conj(ct: Any, x: Any) -> Any:
    ct = conj_p.bind(ct)
    return ct if kind_of(x.aval.dtype) == "complex" else real_p.bind(ct)


unary(real_p, lambda ct, x: complex_p.bind(ct, scalar(0.0, ct.dtype)))
unary(imag_p, _imag)
unary(conj_p, _conj)


@transpose_rules.register(complex_p)
def _complex(ct: Any, x: Any, y: Any) -> list[Any]:
    return [
        unbroadcast(real_p.bind(ct), x) if is_linear(x) else None,
        unbroadcast(neg_p.bind(imag_p.bind(ct)), y) if is_linear(y) else None,
    ]
