"""Derivatives checked against finite differences: ``check_grads`` and its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import inf
from numbers import Real
from types import NoneType
from typing import Any, TypeAlias

import numpy as np

from dovetail_base.foreign import reword_errors
from dovetail_core import float0, is_inexact, typeof
from dovetail_testing import finite_difference, precision, random_like, widened
from dovetail_tree.util import (
    keystr,
    tree_differences,
    tree_flatten,
    tree_flatten_with_path,
    tree_unflatten,
)

from .arguments import function_name
from .functions import jvp, linearize
from .reverse import vjp

__all__ = ["check_grads", "check_jvp", "check_vjp"]

# What is left of a number's digits after a finite difference of fourth order, and a margin.
_TOLERANCE = {"bfloat16": 0.2, "float16": 5e-2, "float32": 2e-3, "float64": 1e-6}
_SHORTER = (1 / 3, 1 / 2)  # powers of the precision
_REAL = {"complex64": "float32", "complex128": "float64"}
_MODES = {"fwd": "forward", "rev": "reverse", "lin": "linearized"}

Tolerance: TypeAlias = "float | Mapping[Any, float] | None"
"""One for all values, or one for each dtype named; None, and dtypes not named, for the default."""


@reword_errors
def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int,
    modes: str | Sequence[str] = ("fwd", "rev"),
    atol: Tolerance = None,
    rtol: Tolerance = None,
    eps: float | None = None,
) -> None:
    """Check the derivatives of ``f`` at ``args``, up to ``order``, against finite differences.

    Args:
        f: a function of pytrees of arrays. Integer arguments and results are left alone.
        args: the point, as a tuple or list of positional arguments.
        modes: any of ``"fwd"`` for ``jvp``, ``"rev"`` for ``vjp``, ``"lin"`` for ``linearize``;
            orders mix the modes.
        atol, rtol: tolerances, numbers or dicts of them by dtype; what counts is that of the
            lowest precision that occurs. Where both values are NaN they agree.
        eps: step of the finite differences; by default the fifth root of the precision and, where
            the function bends too much for that, the third and the square root.

    Raises:
        AssertionError: a derivative is wrong; names the function, the derivative and the leaf.
        TypeError, ValueError: ``args`` is not a sequence, or ``order``, a mode or ``eps`` is none.
    """
    if not isinstance(args, (tuple, list)):
        raise TypeError(
            "check_grads takes the arguments as a tuple or list, got "
            f"{type(args).__name__}: write check_grads(f, (x,), order)"
        )
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise ValueError(f"check_grads: order must be a positive integer, got {order!r}")
    given = (modes,) if isinstance(modes, str) else tuple(modes)
    unknown = [m for m in given if m not in _MODES]
    if unknown or not given:
        raise ValueError(f"check_grads: modes are 'fwd', 'rev' and 'lin', got {modes!r}")
    leaves, tree = tree_flatten(tuple(args))
    values = [_value(x) for x in leaves]
    _check_orders(f, tree, values, order, given, (atol, rtol, eps), function_name(f))


@reword_errors
def check_jvp(
    f: Callable[..., Any],
    f_jvp: Callable[..., Any],
    args: Sequence[Any],
    atol: Tolerance = None,
    rtol: Tolerance = None,
    eps: float | None = None,
    err_msg: str = "",
) -> None:
    """Check a forward derivative against finite differences in a random direction.

    Args:
        f_jvp: ``f_jvp(args, tangents)`` returns ``(value, tangent)``: ``partial(jvp, f)``, say.
        err_msg: put in front of the error's text.

    Raises:
        AssertionError: value or tangent are wrong; names the leaf of the result.
        ValueError: ``eps`` is not a positive number.
    """
    point = _Point(f, args, err_msg or f"check_jvp of {function_name(f)}")
    value, tangent = f_jvp(tuple(args), point.tangent_tree)
    point.compare("the value", value, point.value, atol, rtol)

    def compare(step: float | None) -> None:
        point.compare("the tangent", tangent, point.numeric_tree(step), atol, rtol)

    point.with_steps(compare, eps)


@reword_errors
def check_vjp(
    f: Callable[..., Any],
    f_vjp: Callable[..., Any],
    args: Sequence[Any],
    atol: Tolerance = None,
    rtol: Tolerance = None,
    eps: float | None = None,
    err_msg: str = "",
) -> None:
    """Check a reverse derivative: for random t and ct, <vjp(ct), t> = <ct, f's difference along t>.

    Args:
        f_vjp: ``f_vjp(*args)`` returns ``(value, pull)``: ``partial(vjp, f)``, say.
        err_msg: put in front of the error's text.

    Raises:
        AssertionError: value or cotangents are wrong; gives both products.
    """
    point = _Point(f, args, err_msg or f"check_vjp of {function_name(f)}")
    value, pull = f_vjp(*args)
    point.compare("the value", value, point.value, atol, rtol)
    cotangents = [_random_tangent(y, 100 + i) for i, y in enumerate(point.outs)]
    result = pull(tree_unflatten(point.out_tree, cotangents))
    result = tuple(result) if isinstance(result, list) else result
    got, tree = tree_flatten(result)
    if tree != point.in_tree:
        differences = "; ".join(tree_differences(tuple(args), result))
        raise AssertionError(f"{point.label}: cotangents have another structure: {differences}")
    actual = _products(got, point.tangents)
    tolerances = point.tolerances(atol, rtol)

    def compare(step: float | None) -> None:
        _compare_products(
            point.label, actual, _products(cotangents, point.numeric(step)), *tolerances
        )

    point.with_steps(compare, eps)


def _compare_products(label: str, actual: Any, expected: Any, atol: float, rtol: float) -> None:
    left, right = float(actual.sum()), float(expected.sum())
    # Errors of single terms add up like a random walk, even where the terms cancel.
    scale = max(abs(left), abs(right), float(np.sqrt((expected**2).sum())))
    same = left == right or (left != left and right != right)
    if not (same or abs(left - right) <= atol + rtol * scale):
        raise AssertionError(
            f"{label}: the cotangents are wrong: <vjp(ct), t> = {left}, "
            f"<ct, finite difference along t> = {right}"
        )


def _check_orders(
    f: Callable[..., Any],
    tree: Any,
    values: list[Any],
    order: int,
    modes: tuple[str, ...],
    how: tuple[Tolerance, Tolerance, float | None],
    name: str,
) -> None:
    args = tree_unflatten(tree, values)
    for mode in modes:
        what = f"{_MODES[mode]} derivative of {name}"
        if mode == "rev":
            check_vjp(f, partial(vjp, f), args, *how, what)
        else:
            check_jvp(f, partial(_PUSHFORWARDS[mode], f), args, *how, what)
    if order == 1:
        return
    for mode in modes:
        derivative = _derivative(f, tree, values, mode, order)
        inner = f"the {_MODES[mode]} derivative of {name}"
        _check_orders(derivative, tree, values, order - 1, modes, how, inner)


def _linearized(f: Callable[..., Any], primals: Any, tangents: Any) -> tuple[Any, Any]:
    value, pushforward = linearize(f, *primals)
    return value, pushforward(*tangents)


_PUSHFORWARDS: dict[str, Callable[..., Any]] = {"fwd": jvp, "lin": _linearized}


def _derivative(
    f: Callable[..., Any], tree: Any, values: list[Any], mode: str, order: int
) -> Callable[..., Any]:
    """The derivative in a fixed random direction, as a function of the point."""
    if mode != "rev":
        tangents = tree_unflatten(
            tree, [_random_tangent(x, 10 * order + i) for i, x in enumerate(values)]
        )
        return lambda *args: _inexact(_PUSHFORWARDS[mode](f, args, tangents)[1])

    def pull_back(*args: Any) -> list[Any]:
        value, pull = vjp(f, *args)
        outs, out_tree = tree_flatten(value)
        cts = [_random_tangent(y, i) for i, y in enumerate(outs)]
        return _inexact(pull(tree_unflatten(out_tree, cts)))

    return pull_back


def _check_step(eps: Any) -> None:
    try:
        is_step = eps is None or 0 < float(eps) < inf
    except (TypeError, ValueError):
        is_step = False
    if not is_step:
        raise ValueError(f"eps, the step of finite differences, is a positive number, not {eps!r}")


class _Point:
    """A function at a point: values, a random direction, and the difference along it."""

    def __init__(self, f: Callable[..., Any], args: Sequence[Any], label: str) -> None:
        self.f = f
        self.label = label
        leaves, self.in_tree = tree_flatten(tuple(args))
        self.values = [_value(x) for x in leaves]
        self.tangents = [_random_tangent(x, i) for i, x in enumerate(self.values)]
        self.value = f(*args)
        self.outs, self.out_tree = tree_flatten(self.value)

    @property
    def tangent_tree(self) -> Any:
        return tree_unflatten(self.in_tree, self.tangents)

    def with_steps(self, compare: Callable[[float | None], None], eps: float | None) -> None:
        """Compares by differences of the step given, or of shorter and shorter ones.

        The longest has the least rounding; a shorter one is right where high derivatives are large.
        The error is that of the longest.
        """
        _check_step(eps)
        try:
            return compare(eps)
        except AssertionError:
            precisions = [precision(x.dtype) for x in self.values if is_inexact(x.dtype)]
            if eps is not None or not precisions:
                raise
            for power in _SHORTER:
                try:
                    return compare(max(precisions) ** power)
                except AssertionError:
                    continue
            raise

    def numeric(self, step: float | None) -> list[Any]:
        """The difference of each output; None for those of integers."""
        smooth = [is_inexact(typeof(y).dtype) for y in self.outs]  # type: ignore[attr-defined]

        def on_leaves(*xs: Any) -> list[Any]:
            ys = tree_flatten(self.f(*tree_unflatten(self.in_tree, xs)))[0]
            return [y for y, s in zip(ys, smooth) if s]

        tangents = [None if t.dtype == float0 else t for t in self.tangents]
        result = iter(finite_difference(on_leaves, self.values, tangents, step))
        return [next(result) if s else None for s in smooth]

    def numeric_tree(self, step: float | None) -> Any:
        shapes = [np.shape(y) for y in self.outs]
        numbers = [
            np.zeros(s, float0) if d is None else d for s, d in zip(shapes, self.numeric(step))
        ]
        return tree_unflatten(self.out_tree, numbers)

    def tolerances(self, *given: Tolerance) -> list[float]:
        """For each tolerance given, the one that values of the lowest precision here have."""
        names = {typeof(x).dtype.name for x in [*self.values, *self.outs]}  # type: ignore
        return [_tolerance(t, names) for t in given]

    def compare(
        self, what: str, actual: Any, expected: Any, atol: Tolerance, rtol: Tolerance
    ) -> None:
        if tree_flatten(actual)[1] != self.out_tree:
            differences = "; ".join(tree_differences(expected, actual))
            raise AssertionError(f"{self.label}: {what} has another structure: {differences}")
        atol, rtol = self.tolerances(atol, rtol)
        for (path, y), x in zip(tree_flatten_with_path(expected)[0], tree_flatten(actual)[0]):
            where = f"{self.label}: {what}{' at ' if path else ''}{keystr(path)} is wrong"
            if getattr(y, "dtype", None) == float0:
                assert np.asarray(x).dtype == float0, f"{where}: it must be of dtype float0"
                continue
            np.testing.assert_allclose(widened(x), widened(y), rtol, atol, err_msg=where)


def _value(x: Any) -> np.ndarray[Any, Any]:
    """An argument as an array of the type that it is traced with."""
    return np.asarray(x, typeof(x).dtype)  # type: ignore[attr-defined]


def _random_tangent(x: Any, seed: int) -> np.ndarray[Any, Any]:
    aval: Any = typeof(x).tangent_type()
    return np.zeros(aval.shape, float0) if aval.dtype == float0 else random_like(aval, seed)


def _inexact(tree: Any) -> list[Any]:
    return [x for x in tree_flatten(tree)[0] if typeof(x).dtype != float0]  # type: ignore[attr-defined]


def _products(xs: Sequence[Any], ys: Sequence[Any]) -> np.ndarray[Any, Any]:
    """The real parts of all products of elements; what has dtype float0 counts for nothing."""
    live = [(x, y) for x, y in zip(xs, ys) if y is not None and x.dtype != float0]
    terms = [np.real(widened(x) * widened(y)).ravel() for x, y in live]
    return np.concatenate([np.zeros(1), *terms])


def _tolerance(given: Tolerance, dtypes: set[str]) -> float:
    array: Any = given
    if getattr(array, "shape", None) == () and np.dtype(array.dtype).kind in "iuf":
        given = float(array)
    if isinstance(given, Real) and float(given) >= 0:
        return float(given)
    if not isinstance(given, (Mapping, NoneType)):
        raise TypeError(
            "check_grads takes a tolerance as a number, at least 0, or a dict of numbers by "
            f"dtype, got {given!r} of type {type(given).__name__}"
        )
    named = {np.dtype(dtype).name: tol for dtype, tol in (given or {}).items()}
    return max((named.get(n, _TOLERANCE.get(_REAL.get(n, n), 0.0)) for n in dtypes), default=0.0)
