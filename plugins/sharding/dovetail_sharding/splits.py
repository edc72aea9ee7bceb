"""The part of an array that each process holds, if its devices together hold a block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_base.source import here


class ProcessSplit:
    """The division of arrays of ``ndim`` dimensions among processes by a sharding.

    Attributes:
        tiles: the number of parts of each dimension.
        own: the numbers of those parts that this process's devices hold.

    Raises:
        ValueError: the parts of a process are no block, or processes hold different numbers.
    """

    def __init__(self, name: str, sharding: Any, ndim: int) -> None:
        self._name, self._sharding = name, sharding
        hlo_sharding = sharding._to_xla_hlo_sharding(ndim)
        replicated = hlo_sharding.is_replicated()
        self.tiles = [1] * ndim
        if not replicated:
            self.tiles = list(hlo_sharding.tile_assignment_dimensions())[:ndim]
        held: dict[int, list[set[int]]] = {}
        blocks: dict[int, set[tuple[int, ...]]] = {}
        for device, index in sharding.devices_indices_map(tuple(self.tiles)).items():
            block = tuple(s.start or 0 for s in index)
            parts = held.setdefault(device.process_index, [set() for _ in range(ndim)])
            blocks.setdefault(device.process_index, set()).add(block)
            for axis, number in enumerate(block):
                parts[axis].add(number)
        sizes = {p: [len(s) for s in parts] for p, parts in held.items()}
        me = next(iter(sharding.device_set)).client.process_index()
        if me not in held:
            raise ValueError(f"{name}{here()}: no device of {sharding!r} is one of this process.")
        self.own = [sorted(s) for s in held[me]]
        for process, size in sizes.items():
            if size != sizes[me] or len(blocks[process]) != _product(size):
                raise ValueError(
                    f"{name}{here()}: by {sharding!r} process {process} holds {size} of the "
                    f"{self.tiles} parts in each dimension, and process {me} {sizes[me]}: not "
                    "every process holds one block of the same size. Use "
                    "make_array_from_callback."
                )

    def global_shape(self, local: Sequence[int], given: Sequence[int] | None) -> tuple[int, ...]:
        """The global shape of an array of which this process's data have the shape ``local``.

        Raises:
            ValueError: ``given`` does not fit.
        """
        counts = [len(own) for own in self.own]
        if given is None:
            return tuple(n * t // k for n, t, k in zip(local, self.tiles, counts))
        if len(given) != len(local):
            raise ValueError(
                f"{self._name}{here()}: global_shape {tuple(given)} has {len(given)} dimensions, "
                f"and the data of this process {len(local)}."
            )
        for axis, (n, size, t, k) in enumerate(zip(local, given, self.tiles, counts)):
            if n not in (size, size // t * k):
                raise ValueError(
                    f"{self._name}{here()}: dimension {axis} of the data of this process has size "
                    f"{n}; it must be {size // t * k}, the size of its part, or {size}, that of "
                    f"the whole array of shape {tuple(given)}."
                )
        return tuple(given)

    def local_index(
        self, index: Sequence[slice], local: Sequence[int], global_shape: Sequence[int]
    ) -> tuple[slice, ...]:
        """The slices of this process's data that are a part of the global array."""
        result: list[slice] = []
        for s, n, size, t, own in zip(index, local, global_shape, self.tiles, self.own):
            if s.start is None or n == size:
                result.append(s)
            else:
                step = size // t
                at = own.index(s.start // step) * step
                result.append(slice(at, at + step))
        return tuple(result)


def _product(sizes: Sequence[int]) -> int:
    result = 1
    for n in sizes:
        result *= n
    return result
