"""Primitives of the zeta function of Hurwitz and of polygamma functions, of all real numbers."""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive

from ._elementwise import FLOATING, elementwise
from .traits import describe

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
