"""Differentiation of copies, barriers and random bits, and its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules

from ...primitives.identity import copy_p, optimization_barrier_p, stop_gradient_p
from ...primitives.rng import rng_bit_generator_p, rng_uniform_p
from .kinds import linear, zero

linear(copy_p)
zero(stop_gradient_p)
zero(rng_bit_generator_p)
zero(rng_uniform_p)


@jvp_rules.register(optimization_barrier_p)
def _optimization_barrier(
    primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    outs = optimization_barrier_p.bind(*primals)
    nonzero = [t for t in tangents if t is not None]
    moved = iter(optimization_barrier_p.bind(*nonzero))
    return outs, [None if t is None else next(moved) for t in tangents]
