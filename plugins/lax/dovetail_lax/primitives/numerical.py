"""Primitives of special functions that are computed by the methods of ``dovetail_lax.numerics``.

The incomplete gamma and beta functions, and the zeta function of Hurwitz and polygamma functions of
all real numbers, for which the compiler has no operations. The modules of their methods are
imported when a decomposition is first used.
"""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive

from .elementwise import FLOATING, elementwise
from .traits import describe

igamma_p = elementwise(Primitive("igamma"), FLOATING)
igammac_p = elementwise(Primitive("igammac"), FLOATING)
igamma_grad_a_p = elementwise(Primitive("igamma_grad_a"), FLOATING)
random_gamma_grad_p = elementwise(Primitive("random_gamma_grad"), FLOATING)
regularized_incomplete_beta_p = elementwise(
    Primitive("regularized_incomplete_beta"), FLOATING, label="betainc"
)


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


polygamma_p = elementwise(Primitive("polygamma"), FLOATING)
zeta_p = elementwise(Primitive("zeta"), FLOATING)


@polygamma_p.def_decomposition
def _polygamma(m: Any, x: Any) -> Any:
    from ..numerics.zeta import polygamma

    return polygamma(m, x)


@zeta_p.def_decomposition
def _zeta(x: Any, q: Any) -> Any:
    from ..numerics.zeta import zeta

    return zeta(x, q)


describe(__name__)
