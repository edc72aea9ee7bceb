"""Sample programs that make and use references, for tests by the matrix.

The primitives of references take references, which cannot be operands of samples; so the samples
are calls of programs that make references.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import stage_closed, typeof
from dovetail_jit import jit_p
from dovetail_testing import Sample

from .functions import addupdate, empty_ref, freeze, new_ref, set, swap


def _plain(x: Any, y: Any) -> list[Any]:
    ref, other = new_ref(x), empty_ref(typeof(x))
    ref[1:3] = y[:2] * ref[0]
    other[...] = lax.sin(ref[...])
    old = swap(other, 0, ref[2])
    addupdate(ref, np.array([1, 1, 3]), y[:3])
    return [freeze(ref), other[...], old]


def _looped(x: Any, y: Any) -> list[Any]:
    ref = new_ref(x)

    def body(c: Any, row: Any) -> tuple[Any, Any]:
        addupdate(ref, 0, lax.sin(c * row))
        return ref[0] + row, ref[...]

    c, rows = lax.scan(body, y[0], y)
    return [c, rows, freeze(ref)]


def _branched(x: Any, y: Any) -> list[Any]:
    ref = new_ref(y)

    def write(v: Any) -> Any:
        ref[...] = ref[...] * v
        return v.sum()

    out = lax.cond(y[0] > -10, write, lambda v: v[0], x)
    set(ref, 0, out)
    return [freeze(ref)]


def samples() -> Iterator[Sample]:
    """Programs that read and write references in sequence, in a loop, and in a branch."""
    x = np.array([0.3, -1.2, 0.8, 0.5], np.float32)
    y = np.array([0.7, 0.4, -0.6, 1.1], np.float32)
    programs: list[Callable[..., list[Any]]] = [_plain, _looped, _branched]
    for f in programs:
        name = f.__name__.strip("_")
        program = stage_closed(f, [typeof(x), typeof(y)], name)
        params = {"jaxpr": program, "name": name, "donated_invars": (False, False)}
        yield Sample(jit_p, (x, y), params, name=f"references, {name}")
