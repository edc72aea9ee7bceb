"""Functions of one sparse array over axes that batch several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dovetail_numpy as dnp
from dovetail_batching import vmap


def over_batches(f: Callable[..., Any], n_batch: int) -> Callable[..., Any]:
    """``f`` mapped over the first ``n_batch`` axes of its arguments."""
    for _ in range(n_batch):
        f = vmap(f)
    return f


def broadcast_batches(shape: tuple[int, ...], *arrays: Any) -> tuple[Any, ...]:
    """``arrays`` with their first axes broadcast to ``shape``."""
    n = len(shape)
    return tuple(dnp.broadcast_to(x, shape + x.shape[n:]) for x in arrays)
