"""Rows of partial results along an axis: sums, products, extrema, log-sum-exps."""

from __future__ import annotations

from collections.abc import Callable
from math import tau
from typing import Any

from dovetail_core import Primitive, ShapedArray, is_inexact

from ..scalars import scalar
from ._elementwise import place
from .arithmetic import abs_p, add_p, max_p, min_p, mul_p, neg_p, sub_p
from .comparison import ne_p
from .complex import complex_p, imag_p, real_p
from .exponential import exp_p, log1p_p
from .moves import reversed_along
from .rounding import RoundingMethod, round_p
from .selection import select_n_p
from .trees import scan
from .typed import def_typed_decomposition


def _cumulative(name: str) -> Primitive:
    primitive = Primitive(name)

    def rule(x: ShapedArray, *, axis: int, reverse: bool) -> ShapedArray:
        if x.dtype.kind == "b":
            raise TypeError(
                f"lax.{name} does not accept {x.str_short()}{place()}: convert it to a type of "
                "numbers first (convert_element_type)."
            )
        if name == "cumlogsumexp" and not is_inexact(x.dtype):
            raise TypeError(
                f"lax.cumlogsumexp does not accept {x.str_short()}{place()}: it takes "
                "floating-point and complex numbers. Convert it first (convert_element_type)."
            )
        if not 0 <= axis < len(x.shape):
            raise ValueError(
                f"lax.{name} got axis {axis} for an operand {x.str_short()}{place()}: it must be "
                f"at least 0 and less than {len(x.shape)}."
            )
        return x

    primitive.def_abstract_eval(rule)
    return primitive


def logaddexp(x: Any, y: Any) -> Any:
    """``log(exp(x) + exp(y))`` without overflow; infinities and NaN as by addition."""
    larger = max_p.bind(x, y)
    if x.dtype.kind == "c":
        difference = sub_p.bind(min_p.bind(x, y), larger)  # the larger has the larger real part
        found = _principal(add_p.bind(larger, log1p_p.bind(exp_p.bind(difference))))
    else:
        difference = sub_p.bind(x, y)
        rest = log1p_p.bind(exp_p.bind(neg_p.bind(abs_p.bind(difference))))
        found = add_p.bind(larger, rest)
    undefined = ne_p.bind(difference, difference)  # equal infinities, or NaN
    return select_n_p.bind(undefined, found, add_p.bind(x, y))


def _principal(z: Any) -> Any:
    """A logarithm with its imaginary part between minus pi and pi."""
    angle = imag_p.bind(z)
    turns = mul_p.bind(angle, scalar(1 / tau, angle.dtype))
    turns = round_p.bind(turns, rounding_method=RoundingMethod.TO_NEAREST_EVEN)
    angle = sub_p.bind(angle, mul_p.bind(turns, scalar(tau, angle.dtype)))
    return complex_p.bind(real_p.bind(z), angle)


cumsum_p = _cumulative("cumsum")
cumprod_p = _cumulative("cumprod")
cummax_p = _cumulative("cummax")
cummin_p = _cumulative("cummin")
cumlogsumexp_p = _cumulative("cumlogsumexp")


def _by_tree(primitive: Primitive, combine: Callable[[Any, Any], Any]) -> None:
    @def_typed_decomposition(primitive)
    def decomposition(x: Any, *, axis: int, reverse: bool) -> Any:
        if reverse:
            x = reversed_along(x, (axis,))
        out = scan([x], lambda xs, ys: [combine(xs[0], ys[0])], axis)[0]
        return reversed_along(out, (axis,)) if reverse else out


_by_tree(cumsum_p, add_p.bind)
_by_tree(cumprod_p, mul_p.bind)
_by_tree(cummax_p, max_p.bind)
_by_tree(cummin_p, min_p.bind)
_by_tree(cumlogsumexp_p, logaddexp)
