"""What is remembered to be quick: of bounded size, gone with what it is about, and forgettable."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import FunctionType, MethodType
from typing import Any, Generic, TypeVar
from weakref import ref

K = TypeVar("K")
V = TypeVar("V")

KEPT = 4096
"""How many entries a cache has at a time."""


class Cache(dict[K, V]):
    """A dictionary that drops its oldest entry when it is full, and all by :func:`forget_all`.

    It is read as quickly as any dictionary. Fill it by ``cache[key] = value`` alone.
    """

    __slots__ = ("most", "__weakref__")
    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__  # type: ignore[assignment]

    def __init__(self, most: int = KEPT) -> None:
        super().__init__()
        self.most = most
        _note(self)

    def __setitem__(self, key: K, value: V) -> None:
        if len(self) >= self.most and key not in self:
            with suppress(KeyError, RuntimeError, StopIteration):  # another thread makes room
                del self[next(iter(self))]
        super().__setitem__(key, value)


class ByIdentity(Generic[V]):
    """What is remembered of objects while they live; ones that compare equal are told apart.

    A method that is asked for twice is two objects and the same method, which counts.
    """

    __slots__ = ("_entries", "__weakref__")

    def __init__(self) -> None:
        self._entries: dict[Any, tuple[ref[Any], V]] = {}
        _note(self)

    def of(self, owner: Any, make: Callable[[], V]) -> V:
        """What belongs to ``owner``, made where there is nothing yet.

        Raises:
            TypeError: ``owner`` cannot be referred to weakly.
        """
        key = identity(owner) or id(owner)
        found = self._entries.get(key)
        # What died is dropped by a call that an interrupt may have come before.
        if found is not None and ((known := found[0]()) is owner or _is_method(known, key)):
            return found[1]
        value = make()
        self._entries[key] = ref(owner, partial(_drop, self._entries, key)), value
        return value

    def known(self, owner: Any) -> V | None:
        """What belongs to ``owner``, if there is anything yet."""
        key = identity(owner) or id(owner)
        found = self._entries.get(key)
        if found is None:
            return None
        return found[1] if (known := found[0]()) is owner or _is_method(known, key) else None

    def clear(self) -> None:
        """Forget all."""
        self._entries.clear()


def _is_method(known: Any, key: Any) -> bool:
    return known.__class__ is MethodType and identity(known) == key


def _drop(entries: dict[Any, tuple[ref[Any], Any]], key: Any, dead: ref[Any]) -> None:
    found = entries.get(key)
    if found is not None and found[0] is dead:
        del entries[key]


def identity(f: Any) -> Any:
    """What tells a callable from others that ``==`` takes for the same; None where ``==`` does."""
    cls = f.__class__
    if cls is FunctionType:
        return None
    if cls is MethodType:
        return id(f.__self__), id(f.__func__)
    return None if cls.__eq__ is object.__eq__ else id(f)


# By id. Copying it runs no Python code, so no other thread can change it meanwhile, as it could
# while a WeakSet is iterated over.
_caches: dict[int, ref[Any]] = {}


def _note(cache: Any) -> None:
    key = id(cache)
    _caches[key] = ref(cache, partial(_forgotten, key))


def _forgotten(key: int, dead: ref[Any]) -> None:
    if _caches.get(key) is dead:
        del _caches[key]


def forget_all() -> None:
    """Empty every cache."""
    for known in list(_caches.values()):
        cache: Cache[Any, Any] | ByIdentity[Any] | None = known()
        if cache is not None:
            cache.clear()
