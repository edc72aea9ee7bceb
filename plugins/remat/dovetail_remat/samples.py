"""Sample inputs of the primitives of this plugin, for tests by the matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dovetail_core import algebra, stage_closed, typeof
from dovetail_testing import Sample

from .primitive import name_p, place_p, remat_p

_X = np.linspace(-1.0, 1.5, 6, dtype=np.float32).reshape(2, 3)


def samples() -> Iterator[Sample]:
    """The samples of all primitives."""
    for x in (_X, np.float32(2), np.arange(3, dtype=np.int32), np.zeros((0, 2), np.float32)):
        tags = frozenset({"empty"}) if np.size(x) == 0 else frozenset[str]()
        yield Sample(name_p, (x,), {"name": "value"}, tags)
        yield Sample(place_p, (x,), {"src": "device", "dst": "pinned_host"}, tags)
    for barrier in (True, (False, True)):
        yield Sample(remat_p, (_X, 2 * _X), _call(barrier, differentiated=False))
    yield Sample(remat_p, (_X, 2 * _X), _call((True, False), differentiated=True))


def _call(barrier: Any, differentiated: bool) -> dict[str, Any]:
    def f(x: Any, y: Any) -> list[Any]:
        s = algebra().add(x, y)
        return [algebra().add(s, y), name_p.bind(x, name="x")]

    program = stage_closed(f, [typeof(_X)] * 2, "f")
    return {
        "jaxpr": program, "policy": None, "prevent_cse": barrier,
        "differentiated": differentiated,
    }  # fmt: skip
