"""``pad``: constants, edges, reflections, ramps and statistics around an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.arguments import known_array
from dovetail_base.foreign import reword_errors
from dovetail_core import Cache, here

from ..creation.arrays import as_array
from ..fusion import fused
from ..operands import PYTHON_SCALARS, Array, ArrayLike, axis_index, integer
from ..operations import number, select
from ..promotion import convert

Widths = tuple[tuple[int, int], ...]
_OPTIONS = {
    "constant": {"constant_values"}, "edge": set(), "linear_ramp": {"end_values"},
    "maximum": {"stat_length"}, "mean": {"stat_length"}, "median": {"stat_length"},
    "minimum": {"stat_length"}, "reflect": {"reflect_type"}, "symmetric": {"reflect_type"},
    "wrap": set(), "empty": set(),
}  # fmt: skip


def _pairs(what: str, given: Any, ndim: int, convert_item: Any) -> tuple[tuple[Any, Any], ...]:
    """One pair per axis from a number, a pair, or a pair per axis."""
    if isinstance(given, dict):
        full: list[Any] = [(0, 0)] * ndim
        for axis, pair in given.items():
            full[axis_index(f"pad: {what}", axis, ndim)] = (
                pair if isinstance(pair, (tuple, list)) else (pair, pair)
            )
        given = full
    if hasattr(given, "aval") and given.dtype.kind in "iu":
        given = known_array(given).tolist() if what != "constant_values" else given
    shape = np.shape(given) if not _has_arrays(given) else None
    if shape == ():
        return ((convert_item(given),) * 2,) * ndim
    rows = list(given)
    if all(np.ndim(r) == 0 for r in rows if not hasattr(r, "aval")) and shape is not None and len(
            shape) == 1:  # fmt: skip
        rows = (
            [rows] if len(rows) == 2 else [(r, r) for r in rows] if len(rows) != 1 else [rows * 2]
        )
    pairs = [tuple(r) * 2 if len(tuple(r)) == 1 else tuple(r) for r in rows]
    if len(pairs) == 1:
        pairs = pairs * ndim
    if len(pairs) != ndim or any(len(p) != 2 for p in pairs):
        raise ValueError(
            f"pad: {what} must be a number, a pair, or a pair for each of {ndim} axes{here()}"
        )
    return tuple((convert_item(a), convert_item(b)) for a, b in pairs)


def _has_arrays(given: Any, deep: int = 2) -> bool:
    if hasattr(given, "aval"):
        return bool(given.shape)
    return isinstance(given, (list, tuple)) and any(
        hasattr(g, "aval") or (deep and _has_arrays(g, deep - 1)) for g in given
    )


@reword_errors
def pad(
    array: ArrayLike, pad_width: Any, mode: str | Callable[..., Any] = "constant", **kwargs: Any
) -> Array:
    """``array`` with elements added before and after along each axis.

    Args:
        pad_width: how many: a number, a pair (before, after), a pair per axis, or a dictionary from
            axes to pairs.
        mode: ``"constant"`` (``constant_values``), ``"edge"``, ``"linear_ramp"`` (``end_values``),
            ``"maximum"``, ``"mean"``, ``"median"``, ``"minimum"`` (``stat_length``), ``"reflect"``,
            ``"symmetric"`` (``reflect_type``), ``"wrap"``, ``"empty"``, or a function as in NumPy.

    Raises:
        NotImplementedError: the mode is unknown.
        ValueError: an option does not belong to the mode, a width is negative, or the mode needs
            elements of an axis that has none.
    """
    x = as_array("pad", array)
    widths = _widths(pad_width, x.ndim)
    if callable(mode):
        return _by_function(x, widths, mode, kwargs)
    if mode not in _OPTIONS:
        raise NotImplementedError(
            f"pad: mode must be one of {', '.join(_OPTIONS)}, got {mode!r}{here()}"
        )
    unknown = set(kwargs) - _OPTIONS[mode]
    if unknown:
        raise ValueError(f"pad: mode {mode!r} does not take {', '.join(sorted(unknown))}{here()}")
    if mode not in ("constant", "empty"):
        for axis, (size, pair) in enumerate(zip(x.shape, widths)):
            if size == 0 and pair != (0, 0):
                raise ValueError(
                    f"pad: mode {mode!r} has nothing to copy along axis {axis} of an array of "
                    f"shape {x.shape}{here()}. Use mode 'constant'."
                )
    if not kwargs and mode in _STATISTICS:
        return _statistic_of_all(x, widths=widths, name=mode)
    if not kwargs and mode == "linear_ramp":
        return _ramp_to_zero(x, widths=widths)
    return _MODES[mode](x, widths, **kwargs)


_STATISTICS = ("maximum", "mean", "median", "minimum")


_width_pairs: Cache[Any, Widths] = Cache()
"""Widths as pairs, by the argument and the number of axes."""


def _widths(given: Any, ndim: int) -> Widths:
    plain = _are_integers(given)
    result = _width_pairs.get((given, ndim)) if plain else None
    if result is None:
        result = _pairs("pad_width", given, ndim, lambda w: integer("pad", "pad_width", w))
        if any(w < 0 for pair in result for w in pair):
            raise ValueError(f"pad: widths cannot be negative, got {result}{here()}")
        if plain:
            _width_pairs[given, ndim] = result
    return result


def _are_integers(given: Any) -> bool:
    """True for a Python integer, or a tuple of integers or of such tuples."""
    if given.__class__ is not tuple:
        return given.__class__ is int
    return all(x.__class__ is int or (x.__class__ is tuple and _are_integers(x)) for x in given)


def _scalars(what: str, given: Any, x: Any) -> Any:
    return _pairs(what, given, x.ndim, lambda v: convert(as_array("pad", v), x.dtype))


def _constant(x: Any, widths: Widths, constant_values: Any = 0) -> Any:
    if constant_values.__class__ in PYTHON_SCALARS:
        return _by_number(x, widths=widths, value=constant_values)
    if np.ndim(constant_values) == 0 and not hasattr(constant_values, "aval"):
        config = [(a, b, 0) for a, b in widths]
        return lax.pad(x, convert(as_array("pad", constant_values), x.dtype), config)
    values = _scalars("constant_values", constant_values, x)
    for axis, ((a, b), (low, high)) in enumerate(zip(widths, values)):
        x = lax.pad(x, low, [(a if i == axis else 0, 0, 0) for i in range(x.ndim)])
        x = lax.pad(x, high, [(0, b if i == axis else 0, 0) for i in range(x.ndim)])
    return x


@fused(static=("widths", "value"))
def _by_number(x: Any, widths: Widths, value: Any) -> Any:
    return lax.pad(x, convert(value, x.dtype), [(a, b, 0) for a, b in widths])


def _edge_slices(x: Any, axis: int) -> tuple[Any, Any]:
    n = x.shape[axis]
    return lax.slice_in_dim(x, 0, 1, axis=axis), lax.slice_in_dim(x, n - 1, n, axis=axis)


def _spread(part: Any, axis: int, count: int) -> Any:
    shape = (*part.shape[:axis], count, *part.shape[axis + 1 :])
    return lax.broadcast_in_dim(part, shape, range(part.ndim))


def _around(x: Any, axis: int, before: Any, after: Any) -> Any:
    return lax.concatenate([p for p in (before, x, after) if p.shape[axis]], axis)


@fused(static=("widths",))
def _edge(x: Any, widths: Widths) -> Any:
    for axis, (a, b) in enumerate(widths):
        if a or b:
            first, last = _edge_slices(x, axis)
            x = _around(x, axis, _spread(first, axis, a), _spread(last, axis, b))
    return x


def _linear_ramp(x: Any, widths: Widths, end_values: Any = 0) -> Any:
    ends = _scalars("end_values", end_values, x)
    for axis, ((a, b), (low, high)) in enumerate(zip(widths, ends)):
        first, last = _edge_slices(x, axis)
        x = _around(
            x, axis, _ramp(low, first, axis, a), lax.rev(_ramp(high, last, axis, b), (axis,))
        )
    return x


@fused(static=("widths",))
def _ramp_to_zero(x: Any, widths: Widths) -> Any:
    return _linear_ramp(x, widths)


def _ramp(end: Any, edge: Any, axis: int, count: int) -> Any:
    """``count`` values from ``end`` on towards ``edge``, which is not reached."""
    exact = edge.dtype.kind in "iub"
    real = np.dtype(np.float32) if exact else edge.dtype
    end, edge_ = convert(end, real), convert(edge, real)
    shape = (*edge.shape[:axis], count, *edge.shape[axis + 1 :])
    step = lax.div(lax.sub(edge_, end), number(edge_, max(count, 1)))
    at = lax.convert_element_type(lax.broadcasted_iota(np.int32, shape, axis), real)
    rise = lax.mul(at, lax.broadcast_in_dim(step, shape, range(len(shape))))
    rise = select(lax.eq(at, number(at, 0)), number(rise, 0), rise)  # to infinity, too, from `end`
    out = lax.add(end, rise)
    return lax.convert_element_type(lax.floor(out) if exact else out, edge.dtype)


def _statistic(name: str) -> Callable[..., Any]:
    def apply(x: Any, widths: Widths, stat_length: Any = None) -> Any:
        lengths = ((None, None),) * x.ndim if stat_length is None else _pairs(
            "stat_length", stat_length, x.ndim, int)  # fmt: skip
        for axis, ((a, b), (m, n)) in enumerate(zip(widths, lengths)):
            x = _around(x, axis, _spread(_stat(name, x, axis, m, False), axis, a),
                        _spread(_stat(name, x, axis, n, True), axis, b))  # fmt: skip
        return x

    return apply


@fused(static=("widths", "name"))
def _statistic_of_all(x: Any, widths: Widths, name: str) -> Any:
    return _statistic(name)(x, widths)


def _stat(name: str, x: Any, axis: int, length: int | None, at_end: bool) -> Any:
    from ..reductions import basic, moments, quantiles
    from ..ufuncs.rounding import round as rounded

    functions: dict[str, Any] = {"maximum": basic.max, "minimum": basic.min, "mean": moments.mean,
                                 "median": quantiles.median}  # fmt: skip
    size = x.shape[axis]
    n = size if length is None else min(length, size)
    if n == 0:
        raise ValueError(f"pad: stat_length must be at least 1{here()}")
    part = lax.slice_in_dim(x, size - n if at_end else 0, size if at_end else n, axis=axis)
    out = functions[name](part, axis, keepdims=True)
    return convert(rounded(out) if x.dtype.kind in "iu" else out, x.dtype)


def _mirrored(offset: int) -> Callable[..., Any]:
    def apply(x: Any, widths: Widths, reflect_type: str = "even") -> Any:
        if reflect_type not in ("even", "odd"):
            raise ValueError(
                f"pad: reflect_type must be 'even' or 'odd', got {reflect_type!r}{here()}"
            )
        return _mirror(x, widths=widths, offset=offset, odd=reflect_type == "odd")

    return apply


@fused(static=("widths", "offset", "odd"))
def _mirror(x: Any, widths: Widths, offset: int, odd: bool) -> Any:
    for axis, (before, after) in enumerate(widths):
        if x.shape[axis] == 1 and offset == 1:  # the edge is the only element
            first, last = _edge_slices(x, axis)
            x = _around(x, axis, _spread(first, axis, before), _spread(last, axis, after))
            continue
        period = x.shape[axis] - offset
        for at_end, left in ((False, before), (True, after)):
            while left:
                step = min(left, period)
                x, left = _mirror_once(x, axis, step, offset, at_end, odd), left - step
    return x


def _mirror_once(x: Any, axis: int, step: int, offset: int, at_end: bool, odd: bool) -> Any:
    n = x.shape[axis]
    low = n - offset - step if at_end else offset
    part = lax.rev(lax.slice_in_dim(x, low, low + step, axis=axis), (axis,))
    if odd:
        edge = _spread(_edge_slices(x, axis)[at_end], axis, step)
        part = lax.sub(lax.mul(edge, number(edge, 2)), part)
    return lax.concatenate([x, part] if at_end else [part, x], axis)


@fused(static=("widths",))
def _wrap(x: Any, widths: Widths) -> Any:
    for axis, (a, b) in enumerate(widths):
        n = x.shape[axis]
        if not (a or b):
            continue
        parts = [x] * (a // n + 1 + b // n)
        if a % n:
            parts.insert(0, lax.slice_in_dim(x, n - a % n, n, axis=axis))
        if b % n:
            parts.append(lax.slice_in_dim(x, 0, b % n, axis=axis))
        x = lax.concatenate(parts, axis)
    return x


def _by_function(x: Any, widths: Widths, function: Callable[..., Any], kwargs: Any) -> Any:
    from ..functional import apply_along_axis

    x = _constant(x, widths)
    for axis, pair in enumerate(widths):

        def line(v: Any, axis: int = axis, pair: Any = pair) -> Any:
            return function(v, pair, axis, kwargs)

        x = apply_along_axis(line, axis, x)
    return x


_MODES: dict[str, Callable[..., Any]] = {
    "constant": _constant, "edge": lambda x, widths: _edge(x, widths=widths),
    "linear_ramp": _linear_ramp, "maximum": _statistic("maximum"), "mean": _statistic("mean"),
    "median": _statistic("median"), "minimum": _statistic("minimum"), "reflect": _mirrored(1),
    "symmetric": _mirrored(0), "wrap": lambda x, widths: _wrap(x, widths=widths),
    "empty": _constant,
}  # fmt: skip
