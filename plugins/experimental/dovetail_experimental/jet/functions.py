"""``jet``: the derivatives of a function along paths, all orders in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import factorial
from typing import Any

import dovetail_tree.util as tree
from dovetail_core import algebra, canonical_dtype, here, is_inexact, lift_call, typeof

from .series import Series, SeriesCarrier, ZeroTerm, coefficient, scaled


def jet(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    series: Sequence[Sequence[Any]],
    factorial_scaled: bool = True,
    **_: Any,
) -> tuple[Any, Any]:
    """The value of ``fun`` and its derivatives along paths, of every order up to some order.

    Where the arguments of ``fun`` move along paths x(t), this finds the derivatives of
    t -> fun(x(t)) at t = 0, by one pass through ``fun`` with truncated power series.

    Args:
        fun: a function of arrays.
        primals: where the arguments are at t = 0: an array of real or complex numbers for each.
        series: for each argument the derivatives of its path at t = 0, from the first on: a list or
            tuple of arrays of the argument's shape (zeros where the path is straight; operations
            are saved where these are ``zero_term``). Its length is the order, the same for all.
        factorial_scaled: whether series hold derivatives. Otherwise, they hold the coefficients
            of powers of t, which are the derivatives divided by the factorials of their orders.

    Returns: ``fun(*primals)``, and the same pytree with a list in place of each array: its
        derivatives (or coefficients), as many as in ``series``.

    Raises:
        ValueError: an argument is not an array, or arguments have series of different lengths.
        TypeError: a series is no sequence, or one of its terms has another shape or kind of
            numbers than its argument, or an argument is not of real or complex numbers.
        MissingRule: ``fun`` applies an operation that has no rule and no derivative.
    """
    given, order = _series_of(primals, series, factorial_scaled)
    structure: list[Any] = []

    def flat(*xs: Any) -> list[Any]:
        leaves, result = tree.tree_flatten(fun(*xs))
        structure[:] = [result]
        return leaves

    outs = lift_call(SeriesCarrier(order), flat, given)
    terms = [_terms(y, order, factorial_scaled) for y in outs]
    unflatten = partial(tree.tree_unflatten, structure[0])
    return unflatten([y[0] for y in outs]), unflatten(terms)


jet2 = partial(jet, factorial_scaled=False)
"""``jet`` whose series are coefficients of powers, not derivatives: what rules are given."""


def fact(n: Any) -> Any:
    """The factorial of ``n``, a number or an array of numbers, as floating-point numbers."""
    from dovetail_scipy.special import factorial as factorials  # seldom wanted

    return factorials(n)


def _series_of(
    primals: Sequence[Any], series: Sequence[Sequence[Any]], factorial_scaled: bool
) -> tuple[list[Series], int]:
    """The coefficients of the arguments, and the order."""
    if len(primals) != len(series):
        raise ValueError(
            f"jet{here()}: there are {len(primals)} primals and {len(series)} series; give each "
            "argument a series, of zeros where it does not move."
        )
    for i, terms in enumerate(series):
        if not isinstance(terms, Sequence):
            raise TypeError(
                f"jet{here()}: series[{i}] is of type {type(terms).__name__}; give a list of "
                "arrays, the derivatives of the argument from the first on."
            )
    if len(lengths := {len(terms) for terms in series}) > 1:
        raise ValueError(
            f"jet{here()}: series have the lengths {', '.join(str(len(s)) for s in series)}; all "
            "must have one length, the order. Fill them up with zeros."
        )
    result = [
        _one(x, terms, i, factorial_scaled) for i, (x, terms) in enumerate(zip(primals, series))
    ]
    return result, next(iter(lengths), 0)


def _one(x: Any, terms: Sequence[Any], i: int, factorial_scaled: bool) -> Series:
    """The coefficients of an argument, up to the last that is not known to be zero."""
    _aval(x, f"primals[{i}]")
    nonzero = [k for k, term in enumerate(terms) if not isinstance(term, ZeroTerm)]
    result = [_term(x, term, i, k) for k, term in enumerate(terms[: max(nonzero, default=-1) + 1])]
    if factorial_scaled:
        result = [scaled(c, 1 / factorial(k)) for k, c in enumerate(result, 1)]
    return (x, *result)


def _term(x: Any, term: Any, i: int, k: int) -> Any:
    """A term of the series of an argument, of the argument's type."""
    aval: Any = typeof(x)
    if isinstance(term, ZeroTerm):
        return algebra().full(aval, 0)
    result: Any = _aval(term, f"series[{i}][{k}]")
    wide: bool = aval.dtype.kind == "c" or result.dtype.kind != "c"
    if is_inexact(aval.dtype) and result.shape == aval.shape and wide:
        return algebra().convert(term, aval)
    raise TypeError(
        f"jet{here()}: primals[{i}] has type {aval.str_short()} and series[{i}][{k}] "
        f"{result.str_short()}; both must be real or complex numbers of one shape. What does not "
        "move and is no such number is better closed over."
    )


def _aval(x: Any, what: str) -> Any:
    try:
        aval: Any = typeof(x)
        aval.dtype.kind  # noqa: B018 - what has no kind is no array
    except (TypeError, AttributeError):
        raise ValueError(
            f"jet{here()}: {what} is not an array but of type {type(x).__name__}; pass the leaves "
            "of a pytree one by one (tree.flatten)."
        ) from None
    return aval


def _terms(y: Series, order: int, factorial_scaled: bool) -> list[Any]:
    """The terms of a result; those of results that are no real or complex numbers are zeros."""
    aval: Any = typeof(y[0])
    if not is_inexact(getattr(aval, "dtype", None)):
        zero = algebra().full(aval.update(dtype=canonical_dtype(float), weak_type=True), 0)
        return [zero] * order
    terms = [coefficient(y, k) for k in range(1, order + 1)]
    if factorial_scaled:
        terms = [scaled(c, factorial(k)) for k, c in enumerate(terms, 1)]
    return terms
