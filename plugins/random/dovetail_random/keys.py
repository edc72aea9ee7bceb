"""Typed keys: ``KeyArray``, an array of keys that is a pytree of one uint32 array per word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn, final

import numpy as np

import dovetail_numpy as dnp
from dovetail_core import Tracer, here
from dovetail_core.base.source import called
from dovetail_core.tree.util import GetAttrKey, register_pytree_with_keys
from dovetail_jit import fused

from .generators import implementation
from .implementations import Implementation
from .lanes import Lanes, join_lanes, take_apart


class _Kind(NamedTuple):
    """Keys of one generator, to functions that move them about."""

    impl: Implementation

    @property
    def name(self) -> str:
        return str(self.impl.dtype)

    def join(self, lanes: Lanes) -> KeyArray:
        """Keys of these words."""
        return KeyArray(self.impl, lanes)


@final
class KeyArray:
    """An array of random keys, with the shape of the array and the dtype ``key<...>``.

    It holds one uint32 array for each word of a key (``lanes``), all of the shape of the array of
    keys: so it is a pytree whose leaves have that shape, and mapping, scanning, indexing and
    stacking along its axes mean what they say.
    """

    __slots__ = ("impl", "lanes", "__weakref__")
    impl: Implementation
    lanes: Lanes

    def __init__(self, impl: Implementation, lanes: Lanes) -> None:
        self.impl = impl
        self.lanes = lanes

    @property
    def shape(self) -> tuple[int, ...]:
        return self.lanes[0].shape

    @property
    def dtype(self) -> Any:
        return self.impl.dtype

    @property
    def ndim(self) -> int:
        return len(self.lanes[0].shape)

    @property
    def size(self) -> int:
        return self.lanes[0].size

    @property
    def itemsize(self) -> int:
        return self.impl.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def T(self) -> KeyArray:
        return self.transpose()

    @property
    def at(self) -> _At:
        """Updates by index, as arrays have them: ``keys.at[i].set(key)``."""
        return _At(self)

    def __array_parts__(self) -> tuple[_Kind, Lanes]:
        """What functions that move elements about do to each word (see the kernel's ``parts``)."""
        return _Kind(self.impl), self.lanes

    def map(self, f: Any, *args: Any, **kwargs: Any) -> KeyArray:
        """The keys with ``f(word, *args, **kwargs)`` for the array of each word."""
        return KeyArray(self.impl, tuple([f(lane, *args, **kwargs) for lane in self.lanes]))

    def reshape(self, *shape: Any) -> KeyArray:
        """The keys in another shape."""
        wanted = shape[0] if len(shape) == 1 else shape
        return self.map(dnp.reshape, wanted)

    def transpose(self, *axes: Any) -> KeyArray:
        """The keys with their axes reordered (reversed if ``axes`` is left out)."""
        wanted = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return self.map(dnp.transpose, tuple(wanted) if wanted else None)

    def ravel(self) -> KeyArray:
        """The keys in one row."""
        return self.map(dnp.ravel)

    flatten = ravel

    def squeeze(self, axis: Any = None) -> KeyArray:
        """The keys without axes of length 1."""
        return self.map(dnp.squeeze, axis)

    def take(self, indices: Any, axis: int | None = None) -> KeyArray:
        """The keys at ``indices``."""
        return self.map(dnp.take, indices, axis)

    def repeat(self, repeats: Any, axis: int | None = None) -> KeyArray:
        """Each key several times."""
        return self.map(dnp.repeat, repeats, axis)

    def copy(self) -> KeyArray:
        """The same keys in memory of their own."""
        return self.map(lambda lane: lane.copy())

    def block_until_ready(self) -> KeyArray:
        """Wait until the keys are computed."""
        return self.map(lambda lane: lane.block_until_ready())

    def devices(self) -> set[Any]:
        """The devices that hold the keys."""
        return self.lanes[0].devices()

    @property
    def device(self) -> Any:
        return self.lanes[0].device

    @property
    def sharding(self) -> Any:
        return self.lanes[0].sharding

    def is_deleted(self) -> bool:
        """Whether the keys' memory was given up."""
        return any(lane.is_deleted() for lane in self.lanes)

    def delete(self) -> None:
        """Give up the keys' memory."""
        for lane in self.lanes:
            lane.delete()

    def __getitem__(self, index: Any) -> KeyArray:
        return self.map(lambda lane: lane[index])

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"len() of a single key, which is an array without axes{here()}")
        return self.shape[0]

    def __iter__(self) -> Iterator[KeyArray]:
        if not self.shape:
            raise TypeError(
                f"a single key cannot be iterated over or unpacked{called()}. Make several of it "
                "with dovetail.random.split(key, n)."
            )
        for row in zip(*self.lanes, strict=True):
            yield KeyArray(self.impl, row)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, KeyArray):
            return NotImplemented
        if other.impl is not self.impl:
            raise TypeError(
                f"keys of types {self.dtype} and {other.dtype} cannot be compared{here()}"
            )
        return _equal(self.lanes, other.lanes)

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else dnp.logical_not(equal)

    __hash__: Any = None

    def __bool__(self) -> NoReturn:
        raise TypeError(f"a key has no truth value{called()}")

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(
            f"keys of type {self.dtype} cannot be converted to a NumPy array{here()}. "
            "dovetail.random.key_data(keys) gives the words that they are made of."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self.impl, tuple([np.asarray(lane) for lane in self.lanes]))

    def __repr__(self) -> str:
        first = self.lanes[0]
        if isinstance(first, Tracer):
            dims = ",".join(map(str, first.shape))
            return f"Traced<{self.dtype}[{dims}]> under {first._trace.what}"
        if not all(hasattr(lane, "__array__") for lane in self.lanes):
            return f"KeyArray({self.impl.name}, {self.lanes!r})"
        words = np.stack([np.asarray(lane) for lane in self.lanes], -1)
        return f"Array({self.shape}, dtype={self.dtype}) overlaying:\n{words}"


