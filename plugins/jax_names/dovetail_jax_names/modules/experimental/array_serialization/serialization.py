"""Arrays written to and read from files by tensorstore, in the background (flax, orbax)."""

from __future__ import annotations

import asyncio
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import numpy as np

from dovetail_backends import device_put

Spec = dict[str, Any]


def get_tensorstore_spec(
    ckpt_path: str | os.PathLike[str],
    *,
    ocdbt: bool = False,
    process_idx: int | None = None,
    arr: Any = None,
    driver: str = "zarr",
) -> Spec:
    """The specification by which tensorstore opens an array at a path, or below ``gs://``.

    Args:
        ocdbt: the arrays of a folder are in one store.
        arr: an array, whose shape and type are said, too.
    """
    path = os.fspath(ckpt_path)
    if path.startswith("gs://"):
        bucket, _, inner = path.removeprefix("gs://").partition("/")
        store: Spec = {"driver": "gcs", "bucket": bucket, "path": inner}
    else:
        store = {"driver": "file", "path": os.path.normpath(path)}
    if ocdbt:
        folder, name = os.path.split(path)
        store = {"driver": "ocdbt", "base": f"file://{folder}", "path": name}
    spec: Spec = {"driver": driver, "kvstore": store}
    if arr is not None:
        spec["metadata"] = _metadata(arr)
    return spec


def _metadata(arr: Any) -> Spec:
    shape = list(arr.shape)
    return {"compressor": {"id": "zstd"}, "shape": shape, "chunks": np.maximum(1, shape).tolist()}


async def async_serialize(arr_inp: Any, tensorstore_spec: Spec, commit_future: Any = None) -> None:
    """Write an array where a spec says."""
    ts = import_module("tensorstore")
    value = np.asarray(arr_inp)
    spec = {"dtype": value.dtype.name, **tensorstore_spec}
    spec.setdefault("metadata", _metadata(value))
    store = await ts.open(ts.Spec(spec), create=True, open=True)
    await store.write(value)


async def async_deserialize(
    in_type: Any, tensorstore_spec: Spec, global_shape: Any = None, dtype: Any = None
) -> Any:
    """Read an array, and put it where a sharding (or a device) says.

    Args:
        global_shape: a larger one is filled with zeros, a smaller one takes the beginning.
    """
    ts = import_module("tensorstore")
    store = await ts.open(ts.Spec(tensorstore_spec), open=True)
    value = np.asarray(await store.read())
    if global_shape is not None and tuple(global_shape) != value.shape:
        value = _fitted(value, tuple(global_shape))
    return device_put(value if dtype is None else value.astype(np.dtype(dtype)), in_type)


def _fitted(value: np.ndarray[Any, Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    out = np.zeros(shape, value.dtype)
    inside = tuple(slice(0, min(a, b)) for a, b in zip(value.shape, shape, strict=True))
    out[inside] = value[inside]
    return out


def run_serialization(arrays: Sequence[Any], tensorstore_specs: Sequence[Spec]) -> None:
    """Write arrays where specs say, and wait until that is done."""

    async def write() -> None:
        await asyncio.gather(*map(async_serialize, arrays, tensorstore_specs))

    _run(write)


def run_deserialization(
    shardings: Sequence[Any],
    tensorstore_specs: Sequence[Spec],
    global_shapes: Sequence[Any] | None = None,
    dtypes: Sequence[Any] | None = None,
    concurrent_gb: int = 32,
) -> list[Any]:
    """Read arrays, and put them where shardings (or devices) say."""
    unsaid = [None] * len(shardings)

    async def read() -> list[Any]:
        result = map(
            async_deserialize,
            shardings,
            tensorstore_specs,
            global_shapes or unsaid,
            dtypes or unsaid,
        )
        return list(await asyncio.gather(*result))

    return _run(read)


def _run(work: Callable[[], Any]) -> Any:
    """The result of a coroutine, in a thread of its own: this one may have a loop already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(work())).result()


class GlobalAsyncCheckpointManagerBase(ABC):
    """A manager that writes arrays in the background and reads them."""

    @abstractmethod
    def check_for_errors(self) -> None:
        """Raise what the last writing raised."""

    @abstractmethod
    def wait_until_finished(self) -> None:
        """Wait until the last writing is done; raise what it raised."""

    @abstractmethod
    def serialize(
        self, arrays: Any, tensorstore_specs: Any, *, on_commit_callback: Callable[[], None]
    ) -> None:
        """Begin to write arrays; ``on_commit_callback`` is called when they are written."""

    @abstractmethod
    def deserialize(
        self,
        shardings: Sequence[Any],
        tensorstore_specs: Sequence[Spec],
        global_shapes: Sequence[Any] | None = None,
        dtypes: Sequence[Any] | None = None,
    ) -> Any:
        """Read arrays."""


class AsyncManager:
    """One piece of work in the background at a time.

    Args:
        timeout_secs: accepted; there are no other processes to wait for.
    """

    def __init__(self, timeout_secs: float = 300) -> None:
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def check_for_errors(self) -> None:
        """Raise what the last work raised, once."""
        error, self._error = self._error, None
        if error is not None:
            raise error

    def wait_until_finished(self) -> None:
        """Wait until the last work is done; raise what it raised."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self.check_for_errors()

    def _begin(self, work: Callable[[], None]) -> None:
        self.wait_until_finished()

        def run() -> None:
            try:
                work()
            except BaseException as e:  # raised where somebody waits
                self._error = e

        self._thread = threading.Thread(target=run)
        self._thread.start()


class GlobalAsyncCheckpointManager(AsyncManager, GlobalAsyncCheckpointManagerBase):
    """Writes arrays in the background by tensorstore, and reads them."""

    def serialize(
        self,
        arrays: Sequence[Any],
        tensorstore_specs: Sequence[Spec],
        *,
        on_commit_callback: Callable[[], None] | None = None,
    ) -> None:
        values = [np.array(a) for a in arrays]  # the caller may give them away

        def work() -> None:
            run_serialization(values, tensorstore_specs)
            if on_commit_callback is not None:
                on_commit_callback()

        self._begin(work)

    def serialize_with_paths(
        self,
        arrays: Sequence[Any],
        paths: Sequence[str],
        *,
        on_commit_callback: Callable[[], None] | None = None,
    ) -> None:
        """Begin to write arrays at paths."""
        specs = [get_tensorstore_spec(p) for p in paths]
        self.serialize(arrays, specs, on_commit_callback=on_commit_callback)

    def deserialize(
        self,
        shardings: Sequence[Any],
        tensorstore_specs: Sequence[Spec],
        global_shapes: Sequence[Any] | None = None,
        dtypes: Sequence[Any] | None = None,
        concurrent_gb: int = 32,
    ) -> list[Any]:
        self.wait_until_finished()
        return run_deserialization(
            shardings, tensorstore_specs, global_shapes, dtypes, concurrent_gb
        )

    def deserialize_with_paths(
        self,
        shardings: Sequence[Any],
        paths: Sequence[str],
        global_shapes: Sequence[Any] | None = None,
        dtypes: Sequence[Any] | None = None,
        concurrent_gb: int = 32,
    ) -> list[Any]:
        """Read arrays at paths."""
        specs = [get_tensorstore_spec(p) for p in paths]
        return self.deserialize(shardings, specs, global_shapes, dtypes, concurrent_gb)
