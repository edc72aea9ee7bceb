"""Typed keys: ``KeyArray``, an array of keys of one generator, and conversions of their words."""

from __future__ import annotations

from math import prod
from typing import Any, NoReturn, TypeAlias, final

import numpy as np

import dovetail_lax as lax
from dovetail_base.source import called
from dovetail_core import ShapedArray, Tracer, here, register_type, registry, typeof, value_methods
from dovetail_tree.util import register_parts
from dovetail_xla.arrays import Array

Lanes: TypeAlias = "tuple[Any, ...]"
"""The words of keys: one uint32 array per word, each of the shape of the array of keys."""

UINTS = {
    8: np.dtype(np.uint8),
    16: np.dtype(np.uint16),
    32: np.dtype(np.uint32),
    64: np.dtype(np.uint64),
}
_HALF = UINTS[32].type(32)


def split_lanes(raw: Any, words: int) -> Lanes:
    """The words of raw keys of shape ``(..., words)``, each of shape ``(...)``."""
    shape = raw.shape[:-1]
    axis = len(shape)
    return tuple(
        lax.squeeze(lax.slice_in_dim(raw, w, w + 1, axis=axis), (axis,)) for w in range(words)
    )


def join_lanes(lanes: Lanes) -> Any:
    """Raw keys of shape ``(..., words)`` from their words."""
    axis = len(lanes[0].shape)
    return lax.concatenate([lax.expand_dims(lane, (axis,)) for lane in lanes], axis)


def in_key_shape(words: Any, key_shape: tuple[int, ...]) -> Any:
    """Raw keys in the shape in which users see them, from their words of shape ``(..., words)``."""
    return words if len(key_shape) == 1 else lax.reshape(words, (*words.shape[:-1], *key_shape))


def in_words(raw: Any, key_shape: tuple[int, ...]) -> Any:
    """The words, of shape ``(..., words)``, of raw keys in the shape in which users see them."""
    if len(key_shape) == 1:
        return raw
    return lax.reshape(raw, (*raw.shape[: len(raw.shape) - len(key_shape)], prod(key_shape)))


def join_halves(high: Any, low: Any) -> Any:
    """64-bit integers from two 32-bit halves, whether 64-bit types are enabled or not."""
    return lax.or_p.bind(lax.shift_left_p.bind(widen(high), widen(_HALF)), widen(low))


def upper_half(x: Any) -> Any:
    """The upper 32 bits of 64-bit integers."""
    half = lax.shift_right_logical_p.bind(x, widen(_HALF))
    return lax.convert_element_type_p.bind(half, new_dtype=UINTS[32])


def widen(x: Any) -> Any:
    """uint32 as uint64."""
    return lax.convert_element_type_p.bind(x, new_dtype=UINTS[64])


Key: TypeAlias = Any
"""A typed key: a ``KeyArray``, or a tracer of one."""


