"""Primitives on typed keys: their types. ``rules/lowering.py`` lowers them to the words of keys."""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive, ShapedArray, here

from .implementations import Implementation, KeyType
from .keys import UINTS

random_seed_p = Primitive("random_seed")
"""Keys of an array of integers, each a seed."""
random_wrap_p = Primitive("random_wrap")
"""Keys of raw ones, a uint32 array whose last axis is that of the words."""
random_unwrap_p = Primitive("random_unwrap")
"""Raw keys of typed ones."""
random_clone_p = Primitive("random_clone")
"""The same keys, to be used again."""
random_split_p = Primitive("random_split")
"""For each key an array of new ones, of ``shape``: its axes follow those of the keys."""
random_fold_in_p = Primitive("random_fold_in")
"""For each key and the unsigned integer at its index a new key; scalars are for all indices."""
random_bits_p = Primitive("random_bits")
"""For each key an array of random bits, of ``shape``: its axes follow those of the keys."""

for _primitive in (random_seed_p, random_wrap_p):  # which make keys of lowered types
    _primitive.is_high = lambda **params: True
for _primitive in (random_seed_p, random_wrap_p, random_split_p, random_bits_p):
    _primitive.def_traits(
        parameters={
            "bit_width": "bits of an element of the result",
            "impl": "the generator that makes the keys",
            "partitionable": "False: threefry arranges its bits as without threefry_partitionable",
            "shape": "shape of what each key makes",
        }
    )


def _dtype(name: str, keys: ShapedArray) -> KeyType:
    dtype: Any = keys.dtype
    if not isinstance(dtype, KeyType):
        raise TypeError(
            f"{name} takes typed keys, got {keys.str_short()}{here()}. Make them with "
            "dovetail.random.key(seed), or of raw ones with wrap_key_data."
        )
    return dtype


@random_seed_p.def_abstract_eval
def _seed_type(seeds: ShapedArray, *, impl: Implementation) -> ShapedArray:
    return ShapedArray(seeds.shape, impl.dtype)


@random_wrap_p.def_abstract_eval
def _wrap_type(raw: ShapedArray, *, impl: Implementation) -> ShapedArray:
    if raw.dtype != UINTS[32] or raw.shape[-1:] != (impl.words,):
        raise TypeError(
            f"random_wrap takes uint32 arrays whose last axis has length {impl.words} (of "
            f"{impl.name!r}), got {raw.str_short()}{here()}"
        )
    return ShapedArray(raw.shape[:-1], impl.dtype)


@random_unwrap_p.def_abstract_eval
def _unwrap_type(keys: ShapedArray) -> ShapedArray:
    return ShapedArray((*keys.shape, _dtype("random_unwrap", keys).impl.words), UINTS[32])


@random_clone_p.def_abstract_eval
def _clone_type(keys: ShapedArray) -> ShapedArray:
    _dtype("random_clone", keys)
    return keys


@random_split_p.def_abstract_eval
def _split_type(
    keys: ShapedArray, *, shape: tuple[int, ...], partitionable: bool = True
) -> ShapedArray:
    return ShapedArray((*keys.shape, *shape), _dtype("random_split", keys))


@random_fold_in_p.def_abstract_eval
def _fold_in_type(keys: ShapedArray, data: ShapedArray) -> ShapedArray:
    _dtype("random_fold_in", keys)
    if data.dtype != UINTS[32] or len({a.shape for a in (keys, data)} - {()}) > 1:
        raise TypeError(
            "random_fold_in takes keys and uint32 integers of one shape, or scalars, got "
            f"{keys.str_short()} and {data.str_short()}{here()}"
        )
    return ShapedArray(keys.shape or data.shape, keys.dtype)


@random_bits_p.def_abstract_eval
def _bits_type(
    keys: ShapedArray, *, bit_width: int, shape: tuple[int, ...], partitionable: bool = True
) -> ShapedArray:
    _dtype("random_bits", keys)
    return ShapedArray((*keys.shape, *shape), UINTS[bit_width])
