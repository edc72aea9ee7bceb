"""Generators of random bits: their interface, their registry, and generators from functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeVar, final

from dovetail_core import ExtendedDType, Tracer, here, high_algebra
from dovetail_jit import fused as _fused
from dovetail_lax import dtypes
from dovetail_text.syntax import register_dtype

from .keys import UINTS, KeyArray, Lanes, in_key_shape, in_words, join_lanes, split_lanes

generators: dict[str, Implementation] = {}
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
        name: the name by which users choose it, ``"threefry2x32"``.
        tag: the name of its keys' dtype, ``"fry"`` in ``key<fry>``.
        words: the number of 32-bit words of a key.
        key_shape: the shape in which users see these words, ``(words,)`` by default.
        seed: lanes of scalars from a scalar integer (of any integer type).
        split: ``split(lanes, shape)``: lanes of that shape, from lanes of scalars.
        fold_in: ``fold_in(lanes, data)``: lanes of scalars, from those and a uint32 scalar.
        random_bits: ``random_bits(lanes, width, shape)``: unsigned integers of 8 to 64 bits.
        elementwise: True if each key of a mapped axis draws the same as without that axis.
    """

    __slots__ = (
        "name", "tag", "words", "key_shape", "seed", "split", "fold_in", "random_bits",
        "elementwise", "dtype",
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
        key_shape: tuple[int, ...] = (),
    ) -> None:
        self.name = name
        self.tag = tag
        self.words = words
        self.key_shape = key_shape or (words,)
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
    other = generators.setdefault(impl.name, impl)
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
        key_shape: of at least one dimension, ``(words,)``.
        seed: a raw key from a scalar integer.
        split: ``split(key, shape)``: raw keys of shape ``(*shape, *key_shape)``.
        random_bits: ``random_bits(key, width, shape)``: unsigned integers of ``width`` bits.
        fold_in: ``fold_in(key, data)``: a raw key from one and a uint32 scalar.
        name: the name by which it can be chosen afterwards, if it is given.
        tag: the name of its keys' dtype, ``key<tag>``.

    Raises:
        ValueError: ``key_shape`` has no dimension or no words, or the name is taken.
    """
    dims = tuple(key_shape)
    words = prod(dims)
    if not dims or words < 1:
        raise ValueError(
            f"key_shape must have a dimension, such as the number of words; got {dims}{here()}"
        )

    def raw(lanes: Lanes) -> Any:
        return in_key_shape(join_lanes(lanes), dims)

    def lanes_of(keys: Any) -> Lanes:
        return split_lanes(in_words(keys, dims), words)

    impl = Implementation(
        name,
        tag,
        words,
        seed=lambda s: lanes_of(seed(s)),
        split=lambda lanes, shape: lanes_of(split(raw(lanes), shape)),
        fold_in=lambda lanes, data: lanes_of(fold_in(raw(lanes), data)),
        random_bits=lambda lanes, width, shape: random_bits(raw(lanes), width, shape),
        key_shape=dims,
    )
    return impl if name == "<unnamed>" else register_prng_impl(impl)


F = TypeVar("F", bound=Callable[..., object])


def fused(static: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Decorator: run a function as one compiled program when evaluated eagerly (``static`` names
    arguments that are not arrays), so that a draw is rounded as a whole, as ``jit`` rounds it."""
    return _fused(static=static, profile="default", shared=True)
