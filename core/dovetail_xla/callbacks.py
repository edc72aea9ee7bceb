"""Host callbacks: Python functions that compiled programs call, with their results checked."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from traceback import format_exception
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from .bindings import (
    Buffer as Buffer,
    ExecutionContext as ExecutionContext,
    ExecutionStage as ExecutionStage,
    JaxRuntimeError,
)

TARGET = "xla_ffi_python_cpu_callback"
"""The custom call that reaches `host_callbacks[index]` on the CPU.

In a partitioned program each device calls it: inside a manual computation with its own part,
elsewhere with the whole value.
"""

PARTITIONED_TARGET = "xla_ffi_partitioned_python_cpu_callback"
"""The same with what each device has of the operands, outside of manual computations.

For functions without results: those of several devices would be mixed up. It aborts the process
inside a manual computation, and where the operands' layouts are not given.
"""

BUFFER_TARGET = "xla_buffer_python_cpu_callback"
"""The custom call of a function of the buffers themselves: an execution context, operands, results.

It writes to the results, and can write to operands, which it must not.
"""

_thread = threading.local()


def in_callback() -> bool:
    """Return whether this thread is running a function that a program called."""
    return getattr(_thread, "depth", 0) > 0


_INDEX = r"index = (\d+) : ui64"
_TARGETS = (TARGET, PARTITIONED_TARGET, BUFFER_TARGET)


def require_callbacks(program: Any, count: int) -> None:
    """Raises ValueError if a program (text, bytes or module) calls more functions than it is given.

    Running such a program would end the process. For bytes and modules the check finds only that no
    functions are given at all.
    """
    if isinstance(program, str):
        if not any(target in program for target in _TARGETS):
            return
        needed = 1 + max(map(int, re.findall(_INDEX, program)), default=0)
    elif isinstance(program, bytes):
        needed = int(_is_called_in(program))
    else:
        from . import mlir

        needed = 0 if count else int(_is_called_in(mlir.bytecode(program)))
    if needed > count:
        raise ValueError(
            f"the program calls {needed} or more Python functions, but {count} were given: "
            "pass all of them as host_callbacks"
        )


def _is_called_in(code: bytes) -> bool:
    return any(target.encode() in code for target in _TARGETS)


def checked_callback(
    fun: Callable[..., Sequence[Any]], results: Sequence[Any], name: str = "callback"
) -> Callable[..., tuple[Any, ...]]:
    """`fun` as an entry of `compile(..., host_callbacks=...)`; `results` are avals or None (token).

    `fun` gets read-only NumPy arrays (None for a token) and returns one value per result. C++
    copies the bytes of these without a look at shape or dtype, past the end of a short array, so
    they are checked here: a TypeError. Exceptions are kept as by :func:`keeping_exceptions`.
    """
    wanted = [
        None if aval is None else (tuple(aval.shape), np.dtype(aval.dtype)) for aval in results
    ]

    def checked(*arguments: Any) -> tuple[Any, ...]:
        values = fun(*arguments)
        if not isinstance(values, (tuple, list)) or len(values) != len(wanted):
            raise TypeError(
                f"{name} must return a tuple of {len(wanted)} values, but returned {_count(values)}"
            )
        return tuple(
            None if type_ is None else _checked(value, *type_, f"{name}: result {at}")
            for at, (value, type_) in enumerate(zip(values, wanted, strict=True))
        )

    return keeping_exceptions(checked)


def keeping_exceptions(fun: Callable[..., Any]) -> Callable[..., Any]:
    """`fun` as an entry of `compile(..., host_callbacks=...)` whose exceptions are kept.

    C++ turns them into text; code that waits for the program gets the exception itself from
    :func:`exception_behind`.
    """

    def call(*arguments: Any) -> Any:
        outer = getattr(_thread, "depth", 0)
        try:
            try:
                _thread.depth = outer + 1
                return fun(*arguments)
            finally:
                _thread.depth = outer
        except BaseException as error:  # an interrupt is the caller's, too
            text = _remember(error)
        finally:  # for an interrupt before the other one has begun (see base.scopes)
            _thread.depth = outer
        raise CallbackFailed(text)

    return call


class CallbackFailed(Exception):
    """The exception that C++ is given for one of a callback: its traceback, and a number as key."""


MANY = 32
"""The number of exceptions that are kept until they are asked for."""
_failed: dict[int, BaseException] = {}
_taken: WeakValueDictionary[int, BaseException] = WeakValueDictionary()
_again: dict[int, Callable[[], BaseException]] = {}
_numbers = count()
_NUMBER = r"\[exception (\d+) of a callback\]"
_INTERRUPTED = r"(?:CpuCallback error|buffer callback)[\s\S]*\nKeyboardInterrupt:?\s*$"
"""An interrupt came before the first instruction of what C++ called, or while the text was made."""


def _remember(error: BaseException) -> str:
    number = next(_numbers)
    _keep(_failed, number, error)
    return f"{''.join(format_exception(error))}[exception {number} of a callback]"


def exception_behind(error: BaseException) -> BaseException:
    """The exception of a callback that made a program fail with ``error``, or else ``error``.

    The exception is kept until the first call, then only by a weak reference: later calls for the
    same program get the same object while it lives, if its class allows weak references (those
    defined in Python do), or an equal one, if its arguments are just words and numbers. Raise it
    outside of the ``except`` clause, which would become its context, and keep it in no variable,
    since it refers to the frames that it is raised in.

    After :func:`report_as_runtime_errors` the runtime's error is returned, with it as the cause.
    """
    behind = _exception_behind(error)
    if behind is error or not (_reported and isinstance(behind, Exception)):
        return behind
    reported = error if isinstance(error, JaxRuntimeError) else JaxRuntimeError(str(error))
    return _caused_by(reported, behind)


def as_reported(error: Exception) -> Exception:
    """The exception to raise for ``error`` of a callback that was called outside of a program."""
    if not _reported:
        return error
    text = f"INTERNAL: error in a callback: {''.join(format_exception(error))}"
    return _caused_by(JaxRuntimeError(text), error)


def _caused_by(reported: JaxRuntimeError, cause: BaseException) -> JaxRuntimeError:
    reported.__cause__ = cause
    return reported


def report_as_runtime_errors(report: bool = True) -> None:
    """Report exceptions of callbacks as the runtime's error, whose text has their traceback.

    Interrupts and other exceptions that are no ``Exception`` are raised themselves.
    """
    global _reported
    _reported = report


_reported = False


def _exception_behind(error: BaseException) -> BaseException:
    result = re.search(_NUMBER, str(error))
    if result is None:
        return KeyboardInterrupt() if re.search(_INTERRUPTED, str(error)) else error
    number = int(result[1])
    behind = _failed.pop(number, None)
    if behind is None:
        like_it = _again.get(number)
        behind = _taken.get(number)
        return behind if behind is not None else like_it() if like_it is not None else error
    try:
        _taken[number] = behind
    except TypeError:
        if all(isinstance(x, (str, int, float, type(None))) for x in behind.args):
            _keep(_again, number, partial(type(behind), *behind.args))
    return behind


def _keep(where: dict[int, Any], number: int, value: Any) -> None:
    where[number] = value
    while len(where) > MANY:
        with suppress(KeyError, RuntimeError):  # another thread does the same
            del where[next(iter(where))]


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
