"""Random programs on references, each with the same meaning on NumPy's arrays.

A program is a list of steps, drawn from a seed. Python's indexing means the same for references and
NumPy's arrays, so one function runs both; the few operations that NumPy spells differently come in
``Ops``. Programs are smooth in ``x`` and in what the references hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import dovetail.numpy as dnp
from dovetail import ref as dref

SHAPES = ((4, 3), (5,))


class Ops(NamedTuple):
    """What differs between references and arrays."""

    sin: Callable[[Any], Any]
    swap: Callable[..., Any]
    addupdate: Callable[..., None]
    outer: Callable[[Any, Any], Any]


def _swap(a: Any, index: Any, value: Any) -> Any:
    old = np.array(a[index])
    a[index] = value
    return old


REFS = Ops(dnp.sin, dref.swap, dref.addupdate, lambda x, shape: x * dnp.ones(shape))
ARRAYS = Ops(np.sin, _swap, np.add.at, lambda x, shape: x * np.ones(shape))

# An index is a function of a traced integer, so that dynamic ones occur.
INDICES: tuple[tuple[Callable[[Any], Any], ...], ...] = (
    (
        lambda i: ...,
        lambda i: 1,
        lambda i: (-1, 2),
        lambda i: slice(1, 3),
        lambda i: (slice(None, None, 2), 1),
        lambda i: i % 4,
        lambda i: (i % 4, slice(0, 2)),
        lambda i: (..., i % 3),
        lambda i: np.array([2, 0]),
        lambda i: (np.array([[0, 1], [2, 3]]), 2),
        lambda i: (slice(None, None, -1), None),
        lambda i: np.arange(12).reshape(4, 3) % 3 == 0,
    ),
    (
        lambda i: ...,
        lambda i: 0,
        lambda i: -2,
        lambda i: slice(3, None),
        lambda i: i % 5,
        lambda i: np.array([4, 1, 0]),
        lambda i: (None, slice(1, 4)),
        lambda i: np.array([True, False, True, True, False]),
    ),
)
KINDS = ("get", "set", "iadd", "swap", "addupdate", "repeat")


def draw(seed: int, length: int = 5) -> list[tuple[str, int, int, float]]:
    """Steps ``(kind, which reference, which index, weight)``."""
    rng = np.random.default_rng(seed)
    steps: list[tuple[str, int, int, float]] = []
    for _ in range(length):
        which = int(rng.integers(len(SHAPES)))
        index = int(rng.integers(len(INDICES[which])))
        weight = float(np.round(rng.uniform(0.3, 1.2), 3))
        steps.append((str(rng.choice(KINDS)), which, index, weight))
    return steps


def run(steps: Sequence[Any], ops: Ops, places: Sequence[Any], x: Any, i: Any) -> Any:
    """Run a program; returns a scalar that depends on what it read."""
    seen = x
    for kind, which, index, weight in steps:
        place, at = places[which], INDICES[which][index](i)
        value = ops.sin(weight * seen)
        if kind == "get":
            seen = seen + weight * ops.sin(place[at]).sum()
        elif kind == "set":
            place[at] = value
        elif kind == "iadd":
            place[at] += value
        elif kind == "swap":
            seen = seen + weight * ops.swap(place, at, value).sum()
        elif kind == "addupdate":
            ops.addupdate(place, at, value)
        else:  # one place twice: both are added
            ops.addupdate(place, np.array([1, 1, 0]), value)
    return seen


def start(seed: int, lanes: tuple[int, ...] = ()) -> list[Any]:
    """What the references hold at first."""
    rng = np.random.default_rng(1000 + seed)
    return [rng.uniform(-1, 1, (*lanes, *shape)) for shape in SHAPES]
