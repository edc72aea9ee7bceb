"""What can fail: the kinds of errors, and the sets of them that are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class JaxException(Exception):
    """What a check says of its failure; its class is the kind of error (``ErrorCategory``)."""


class FailedCheckError(JaxException):
    """A ``check`` of the user's does not hold."""


class NaNError(JaxException):
    """An operation has a nan among its results."""


class DivisionByZeroError(JaxException):
    """A division by zero."""


class OOBError(JaxException):
    """An index out of bounds."""


class BatchedError(JaxException):
    """Failures of several elements of mapped axes, by their index there."""

    def __init__(self, error_mapping: Mapping[tuple[int, ...], JaxException]) -> None:
        self.error_mapping = dict(error_mapping)
        super().__init__(self.error_mapping)

    def __str__(self) -> str:
        result = self.error_mapping.items()
        return "\n".join(f"at mapped index {','.join(map(str, at))}: {e}" for at, e in result)


class JaxRuntimeError(ValueError):
    """Raised where a failed check becomes an exception: at rest, or by ``Error.throw``."""


ErrorCategory = type[JaxException]

user_checks: frozenset[ErrorCategory] = frozenset({FailedCheckError})
nan_checks: frozenset[ErrorCategory] = frozenset({NaNError})
index_checks: frozenset[ErrorCategory] = frozenset({OOBError})
div_checks: frozenset[ErrorCategory] = frozenset({DivisionByZeroError})
float_checks: frozenset[ErrorCategory] = nan_checks | div_checks
automatic_checks: frozenset[ErrorCategory] = float_checks | index_checks
all_checks: frozenset[ErrorCategory] = automatic_checks | user_checks


def categories(errors: Any) -> frozenset[ErrorCategory]:
    """The kinds of errors that were asked for.

    Raises:
        TypeError: it is no set of kinds of errors.
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
