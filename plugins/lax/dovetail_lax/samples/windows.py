"""Samples of windowed reductions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dovetail_testing import Sample

from ..primitives.arithmetic import mul_p
from ..primitives.discrete import ge_p, le_p
from ..primitives.windows import (
    reduce_window_max_p,
    reduce_window_min_p,
    reduce_window_p,
    reduce_window_prod_p,
    reduce_window_sum_p,
    select_and_gather_add_p,
    select_and_scatter_add_p,
)
from .kinds import numbers
from .reductions import EMPTY, TIES, program, spaced


def _params(window: tuple[int, ...], **changes: Any) -> dict[str, Any]:
    ones = (1,) * len(window)
    return {
        "window_dimensions": window,
        "window_strides": ones,
        "padding": ((0, 0),) * len(window),
        "base_dilation": ones,
        "window_dilation": ones,
        **changes,
    }


LAYOUTS = (
    _params((2, 3)),
    _params((2, 2), window_strides=(2, 3), padding=((1, 0), (0, 2))),
    _params((3, 2), padding=((-1, 1), (2, -1))),
    _params((2, 2), base_dilation=(2, 3), padding=((1, 2), (0, 3)), window_strides=(1, 2)),
    _params((2, 2), window_dilation=(2, 3), window_strides=(2, 1)),
    _params((1, 1), padding=((-1, 0), (0, -2))),
    _params((1, 2), base_dilation=(3, 2), padding=((-1, -2), (1, -1))),
)


def _small(name: str, shape: tuple[int, ...], dtype: Any = "float32") -> Any:
    return numbers(name, (-2, 2), shape, dtype)


def _reductions() -> Iterator[Sample]:
    for primitive, values in (
        (reduce_window_sum_p, _small),
        (reduce_window_prod_p, _small),
        (reduce_window_max_p, spaced),
        (reduce_window_min_p, spaced),
    ):
        extremum = values is spaced
        for params in LAYOUTS:
            # A window of pads alone has an infinite extremum: no point to differentiate at.
            lonely = extremum and params["padding"] != ((0, 0), (0, 0))
            tags = TIES if lonely else frozenset()
            yield Sample(primitive, (values("windows", (4, 5), "float32"),), params, tags)
        for dtype in ("bfloat16", "int32", "int8"):
            yield Sample(primitive, (values("windows", (4, 5), dtype),), LAYOUTS[0])
        yield Sample(primitive, (values("windows", (1, 5), "float32"),), LAYOUTS[0], EMPTY)
        yield Sample(primitive, (values("windows", (0, 5), "float32"),), LAYOUTS[1], EMPTY)
        yield Sample(primitive, (values("windows", (), "float32")[()],), _params(()))
    for primitive in (reduce_window_max_p, reduce_window_min_p):
        ties = np.round(_small("ties", (5, 6)))
        yield Sample(primitive, (ties,), LAYOUTS[0], TIES, name="ties")
        yield Sample(primitive, (ties,), LAYOUTS[1], TIES, name="ties with pads")


def _selections() -> Iterator[Sample]:
    for i, (select, params) in enumerate(((ge_p, LAYOUTS[0]), (le_p, LAYOUTS[1]))):
        operand, tangents = spaced("select", (4, 5)), _small("tangents", (4, 5))
        chosen = {"select_prim": select, **params}
        yield Sample(select_and_gather_add_p, (tangents, operand), chosen)
        ties = np.round(_small("ties", (4, 5)))
        yield Sample(select_and_gather_add_p, (tangents, ties), chosen, TIES, name=f"ties {i}")
        plain = {k: v for k, v in chosen.items() if "dilation" not in k}
        source = _small("source", (3, 3) if i == 0 else (2, 2))
        yield Sample(select_and_scatter_add_p, (source, operand), plain)
        yield Sample(select_and_scatter_add_p, (source, ties), plain, TIES, name=f"ties {i}")
    holes = {"select_prim": ge_p, **LAYOUTS[4]}
    args = (_small("tangents", (4, 5)), spaced("select", (4, 5)))
    yield Sample(select_and_gather_add_p, args, holes)


def _programs() -> Iterator[Sample]:
    product = program(lambda x, y: [mul_p.bind(x, y)], "float32")
    x = _small("windows", (4, 5))
    # Pads are combined with initial values any number of times: these cannot vary where pads are.
    for params, tags in ((LAYOUTS[0], frozenset()), (LAYOUTS[1], TIES)):
        yield Sample(reduce_window_p, (x, np.float32(1)), {"jaxpr": product, **params}, tags)


def samples() -> Iterator[Sample]:
    """Samples of these primitives."""
    yield from _reductions()
    yield from _selections()
    yield from _programs()
