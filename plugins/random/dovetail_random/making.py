"""Making keys: from seeds, from other keys, and from their words."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.arguments import array_of
from dovetail_core import EVAL, Tracer, canonical_dtype, get_trace, here
from dovetail_jit import fused

from . import primitives
from .arguments import (
    check_key,
    check_words,
    is_typed,
    open_key,
    shape_of,
    unwrapped,
    wrapped,
)
from .generators import enable_custom_prng, implementation, random_seed_offset
from .implementations import Implementation, KeyType
from .keys import UINTS, Key, KeyArray
from .threefry import how_drawn

U32 = UINTS[32]


def key(seed: Any, *, impl: Any = None, dtype: Any = None) -> Key:
    """A typed key made of a seed.

    Args:
        seed: a scalar integer; 64 bits of it count if 64-bit types are enabled, else 32.
        impl: the generator: ``"threefry2x32"``, ``"threefry4x32"``, ``"philox2x32"``,
            ``"philox4x32"``, ``"rbg"`` or ``"unsafe_rbg"``; by default that
            of the option ``default_prng_impl``.
        dtype: the dtype of keys of the generator, instead of ``impl``.

    Raises:
        TypeError: the seed is not an integer, or not a scalar.
        ValueError: there is no such generator, or both ``impl`` and ``dtype`` are given.
    """
    return _seeded("key", seed, _implementation("key", impl, dtype))


def PRNGKey(seed: Any, *, impl: Any = None) -> Any:
    """A raw key made of a seed: a uint32 array of its words (see :func:`key`).

    With the option ``enable_custom_prng`` it is a typed key.
    """
    chosen = implementation(impl)
    if enable_custom_prng.value:
        return _seeded("PRNGKey", seed, chosen)
    seed = _integer_scalar("PRNGKey", seed)
    if get_trace() is EVAL and isinstance(seed, np.generic):
        return dnp.asarray(np.stack(chosen.seed(seed)).reshape(chosen.key_shape))
    return _raw_seeded(seed, impl=chosen)


def _implementation(name: str, impl: Any, dtype: Any) -> Implementation:
    if dtype is None:
        return implementation(impl)
    if impl is not None:
        raise ValueError(f"{name}: give impl or dtype, not both{here()}")
    if not isinstance(dtype, KeyType):
        raise ValueError(
            f"{name}: dtype must be a dtype of keys, such as dovetail.random.key_dtype(), got "
            f"{dtype!r}{here()}"
        )
    return dtype.impl


def _seeded(name: str, seed: Any, impl: Implementation) -> Key:
    seed = _integer_scalar(name, seed)
    if get_trace() is EVAL and isinstance(seed, np.generic):
        return KeyArray(impl.dtype, tuple([dnp.asarray(word) for word in impl.seed(seed)]))
    return primitives.random_seed_p.bind(seed, impl=impl)


@fused(static=("impl",))
def _raw_seeded(seed: Any, *, impl: Implementation) -> Any:
    return unwrapped(primitives.random_seed_p.bind(seed, impl=impl))


def _integer_scalar(name: str, seed: Any) -> Any:
    if isinstance(seed, int):
        if not -(1 << 63) <= seed < 1 << 63:
            raise OverflowError(
                f"{name}: the seed {seed} does not fit into 64 bits{here()}. Take its remainder by "
                "2**63, or fold the rest in with dovetail.random.fold_in."
            )
        seed = np.int64(seed)
    dtype = getattr(seed, "dtype", None)
    if dtype is None or isinstance(dtype, KeyType) or np.dtype(dtype).kind not in "iub":
        raise TypeError(
            f"{name}: a seed is an integer, got {seed!r} of type {type(seed).__name__}{here()}"
        )
    if seed.shape != ():
        raise TypeError(
            f"{name}: a seed is a scalar, got an array of shape {seed.shape}{here()}. Use "
            "dovetail.vmap to make a key of each element."
        )
    if isinstance(seed, (np.ndarray, np.generic)):
        seed = np.asarray(seed).astype(canonical_dtype(dtype))[()]
    return _offset(seed) if random_seed_offset.value else seed


def _offset(seed: Any) -> Any:
    """A seed plus the option's offset, in the seed's own type, which may wrap around."""
    if seed.dtype.kind == "b":
        seed = seed.astype(canonical_dtype(np.int64))
    offset = np.asarray(random_seed_offset.value).astype(seed.dtype)
    if not isinstance(seed, np.generic):
        return lax.add(seed, offset[()])
    return np.add(np.reshape(seed, (1,)), offset)[
        0
    ]  # NumPy warns of scalars that wrap, not of arrays


def split(key: Any, num: Any = 2) -> Any:
    """New keys made of one; it must not be used any more.

    Args:
        key: a typed or a raw key.
        num: how many keys, or the shape of the array of keys.

    Returns:
        Keys of the kind of ``key``: a typed array of shape ``num``, or raw keys of shape
        ``(*num, words)``.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or ``num`` is not a shape.
    """
    is_scalar = getattr(num, "shape", None) == () and not isinstance(num, Tracer)
    count: Any = index(num) if is_scalar else num
    shape = (count,) if count.__class__ is int and count >= 0 else shape_of("split", count)
    key = check_key("split", key)
    if is_typed(key):
        return primitives.random_split_p.bind(key, shape=shape, **how_drawn())
    return _raw_split(key, shape=shape)


@fused(static=("shape",))
def _raw_split(key: Any, *, shape: tuple[int, ...]) -> Any:
    return unwrapped(primitives.random_split_p.bind(open_key(key), shape=shape, **how_drawn()))


def fold_in(key: Any, data: Any) -> Any:
    """A new key made of one and a number.

    Args:
        key: a typed or a raw key.
        data: a scalar integer; it counts modulo 2**32.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or ``data`` is not a scalar.
        OverflowError: ``data`` is a Python integer of more than 32 bits or below zero.
    """
    key = check_key("fold_in", key)
    fold = _fold_in if is_typed(key) else _raw_fold_in
    return fold(key, _word(data))


def _word(data: Any) -> Any:
    if isinstance(data, int):
        if not 0 <= data < 1 << 32:
            raise OverflowError(
                f"fold_in: the integer {data} is not one of uint32{here()}. Take its "
                f"remainder by 2**32."
            )
        return U32.type(data)
    data = array_of(data)
    if isinstance(data, float):
        return U32.type(int(data))
    is_scalar = getattr(data, "shape", None) == () and hasattr(data, "dtype")
    if not is_scalar or isinstance(data.dtype, KeyType):
        what = f"an array of shape {data.shape}" if hasattr(data, "dtype") else repr(data)
        raise TypeError(
            f"fold_in takes a scalar as data, got {what}{here()}. Use dovetail.vmap to "
            f"fold in several."
        )
    if isinstance(data, (np.ndarray, np.generic)):
        return np.asarray(data).astype(U32)[()]
    return data


@fused()
def _fold_in(key: Any, data: Any) -> Any:
    if data.dtype != U32:
        data = lax.convert_element_type(data, U32)
    return primitives.random_fold_in_p.bind(key, data)


@fused()
def _raw_fold_in(key: Any, data: Any) -> Any:
    return unwrapped(_fold_in(open_key(key), data))


def key_data(keys: Any) -> Any:
    """The words of keys: a uint32 array of shape ``(*keys.shape, *key_shape)``. Raw keys stay.

    ``key_shape`` is that of their generator: ``(2,)`` for threefry.

    Raises:
        TypeError: ``keys`` are no keys.
    """
    keys = array_of(keys)
    if is_typed(keys):
        return unwrapped(keys)
    check_words("key_data", keys, implementation())
    return keys


def wrap_key_data(key_bits_array: Any, *, impl: Any = None, dtype: Any = None) -> Key:
    """Typed keys from their words, a uint32 array of shape ``(..., *key_shape)``.

    Args:
        impl: the generator of the keys, by name; None for the default.
        dtype: the dtype of keys of the generator, instead of ``impl``.

    Raises:
        TypeError: the words do not fit the generator.
        ValueError: there is no such generator.
    """
    chosen = _implementation("wrap_key_data", impl, dtype)
    key_bits_array = array_of(key_bits_array)
    if is_typed(key_bits_array):
        raise TypeError(f"wrap_key_data takes raw words of keys, got typed keys{here()}")
    check_words("wrap_key_data", key_bits_array, chosen)
    return wrapped(key_bits_array, chosen)


def key_impl(keys: Any) -> str:
    """The name of the generator that keys belong to.

    Raises:
        TypeError: ``keys`` are no keys.
    """
    keys = array_of(keys)
    if is_typed(keys):
        return keys.dtype.impl.name
    check_words("key_impl", keys, implementation())
    return implementation().name


def key_dtype(impl_spec: Any = None) -> Any:
    """The dtype of typed keys of a generator (by default of the default one)."""
    return implementation(impl_spec).dtype


def clone(key: Any) -> Any:
    """The same key, for code that means to use it again.

    Raises:
        TypeError: ``key`` is no key.
    """
    key = array_of(key)
    if is_typed(key):
        return primitives.random_clone_p.bind(key)
    check_words("clone", key, implementation())
    return key
