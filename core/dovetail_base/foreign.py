"""Errors of Python and NumPy within public functions, reworded in terms of the user's call."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import Any, TypeVar

from .source import here, is_hidden

F = TypeVar("F", bound=Callable[..., Any])


def reword_errors(f: F) -> F:
    """``f``, wrapped so that errors of Python and NumPy name ``f`` and the user's line.

    It is for functions that take many kinds of arguments and do more than one operation: the call
    of the wrapper costs some tenths of a microsecond. ``f`` need not check what would fail anyway.
    Unchanged are errors that name a source location, those that the user's functions raise, and
    those of bugs in ``f`` itself.
    """

    @wraps(f)
    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            return f(*args, **kwargs) if kwargs else f(*args)  # no second dict of none
        except (TypeError, ValueError, OverflowError) as e:
            reworded = _reworded(e, f.__qualname__.partition(".__")[0])
            if reworded is None:
                raise
        raise reworded

    return function  # type: ignore[return-value]


def _reworded(error: Exception, name: str) -> Exception | None:
    """The error that names the function and the line; None if ``error`` is to be left unchanged."""
    if type(error).__module__.partition(".")[0] not in ("builtins", "numpy"):
        return None
    location = here()
    if location in str(error) or _of_user(error.__traceback__):
        return None
    kinds = [k for k in (TypeError, OverflowError, ValueError) if isinstance(error, k)]
    reworded = kinds[0](f"{name} cannot take these arguments{location}: {error}")
    reworded.__cause__ = error
    return reworded


def _of_user(traceback: TracebackType | None) -> bool:
    """Return whether a frame of a traceback runs the user's code, such as a function passed in."""
    while traceback is not None:
        frame = traceback.tb_frame
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if not is_hidden(frame) and package not in _FOREIGN:
            return True
        traceback = traceback.tb_next
    return False


_FOREIGN = sys.stdlib_module_names | {"numpy", "ml_dtypes", "opt_einsum"}
