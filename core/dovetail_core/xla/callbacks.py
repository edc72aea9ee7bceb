"""Host callbacks: Python functions that compiled programs call, with their results checked."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

TARGET = "xla_ffi_python_cpu_callback"
"""The custom call that reaches `host_callbacks[index]` on the CPU.

In a partitioned program each device calls it: inside a manual computation with its own part,
elsewhere with the whole value. XLA's `..._partitioned_python_...` target is left alone: it aborts
the process in a manual computation and without layouts, and mixes up parts otherwise.
"""

_thread = threading.local()


def in_callback() -> bool:
    """Whether this thread is running a function that a program called."""
    return getattr(_thread, "depth", 0) > 0


_INDEX = re.compile(r"index = (\d+) : ui64")


def require_callbacks(program: Any, count: int) -> None:
    """Raises ValueError if a program (text, bytes or module) calls more functions than it is given.

    Unchecked, running it would end the process. In bytes and modules only the lack of all is seen.
    """
    if isinstance(program, str):
        if TARGET not in program:
            return
        needed = 1 + max(map(int, _INDEX.findall(program)), default=0)
    elif isinstance(program, bytes):
        needed = int(TARGET.encode() in program)
    else:
        from . import mlir

        needed = 0 if count else int(TARGET.encode() in mlir.bytecode(program))
    if needed > count:
        raise ValueError(
            f"the program calls {needed} or more Python functions, but {count} were given: "
            "pass all of them as host_callbacks"
        )


def checked_callback(
    fun: Callable[..., Sequence[Any]], results: Sequence[Any], name: str = "callback"
) -> Callable[..., tuple[Any, ...]]:
    """`fun` as an entry of `compile(..., host_callbacks=...)`; `results` are avals or None (token).

    `fun` gets read-only NumPy arrays (None for a token) and returns one value per result. C++
    copies the bytes that it returns without a look at shape or dtype, past the end of a short
    array, so they are checked here: a TypeError, which the caller sees as an XlaRuntimeError.
    """
    wanted = [
        None if aval is None else (tuple(aval.shape), np.dtype(aval.dtype)) for aval in results
    ]

    def call(*arguments: Any) -> tuple[Any, ...]:
        _thread.depth = getattr(_thread, "depth", 0) + 1
        try:
            values = fun(*arguments)
        finally:
            _thread.depth -= 1
        if not isinstance(values, (tuple, list)) or len(values) != len(wanted):
            raise TypeError(
                f"{name} must return a tuple of {len(wanted)} values, but returned {_count(values)}"
            )
        return tuple(
            None if type_ is None else _checked(value, *type_, f"{name}: result {at}")
            for at, (value, type_) in enumerate(zip(values, wanted, strict=True))
        )

    return call


def _checked(value: Any, shape: tuple[int, ...], dtype: np.dtype[Any], what: str) -> Any:
    array = np.asarray(value, order="C")
    if array.shape == shape and array.dtype == dtype:
        return array
    raise TypeError(
        f"{what} is {array.dtype}{list(array.shape)}, but the program was compiled for "
        f"{dtype}{list(shape)}: convert it, or declare what is returned"
    )


def _count(values: Any) -> str:
    if isinstance(values, (tuple, list)):
        return f"{len(values)}"  # pyright: ignore[reportUnknownArgumentType]
    return f"a {type(values).__name__}"
