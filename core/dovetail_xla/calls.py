"""Compiled callables: jaxlib's C++ dispatch, which enters Python only on a cache miss."""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple
from weakref import ref

from ._bindings import (
    LoadedExecutable,
    PjitFunction as PjitFunction,
    PjitFunctionCache as PjitFunctionCache,
    PyTreeDef,
    PyTreeRegistry,
    pjit as _pjit,
)
from .shardings import cut_of


class FastPath(NamedTuple):
    """The data by which C++ repeats a call without Python, per kept argument or result."""

    xla_executable: LoadedExecutable
    out_pytree_def: PyTreeDef
    in_shardings: Sequence[Any]
    """Per kept argument."""
    out_shardings: Sequence[Any]
    """Attached to the results by reference."""
    out_avals: Sequence[Any]
    """Attached to the results by reference."""
    out_committed: Sequence[bool]
    kept_var_bitvec: Sequence[bool]
    """True for each constant, and then each flat argument, that the executable takes."""
    in_device_local_layouts: Sequence[Any]
    """Per kept argument; None is the default layout. With another, host memory is handed to
    `shard_arg_fallback` (see `arrays.HostInput`)."""
    const_args: Sequence[Any] = ()
    """Arrays passed ahead of the caller's arguments."""


# C++ that could not take the arguments apart asks Python with its error still set, and what then
# runs fails somewhere, with that error or a misleading one. Any function of C that reads -1 as a
# C integer must look whether that stands for an error, and raises the one that is set.
_raise_pending = "".ljust

MissResult = tuple[Any, FastPath | None, bool]
CacheMiss = Callable[..., MissResult]
"""(*args, **kwargs) -> (result, fast path or None, whether to drop the entry)."""


def make_call(
    name: str,
    fun: Callable[..., Any] | None,
    cache_miss: CacheMiss,
    *,
    static_argnums: Sequence[int] = (),
    static_argnames: Sequence[str] = (),
    key: Hashable,
    registry: PyTreeRegistry,
    shard_arg_fallback: Callable[[Any, Any, Any], Any],
    cache: PjitFunctionCache | None = None,
    explain: Callable[[BaseException], None] | None = None,
) -> PjitFunction:
    """A callable that dispatches in C++ and calls `cache_miss` for calls it has not seen.

    The key of a call has structure, types, shardings, static values and jit-key configs. Two
    callables with one `fun` object and equal `key` share entries; `fun=None` keeps them private. A
    leaf of an unknown type (a tracer) goes to `cache_miss` every time, uncached.
    `shard_arg_fallback(arg, sharding, layout)` must return an array of that layout; it is called
    for host values on several devices and for arrays on the wrong number of devices. An exception
    in `cache_miss` is raised by the call and clears the callable's entries. `explain` may raise
    another error in place of the one that it is given. Raises TypeError for a key of None or an
    unhashable one.
    """
    if key is None:
        raise TypeError("key must be a hashable value other than None: use () for a single variant")
    hash(key)
    call: PjitFunction
    itself: ref[PjitFunction]  # or the callable would live on in a circle of references

    def clearing_miss(*args: Any, **kwargs: Any) -> MissResult:
        try:
            _raise_pending(-1)
            return cache_miss(*args, **kwargs)
        except BaseException as e:
            # C++ would send this signature to Python for ever, even after a passing failure.
            if (failed := itself()) is not None:
                failed._clear_cache()
            if explain is not None:
                explain(e)
            raise

    plain = name.encode(errors="backslashreplace").decode()  # C++ has no half surrogate pairs
    call = _pjit(
        plain, fun, clearing_miss, list(static_argnums), list(static_argnames), key, registry,
        shard_arg_fallback, cache,
    )  # fmt: skip
    itself = ref(call)
    return call


def _copied(call: Any) -> Any:
    """The reduction of a callable for copies and pickles: a call of its maker ``_again``.

    Functions of the library that are compiled where they are defined are reduced to their names."""
    again = call.__dict__.get("_again")
    return call.__qualname__ if again is None else (_called, (again,))


def _called(again: Callable[[], Any]) -> Any:
    return again()


copyreg.pickle(PjitFunction, _copied)


def clear_cache(call: PjitFunction) -> None:
    """Forgets the entries of one callable."""
    call._clear_cache()


_shared: list[PjitFunctionCache] = []


def shared_entries(capacity: int) -> PjitFunctionCache:
    """A cache for the entries of callables that are made of equal functions, which may die before
    it; made at import, since it lives as long as the process."""
    result = PjitFunctionCache(capacity)
    _shared.append(result)
    return result


def clear_all_caches() -> None:
    """Forgets every entry of every callable in the process, and the parts of sharded arrays."""
    PjitFunctionCache.clear_all()  # of callables that live
    for entries in _shared:
        entries.clear()
    cut_of.cache_clear()