class _At:
    """``keys.at``: indexing it selects what ``set`` replaces."""

    __slots__ = ("_keys", "_index")

    def __init__(self, keys: KeyArray, index: Any = None) -> None:
        self._keys = keys
        self._index = index

    def __getitem__(self, index: Any) -> _At:
        return _At(self._keys, index)

    def set(self, values: KeyArray, **options: Any) -> KeyArray:
        """The keys with those at the index replaced.

        Raises:
            TypeError: ``values`` are not keys of the same type.
        """
        keys = self._keys
        if not isinstance(values, KeyArray) or values.impl is not keys.impl:
            raise TypeError(
                f"keys of type {keys.dtype} can be replaced by such keys only, not by "
                f"{getattr(values, 'dtype', type(values).__name__)}{here()}"
            )
        pairs = zip(keys.lanes, values.lanes)
        return KeyArray(keys.impl, tuple([a.at[self._index].set(b, **options) for a, b in pairs]))

    def get(self, **options: Any) -> KeyArray:
        """The keys at the index."""
        return self._keys.map(lambda lane: lane.at[self._index].get(**options))


def _unpickle(impl: Implementation, words: tuple[Any, ...]) -> KeyArray:
    return KeyArray(impl, tuple([dnp.asarray(w) for w in words]))


register_pytree_with_keys(
    KeyArray,
    lambda k: ([(GetAttrKey(f"word{i}"), x) for i, x in enumerate(k.lanes)], k.impl),
    lambda impl, lanes: KeyArray(impl, tuple(lanes)),
    lambda k: (k.lanes, k.impl),
)


@fused()
def _equal(a: Lanes, b: Lanes) -> Any:
    same = dnp.equal(a[0], b[0])
    for x, y in zip(a[1:], b[1:]):
        same = dnp.logical_and(same, dnp.equal(x, y))
    return same


join = fused()(join_lanes)
take = fused(static=("words",))(take_apart)


def open_key(key: Any) -> KeyArray:
    """A typed or raw key that was checked, as a typed one."""
    if key.__class__ is KeyArray:
        return key
    impl = implementation()
    return KeyArray(impl, take_apart(key, impl.words))


def like(key: Any, lanes: Lanes) -> Any:
    """New keys, typed if ``key`` is, else raw."""
    return KeyArray(key.impl, lanes) if key.__class__ is KeyArray else join_lanes(lanes)
