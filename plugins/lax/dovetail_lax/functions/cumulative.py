"""Public functions of partial results along an axis, and scans by any associative function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_base import arguments
from dovetail_base.foreign import reword_errors
from dovetail_core import here
from dovetail_tree.util import tree_flatten, tree_unflatten

from ..primitives.decompositions import scan
from ..primitives.moves import reversed_along
from ..primitives.reductions import cumlogsumexp_p, cummax_p, cummin_p, cumprod_p, cumsum_p
from .operands import Array, ArrayLike, check, unary_with


def cumsum(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Sums of all elements up to each (from each on if ``reverse``) along ``axis``.

    Raises:
        TypeError: ``operand`` is boolean.
        ValueError: the axis is out of bounds (it must be at least 0).
    """
    return unary_with(
        cumsum_p, operand, {"axis": arguments.integer("axis", axis), "reverse": reverse}
    )


def cumprod(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Products of all elements up to each along ``axis`` (see :func:`cumsum`)."""
    return unary_with(
        cumprod_p, operand, {"axis": arguments.integer("axis", axis), "reverse": reverse}
    )


def cummax(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Maxima of all elements up to each along ``axis`` (see :func:`cumsum`)."""
    return unary_with(
        cummax_p, operand, {"axis": arguments.integer("axis", axis), "reverse": reverse}
    )


def cummin(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Minima of all elements up to each along ``axis`` (see :func:`cumsum`)."""
    return unary_with(
        cummin_p, operand, {"axis": arguments.integer("axis", axis), "reverse": reverse}
    )


def cumlogsumexp(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """Logarithms of the sums of exponentials of all elements up to each (see :func:`cumsum`).

    Raises:
        TypeError: ``operand`` is not of a real floating-point type.
        ValueError: the axis is out of bounds.
    """
    return unary_with(
        cumlogsumexp_p, operand, {"axis": arguments.integer("axis", axis), "reverse": reverse}
    )


@reword_errors
def associative_scan(
    fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """All partial results of an associative function along an axis, in logarithmic depth.

    Args:
        fn: combines two trees like ``elems`` of any (equal) length along ``axis``, element by
            element; it need not commute. It may return other containers than those of ``elems``,
            such as a list for a tuple, with as many arrays; results have those of ``elems``.
        elems: an array or a tree of arrays of one length along ``axis``.
        reverse: combine from the end.

    Raises:
        TypeError: ``fn`` is not callable.
        ValueError: there is no array, lengths differ, the axis is out of bounds, or ``fn`` returns
            another number of arrays.
    """
    if not callable(fn):
        raise TypeError(f"lax.associative_scan takes a function, got {fn!r}{here()}.")
    arrays, tree = tree_flatten(elems)
    axis = _checked_axis(arrays, axis)
    if reverse:
        arrays = [reversed_along(x, (axis,)) for x in arrays]

    def step(xs: Sequence[Any], ys: Sequence[Any]) -> list[Any]:
        result, result_tree = tree_flatten(fn(tree_unflatten(tree, xs), tree_unflatten(tree, ys)))
        if len(result) != len(xs):
            raise ValueError(
                f"the function of lax.associative_scan{here()} must return as many arrays as "
                f"elems has, {tree}; it returns {result_tree}."
            )
        return result

    results = scan(arrays, step, axis)
    if reverse:
        results = [reversed_along(x, (axis,)) for x in results]
    return tree_unflatten(tree, results)


def _checked_axis(arrays: Sequence[Any], axis: int) -> int:
    """The axis, counted from the front."""
    types = [check("associative_scan", x) for x in arrays]
    if not types:
        raise ValueError(f"lax.associative_scan takes at least one array, got none{here()}.")
    n = len(types[0].shape)
    if not -n <= axis < n:
        raise ValueError(
            f"lax.associative_scan got axis {axis} for an array {types[0].str_short()}{here()}."
        )
    axis %= n
    for t in types:
        if len(t.shape) <= axis or t.shape[axis] != types[0].shape[axis]:
            raise ValueError(
                f"lax.associative_scan takes arrays of one length along axis {axis}, got "
                f"{', '.join(t.str_short() for t in types)}{here()}."
            )
    return axis
