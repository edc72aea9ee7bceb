"""Rows written as the places where each begins among the stored elements."""

from __future__ import annotations

from typing import Any

import dovetail_numpy as dnp

from .batches import over_batches

Array = Any


def numbers(indptr: Array, nse: int) -> Array:
    """The row of each stored element: the number of rows for what is beyond the last one's end."""

    def one(indptr: Array) -> Array:
        at = dnp.arange(nse, dtype=indptr.dtype)
        return (dnp.searchsorted(indptr, at, side="right") - 1).astype(indptr.dtype)

    return over_batches(one, indptr.ndim - 1)(indptr)


def pointers(rows: Array, count: int) -> Array:
    """Where each of ``count`` rows begins, and the last one ends; ``rows`` are in order."""

    def one(rows: Array) -> Array:
        at = dnp.arange(count + 1, dtype=rows.dtype)
        return dnp.searchsorted(rows, at, side="left").astype(rows.dtype)

    return over_batches(one, rows.ndim - 1)(rows)
