"""Division of keys, and of numbers drawn with them, among devices."""

from __future__ import annotations

from typing import Any

from dovetail_sharding.types import (
    Application,
    Parts,
    elementwise,
    infer_rules,
    same,
    undivided_along,
)

from .. import primitives
from ..draws.gamma import random_gamma_p

infer_rules.set(primitives.random_seed_p, same)
infer_rules.set(primitives.random_clone_p, same)
infer_rules.set(primitives.random_fold_in_p, elementwise)
infer_rules.set(random_gamma_p, elementwise)


@infer_rules.register(primitives.random_wrap_p)
def _random_wrap(app: Application, /, **params: Any) -> Parts:
    parts = app.parts(0)
    undivided_along(app, [len(parts) - 1])
    return parts[:-1]


def _longer(app: Application, /, **params: Any) -> Parts:
    """The rule of several results for each key: their dimensions follow those of the keys."""
    parts = app.parts(0)
    return (*parts, *[None] * (app.outs[0].ndim - len(parts)))


for _p in (primitives.random_unwrap_p, primitives.random_split_p, primitives.random_bits_p):
    infer_rules.set(_p, _longer)
