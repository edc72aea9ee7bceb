"""Proposing again and again until all elements are accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail_lax as lax

from ..arguments import (
    Shape,
    parameter,
)
from ..keys import Key
from .uniform import nonzero, split_keys, unit

F32 = np.dtype(np.float32)


I32 = np.dtype(np.int32)


LARGE = 10.0
"""From this mean on the rejection methods are quicker than counting, and are valid."""


def until_accepted(
    keys: Key,
    propose: Callable[[Any, Any], tuple[Any, Any]],
    shape: Shape,
    dtype: Any,
    limit: int,
) -> Any:
    """The first accepted proposal of each element: each takes u in [-1/2, 1/2) and v in (0, 1)."""

    def more(state: Any) -> Any:
        missing = lax.reduce_or_p.bind(lax.bitwise_not(state[2]), axes=tuple(range(len(shape))))
        return lax.bitwise_and(missing, lax.lt(state[0], I32.type(limit)))

    def step(state: Any) -> Any:
        i, k_out, accepted, key = state
        again, of_u, of_v = split_keys(key, 3)
        u = lax.sub(unit(of_u, shape, dtype), dtype.type(0.5))
        k, accept = propose(u, nonzero(unit(of_v, shape, dtype)))  # 0 would accept whatever it is
        k_out = lax.select(accept, k, k_out)
        return lax.add(i, I32.type(1)), k_out, lax.bitwise_or(accepted, accept), again

    start = (I32.type(0), lax.full(shape, -1, dtype), lax.full(shape, False), keys)
    return lax.while_loop(more, step, start)[1]


def filled(x: Any, shape: Shape, dtype: Any) -> Any:
    """A parameter as an array of the dtype and shape of the draw."""
    x = parameter(x, dtype, shape)
    return x if hasattr(x, "aval") and x.shape == shape else lax.full(shape, x, dtype)
