"""Samples of branches and loops: each kind of operand and result, and each by the others' side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dovetail_core import ClosedJaxpr, stage_closed, typeof
from dovetail_testing import Sample

from ..primitives.arithmetic import add_p, mul_p, neg_p
from ..primitives.composite import composite_p
from ..primitives.control_flow import cond_p, platform_dependent_p, scan_p, while_p
from ..primitives.discrete import lt_p
from ..primitives.reductions import reduce_sum_p
from ..primitives.shape import broadcast_in_dim_p
from ..primitives.taken import taken_p
from ..primitives.transcendental import cos_p, sin_p
from ..primitives.values import convert_element_type_p

F32, I32 = np.dtype(np.float32), np.dtype(np.int32)
X = np.array([0.3, -1.2, 0.8], F32)
XS = np.array([[0.7, 0.4, -0.6], [1.1, -0.3, 0.2], [0.5, 0.9, -0.8], [-0.4, 0.6, 1.3]], F32)
ZERO, ONE = np.int32(0), np.int32(1)


def samples() -> Iterator[Sample]:
    """Programs with one of the primitives, some of them nested."""
    yield from _branches()
    yield from _scans()
    yield from _nested()
    yield from _open_ended()


def program(f: Callable[..., Sequence[Any]], *args: Any) -> ClosedJaxpr:
    """``f`` at the types of ``args``."""
    return stage_closed(f, [typeof(x) for x in args], getattr(f, "__name__", ""))


def _branches() -> Iterator[Sample]:
    def grow(x: Any, y: Any) -> list[Any]:
        return [sin_p.bind(mul_p.bind(x, y)), y]

    def constant(x: Any, y: Any) -> list[Any]:
        return [np.full(3, 2, F32), mul_p.bind(y, np.float32(3))]

    def swap(x: Any, y: Any) -> list[Any]:
        return [y, x]

    branches = tuple(program(f, X, 2 * X) for f in (grow, constant, swap))
    for index in range(3):
        yield Sample(cond_p, (np.int32(index), X, 2 * X), {"branches": branches})
    none = tuple(program(f) for f in (lambda: [np.float32(1)], lambda: [np.float32(2)]))
    yield Sample(cond_p, (ONE,), {"branches": none}, name="no operands")
    one = {"branches": (program(grow, X, X),)}
    yield Sample(cond_p, (ZERO, X, 2 * X), one, name="one branch")
    empty = np.zeros((0, 2), F32)
    pair = {"branches": tuple(program(f, empty, empty) for f in (grow, swap))}
    yield Sample(cond_p, (ONE, empty, empty), pair, frozenset({"empty"}))
    chosen = {"branches": branches[:2], "platforms": (("acme",), None)}
    yield Sample(platform_dependent_p, (X, 2 * X), chosen)
    # Of elements that do not take a branch the derivative is zero, while the operand is the result.
    where, rows = np.array([1, 1], np.int32), np.arange(6, dtype=F32).reshape(2, 3) + 1
    for zeroed in (False, True):
        taken = {"case": 1, "positions": ((None,), (0,)), "zeroed": zeroed}
        yield Sample(taken_p, (where, rows[0], rows), taken)
    yield Sample(taken_p, (ONE, X), {"case": 1, "positions": ((),), "zeroed": False})
    named = {"program": branches[0], "name": "acme.grow", "version": 1, "attributes": (("by", 2),)}
    yield Sample(composite_p, (X, 2 * X), named)


def _scan(
    f: Callable[..., Sequence[Any]],
    consts: Sequence[Any],
    carry: Sequence[Any],
    xs: Sequence[Any],
    name: str,
    **changed: Any,
) -> Sample:
    slices = [np.zeros(np.shape(x)[1:], x.dtype)[()] for x in xs]
    params = {
        "jaxpr": program(f, *consts, *carry, *slices), "length": len(xs[0]) if xs else 3,
        "reverse": False, "unroll": 1, "num_consts": len(consts), "num_carry": len(carry),
    }  # fmt: skip
    tags = frozenset({"empty"}) if {**params, **changed}["length"] == 0 else frozenset[str]()
    return Sample(scan_p, (*consts, *carry, *xs), {**params, **changed}, tags, name)


def step(w: Any, c: Any, x: Any) -> list[Any]:
    """A constant, a carried value, a slice; a carried value and a stacked one."""
    new = sin_p.bind(add_p.bind(mul_p.bind(w, c), x))
    return [new, mul_p.bind(new, x)]


def _scans() -> Iterator[Sample]:
    yield _scan(step, [X / 2], [X], [XS], "all kinds")
    yield _scan(step, [X / 2], [X], [XS], "all kinds, backwards", reverse=True)
    yield _scan(step, [X / 2], [X], [XS], "all kinds, unrolled", unroll=3)
    yield _scan(step, [X / 2], [X], [XS[:0]], "no step")
    yield _scan(lambda c: [cos_p.bind(c)], [], [X], [], "a carried value alone")
    yield _scan(lambda x: [sin_p.bind(x)], [], [], [XS], "slices alone")
    yield _scan(lambda w: [neg_p.bind(w)], [X], [], [], "a constant alone")

    def turns(w: Any, a: Any, b: Any, c: Any, i: Any, x: Any) -> list[Any]:
        """A loop in which the first slice reaches each carried value after another step."""
        scaled = mul_p.bind(w, convert_element_type_p.bind(i, new_dtype=F32, weak_type=False))
        return [x, a, b, add_p.bind(i, ONE), add_p.bind(c, scaled), w]

    start = [np.float32(v) for v in (1, 2, 3)]
    yield _scan(turns, [np.float32(0.5)], [*start, ZERO], [XS[:, 0]], "values that move on")


def _nested() -> Iterator[Sample]:
    inner = program(step, X / 2, X, X)
    branches = tuple(
        program(lambda c, op=op: [op.bind(c)], X)  # type: ignore[misc]
        for op in (sin_p, neg_p)
    )

    def both(w: Any, c: Any, x: Any) -> list[Any]:
        rows = broadcast_in_dim_p.bind(x, shape=(2, 3), broadcast_dimensions=(1,))
        c, ys = scan_p.bind(
            w, c, rows, jaxpr=inner, length=2, reverse=True, unroll=1, num_consts=1, num_carry=1
        )
        index = convert_element_type_p.bind(
            lt_p.bind(reduce_sum_p.bind(x, axes=(0,)), np.float32(0.8)),  # far from all sums
            new_dtype=I32, weak_type=False,
        )  # fmt: skip
        (c,) = cond_p.bind(index, c, branches=branches)
        return [c, reduce_sum_p.bind(ys, axes=(0,))]

    yield _scan(both, [X / 2], [X], [XS], "a loop and branches inside")


def _open_ended() -> Iterator[Sample]:
    """Loops of unknown length have no transpose."""

    def goes_on(i: Any, c: Any) -> list[Any]:
        return [lt_p.bind(i, np.int32(3))]

    def body(w: Any, i: Any, c: Any) -> list[Any]:
        return [add_p.bind(i, ONE), sin_p.bind(mul_p.bind(w, c))]

    def small(limit: Any, c: Any) -> list[Any]:
        return [lt_p.bind(reduce_sum_p.bind(c, axes=(0,)), limit)]

    def grow(w: Any, c: Any) -> list[Any]:
        return [add_p.bind(mul_p.bind(c, w), np.float32(1))]

    limit = [np.float32(20)]
    for name, limits, w, carry, condition, f in (
        ("a count", [], 2 * X, [ZERO, X], goes_on, body),
        ("no step", [], 2 * X, [np.int32(5), X], goes_on, body),
        ("until a sum is reached", limit, np.full(3, 1.5, F32), [X], small, grow),
    ):
        params = {
            "cond_jaxpr": program(condition, *limits, *carry), "cond_nconsts": len(limits),
            "body_jaxpr": program(f, w, *carry), "body_nconsts": 1,
        }  # fmt: skip
        yield Sample(while_p, (*limits, w, *carry), params, frozenset({"open-ended"}), name)
