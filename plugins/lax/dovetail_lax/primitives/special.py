"""Primitives of special functions: error functions, gamma and beta functions, Bessel functions."""

from __future__ import annotations

from dovetail_core import Primitive

from ._elementwise import FLOATING, elementwise

erf_p = elementwise(Primitive("erf"), FLOATING)
erfc_p = elementwise(Primitive("erfc"), FLOATING)
erf_inv_p = elementwise(Primitive("erf_inv"), FLOATING)
lgamma_p = elementwise(Primitive("lgamma"), FLOATING)
digamma_p = elementwise(Primitive("digamma"), FLOATING)
polygamma_p = elementwise(Primitive("polygamma"), FLOATING)
zeta_p = elementwise(Primitive("zeta"), FLOATING)
bessel_i0e_p = elementwise(Primitive("bessel_i0e"), FLOATING)
bessel_i1e_p = elementwise(Primitive("bessel_i1e"), FLOATING)
igamma_p = elementwise(Primitive("igamma"), FLOATING)
igammac_p = elementwise(Primitive("igammac"), FLOATING)
igamma_grad_a_p = elementwise(Primitive("igamma_grad_a"), FLOATING)
random_gamma_grad_p = elementwise(Primitive("random_gamma_grad"), FLOATING)
regularized_incomplete_beta_p = elementwise(
    Primitive("regularized_incomplete_beta"), FLOATING, label="betainc"
)
