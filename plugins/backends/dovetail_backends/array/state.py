"""Deleted, donated and lost arrays: their marks, and the errors for their use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dovetail_base.errors import JaxRuntimeError
from dovetail_core import ShapedArray, current_source, describe_source, here
from dovetail_xla import fork
from dovetail_xla.arrays import ArrayImpl, XlaRuntimeError, install
from dovetail_xla.callbacks import exception_behind

_is_deleted: Callable[[Any], bool] = ArrayImpl.is_deleted
_delete: Callable[[Any], None] = ArrayImpl.delete


def spelled(x: ArrayImpl) -> str:
    """The type of an array for messages."""
    return x.aval.str_short() if isinstance(x.aval, ShapedArray) else repr(x.aval)


class DeletedArray(JaxRuntimeError, ValueError):  # JAX raises any of these, depending on the use
    """An array is used whose memory is gone."""


def deleted_error(x: ArrayImpl) -> RuntimeError:
    """The error for using an array whose memory is gone: names the array, the user's line, the
    reason and the remedy."""
    use = f"an array of type {spelled(x)} is used{describe_source(current_source())}"
    if "_lost" in x.__dict__:
        return DeletedArray(
            f"{use} in a process that was forked before its value was computed: the threads that "
            "compute it are in the parent alone. Wait for it before the fork "
            "(x.block_until_ready()), or start the process by spawn or forkserver "
            "(multiprocessing.get_context('spawn'))."
        )
    if "_deleted_at" in x.__dict__:
        location = describe_source(x.__dict__["_deleted_at"])
        return DeletedArray(
            f"{use} after it was deleted{location}. Delete it after its last use, or use a copy of "
            "it (x.copy())."
        )
    taker = x.__dict__.get("_donated_to")
    to = f" to {taker}" if taker else ""
    return DeletedArray(
        f"{use} after it was donated{to} (donate_argnums or donate_argnames of jit, donate of "
        "device_put), so that its memory may be overwritten. Use the result of that call in its "
        "place, donate a copy (x.copy()), or do not donate it."
    )


def check_usable(arrays: Iterable[Any]) -> None:
    """Raise for the first array among values that was deleted or donated.

    Raises:
        RuntimeError: names the array's type and the user's line, and if it was deleted or donated.
    """
    for x in arrays:
        if x.__class__ is ArrayImpl and _is_deleted(x):
            raise deleted_error(x)


def _delete_and_remember(self: ArrayImpl) -> None:
    """Free the array's memory now; using the array afterwards raises RuntimeError."""
    if not _is_deleted(self):
        self.__dict__["_deleted_at"] = current_source()
        _delete(self)


def release_donated(x: ArrayImpl, to: str = "") -> None:
    """Free an array's memory because it was donated; operations that read it finish first.

    ``to`` is the name of the function that it was donated to, for :func:`deleted_error`.
    """
    if to:
        x.__dict__.setdefault("_donated_to", to)
    _delete(x)


def _lose(x: ArrayImpl) -> None:
    """Give up an array of a forked process whose value is computed in the parent alone."""
    x.__dict__["_lost"] = True
    _delete(x)


fork.explain(here, _lose)


def _guarded(name: str, doc: str) -> Callable[..., Any]:
    # Without its memory C++ raises errors that name nothing, or reads through a null pointer.
    method = getattr(ArrayImpl, name)

    def guarded(self: ArrayImpl) -> Any:
        if _is_deleted(self):
            raise deleted_error(self)
        try:
            return method(self)
        except XlaRuntimeError as error:
            failure = [exception_behind(error)]
        raise failure.pop()

    guarded.__name__ = name
    guarded.__doc__ = doc
    return guarded


_METHODS = {
    "block_until_ready": "Wait until the value is computed; returns the array.",
    "clone": "Another array that shares this one's memory.",
    "is_ready": "True if the value is computed, so that reading it does not wait.",
    "on_device_size_in_bytes": "The number of bytes that the array takes on its devices.",
    "platform": "The name of the platform that the array is on.",
    "unsafe_buffer_pointer": "The address of the array's memory; it dies with the array.",
}
for _name, _doc in _METHODS.items():
    install(_name, _guarded(_name, _doc))
install("delete", _delete_and_remember)


def refuse_summands(sharding: Any, action: str) -> None:
    """Raise NotImplementedError if devices hold summands of arrays with this sharding.

    Args:
        action: the refused operation as a participle: ``"read"``.
    """
    spec = getattr(sharding, "spec", None)
    if spec is not None and spec.unreduced:
        axes = sorted(map(str, spec.unreduced))
        raise NotImplementedError(
            f"an array that is unreduced along {axes} is {action}{here()}: the devices along these "
            f"axes hold summands of it, which is {sharding!r}. Sum them in a program: "
            "sharding.reshard(x, P(...)) without unreduced axes."
        )
