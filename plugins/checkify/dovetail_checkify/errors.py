"""Errors as values: the kinds of errors and sets of them, checks, and the first failure.

An error has a flag for failure, the number of the check that failed, and the values in its message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any, NamedTuple

import numpy as np

from dovetail_backends import asarray_on, target_device
from dovetail_base.source import Source
from dovetail_core import ExtendedDType, ShapedArray, Tracer, describe_source, here, typeof
from dovetail_tree.util import register_pytree_node, tree_unflatten


class JaxException(Exception):
    """The failure of a check; its class is the kind of error (``ErrorCategory``)."""


class FailedCheckError(JaxException):
    """A ``check`` of the user failed."""


class NaNError(JaxException):
    """An operation has a nan among its results."""


class DivisionByZeroError(JaxException):
    """A division by zero."""


class OOBError(JaxException):
    """An index out of bounds."""


class BatchedError(JaxException):
    """Failures of several elements of mapped axes, by index."""

    def __init__(self, error_mapping: Mapping[tuple[int, ...], JaxException]) -> None:
        self.error_mapping = dict(error_mapping)
        super().__init__(self.error_mapping)

    def __str__(self) -> str:
        result = self.error_mapping.items()
        return "\n".join(f"at mapped index {','.join(map(str, at))}: {e}" for at, e in result)


class JaxRuntimeError(ValueError):
    """Raised when a check fails in eager evaluation, and by ``Error.throw``."""


ErrorCategory = type[JaxException]

user_checks: frozenset[ErrorCategory] = frozenset({FailedCheckError})
nan_checks: frozenset[ErrorCategory] = frozenset({NaNError})
index_checks: frozenset[ErrorCategory] = frozenset({OOBError})
div_checks: frozenset[ErrorCategory] = frozenset({DivisionByZeroError})
float_checks: frozenset[ErrorCategory] = nan_checks | div_checks
automatic_checks: frozenset[ErrorCategory] = float_checks | index_checks
all_checks: frozenset[ErrorCategory] = automatic_checks | user_checks


def categories(errors: Any) -> frozenset[ErrorCategory]:
    """``errors`` as a set of kinds of errors.

    Raises:
        TypeError: it is not such a set.
    """
    from dovetail_base.source import called, short_repr

    try:
        result = frozenset(errors)
        fits = all(isinstance(e, type) and issubclass(e, JaxException) for e in result)
    except TypeError:
        result, fits = frozenset(), False
    if not fits:
        raise TypeError(
            f"errors must be a set of kinds of errors, got {short_repr(errors)}{called()}. Use "
            "user_checks, automatic_checks or all_checks, or join such sets with |."
        )
    return result


class Check(NamedTuple):
    """One check of a program: its message, the values in it, and its source line.

    Attributes:
        category: the kind of error.
        message: formatted (``str.format``) with the values.
        structure: the tree of the message's positional and named arguments.
        slots: the indices of these in the error's payload.
        source: the user's source line.
        mapped: the indices, in the payload, of the indices in mapped axes, innermost first.
    """

    category: type[JaxException]
    message: str
    structure: Any
    slots: tuple[int, ...]
    source: Source | None
    mapped: tuple[int, ...] = ()

    def exception(self, payload: Sequence[Any]) -> JaxException:
        """The exception for a failure with concrete values."""
        args, kwargs = tree_unflatten(self.structure, [payload[i] for i in self.slots])
        text = Formatter().vformat(self.message, args, kwargs)
        at = ",".join(str(payload[i]) for i in reversed(self.mapped))
        where = f", at mapped index {at}" if self.mapped else ""
        return self.category(f"{text}{describe_source(self.source)}{where}")

    def moved(self, slots: Sequence[int]) -> Check:
        """The check for a payload that has array ``i`` of the current one at ``slots[i]``."""
        return self._replace(
            slots=tuple([slots[i] for i in self.slots]),
            mapped=tuple([slots[i] for i in self.mapped]),
        )


class Error:
    """The first failure of a functionalized function. A pytree: it goes through ``jit``, ``vmap``,
    ``grad``, loops and branches like any value; where functions are mapped there is one for each
    element.

    Attributes:
        _pred: True if a check failed. _code: its number, counted from 1 (0: none).
        _metadata: the checks. _payload: the arrays in their messages.
    """

    def __init__(self, _pred: Any, _code: Any, _metadata: Any, _payload: Any) -> None:
        self._pred = _pred
        self._code = _code
        self._metadata: tuple[Check, ...] = _metadata
        self._payload = _payload

    def get(self) -> str | None:
        """The message of the first failure, None if there is none.

        Of an error with mapped axes, a line for each element that failed.

        Raises:
            ValueError: the error is being traced.
        """
        result = self.get_exception()
        return None if result is None else str(result)

    def get_exception(self) -> JaxException | None:
        """The failure as an exception of its kind, not raised; None if there is none.

        Raises:
            ValueError: the error is being traced.
        """
        if isinstance(self._pred, Tracer):
            raise ValueError(
                f"an Error that is being traced is asked what failed{here()}. Return it from the "
                "function, and ask it there; or pass it on with check_error."
            )
        failed = np.asarray(self._pred)
        if not failed.any():
            return None
        if not failed.ndim:
            return self._at(())
        return BatchedError({at: self._at(at) for at in zip(*map(_ints, failed.nonzero()))})

    def _at(self, at: tuple[int, ...]) -> JaxException:
        number = int(np.asarray(self._code)[at])
        return self._metadata[number - 1].exception([_element(x, at) for x in self._payload])

    def throw(self) -> None:
        """Raise the failure, if there is one.

        Raises:
            JaxRuntimeError: a check failed. ValueError: the error is being traced.
        """
        result = self.get_exception()
        if result is not None:
            raise JaxRuntimeError(str(result)) from result

    def __repr__(self) -> str:
        # Structures are printed with placeholders in place of arrays.
        known = hasattr(self._pred, "shape") and not isinstance(self._pred, Tracer)
        return f"Error({self.get() if known else self._pred!r})"


def _element(x: Any, at: tuple[int, ...]) -> Any:
    """The value of one element as an array, as messages format it, also in trees."""
    if isinstance(typeof(x).dtype, ExtendedDType):  # type: ignore[attr-defined]
        return x[at]
    value = np.asarray(np.asarray(x)[at])
    return asarray_on(value, ShapedArray(value.shape, value.dtype), target_device())


def _ints(x: Any) -> list[int]:
    return x.tolist()


register_pytree_node(
    Error,
    lambda e: ((e._pred, e._code, e._payload), e._metadata),
    lambda metadata, parts: Error(parts[0], parts[1], metadata, parts[2]),
)
init_error = Error(np.False_, np.int32(0), (), ())
