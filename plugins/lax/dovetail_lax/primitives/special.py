"""Primitives of special functions: error functions, the gamma function, Bessel functions."""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive

from .elementwise import FLOATING, elementwise
from .traits import describe

erf_p = elementwise(Primitive("erf"), FLOATING)
erfc_p = elementwise(Primitive("erfc"), FLOATING)
erf_inv_p = elementwise(Primitive("erf_inv"), FLOATING)
lgamma_p = elementwise(Primitive("lgamma"), FLOATING)
digamma_p = elementwise(Primitive("digamma"), FLOATING)
positive_polygamma_p = elementwise(Primitive("positive_polygamma"), FLOATING)
"""``polygamma`` of positive numbers, without the cases of others."""
positive_zeta_p = elementwise(Primitive("positive_zeta"), FLOATING)
"""``zeta`` of positive ``q``."""
bessel_i0e_p = elementwise(Primitive("bessel_i0e"), FLOATING)
bessel_i1e_p = elementwise(Primitive("bessel_i1e"), FLOATING)


@lgamma_p.def_decomposition
def _lgamma(x: Any) -> Any:
    from ..numerics.log_gamma import log_gamma

    return log_gamma(x)


@bessel_i0e_p.def_decomposition
def _bessel_i0e(x: Any) -> Any:
    from ..numerics.bessel import bessel_i0e

    return bessel_i0e(x)


describe(__name__)
