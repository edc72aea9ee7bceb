"""Forked processes: a child raises an error where it would wait for ever for a parent's thread.

A fork copies only the thread that forks, so a child has none of the runtime's threads. It may read
arrays that were computed before the fork, trace and lower; other uses of the runtime raise an
error. The child installs these errors, at no cost to the parent's calls.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NoReturn
from weakref import WeakSet

from . import bindings as _b

_ADVICE = (
    "The runtime started before the fork, and its threads are in the parent alone: this would wait "
    "for them for ever. Start the process by spawn or forkserver "
    "(multiprocessing.get_context('spawn')), or fork before the first computation. Tracing, "
    "lowering and reading arrays that were computed before the fork work here."
)
_ENTRIES: tuple[tuple[Any, str, str], ...] = (
    (_b, "batched_device_put", "a value is put on a device"),
    (_b, "batched_copy_array_to_devices_with_sharding", "an array is copied"),
    (_b, "dlpack_managed_tensor_to_buffer", "an array is taken over from another library"),
    (_b.Client, "compile", "a program is compiled"),
    (_b.Client, "compile_and_load", "a program is compiled"),
    (_b.Client, "deserialize_executable", "a compiled program is loaded"),
    (_b.LoadedExecutable, "execute_sharded", "a compiled program is run"),
    (_b.ShardedToken, "block_until_ready", "the effects of a program are waited for"),
)

_location: Callable[[], str] = str
_clients: WeakSet[_b.Client] = WeakSet()
_in_child: list[Callable[[], None]] = []
_lost: Callable[[_b.ArrayImpl], None] = _b.ArrayImpl.delete
_watching = _forked = False


def forked() -> bool:
    """Return whether this process was forked from one where the runtime had started."""
    return _forked


def explain(location: Callable[[], str], lost: Callable[[_b.ArrayImpl], None]) -> None:
    """Sets the function that finds the user's line for errors, and the one for lost arrays.

    `lost` gets each array of a child that was not ready at the fork, and must delete it: it will
    never be computed, and a deleted array raises where this one would wait for ever.
    """
    global _location, _lost
    _location, _lost = location, lost


def in_child(f: Callable[[], None]) -> None:
    """Calls `f` in each process that is forked after the runtime has started, before all else."""
    _in_child.append(f)


def renew_in_child(lock: Any) -> None:
    """Makes a lock free in such processes, since no thread that holds it is there to free it."""
    in_child(lock._at_fork_reinit)


def watch() -> None:
    """Makes later children raise and not hang; to be called before the runtime starts.

    Raises RuntimeError in such a child.
    """
    global _watching
    if _forked:
        refuse("a backend is started")
    if not _watching and hasattr(os, "register_at_fork"):
        _watching = True
        os.register_at_fork(after_in_child=_enter_child)


def started(client: _b.Client) -> None:
    """Notes a client; to be called with each one that is made."""
    _clients.add(client)


def refuse(what: str) -> NoReturn:
    """Raises the error for what a forked process cannot do."""
    raise RuntimeError(f"{what}{_location()} in a forked process. {_ADVICE}")


def _enter_child() -> None:
    global _forked
    if _forked:
        return
    _forked = True
    for owner, name, what in _ENTRIES:
        setattr(owner, name, _refusal(what))
    for name in ("_single_device_array_to_np_array_did_copy", "block_until_ready"):
        setattr(_b.ArrayImpl, name, _on_host(getattr(_b.ArrayImpl, name)))
    _b.batched_block_until_ready = _wait_for_each
    _b.PjitFunctionCache.clear_all()  # so that every call asks Python, and comes to a refusal
    for client in [*_clients]:
        if client.platform == "cpu":
            for array in client.live_arrays():
                if not array.is_deleted() and not array.is_ready():
                    _lost(array)
    for f in _in_child:
        f()


def _refusal(what: str) -> Callable[..., NoReturn]:
    def refused(*args: Any, **kwargs: Any) -> NoReturn:
        refuse(what)

    return refused


def _on_host(method: Callable[[_b.ArrayImpl], Any]) -> Callable[[_b.ArrayImpl], Any]:
    """A method that reads arrays in the host's memory, and refuses to ask another device."""

    def read(self: _b.ArrayImpl) -> Any:
        if next(iter(self._sharding._internal_device_list)).client.platform != "cpu":
            refuse("an array of an accelerator is read")
        return method(self)

    return read


def _wait_for_each(arrays: Sequence[_b.ArrayImpl]) -> None:
    for array in arrays:
        array.block_until_ready()
