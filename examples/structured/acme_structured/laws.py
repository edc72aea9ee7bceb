"""The law of the rule table: structured arrays give what their dense arrays give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dovetail_core import lower_to_lo, lower_values, registry, stage_closed, typeof
from dovetail_testing import Sample, assert_close, law, skip

from .interpreter import dense, structured
from .structures import COO, Diagonal, LoRA, Zeros

Case = tuple[Any, np.ndarray[Any, Any]]


@law("structured", without=("random", "open-ended", "extreme", "tame"))
def structured_law(sample: Sample) -> None:
    """Each operand in turn, and all at once, are arrays of each structure that fits."""
    found = [list(_cases(aval, i)) for i, aval in enumerate(sample.avals)]
    if not any(found):
        skip("no operand is an array of floating-point numbers")
    if sample.primitive.traits.effect_only:
        skip("it computes no value")
    chosen = [{i: case} for i, cases in enumerate(found) for case in cases]
    if sum(map(bool, found)) > 1:
        widest = max(map(len, found))
        chosen += [{i: c[k % len(c)] for i, c in enumerate(found) if c} for k in range(widest)]
    for some in chosen:
        _try(sample, some)


def _try(sample: Sample, chosen: dict[int, Case]) -> None:
    args = [chosen[i][0] if i in chosen else x for i, x in enumerate(sample.args)]
    plain = [chosen[i][1] if i in chosen else x for i, x in enumerate(sample.args)]
    what = ", ".join(f"operand {i} is {case[0]}" for i, case in chosen.items())
    wanted = _evaluate(sample.flat, plain)
    size = [float(np.abs(x).max(initial=0.0)) for x in plain if np.asarray(x).dtype.kind == "f"]
    scale = max(sample.scale, *size, 1.0) ** 2
    outs = _evaluate(lambda *xs: [dense(y) for y in structured(sample.flat)(*xs)], args)
    for y, want in zip(outs, wanted):
        assert_close(_with_signs(y, want), want, what, factor=256, scale=scale)


def _with_signs(y: Any, want: Any) -> Any:
    """``y`` with the signs of ``want`` where both are infinite: the zeros that a structure implies
    have none, so that quotients by them may be of either sign."""
    return np.where(np.isinf(y) & np.isinf(want), want, y).astype(y.dtype)


def _evaluate(f: Any, args: list[Any]) -> list[Any]:
    """By the reference backend, so that nothing is compiled."""
    program = lower_to_lo(stage_closed(f, [typeof(x) for x in args], "law"))
    arrays = [np.asarray(x) for x in lower_values(args, "an operand of the law")]
    return [np.asarray(y) for y in registry().backend("reference").run(program, arrays)]


def _cases(aval: Any, seed: int) -> Iterator[Case]:
    """Structured arrays of a type, with small integers in them, and their dense arrays."""
    dtype: Any = getattr(aval, "dtype", None)
    if getattr(dtype, "kind", "") != "f" or dtype.itemsize < 4 or 0 in aval.shape:
        return
    yield Zeros(np.zeros(0, dtype), aval.shape), np.zeros(aval.shape, dtype)
    if len(aval.shape) != 2:
        return
    rng = np.random.default_rng(seed)
    m, n = aval.shape
    draw = lambda *shape: rng.integers(-2, 3, shape).astype(dtype)  # noqa: E731
    w, a, b = draw(m, n), draw(m, 1), draw(1, n)
    yield LoRA(w, a, b), w + a @ b
    places, data = np.stack([rng.integers(0, m, 3), rng.integers(0, n, 3)], 1), draw(3)
    entries = np.zeros((m, n), dtype)
    np.add.at(entries, tuple(places.T), data)
    yield COO(data, places.astype(np.int32), (m, n)), entries
    if m == n:
        d = draw(n)
        yield Diagonal(d), np.diag(d)
