"""Indexing of arrays in BCOO format."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np

from dovetail_base.source import short_repr
from dovetail_core import here

from .axes import bcoo_broadcast_in_dim, bcoo_rev, bcoo_squeeze
from .slicing import bcoo_dynamic_slice, bcoo_slice, moved, windows
from .stored import S, Stored


class Items(NamedTuple):
    """An index, taken apart: one entry per axis; and where new axes go."""

    entries: list[Any]
    kept: list[Any]
    """What the result's axes are: None for a new one, or the axis of the array."""


def getitem(mat: S, index: Any) -> S:
    """``mat[index]``: integers, slices, ``None``, ``...`` and integer or boolean arrays.

    Integers out of bounds are moved inside, as :func:`bcoo_dynamic_slice` does.

    Raises:
        IndexError: there are too many indices, or one is of another kind.
    """
    result = _items(mat, index if isinstance(index, tuple) else (index,))
    mat = _sliced(mat, result.entries)
    arrays = {a: e for a, e in enumerate(result.entries) if not isinstance(e, slice)}
    if any(np.ndim(e) for e in arrays.values()):
        return _picked(mat, arrays, result.kept)
    labels = [a for a in range(mat.ndim) if a not in arrays]
    return _finished(_at_integers(mat, arrays), labels, [a for a in result.kept if a not in arrays])


def _items(mat: Stored, index: tuple[Any, ...]) -> Items:
    index = tuple(x for i in index for x in _expanded(i))
    given = sum(1 for i in index if i is not None and i is not Ellipsis)
    if given > mat.ndim:
        raise IndexError(
            f"Too many indices: array is {mat.ndim}-dimensional, but {given} were indexed{here()}"
        )
    dots = [k for k, i in enumerate(index) if i is Ellipsis]
    if len(dots) > 1:
        raise IndexError(f"an index can only have a single ellipsis ('...'){here()}")
    rest = (slice(None),) * (mat.ndim - given)
    at = dots[0] if dots else len(index)
    index = (*index[:at], *rest, *index[at + 1 :])
    entries: list[Any] = []
    kept: list[Any] = []
    for item in index:
        if item is None:
            kept.append(None)
            continue
        kept.append(len(entries))
        entries.append(item if isinstance(item, slice) else _integers(item))
    return Items(entries, kept)


def _expanded(item: Any) -> tuple[Any, ...]:
    """A boolean array as index arrays."""
    if isinstance(item, (np.ndarray, list)) or hasattr(item, "aval"):
        values = np.asarray(item) if isinstance(item, list) else item
        if values.dtype == bool:
            return tuple(np.nonzero(np.asarray(values)))
        return (values,)
    return (item,)


def _integers(item: Any) -> Any:
    if isinstance(item, (np.ndarray, np.generic)) or hasattr(item, "aval"):
        result = item
    else:
        try:
            return operator.index(item)
        except TypeError:
            result = None
    if result is None or isinstance(item, bool) or result.dtype.kind not in "iu":
        kind = TypeError if isinstance(item, str) else IndexError
        raise kind(
            "only integers, slices (`:`), ellipsis (`...`), newaxis (`None`) and integer or "
            f"boolean arrays are valid indices. Got {short_repr(item)}{here()}"
        )
    return result


def _sliced(mat: S, entries: list[Any]) -> S:
    start, limit, step, back = [], [], [], []
    for axis, (n, entry) in enumerate(zip(mat.shape, entries)):
        a, b, s = entry.indices(n) if isinstance(entry, slice) else (0, n, 1)
        count = len(range(a, b, s))
        if s < 0:
            back.append(axis)
            a, s = (a + (count - 1) * s if count else 0), -s
        b = min(a + (count - 1) * s + 1, n) if count else a
        start.append(min(a, n))
        limit.append(max(min(b, n), min(a, n)))
        step.append(s)
    if limit != list(mat.shape) or any(start) or any(s > 1 for s in step):
        mat = bcoo_slice(mat, start_indices=start, limit_indices=limit, strides=step)
    return bcoo_rev(mat, back) if back else mat


def _at_integers(mat: S, integers: dict[int, Any]) -> S:
    if not integers:
        return mat
    starts = [integers.get(a, 0) for a in range(mat.ndim)]
    sizes = [1 if a in integers else n for a, n in enumerate(mat.shape)]
    result = bcoo_dynamic_slice(mat, starts, sizes)
    return bcoo_squeeze(result, dimensions=tuple(integers))


def _picked(mat: S, arrays: dict[int, Any], kept: list[Any]) -> S:
    """The elements at index arrays, whose axes come where the arrays were, or first of all."""
    starts = [arrays.get(a, 0) for a in range(mat.ndim)]
    sizes = [1 if a in arrays else n for a, n in enumerate(mat.shape)]
    result = windows(mat, starts, sizes)
    new = [("picked", i) for i in range(result.ndim - mat.ndim)]
    result = bcoo_squeeze(result, dimensions=[len(new) + a for a in arrays])
    labels: list[Any] = [*new, *[a for a in range(mat.ndim) if a not in arrays]]
    places = [i for i, a in enumerate(kept) if a in arrays]
    adjacent = places[-1] - places[0] == len(places) - 1
    first = places[0] if adjacent else 0
    before = [a for a in kept[:first] if a not in arrays]
    return _finished(result, labels, [*before, *new, *[a for a in kept[first:] if a not in arrays]])


def _finished(mat: S, labels: list[Any], wanted: list[Any]) -> S:
    """``mat``, whose axes have ``labels``, with axes as ``wanted``; None is a new one."""
    order = [labels.index(a) for a in wanted if a is not None]
    if order != sorted(order):
        mat = moved(mat, order)
    if None not in wanted:
        return mat
    places = [i for i, a in enumerate(wanted) if a is not None]
    shape = [1] * len(wanted)
    for i, n in zip(places, mat.shape):
        shape[i] = n
    return bcoo_broadcast_in_dim(mat, shape=shape, broadcast_dimensions=places)
