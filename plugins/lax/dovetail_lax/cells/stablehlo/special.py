"""Lowering of special functions."""

from __future__ import annotations

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
from .kinds import elementwise

elementwise(erf_p, "chlo.erf")
elementwise(erfc_p, "chlo.erfc")
elementwise(erf_inv_p, "chlo.erf_inv")
elementwise(lgamma_p, "chlo.lgamma")
elementwise(digamma_p, "chlo.digamma")
elementwise(polygamma_p, "chlo.polygamma")
elementwise(zeta_p, "chlo.zeta")
elementwise(bessel_i1e_p, "chlo.bessel_i1e")
