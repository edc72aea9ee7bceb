"""Primitives of special functions: error functions, gamma and beta functions, Bessel functions."""

from __future__ import annotations

from typing import Any

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


# What the compiler has no operation for is computed by the methods of ``dovetail_lax.numerics``.


@bessel_i0e_p.def_decomposition
def _bessel_i0e(x: Any) -> Any:
    from ..numerics.bessel import bessel_i0e

    return bessel_i0e(x)


@igamma_p.def_decomposition
def _igamma(a: Any, x: Any) -> Any:
    from ..numerics.gamma import igamma

    return igamma(a, x)


@igammac_p.def_decomposition
def _igammac(a: Any, x: Any) -> Any:
    from ..numerics.gamma import igammac

    return igammac(a, x)


@igamma_grad_a_p.def_decomposition
def _igamma_grad_a(a: Any, x: Any) -> Any:
    from ..numerics.gamma import igamma_grad_a

    return igamma_grad_a(a, x)


@random_gamma_grad_p.def_decomposition
def _random_gamma_grad(a: Any, x: Any) -> Any:
    from ..numerics.gamma import random_gamma_grad

    return random_gamma_grad(a, x)


@regularized_incomplete_beta_p.def_decomposition
def _betainc(a: Any, b: Any, x: Any) -> Any:
    from ..numerics.beta import betainc

    return betainc(a, b, x)
