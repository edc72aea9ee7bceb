"""Generators of random bits: what one must provide, and making one of functions on raw keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

from dovetail_core import ExtendedDType, here
from dovetail_core.dispatch.tracer import Tracer
from dovetail_core.text.syntax import register_dtype
from dovetail_core.types.high import high_algebra
from dovetail_lax import dtypes

from .keys import KeyArray
from .lanes import UINTS, Lanes, join_lanes, take_apart

known: dict[str, Implementation] = {}
"""The generators that have a name."""


@final
class KeyType(ExtendedDType):
    """The element type of typed keys, ``key<fry>``; there is one object per implementation."""

    __slots__ = ("impl", "name", "itemsize", "low")
    type = dtypes.prng_key
    remedy = (
        "Keys are for the functions of dovetail.random: split(key, n) makes several of one, "
        "key_data(key) gives the words that it is made of."
    )
    impl: Implementation
    name: str  # type: ignore[misc]
    itemsize: int  # type: ignore[misc]

    def __init__(self, impl: Implementation) -> None:
        self.impl = impl
        self.name = f"key<{impl.tag}>"
        self.itemsize = 4 * impl.words
        self.low = (UINTS[32],) * impl.words

    def arrays_of(self, value: Any) -> Sequence[Any]:
        """The words of keys."""
        return high_algebra().take(value) if isinstance(value, Tracer) else value.lanes

    def value_of(self, arrays: Sequence[Any]) -> KeyArray:
        """Keys of their words."""
        return KeyArray(self, tuple(arrays))

    def __repr__(self) -> str:
        return self.name


@final
class Implementation:
    """A generator of random bits.

    All functions take and return keys as ``Lanes``, under the current trace.

    Attributes:
        name: how users choose it, ``"threefry2x32"``.
        tag: how its keys are spelled, ``"fry"`` in ``key<fry>``.
        words: how many 32-bit words a key has.
        seed: lanes of scalars from a scalar integer (of any integer type).
        split: ``split(lanes, shape)``: lanes of that shape, from lanes of scalars.
        fold_in: ``fold_in(lanes, data)``: lanes of scalars, from those and a uint32 scalar.
        random_bits: ``random_bits(lanes, width, shape)``: unsigned integers of 8 to 64 bits.
        elementwise: whether each key of a mapped axis draws what it draws by itself.
    """

    __slots__ = (
        "name", "tag", "words", "seed", "split", "fold_in", "random_bits", "elementwise", "dtype",
    )  # fmt: skip
    is_interned = True

    def __init__(
        self,
        name: str,
        tag: str,
        words: int,
        *,
        seed: Callable[[Any], Lanes],
        split: Callable[[Lanes, tuple[int, ...]], Lanes],
        fold_in: Callable[[Lanes, Any], Lanes],
        random_bits: Callable[[Lanes, int, tuple[int, ...]], Any],
        elementwise: bool = False,
    ) -> None:
        self.name = name
        self.tag = tag
        self.words = words
        self.seed = seed
        self.split = split
        self.fold_in = fold_in
        self.random_bits = random_bits
        self.elementwise = elementwise
        self.dtype = KeyType(self)

    def __repr__(self) -> str:
        return f"<random bit generator {self.name!r}, {self.words} words>"


def register_prng_impl(impl: Implementation) -> Implementation:
    """Make ``impl`` known by its name.

    Raises:
        ValueError: another implementation has that name.
    """
    other = known.setdefault(impl.name, impl)
    if other is not impl:
        raise ValueError(
            f"a random bit generator named {impl.name!r} exists already: rename yours{here()}"
        )
    register_dtype(impl.dtype)
    return impl


def define_prng_impl(
    *,
    key_shape: Sequence[int],
    seed: Callable[[Any], Any],
    split: Callable[[Any, tuple[int, ...]], Any],
    random_bits: Callable[[Any, int, tuple[int, ...]], Any],
    fold_in: Callable[[Any, Any], Any],
    name: str = "<unnamed>",
    tag: str = "?",
) -> Implementation:
    """A generator made of functions on raw keys, uint32 arrays of shape ``key_shape``.

    Args:
        key_shape: ``(words,)``.
        seed: a raw key from a scalar integer.
        split: ``split(key, shape)``: raw keys of shape ``(*shape, words)``.
        random_bits: ``random_bits(key, width, shape)``: unsigned integers of ``width`` bits.
        fold_in: ``fold_in(key, data)``: a raw key from one and a uint32 scalar.
        name: the name by which it can be chosen afterwards, if it is given.
        tag: the name of its keys' dtype, ``key<tag>``.

    Raises:
        ValueError: ``key_shape`` has not exactly one dimension, or the name is taken.
    """
    if len(key_shape) != 1:
        raise ValueError(
            f"key_shape must have one dimension, the number of words; got {key_shape}{here()}"
        )
    words = key_shape[0]
    impl = Implementation(
        name,
        tag,
        words,
        seed=lambda s: take_apart(seed(s), words),
        split=lambda lanes, shape: take_apart(split(join_lanes(lanes), shape), words),
        fold_in=lambda lanes, data: take_apart(fold_in(join_lanes(lanes), data), words),
        random_bits=lambda lanes, width, shape: random_bits(join_lanes(lanes), width, shape),
    )
    return impl if name == "<unnamed>" else register_prng_impl(impl)
