"""The store of keys and values that all processes have in common."""

from __future__ import annotations

from typing import Any

from dovetail_base.source import here
from dovetail_xla.arrays import XlaRuntimeError

from .state import global_state


def client() -> Any:
    """The runtime's client of the coordination service.

    Raises:
        RuntimeError: this process is alone.
    """
    if global_state.client is None:
        raise RuntimeError(
            f"distributed.client{here()}: this process is alone. Call distributed.initialize first."
        )
    return global_state.client


def store() -> KeyValueStore:
    """The store of the processes that were joined (see :func:`client`)."""
    client()
    return KeyValueStore("user")


class KeyValueStore:
    """Texts and bytes by keys, in process 0, for all processes.

    Args:
        space: keys of different spaces are different.
    """

    def __init__(self, space: str) -> None:
        self._space = space

    def _key(self, key: str) -> str:
        return f"dovetail/{self._space}/{key}"

    def set(self, key: str, value: str | bytes, overwrite: bool = False) -> None:
        """Set a value.

        Raises:
            KeyError: there is one already, and ``overwrite`` is False.
        """
        data = value.encode() if isinstance(value, str) else value
        try:
            client().key_value_set_bytes(self._key(key), data, overwrite)
        except XlaRuntimeError as e:
            if "ALREADY_EXISTS" not in str(e):
                raise
            raise KeyError(f"the key {key!r} has a value{here()}; give overwrite=True") from None

    def get(self, key: str, timeout: float | None = None) -> str:
        """A value as text (see :meth:`get_bytes`)."""
        return self.get_bytes(key, timeout).decode()

    def get_bytes(self, key: str, timeout: float | None = None) -> bytes:
        """A value; waited for, for ``timeout`` seconds.

        Raises:
            KeyError: there is none, and no timeout is given. TimeoutError: there is none in time.
        """
        try:
            if timeout is None:
                return client().key_value_try_get_bytes(self._key(key))
            return client().blocking_key_value_get_bytes(self._key(key), int(timeout * 1000))
        except XlaRuntimeError as e:
            if "NOT_FOUND" in str(e):
                raise KeyError(f"no process has set the key {key!r}{here()}") from None
            if "DEADLINE_EXCEEDED" not in str(e):
                raise
        raise TimeoutError(f"no process set the key {key!r} within {timeout:g} s{here()}")

    def increment(self, key: str, by: int = 1) -> int:
        """Add to a counter, which begins with 0; the sum."""
        return client().key_value_increment(self._key(key), by)

    def delete(self, key: str) -> None:
        """Forget a key, and those below it (``key/...``)."""
        client().key_value_delete(self._key(key))

    def items(self, folder: str) -> dict[str, bytes]:
        """The keys below a folder (``folder/...``), without it, and their values."""
        start = self._key(folder) + "/"
        result = client().key_value_dir_get_bytes(self._key(folder))
        return {k.removeprefix(start): v for k, v in result}

    def wait_for_all(self, name: str, timeout: float) -> None:
        """Wait until all processes wait under this name, which is used once.

        Raises:
            TimeoutError: they do not in time.
        """
        try:
            client().wait_at_barrier(self._key(name), int(timeout * 1000))
        except XlaRuntimeError as e:
            if "DEADLINE_EXCEEDED" not in str(e):
                raise
        else:
            return
        raise TimeoutError(
            f"process {global_state.process_id} waited {timeout:g} s at {name!r}{here()} for the "
            "others, who did not all come."
        )
