"""Lowering of special functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import stablehlo_rules
from dovetail_core import Primitive

from ...primitives.special import (
    bessel_i1e_p,
    digamma_p,
    erf_inv_p,
    erf_p,
    erfc_p,
    lgamma_p,
    polygamma_p,
    zeta_p,
)
from .arithmetic import broadcast


def _function(primitive: Primitive, op: str) -> None:
    """Add the rule of a function that XLA expands; 8-bit floats are computed in float32."""

    def rule(b: Any, *operands: Any) -> Any:
        xs = broadcast(b, operands)
        out = b.out
        if out.dtype.itemsize > 1:
            return b.op(op, xs, out)
        wide = [b.convert(x, np.float32) for x in xs]
        return b.convert(b.op(op, wide, out.update(dtype=np.float32)), out.dtype)

    stablehlo_rules.set(primitive, rule)


_function(erf_p, "chlo.erf")
_function(erfc_p, "chlo.erfc")
_function(erf_inv_p, "chlo.erf_inv")
_function(lgamma_p, "chlo.lgamma")
_function(digamma_p, "chlo.digamma")
_function(polygamma_p, "chlo.polygamma")
_function(zeta_p, "chlo.zeta")
_function(bessel_i1e_p, "chlo.bessel_i1e")
