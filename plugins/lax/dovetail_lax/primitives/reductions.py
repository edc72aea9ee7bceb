"""Primitives that reduce axes away, and of partial results along an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import tau
from typing import Any

from dovetail_core import ClosedJaxpr, Primitive, ShapedArray, here, is_inexact

from ..errors import OutOfBounds, ShapeError
from ..monoids import is_integer
from ..scalars import scalar
from .arithmetic import abs_p, add_p, max_p, min_p, mul_p, neg_p, sub_p
from .decompositions import def_typed_decomposition, flattened, fold, mapped, scan, spread_scalar
from .discrete import RoundingMethod, ne_p, round_p
from .moves import reversed_along
from .traits import describe
from .transcendental import exp_p, log1p_p
from .values import complex_p, imag_p, real_p, select_n_p


def checked_axes(name: str, x: ShapedArray, axes: Sequence[int]) -> frozenset[int]:
    """The axes as a set.

    Raises:
        ValueError: an axis is repeated or is not one of ``x``'s.
    """
    ndim = len(x.shape)
    result = frozenset(axes)
    if len(result) != len(axes):
        raise OutOfBounds(f"lax.{name} got axes {tuple(axes)}{here()}: name each axis once.")
    if any(not 0 <= a < ndim for a in axes):
        raise OutOfBounds(
            f"lax.{name} got axes {tuple(axes)} for an operand {x.str_short()}{here()}: they "
            f"must be at least 0 and less than {ndim} (add {ndim} to a negative one)."
        )
    return result


def without_axes(shape: Sequence[int], axes: frozenset[int]) -> tuple[int, ...]:
    """``shape`` without the given axes."""
    return tuple([d for i, d in enumerate(shape) if i not in axes])


def _is_number(dtype: Any) -> bool:
    return dtype.kind != "b"


def _is_logical(dtype: Any) -> bool:
    return dtype.kind == "b" or is_integer(dtype)


def _reduction(name: str, accepts: Callable[[Any], bool], words: str) -> Primitive:
    primitive = Primitive(name)

    def rule(x: ShapedArray, *, axes: tuple[int, ...]) -> ShapedArray:
        if not accepts(x.dtype):
            raise TypeError(
                f"lax.{name} does not accept {x.str_short()}{here()}: it takes {words}. Convert "
                "the operand first (convert_element_type)."
            )
        shape = without_axes(x.shape, checked_axes(name, x, axes))
        return ShapedArray(shape, x.dtype, x.weak_type)

    primitive.def_abstract_eval(rule)
    return primitive


_any_dtype: Callable[[Any], bool] = lambda dtype: True  # noqa: E731
reduce_sum_p = _reduction("reduce_sum", _is_number, "numbers")
reduce_prod_p = _reduction("reduce_prod", _is_number, "numbers")
reduce_max_p = _reduction("reduce_max", _any_dtype, "arrays")
reduce_min_p = _reduction("reduce_min", _any_dtype, "arrays")
reduce_and_p = _reduction("reduce_and", _is_logical, "booleans and integers")
reduce_or_p = _reduction("reduce_or", _is_logical, "booleans and integers")
reduce_xor_p = _reduction("reduce_xor", _is_logical, "booleans and integers")


@def_typed_decomposition(reduce_prod_p)
def _prod_by_halving(x: Any, *, axes: tuple[int, ...]) -> Any:
    # A tree of products: its derivative needs no division, so that zeros among the factors are
    # no special case, and takes as much work as the product itself.
    step = lambda xs, ys: [mul_p.bind(xs[0], ys[0])]  # noqa: E731
    return fold([flattened(x, axes)], step, [1])[0]


def _argreduction(name: str) -> Primitive:
    primitive = Primitive(name)

    def rule(x: ShapedArray, *, axes: tuple[int, ...], index_dtype: Any) -> ShapedArray:
        if len(axes) != 1 or not 0 <= axes[0] < len(x.shape):
            raise OutOfBounds(
                f"lax.{name} got axis {axes[0]} for an operand {x.str_short()}{here()}: it must "
                f"be at least 0 and less than {len(x.shape)}."
            )
        if not is_integer(index_dtype):
            raise TypeError(
                f"lax.{name} got index_dtype={index_dtype}{here()}: it must be an integer type."
            )
        if x.dtype.kind == "c":
            raise TypeError(
                f"lax.{name} does not accept {x.str_short()}{here()}: complex numbers have no "
                "order. Reduce their real parts or magnitudes."
            )
        if x.shape[axes[0]] == 0:
            raise ShapeError(
                f"lax.{name} along axis {axes[0]} of {x.str_short()}{here()}: an empty axis has "
                "no extremum."
            )
        return ShapedArray(without_axes(x.shape, frozenset(axes)), index_dtype)

    primitive.def_abstract_eval(rule)
    return primitive


argmax_p = _argreduction("argmax")
argmin_p = _argreduction("argmin")

reduce_p = Primitive("reduce", multiple_results=True)
"""Reduction by a program ``jaxpr`` of 2n scalars to n: operands and initial values go in."""


@reduce_p.def_abstract_eval
def _reduce_type(
    *avals: ShapedArray, jaxpr: ClosedJaxpr, dimensions: tuple[int, ...]
) -> list[ShapedArray]:
    n = len(avals) // 2
    operands, inits = avals[:n], avals[n:]
    if any(x.shape != operands[0].shape for x in operands):
        raise ShapeError(
            f"lax.reduce takes operands of one shape, got "
            f"{', '.join(x.str_short() for x in operands)}{here()}. Broadcast them first."
        )
    check_computation("reduce", jaxpr, operands, inits)
    shape = without_axes(operands[0].shape, checked_axes("reduce", operands[0], dimensions))
    return [ShapedArray(shape, x.dtype) for x in operands]


def check_computation(
    name: str,
    jaxpr: ClosedJaxpr,
    operands: Sequence[ShapedArray],
    inits: Sequence[ShapedArray],
) -> None:
    """Raise unless initial values fit, and ``jaxpr`` maps two scalars per operand to one.

    Raises:
        TypeError: an initial value is no scalar of its operand's dtype, or the program returns
            other types.
    """
    for x, init in zip(operands, inits):
        if init.shape != () or init.dtype != x.dtype:
            raise ShapeError(
                f"lax.{name} got an initial value {init.str_short()} for an operand "
                f"{x.str_short()}{here()}: it must be a scalar of dtype {x.dtype}. Convert it."
            )
    wanted = [ShapedArray((), x.dtype) for x in operands]
    result = [a.strong() for a in jaxpr.out_avals]
    if result != wanted:
        raise TypeError(
            f"the computation of lax.{name}{here()} must return scalars of the operands' types, "
            f"{', '.join(a.str_short() for a in wanted)}; it returns "
            f"{', '.join(a.str_short() for a in result)}."
        )


@def_typed_decomposition(reduce_p)
def _reduce_by_pairs(*args: Any, jaxpr: ClosedJaxpr, dimensions: tuple[int, ...]) -> list[Any]:
    # Neighbours are combined, so that the order of operands is kept: the computation must be
    # associative but need not be commutative.
    n = len(args) // 2
    if not dimensions:
        return list(args[:n])  # initial values are identities
    step = mapped(jaxpr)
    folded = fold(
        [flattened(x, dimensions) for x in args[:n]],
        lambda xs, ys: step(*xs, *ys),
        args[n:],
        neighbours=True,
    )
    if 0 in [args[0].shape[i] for i in dimensions]:
        return folded
    inits = [spread_scalar(i, x.shape) for i, x in zip(args[n:], folded)]
    return step(*inits, *folded)


def _cumulative(name: str) -> Primitive:
    primitive = Primitive(name)

    def rule(x: ShapedArray, *, axis: int, reverse: bool) -> ShapedArray:
        if x.dtype.kind == "b":
            raise TypeError(
                f"lax.{name} does not accept {x.str_short()}{here()}: convert it to a type of "
                "numbers first (convert_element_type)."
            )
        if name == "cumlogsumexp" and not is_inexact(x.dtype):
            raise TypeError(
                f"lax.cumlogsumexp does not accept {x.str_short()}{here()}: it takes "
                "floating-point and complex numbers. Convert it first (convert_element_type)."
            )
        if not 0 <= axis < len(x.shape):
            raise OutOfBounds(
                f"lax.{name} got axis {axis} for an operand {x.str_short()}{here()}: it must be "
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
        result = _principal(add_p.bind(larger, log1p_p.bind(exp_p.bind(difference))))
    else:
        difference = sub_p.bind(x, y)
        rest = log1p_p.bind(exp_p.bind(neg_p.bind(abs_p.bind(difference))))
        result = add_p.bind(larger, rest)
    undefined = ne_p.bind(difference, difference)  # equal infinities, or NaN
    return select_n_p.bind(undefined, result, add_p.bind(x, y))


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


describe(__name__)
