"""Samples of the primitives for checkpointed loops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import ClosedJaxpr, ShapedArray, stage_closed
from dovetail_testing import Sample

from .description import Loop
from .primitives import loop_p, reverse_p
from .schemes import Binomial, Online, Periodic
from .second import second_p

VECTOR, SCALAR = ShapedArray((2,), np.float32), ShapedArray((), np.float32)
W, C = np.float32(0.75), np.array([0.5, -0.25], np.float32)
XS = np.array([0.5, 1.0, -0.5, 0.25, 2.0], np.float32)


def _body() -> ClosedJaxpr:
    """From w, c and x to the next c and a ``y``."""

    def body(w: Any, c: Any, x: Any) -> list[Any]:
        new = lax.sin(lax.mul(lax.add(c, x), w))
        return [new, lax.mul(new, new)]

    return stage_closed(body, [SCALAR, VECTOR, SCALAR], "body")


def _linear_body() -> ClosedJaxpr:
    """The body beside its derivative along tangents w', c': of w, w', c, c', x."""

    def body(w: Any, v: Any, c: Any, d: Any, x: Any) -> list[Any]:
        moved = lax.add(c, x)
        angle = lax.mul(moved, w)
        change = lax.mul(lax.cos(angle), lax.add(lax.mul(d, w), lax.mul(moved, v)))
        return [lax.sin(angle), change, lax.mul(change, c)]

    return stage_closed(body, [SCALAR, SCALAR, VECTOR, VECTOR, SCALAR], "linear_body")


def _counting() -> tuple[ClosedJaxpr, ClosedJaxpr]:
    """A loop that goes on until its first carry is 4."""
    avals = [SCALAR, SCALAR, VECTOR]
    test = stage_closed(lambda w, k, c: [lax.lt(k, np.float32(4))], avals, "condition")
    step = stage_closed(
        lambda w, k, c: [lax.add(k, np.float32(1)), lax.sin(lax.mul(c, w))], avals, "step"
    )
    return test, step


def samples() -> Iterator[Sample]:
    """Scans forward and backward, a loop with a condition, and their reverse passes."""
    for scheme, reverse in ((Binomial(2), False), (Online(1), True), (Periodic(2), True)):
        loop = Loop(_body(), None, 1, 1, 5, reverse, 1, scheme)
        yield Sample(loop_p, (W, C, XS), loop.params)
    test, step = _counting()
    loop = Loop(step, test, 1, 2, None, False, 1, Online(2))
    yield Sample(loop_p, (W, np.float32(0.5), C), loop.params)
    loop = Loop(_linear_body(), None, 2, 2, 5, False, 1, Binomial(2))
    unknown = (False, True, False, True, False)
    own: dict[str, Any] = {"unknown": unknown, "given": (True,), "cached": False}
    cts = C[::-1].copy(), np.linspace(-1, 1, 10, dtype=np.float32).reshape(5, 2)
    operands = (W, C, XS, *cts)
    yield Sample(reverse_p, operands, {**loop.params, **own})
    for dotted, rest in (((True, True, False, True, False), False), ((True,) * 5, True)):
        dots = [x for x, dot in zip(operands, dotted) if dot]
        params = {**loop.params, **own, "dotted": dotted, "rest": rest}
        yield Sample(second_p, (*operands, *dots), params)
