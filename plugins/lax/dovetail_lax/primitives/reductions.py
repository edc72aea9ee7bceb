"""Rows that reduce axes away: sums, products, extrema, logical reductions, and the general one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core import ClosedJaxpr, Primitive, ShapedArray

from ..monoids import is_integer
from .arithmetic import mul_p
from .trees import flattened, fold, mapped, spread_scalar


def checked_axes(name: str, x: ShapedArray, axes: Sequence[int]) -> frozenset[int]:
    """The axes as a set.

    Raises:
        ValueError: an axis is repeated or is not one of ``x``'s.
    """
    ndim = len(x.shape)
    found = frozenset(axes)
    if len(found) != len(axes):
        raise ValueError(f"{name} got axes {tuple(axes)}: name each axis once")
    if any(not 0 <= a < ndim for a in axes):
        raise ValueError(
            f"{name} got axes {tuple(axes)} for an operand of type {x.str_short()}: axes must be "
            f"at least 0 and less than {ndim} (add the number of axes to a negative one)"
        )
    return found


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
                f"{name} does not take {x.str_short()}: its operand must be {words}. Convert it "
                "first (convert_element_type)."
            )
        shape = without_axes(x.shape, checked_axes(name, x, axes))
        return ShapedArray(shape, x.dtype, x.weak_type)

    primitive.def_abstract_eval(rule)
    return primitive


_any_dtype: Callable[[Any], bool] = lambda dtype: True  # noqa: E731
reduce_sum_p = _reduction("reduce_sum", _is_number, "a number")
reduce_prod_p = _reduction("reduce_prod", _is_number, "a number")
reduce_max_p = _reduction("reduce_max", _any_dtype, "an array")
reduce_min_p = _reduction("reduce_min", _any_dtype, "an array")
reduce_and_p = _reduction("reduce_and", _is_logical, "boolean or integer")
reduce_or_p = _reduction("reduce_or", _is_logical, "boolean or integer")
reduce_xor_p = _reduction("reduce_xor", _is_logical, "boolean or integer")


@reduce_prod_p.def_decomposition
def _prod_by_halving(x: Any, *, axes: tuple[int, ...]) -> Any:
    # A tree of products: its derivative needs no division, so that zeros among the factors are
    # no special case, and takes as much work as the product itself.
    step = lambda xs, ys: [mul_p.bind(xs[0], ys[0])]  # noqa: E731
    return fold([flattened(x, axes)], step, [1])[0]


def _argreduction(name: str) -> Primitive:
    primitive = Primitive(name)

    def rule(x: ShapedArray, *, axes: tuple[int, ...], index_dtype: Any) -> ShapedArray:
        if len(axes) != 1 or not 0 <= axes[0] < len(x.shape):
            raise ValueError(f"{name} got axis {axes[0]} for an operand of type {x.str_short()}")
        if not is_integer(index_dtype):
            raise TypeError(f"{name} needs an integer index_dtype, not {index_dtype}")
        if x.dtype.kind == "c":
            raise TypeError(
                f"{name} does not take {x.str_short()}: complex numbers have no order. Reduce "
                "their real parts or magnitudes."
            )
        if x.shape[axes[0]] == 0:
            raise ValueError(
                f"{name} along axis {axes[0]} of {x.str_short()}: an empty axis has no extremum"
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
        raise ValueError(
            f"reduce needs operands of one shape, got {', '.join(x.str_short() for x in operands)}"
        )
    for x, init in zip(operands, inits):
        if init.shape != () or init.dtype != x.dtype:
            raise TypeError(
                f"reduce got an initial value of type {init.str_short()} for an operand of type "
                f"{x.str_short()}: it must be a scalar of the operand's dtype"
            )
    check_computation("reduce", jaxpr, operands)
    shape = without_axes(operands[0].shape, checked_axes("reduce", operands[0], dimensions))
    return [ShapedArray(shape, x.dtype) for x in operands]


def check_computation(name: str, jaxpr: ClosedJaxpr, operands: Sequence[ShapedArray]) -> None:
    """Raise unless ``jaxpr`` maps two scalars per operand to one.

    Raises:
        TypeError: it returns other types.
    """
    wanted = [ShapedArray((), x.dtype) for x in operands]
    found = [a.strong() for a in jaxpr.out_avals]
    if found != wanted:
        raise TypeError(
            f"the computation of {name} must return scalars of the operands' types "
            f"{[a.str_short() for a in wanted]}, but it returns {[a.str_short() for a in found]}"
        )


@reduce_p.def_decomposition
def _reduce_by_pairs(*args: Any, jaxpr: ClosedJaxpr, dimensions: tuple[int, ...]) -> list[Any]:
    # Neighbours are combined, so that the order of operands is kept: the computation must be
    # associative but need not be commutative.
    n = len(args) // 2
    step = mapped(jaxpr)
    folded = fold(
        [flattened(x, dimensions) for x in args[:n]],
        lambda xs, ys: step(*xs, *ys),
        args[n:],
        neighbours=True,
    )
    inits = [spread_scalar(i, x.shape) for i, x in zip(args[n:], folded)]
    return step(*inits, *folded)
