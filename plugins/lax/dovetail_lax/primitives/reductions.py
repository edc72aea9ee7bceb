"""Rows that reduce axes away: sums, products, extrema, logical reductions, and the general one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from dovetail_core import ClosedJaxpr, Primitive, ShapedArray, jaxpr_as_fun

from ..monoids import is_complex, is_integer
from ..moves import along, full, joined, reshaped, spread, transposed


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
    from .arithmetic import mul_p

    def step(xs: list[Any], ys: list[Any]) -> list[Any]:
        return [mul_p.bind(xs[0], ys[0])]

    return _fold([_flattened(x, axes)], step, [1])[0]


def _argreduction(name: str) -> Primitive:
    primitive = Primitive(name)

    def rule(x: ShapedArray, *, axes: tuple[int, ...], index_dtype: Any) -> ShapedArray:
        if len(axes) != 1 or not 0 <= axes[0] < len(x.shape):
            raise ValueError(f"{name} got axis {axes[0]} for an operand of type {x.str_short()}")
        if not is_integer(index_dtype):
            raise TypeError(f"{name} needs an integer index_dtype, not {index_dtype}")
        if is_complex(x.dtype):
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
    folded = _fold(
        [_flattened(x, dimensions) for x in args[:n]],
        lambda xs, ys: step(*xs, *ys),
        args[n:],
        neighbours=True,
    )
    inits = [_spread(i, x.shape) for i, x in zip(args[n:], folded)]
    return step(*inits, *folded)


def mapped(jaxpr: ClosedJaxpr) -> Callable[..., list[Any]]:
    """A program on scalars as a function on arrays of one shape, element by element."""
    from dovetail_batching import vmap

    def run(*args: Any) -> list[Any]:
        f = jaxpr_as_fun(jaxpr)
        for _ in args[0].shape:
            f = vmap(f)
        return list(f(*args))

    return run


def _flattened(x: Any, axes: Sequence[int]) -> Any:
    """``x`` with ``axes`` merged into one leading axis."""
    rest = [i for i in range(len(x.shape)) if i not in axes]
    x = transposed(x, (*axes, *rest))
    n = len(axes)
    return reshaped(x, (prod(x.shape[:n]), *x.shape[n:]))


def _fold(
    xs: Sequence[Any],
    step: Callable[[list[Any], list[Any]], Sequence[Any]],
    empty: Sequence[Any],
    neighbours: bool = False,
) -> list[Any]:
    """Reduce the leading axis by a tree of ``step``; ``empty`` is the result of no element."""
    n: int = xs[0].shape[0]
    if n == 0:
        return [_filled(e, x) for e, x in zip(empty, xs)]
    while n > 1:
        half = n // 2
        even = 2 * half
        if neighbours:
            parts = [(along(x, 0, 0, even, 2), along(x, 0, 1, even, 2)) for x in xs]
        else:
            parts = [(along(x, 0, 0, half), along(x, 0, half, even)) for x in xs]
        found = step([a for a, _ in parts], [b for _, b in parts])
        if even < n:
            xs = [joined([y, along(x, 0, even, n)], 0) for x, y in zip(xs, found)]
        else:
            xs = found
        n -= half
    return [reshaped(x, x.shape[1:]) for x in xs]


def _filled(value: Any, x: Any) -> Any:
    if value.__class__ is int:
        return full(x.shape[1:], value, x.dtype)
    return _spread(value, x.shape[1:])


def _spread(scalar: Any, shape: tuple[int, ...]) -> Any:
    return scalar if shape == () else spread(scalar, shape)