@final
class KeyArray(Array):
    """An array of random keys, with the shape of the array and the dtype ``key<...>``.

    Compiled programs take it as uint32 arrays (``lanes``), one for each word of a key, all of the
    shape of the array of keys.
    """

    __slots__ = ("dtype", "lanes", "uses", "__weakref__")
    dtype: Any
    lanes: Lanes
    uses: Any
    """The uses that ``debug_key_reuse`` has recorded; None for none."""

    def __init__(self, dtype: Any, lanes: Lanes) -> None:
        self.dtype = dtype
        self.lanes = lanes
        self.uses = None

    @property
    def aval(self) -> ShapedArray:
        types: list[Any] = [typeof(lane) for lane in self.lanes]
        vma = [t.vma for t in types if t.vma]
        over = vma[0].union(*vma[1:]) if vma else None
        return ShapedArray(types[0].shape, self.dtype, sharding=types[0].divided, vma=over)

    @property
    def impl(self) -> Any:
        """The generator that the keys belong to."""
        return self.dtype.impl

    @property
    def shape(self) -> tuple[int, ...]:
        return self.lanes[0].shape

    @property
    def ndim(self) -> int:
        return len(self.lanes[0].shape)

    @property
    def size(self) -> int:
        return self.lanes[0].size

    @property
    def weak_type(self) -> bool:
        return False

    def block_until_ready(self) -> KeyArray:
        """Wait until the keys are computed."""
        for lane in self.lanes:
            lane.block_until_ready()
        return self

    def is_ready(self) -> bool:
        """True once the keys are computed."""
        return all(lane.is_ready() for lane in self.lanes)

    def copy_to_host_async(self) -> None:
        """Begin to copy the keys to the host."""
        for lane in self.lanes:
            lane.copy_to_host_async()

    def devices(self) -> set[Any]:
        """The devices that hold the keys."""
        return self.lanes[0].devices()

    def addressable_data(self, index: int) -> KeyArray:
        """The keys on the device number ``index`` among this process's."""
        return KeyArray(self.dtype, tuple([lane.addressable_data(index) for lane in self.lanes]))

    @property
    def addressable_shards(self) -> list[Any]:
        """The parts of the keys on each device of this process, as of any array."""
        return self._shards("addressable_shards")

    @property
    def global_shards(self) -> list[Any]:
        """The parts of the keys on each device; ``data`` is None if another process holds them."""
        return self._shards("global_shards")

    def _shards(self, name: str) -> list[Any]:
        result = list(getattr(self.lanes[0], name))
        for shard, *others in zip(result, *[getattr(lane, name) for lane in self.lanes[1:]]):
            words = [shard.data, *[other.data for other in others]]
            shard.data = None if words[0] is None else KeyArray(self.dtype, tuple(words))
        return result

    def unsafe_buffer_pointer(self) -> int:
        """The address of the first words of the keys."""
        return self.lanes[0].unsafe_buffer_pointer()

    def on_device_size_in_bytes(self) -> int:
        """The bytes of memory that the keys take."""
        return sum(lane.on_device_size_in_bytes() for lane in self.lanes)

    def is_deleted(self) -> bool:
        """True once the keys' memory was released."""
        return any(lane.is_deleted() for lane in self.lanes)

    def delete(self) -> None:
        """Release the keys' memory."""
        for lane in self.lanes:
            lane.delete()

    def __bool__(self) -> NoReturn:
        raise TypeError(f"a key has no truth value{called()}")

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(
            f"keys of type {self.dtype} cannot be converted to a NumPy array{here()}. "
            "dovetail.random.key_data(keys) gives the words that they are made of."
        )

    def item(self, *args: Any) -> NoReturn:
        """Raises TypeError: a key is no Python number."""
        self.__array__()

    tolist = tobytes = item

    def __reduce__(self) -> tuple[Any, ...]:
        other = registry().provider("pickles", None)
        if other is not None and (result := other(self)) is not None:
            return result
        return _unpickle, (self.dtype, tuple([np.asarray(lane) for lane in self.lanes]))

    def __copy__(self) -> KeyArray:
        return self

    def __deepcopy__(self, memo: Any) -> KeyArray:
        return self

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __repr__(self) -> str:
        if any(isinstance(lane, Tracer) for lane in self.lanes):
            return f"KeyArray({self.dtype}, {self.lanes!r})"
        words = np.stack([np.asarray(lane) for lane in self.lanes], -1)
        return f"Array({self.shape}, dtype={self.dtype}) overlaying:\n{words}"

    __hash__: Any = None


def _of_first_lane(name: str) -> property:
    return property(lambda keys: getattr(keys.lanes[0], name))


def _unpickle(dtype: Any, words: tuple[Any, ...]) -> KeyArray:
    import dovetail_numpy as dnp

    return KeyArray(dtype, tuple([dnp.asarray(w) for w in words]))


_OF_FIRST_LANE = "device sharding committed is_fully_addressable is_fully_replicated".split()
for _name, _method in {
    **value_methods.array_methods(),
    **{name: _of_first_lane(name) for name in _OF_FIRST_LANE},
}.items():
    if _name not in vars(KeyArray):
        setattr(KeyArray, _name, _method)
register_type(KeyArray, lambda keys: keys.aval)
register_parts(KeyArray, lambda keys: (keys.lanes, keys.dtype), KeyArray)
