"""Rows of partial results along an axis: sums, products, extrema, log-sum-exps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_core import Primitive, ShapedArray

from ..monoids import is_floating
from ..moves import reversed_along
from .arithmetic import abs_p, add_p, max_p, min_p, mul_p, neg_p, sub_p
from .comparison import ne_p
from .exponential import exp_p, log1p_p
from .selection import select_n_p
from .trees import scan


def _cumulative(name: str) -> Primitive:
    primitive = Primitive(name)

    def rule(x: ShapedArray, *, axis: int, reverse: bool) -> ShapedArray:
        if x.dtype.kind == "b":
            raise TypeError(
                f"{name} does not take {x.str_short()}: convert it to a number type first "
                "(convert_element_type)"
            )
        if name == "cumlogsumexp" and not is_floating(x.dtype):
            raise TypeError(f"cumlogsumexp needs a real floating-point operand, not {x.str_short()}")
        if not 0 <= axis < len(x.shape):
            raise ValueError(
                f"{name} got axis {axis} for an operand of type {x.str_short()}: it must be at "
                f"least 0 and less than {len(x.shape)}"
            )
        return x

    primitive.def_abstract_eval(rule)
    return primitive


def logaddexp(x: Any, y: Any) -> Any:
    """``log(exp(x) + exp(y))`` without overflow; infinities and NaN as by addition."""
    difference = sub_p.bind(x, y)
    larger = max_p.bind(x, y)
    rest = log1p_p.bind(exp_p.bind(neg_p.bind(abs_p.bind(difference))))
    undefined = ne_p.bind(difference, difference)  # equal infinities, or NaN
    return select_n_p.bind(undefined, add_p.bind(larger, rest), add_p.bind(x, y))


cumsum_p = _cumulative("cumsum")
cumprod_p = _cumulative("cumprod")
cummax_p = _cumulative("cummax")
cummin_p = _cumulative("cummin")
cumlogsumexp_p = _cumulative("cumlogsumexp")


def _by_tree(primitive: Primitive, combine: Callable[[Any, Any], Any]) -> None:
    def decomposition(x: Any, *, axis: int, reverse: bool) -> Any:
        if reverse:
            x = reversed_along(x, (axis,))
        out = scan([x], lambda xs, ys: [combine(xs[0], ys[0])], axis)[0]
        return reversed_along(out, (axis,)) if reverse else out

    primitive.def_decomposition(decomposition)


_by_tree(cumsum_p, add_p.bind)
_by_tree(cumprod_p, mul_p.bind)
_by_tree(cummax_p, max_p.bind)
_by_tree(cummin_p, min_p.bind)
_by_tree(cumlogsumexp_p, logaddexp)
