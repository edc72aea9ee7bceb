"""Primitives that draw random bits by the backend's own generators."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from dovetail_core import Primitive, ShapedArray, here

from ..dtypes import kind_of
from ..errors import DtypeError
from .elementwise import FLOATING, INTEGER, reject
from .traits import describe


class RandomAlgorithm(IntEnum):
    """Generators of ``lax.rng_bit_generator``; the default is the backend's choice."""

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2


rng_bit_generator_p = Primitive("rng_bit_generator", multiple_results=True)
"""A generator's next state and random bits of ``shape`` and unsigned ``dtype``."""

_STATES = {("uint32", (4,)), ("uint64", (2,))}
_BITS = ("uint8", "uint16", "uint32", "uint64")


@rng_bit_generator_p.def_abstract_eval
def _rng_bit_generator(
    key: ShapedArray, *, shape: tuple[int, ...], dtype: Any, algorithm: RandomAlgorithm
) -> list[ShapedArray]:
    if (str(key.dtype), key.shape) not in _STATES:
        raise TypeError(
            f"lax.rng_bit_generator takes a state of type u32[4] or u64[2], got {key.str_short()}"
            f"{here()}"
        )
    if str(dtype) not in _BITS:
        raise TypeError(
            f"lax.rng_bit_generator draws {', '.join(_BITS)}, not {dtype}{here()}. Convert what "
            "it draws (lax.bitcast_convert_type)."
        )
    return [key.strong(), ShapedArray(shape, dtype)]


rng_uniform_p = Primitive("rng_uniform")
"""Uniform random numbers in ``[a, b)`` from the backend's hidden state; not reproducible."""


@rng_uniform_p.def_abstract_eval
def _rng_uniform(a: ShapedArray, b: ShapedArray, *, shape: tuple[int, ...]) -> ShapedArray:
    if a.dtype != b.dtype:
        raise DtypeError(
            f"lax.rng_uniform takes bounds of one dtype, got {a.str_short()} and {b.str_short()}"
            f"{here()}. Convert one of them."
        )
    if kind_of(a.dtype) not in (*INTEGER, *FLOATING):
        reject("rng_uniform", a, (*INTEGER, *FLOATING))
    if a.shape or b.shape:
        raise ValueError(
            f"lax.rng_uniform takes scalar bounds, got {a.str_short()} and {b.str_short()}{here()}"
        )
    return ShapedArray(shape, a.dtype)


describe(__name__)
