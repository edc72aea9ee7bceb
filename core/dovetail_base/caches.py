"""Caches: bounded, dropped with the objects that their entries belong to, all emptied at once.

There are three forms, and :func:`forget_all` knows every instance of each.

- :func:`cached`, a decorator: the results of a function, by its arguments.
- :class:`Cache`: a dictionary for code that makes keys of its own, such as the paths that every
  operation takes.
- :class:`WeakTable`: values that belong to objects and die with them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import lru_cache, partial, update_wrapper
from types import FunctionType, MethodType
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, cast, overload
from weakref import ref

K = TypeVar("K")
V = TypeVar("V")
P = ParamSpec("P")
R = TypeVar("R", covariant=True)
Context = Callable[[], Hashable]

KEPT = 4096
"""The default bound on the number of entries of a cache."""


class Cached(Protocol[P, R]):
    """A function whose results are cached, as :func:`functools.lru_cache` makes it."""

    @property
    def __wrapped__(self) -> Callable[P, R]: ...
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    def cache_info(self) -> Any: ...
    def cache_clear(self) -> None: ...


@overload
def cached(f: Callable[P, R], /) -> Cached[P, R]: ...
@overload
def cached(
    *, bound: int = KEPT, context: Context | None = None, permanent: str = ""
) -> Callable[[Callable[P, R]], Cached[P, R]]: ...
def cached(
    f: Any = None, /, *, bound: int = KEPT, context: Context | None = None, permanent: str = ""
) -> Any:
    """A decorator: the function's results are computed once per arguments.

    A hit stays in C. Arguments are hashed and compared by ``==``, so that ``1``, ``1.0`` and
    ``True`` share an entry. Threads that come at once may compute a result each. Exceptions are not
    cached. The result is shared: callers must not change it.

    Args:
        bound: the number of entries that are kept, those that were used last.
        context: a function without arguments. What it returns is part of the key:
            ``context=trace_key`` for functions that trace, or read options or named axes. A hit
            then enters the wrapper and this function.
        permanent: the reason why the entries stay for ever, without a bound, and outlast
            :func:`forget_all`: facts that do not change in a process, objects of which there must
            not be two.

    Example::

        @cached
        def axes_of(ndim, axis): ...

        @cached(context=trace_key)
        def program_of(f, aval): ...

        @cached(permanent="the file is part of the distribution")
        def public_names(): ...
    """
    if f is None:
        return partial(cached, bound=bound, context=context, permanent=permanent)
    if permanent:
        return lru_cache(None)(f)
    if context is not None:
        return _within(f, bound, context)
    result = lru_cache(bound)(f)
    register_cache(result)
    return result


def _within(f: Callable[..., Any], bound: int, context: Context) -> Any:
    """``f`` with a cache whose keys begin with ``context()``."""

    def compute(_: Hashable, *args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)

    results = cached(bound=bound)(compute)

    def within(*args: Any, **kwargs: Any) -> Any:
        return results(context(), *args, **kwargs)

    made: Any = update_wrapper(within, f)
    made.cache_info, made.cache_clear = results.cache_info, results.cache_clear
    return made


class Cache(dict[K, V]):
    """A dictionary that drops its oldest entry when it is full, and all by :func:`forget_all`.

    It is read as quickly as any dictionary. Fill it by ``cache[key] = value`` or ``setdefault``
    alone.

    Args:
        most: the number of entries that it has at most.
    """

    __slots__ = ("most", "__weakref__")
    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__  # type: ignore[assignment]

    def __init__(self, most: int = KEPT) -> None:
        self.most = most

    def __setitem__(self, key: K, value: V) -> None:
        if not self:
            register_cache(self)  # as late as this, since most caches of short programs stay empty
        elif len(self) >= self.most:
            self._make_room(key)
        super().__setitem__(key, value)

    def setdefault(self, key: K, value: V) -> V:  # type: ignore[override]
        """The value of ``key``; ``value`` from now on where there is none, in one step."""
        if not self:
            register_cache(self)
        elif len(self) >= self.most:
            self._make_room(key)
        return super().setdefault(key, value)

    def _make_room(self, key: K) -> None:
        if key not in self:
            with suppress(KeyError, RuntimeError, StopIteration):  # another thread makes room
                del self[next(iter(self))]


class WeakTable(Generic[V]):
    """Values that belong to objects and die with them; keys are compared by identity.

    Bound methods are compared by their object and function, since each access makes a new one. A
    value must not refer to its owner, or neither would ever be freed.

    Args:
        permanent: the reason why the table outlasts :func:`forget_all`: its values are no results
            that could be computed again.
    """

    __slots__ = ("_entries", "__weakref__")

    def __init__(self, *, permanent: str = "") -> None:
        self._entries: dict[Any, tuple[ref[Any], V]] = {}
        if not permanent:
            register_cache(self)

    def of(self, owner: Any, make: Callable[[], V]) -> V:
        """The value that belongs to ``owner``, made where there is none yet.

        Raises:
            TypeError: ``owner`` cannot be referred to weakly.
        """
        key = identity(owner) or id(owner)
        result = self._entries.get(key)
        # A dead owner may still have an entry: an interrupt can prevent the call that drops it.
        if result is not None and ((known := result[0]()) is owner or _is_method(known, key)):
            return result[1]
        value = make()
        self._entries[key] = ref(owner, partial(_drop, self._entries, key)), value
        return value

    def known(self, owner: Any) -> V | None:
        """The value that belongs to ``owner``; None if there is none yet."""
        key = identity(owner) or id(owner)
        result = self._entries.get(key)
        if result is None:
            return None
        return result[1] if (known := result[0]()) is owner or _is_method(known, key) else None

    def put(self, owner: Any, value: V) -> None:
        """Make ``value`` the one that belongs to ``owner``."""
        key = identity(owner) or id(owner)
        self._entries[key] = ref(owner, partial(_drop, self._entries, key)), value

    def clear(self) -> None:
        """Drop all values."""
        self._entries.clear()

    def __len__(self) -> int:
        return len(self._entries)


def _is_method(known: Any, key: Any) -> bool:
    return known.__class__ is MethodType and identity(known) == key


def _drop(entries: dict[Any, tuple[ref[Any], Any]], key: Any, dead: ref[Any]) -> None:
    result = entries.get(key)
    if result is not None and result[0] is dead:
        del entries[key]


def identity(f: Any) -> Any:
    """A key of a callable by identity; None if its class compares by identity already."""
    cls = f.__class__
    if cls is FunctionType:
        return None
    if cls is MethodType:
        return id(f.__self__), id(f.__func__)
    return None if cls.__eq__ is object.__eq__ else id(f)


# By id. Copying it runs no Python code, so no other thread can change it during that, as it could
# while a WeakSet is iterated over.
_caches: dict[int, ref[Any]] = {}


def register_cache(cache: Any) -> None:
    """Have :func:`forget_all` empty ``cache`` for as long as it lives; it is referred to weakly.

    It has a method ``clear`` and a length, or ``cache_clear`` and ``cache_info`` as functions have
    that :func:`functools.lru_cache` made. :func:`cached`, :class:`Cache` and :class:`WeakTable`
    call this themselves.

    Raises:
        TypeError: ``cache`` cannot be referred to weakly.
    """
    key = id(cache)
    _caches[key] = ref(cache, partial(_forgotten, key))


def _forgotten(key: int, dead: ref[Any]) -> None:
    if _caches.get(key) is dead:
        del _caches[key]


def caches() -> list[Any]:
    """All caches that are alive, except those that are permanent."""
    result = [known() for known in list(_caches.values())]
    return [cache for cache in result if cache is not None]


def entries_in(cache: Any) -> int:
    """The number of entries of a cache that was registered."""
    info = getattr(cache, "cache_info", None)
    return len(cache) if info is None else cast("int", info().currsize)


def forget_all() -> None:
    """Empty every cache, those of jaxlib and of the adapter to it included."""
    from dovetail_xla.execution import clear_all_caches

    clear_all_caches()
    for cache in caches():
        empty = getattr(cache, "cache_clear", None)
        (cache.clear if empty is None else empty)()
