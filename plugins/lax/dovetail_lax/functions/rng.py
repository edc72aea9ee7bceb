"""Random bits from the backend's own generators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_base.foreign import reword_errors
from dovetail_core import type_shardings

from ..dtypes import as_dtype
from ..primitives.rng import RandomAlgorithm, rng_bit_generator_p, rng_uniform_p
from .creation import sizes
from .operands import Array, ArrayLike, check, operands


@reword_errors
def rng_bit_generator(
    key: ArrayLike,
    shape: Sequence[int],
    dtype: Any = "uint32",
    algorithm: RandomAlgorithm = RandomAlgorithm.RNG_DEFAULT,
    *,
    out_sharding: Any = None,
) -> tuple[Array, Array]:
    """The generator's next state, and random bits of ``shape`` and an unsigned ``dtype``.

    ``key`` is the state, ``uint32[4]`` or ``uint64[2]``. The same state gives the same bits on the
    same backend and version only. Under ``vmap`` the first state draws all bits, and is the only
    one that changes.
    """
    check("rng_bit_generator", key)
    state, bits = rng_bit_generator_p.bind(
        key, shape=sizes(shape), dtype=as_dtype(dtype), algorithm=RandomAlgorithm(algorithm)
    )
    if out_sharding is not None:
        bits = type_shardings.with_out_sharding(out_sharding, lambda x: x, bits)
    return state, bits


@reword_errors
def rng_uniform(a: ArrayLike, b: ArrayLike, shape: Sequence[int]) -> Array:
    """Uniform numbers in ``[a, b)``, from hidden state of the backend: not reproducible."""
    return rng_uniform_p.bind(*operands("rng_uniform", (a, b)), shape=sizes(shape))
