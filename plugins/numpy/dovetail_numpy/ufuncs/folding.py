"""Repeated application of functions of two operands: in a loop, or in a tree if they associate.

The number of operations in the program does not depend on the number of rows, or grows with its
logarithm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import stage, typeof
from dovetail_tree.util import tree_leaves, tree_map

from ..creation.arrays import as_array
from ..operations import dtype_of, reshape as to_shape, select, strong, transpose, truth
from ..promotion import broadcast, convert

Function = Callable[[Any, Any], Any]


def _type_of_result(f: Function, x: Any, y: Any) -> Any:
    """The type of ``f(x, y)``, strongly typed; operands are trees of arrays."""
    leaves = [typeof(v) for v in tree_leaves((x, y))]
    count = len(tree_leaves(x))

    def flat(*xs: Any) -> list[Any]:
        first, second = (iter(v) for v in (xs[:count], xs[count:]))
        return [f(tree_map(lambda _: next(first), x), tree_map(lambda _: next(second), y))]

    return stage(flat, leaves)[0].out_avals[0].strong()


def prepared(f: Function, rows: Any) -> Any:
    """Rows in the type that an associative function of two rows returns."""
    dtype = _type_of_result(f, rows, rows).dtype
    return _as_type(rows, dtype)


def _as_type(rows: Any, dtype: Any) -> Any:
    return truth(rows) if dtype.kind == "b" else convert(rows, dtype)


def _sequential(step: Function, start: Any, xs: Any, keep: bool) -> tuple[list[Any], Any, Any]:
    """The results of ``step`` applied to the one before and each of ``xs`` in order.

    Returns:
        The first results, while their types still change; the last one; the stack of all others if
        ``keep``, or None.
    """
    length = len(tree_leaves(xs)[0])
    result, carry = list[Any](), strong(start)
    for i in range(length):
        x = tree_map(lambda v, i=i: lax.index_in_dim(v, i, 0, keepdims=False), xs)
        if _type_of_result(step, carry, x) == typeof(carry):
            break
        carry = strong(step(carry, x))
        result.append(carry)
    if len(result) == length:
        return result, carry, None

    def body(carry: Any, x: Any) -> tuple[Any, Any]:
        after = step(carry, x)
        return after, after if keep else None

    rest = tree_map(lambda v: lax.slice_in_dim(v, len(result), length), xs)
    return result, *lax.scan(body, carry, rest)


def _step_of(f: Function) -> Function:
    def step(carry: Any, x: tuple[Any, Any]) -> Any:
        row, keep = x
        after = f(carry, row)
        return after if keep is None else select(keep, after, convert(carry, dtype_of(after)))

    return step


def fold(f: Function, start: Any, rows: Any, mask: Any = None) -> Any:
    """``f(... f(f(start, rows[0]), rows[1]) ...)``, without rows where ``mask`` is False."""
    return _sequential(_step_of(f), start, (rows, mask), False)[1]


def partials(f: Function, rows: Any) -> Any:
    """The results of combining the first 1, 2, 3, ... rows, of one type."""
    first = lax.index_in_dim(rows, 0, 0, keepdims=False)
    single, last, rest = _sequential(
        _step_of(f), first, (lax.slice_in_dim(rows, 1, len(rows)), None), True
    )
    own = [convert(x, last.dtype) for x in (first, *single)]
    parts = [lax.expand_dims(x, (0,)) for x in own] + ([] if rest is None else [rest])
    return lax.concatenate(parts, 0)


def tree_fold(f: Function, rows: Any) -> Any:
    """All rows, at least one, combined by an associative function."""
    rows = prepared(f, rows)
    while (n := len(rows)) > 1:
        pairs = f(rows[0 : n - 1 : 2], rows[1:n:2])
        rows = lax.concatenate([pairs, rows[n - 1 :]], 0) if n % 2 else pairs
    return lax.index_in_dim(rows, 0, 0, keepdims=False)


def _select_rows(which: Any, yes: Any, no: Any) -> Any:
    """``yes`` in rows where ``which``, else ``no``."""
    mask = to_shape(which, which.shape + (1,) * (yes.ndim - 1))
    return select(broadcast(mask, yes.shape), yes, no)


def _rows_at(rows: Any, at: Any) -> Any:
    return rows.at[at].get(mode="clip")


def to_front(x: Any, axis: int) -> Any:
    """``x`` with one axis first."""
    return transpose(x, (axis, *[i for i in range(x.ndim) if i != axis]))


def from_front(x: Any, axis: int) -> Any:
    """``x`` with its first axis at ``axis``."""
    order = list(range(1, x.ndim))
    order.insert(axis, 0)
    return transpose(x, tuple(order))


def reduce_pieces(ufunc: Any, rows: Any, indices: Any, concrete: Any) -> Any:
    """The reductions of the pieces of ``rows`` that start at ``indices``.

    ``concrete`` has the values of ``indices``, or is None if they are traced.
    """
    from ..reductions.engine import computation_type

    (aval,) = stage(lambda x: [ufunc.reduce(x, axis=0)], [typeof(rows[:1])])[0].out_avals
    dtype: Any = aval.dtype  # type: ignore[attr-defined]
    if not len(indices):
        return lax.full((0, *rows.shape[1:]), 0, dtype)
    n, longest = len(rows), len(rows)
    if concrete is None:
        starts = lax.clamp(np.int32(0), convert(indices, np.dtype(np.int32)), np.int32(n - 1))
        ends = lax.concatenate([starts[1:], lax.full((1,), n, np.int32)], 0)
        lengths = lax.max(ends - starts, np.int32(1))
    else:
        ends = np.append(concrete[1:], n)
        lengths = np.maximum(ends - concrete, 1)
        longest = int(lengths.max())
        starts, lengths = (as_array("reduceat", x.astype(np.int32)) for x in (concrete, lengths))
    f = ufunc.__call__
    if not ufunc.associates:
        return pieces(f, rows, starts, lengths, longest)
    rows = _as_type(rows, computation_type(dtype))
    return convert(tree_pieces(f, rows, starts, lengths, longest), dtype)


def pieces(f: Function, rows: Any, starts: Any, lengths: Any, longest: int) -> Any:
    """For each piece its rows, at least one and at most ``longest``, combined in order."""

    def step(carry: Any, k: Any) -> Any:
        after = f(carry, _rows_at(rows, starts + k))
        return _select_rows(k < lengths, after, convert(carry, dtype_of(after)))

    counts = np.arange(1, longest, dtype=np.int32)
    return _sequential(step, _rows_at(rows, starts), as_array("reduceat", counts), False)[1]


def tree_pieces(f: Function, rows: Any, starts: Any, lengths: Any, longest: int) -> Any:
    """:func:`pieces` for an associative function.

    Runs of 1, 2, 4, ... rows are combined from each index on; each piece takes the runs that the
    binary digits of its length name.
    """
    out, at, left = _rows_at(rows, starts), starts + 1, lengths - 1
    for bit in range((longest - 1).bit_length()):
        size = 1 << bit
        takes = lax.bitwise_and(left, np.int32(size)) != 0
        out = _select_rows(takes, f(out, _rows_at(rows, at)), out)
        at = at + convert(takes, np.dtype(np.int32)) * size
        if 2 * size < longest:
            rows = f(rows[:-size], rows[size:])
    return out


def update_sequentially(f: Function, a: Any, positions: Any, b: Any) -> Any:
    """``a`` with ``f`` applied at flat ``positions`` to the element there and one of ``b``.

    They are updated in order; positions beyond its end are left out.
    """

    def step(carry: Any, x: tuple[Any, Any]) -> Any:
        at, value = x
        after = f(_rows_at(carry, at), value)
        return carry.at[at].set(convert(after, carry.dtype), mode="drop")

    if not positions.size:
        return a
    xs = [to_shape(v, (positions.size,)) for v in (positions, broadcast(b, positions.shape))]
    return to_shape(_sequential(step, to_shape(a, (a.size,)), tuple(xs), False)[1], a.shape)
