"""Functions of two operands applied again and again: in a loop, or in a tree where they associate.

There are as many operations for a thousand rows as for three, or ten times as many.
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
    """Rows in the type that an associative function gives of two of them."""
    dtype = _type_of_result(f, rows, rows).dtype
    return _as_type(rows, dtype)


def _as_type(rows: Any, dtype: Any) -> Any:
    return truth(rows) if dtype.kind == "b" else convert(rows, dtype)


def _in_turn(step: Function, start: Any, xs: Any, keep: bool) -> tuple[list[Any], Any, Any]:
    """``step`` from one result to the next, with each of ``xs``.

    Returns: the results while their type was not yet that of the one before, which are few; the
        last one; the stack of all others if ``keep``, or None.
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
    return _in_turn(_step_of(f), start, (rows, mask), False)[1]


def partials(f: Function, rows: Any) -> Any:
    """The first row, and what comes of combining it with one more each time, of one type."""
    first = lax.index_in_dim(rows, 0, 0, keepdims=False)
    single, last, rest = _in_turn(
        _step_of(f), first, (lax.slice_in_dim(rows, 1, len(rows)), None), True
    )
    own = [convert(x, last.dtype) for x in (first, *single)]
    parts = [lax.expand_dims(x, (0,)) for x in own] + ([] if rest is None else [rest])
    return lax.concatenate(parts, 0)


def tree_fold(f: Function, rows: Any) -> Any:
    """All rows, of which there is one at least, combined by a function that associates."""
    rows = prepared(f, rows)
    while (n := len(rows)) > 1:
        pairs = f(rows[0 : n - 1 : 2], rows[1:n:2])
        rows = lax.concatenate([pairs, rows[n - 1 :]], 0) if n % 2 else pairs
    return lax.index_in_dim(rows, 0, 0, keepdims=False)


def _chosen(which: Any, yes: Any, no: Any) -> Any:
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


def reduce_pieces(ufunc: Any, rows: Any, indices: Any, known: Any) -> Any:
    """The reductions of the pieces of ``rows`` that start at ``indices``, whose values are
    ``known`` or None."""
    from ..reductions.engine import computation_type

    (aval,) = stage(lambda x: [ufunc.reduce(x, axis=0)], [typeof(rows[:1])])[0].out_avals
    dtype: Any = aval.dtype  # type: ignore[attr-defined]
    if not len(indices):
        return lax.full((0, *rows.shape[1:]), 0, dtype)
    n, longest = len(rows), len(rows)
    if known is None:
        starts = lax.clamp(np.int32(0), convert(indices, np.dtype(np.int32)), np.int32(n - 1))
        ends = lax.concatenate([starts[1:], lax.full((1,), n, np.int32)], 0)
        lengths = lax.max(ends - starts, np.int32(1))
    else:
        ends = np.append(known[1:], n)
        lengths = np.maximum(ends - known, 1)
        longest = int(lengths.max())
        starts, lengths = (as_array("reduceat", x.astype(np.int32)) for x in (known, lengths))
    f = ufunc.__call__
    if not ufunc.associates:
        return pieces(f, rows, starts, lengths, longest)
    rows = _as_type(rows, computation_type(dtype))
    return convert(tree_pieces(f, rows, starts, lengths, longest), dtype)


def pieces(f: Function, rows: Any, starts: Any, lengths: Any, longest: int) -> Any:
    """For each piece its rows, one at least and ``longest`` at most, combined in turn."""

    def step(carry: Any, k: Any) -> Any:
        after = f(carry, _rows_at(rows, starts + k))
        return _chosen(k < lengths, after, convert(carry, dtype_of(after)))

    counts = np.arange(1, longest, dtype=np.int32)
    return _in_turn(step, _rows_at(rows, starts), as_array("reduceat", counts), False)[1]


def tree_pieces(f: Function, rows: Any, starts: Any, lengths: Any, longest: int) -> Any:
    """:func:`pieces` for a function that associates: of stretches of 1, 2, 4, ... rows, combined
    from all places on, each piece takes those that its length is made of."""
    out, at, left = _rows_at(rows, starts), starts + 1, lengths - 1
    for bit in range((longest - 1).bit_length()):
        size = 1 << bit
        takes = lax.bitwise_and(left, np.int32(size)) != 0
        out = _chosen(takes, f(out, _rows_at(rows, at)), out)
        at = at + convert(takes, np.dtype(np.int32)) * size
        if 2 * size < longest:
            rows = f(rows[:-size], rows[size:])
    return out


def update_in_turn(f: Function, a: Any, places: Any, b: Any) -> Any:
    """``a`` with ``f`` of the element and one of ``b`` at each of the ``places`` in its flat form,
    one after the other; places beyond its end are left out."""

    def step(carry: Any, x: tuple[Any, Any]) -> Any:
        at, value = x
        after = f(_rows_at(carry, at), value)
        return carry.at[at].set(convert(after, carry.dtype), mode="drop")

    if not places.size:
        return a
    xs = [to_shape(v, (places.size,)) for v in (places, broadcast(b, places.shape))]
    return to_shape(_in_turn(step, to_shape(a, (a.size,)), tuple(xs), False)[1], a.shape)
