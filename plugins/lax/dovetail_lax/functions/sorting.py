"""Public functions that order elements."""

from __future__ import annotations

from typing import Any

from dovetail_base import arguments
from dovetail_base.foreign import reword_errors
from dovetail_core import here

from ..errors import OutOfBounds
from ..primitives.sorting import approx_top_k_p, sort_p, top_k_p
from .operands import Array, ArrayLike, check, unary_with


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """Sort one array, or several together by the first ``num_keys`` of them, in ascending order.

    NaN comes last, zeros of both signs are equal, complex numbers are ordered by real and
    then by imaginary part; after them come those whose imaginary part is NaN, then those whose
    real part is, then those of which both are, as in NumPy.

    Args:
        operand: an array (an array is returned) or a sequence of arrays of one shape (a tuple is).
        is_stable: equal keys keep their order.

    Raises:
        TypeError: shapes differ, or there is no operand.
        ValueError: ``dimension`` or ``num_keys`` is out of bounds.
    """
    several = isinstance(operand, (list, tuple))
    args: tuple[Any, ...] = tuple(operand) if several else (operand,)  # type: ignore[arg-type]
    if not args:
        raise TypeError(f"lax.sort takes at least one array, got none{here()}.")
    types = [check("sort", x) for x in args]
    if not several and num_keys != 1:
        raise ValueError(f"lax.sort got num_keys={num_keys} for one operand{here()}: it is 1.")
    out = sort_p.bind(
        *args,
        dimension=_axis("sort", "dimension", dimension, types[0].shape),
        is_stable=bool(is_stable),
        num_keys=arguments.integer("num_keys", num_keys),
    )
    return tuple(out) if several else out[0]


def sort_key_val(
    keys: ArrayLike, values: ArrayLike, dimension: int = -1, is_stable: bool = True
) -> tuple[Array, Array]:
    """Sort ``keys``, and ``values`` of the same shape along with them (see :func:`sort`)."""
    k, v = sort((keys, values), dimension=dimension, is_stable=is_stable, num_keys=1)
    return k, v


@reword_errors
def top_k(operand: ArrayLike, k: int, *, axis: int = -1) -> list[Array]:
    """The ``k`` largest elements along ``axis`` in descending order, and their indices (int32).

    The first of equal elements comes first; NaN is larger than all numbers.

    Raises:
        ValueError: ``k`` is negative or larger than the axis, or ``operand`` is complex or scalar.
    """
    shape = check("top_k", operand).shape
    params = {"k": arguments.integer("k", k), "axis": _axis("top_k", "axis", axis, shape)}
    return list(unary_with(top_k_p, operand, params))


@reword_errors
def approx_max_k(
    operand: ArrayLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> list[Array]:
    """The ``k`` largest elements along an axis and their indices, with a recall of at least that.

    Platforms without a fast inexact way return the exact answer.

    Args:
        aggregate_to_topk: False returns all candidates, of which the ``k`` are to be chosen.

    Raises:
        ValueError: the type is not floating-point, or ``k`` or the axis is out of bounds.
    """
    return _approx(True, operand, k, reduction_dimension, recall_target,
                   reduction_input_size_override, aggregate_to_topk)  # fmt: skip


@reword_errors
def approx_min_k(
    operand: ArrayLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> list[Array]:
    """The ``k`` smallest elements along an axis and their positions (see :func:`approx_max_k`)."""
    return _approx(False, operand, k, reduction_dimension, recall_target,
                   reduction_input_size_override, aggregate_to_topk)  # fmt: skip


def _approx(
    largest: bool, operand: Any, k: int, axis: int, recall: float, override: int, aggregate: bool
) -> list[Any]:
    name = "approx_max_k" if largest else "approx_min_k"
    shape = check(name, operand).shape
    if not 0 < arguments.number("recall_target", recall) <= 1:
        raise ValueError(
            f"lax.{name} got recall_target={recall}{here()}: it must be more than 0 and at most 1."
        )
    params = {
        "k": arguments.integer("k", k),
        "reduction_dimension": _axis(name, "reduction_dimension", axis, shape),
        "recall_target": float(recall),
        "is_max_k": largest,
        "reduction_input_size_override": arguments.integer(
            "reduction_input_size_override", override
        ),
        "aggregate_to_topk": bool(aggregate),
    }
    values, positions = unary_with(approx_top_k_p, operand, params)
    return [values, positions]


def _axis(name: str, argument: str, axis: int, shape: tuple[int, ...]) -> int:
    """The axis, counted from the front."""
    n, axis = len(shape), arguments.integer(argument, axis)
    if not -n <= axis < n:
        raise OutOfBounds(
            f"lax.{name} got {argument} {axis} for an operand of shape {shape}{here()}: its axes "
            f"are those from {-n} to {n - 1}."
            if n
            else f"lax.{name} got a scalar{here()}: it works along an axis."
        )
    return axis % n
