"""The functions ``check``, ``debug_check`` and ``check_error``."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.arguments import string
from dovetail_base.format_strings import check_format
from dovetail_base.source import called, short_repr
from dovetail_core import current_source, describe_source, here, typeof
from dovetail_tree.util import tree_flatten

from .errors import Check, Error, FailedCheckError
from .primitive import check_p, first_failure


def check(pred: Any, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
    """Check that ``pred`` is true, and report ``msg`` if it is not.

    In a function transformed by ``checkify``, a failure is part of the error that is returned.
    Evaluated eagerly it raises; in other compiled code checks are an error.

    Args:
        pred: a boolean scalar.
        msg: formatted (``str.format``) with ``fmt_args`` and ``fmt_kwargs``, pytrees of arrays.
        debug: if True, check only under ``checkify``.

    Raises:
        TypeError: ``pred`` is not a boolean scalar, ``msg`` not a string, a value to format not an
            array.
        IndexError, KeyError: ``msg`` names an argument that is not given.
        JaxRuntimeError: ``pred`` is known, and does not hold.
    """
    string("msg", msg)
    _require_boolean(pred)
    leaves, structure = tree_flatten((fmt_args, fmt_kwargs))
    for x in leaves:
        _require_value(x)
    source = current_source()
    check_format(f"check{describe_source(source)}", "message", msg, fmt_args, fmt_kwargs)
    slots = tuple(range(len(leaves)))
    summary = Check(FailedCheckError, f"{msg} (`check` failed)", structure, slots, source)
    failed = np.logical_not(pred) if isinstance(pred, (bool, np.bool_)) else lax.bitwise_not(pred)
    check_p.bind(failed, np.int32(1), *leaves, checks=(summary,), debug=bool(debug))


def debug_check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """:func:`check` that is ignored outside of ``checkify``.

    Raises:
        TypeError, IndexError, KeyError: as :func:`check`.
    """
    check(pred, msg, *fmt_args, debug=True, **fmt_kwargs)


def check_error(error: Error) -> None:
    """Report the failure in ``error``, if there is one, as a check: the inverse of ``checkify``.

    Raises:
        TypeError: it is not an ``Error``.
        JaxRuntimeError: it is not traced, and has a failure.
    """
    if not isinstance(error, Error):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(
            f"check_error takes an Error, as checkify(f)(...) returns one, got {short_repr(error)} "
            f"of type {type(error).__name__}{here()}"
        )
    if not error._metadata:
        return  # nothing was checked
    failed, code, payload, checks = error._pred, error._code, error._payload, error._metadata
    while typeof(failed).shape:  # type: ignore[attr-defined]
        failed, code, payload, checks = first_failure(failed, code, payload, checks)
    check_p.bind(failed, code, *payload, checks=checks, debug=False)


def _require_boolean(pred: Any) -> None:
    try:
        aval: Any = typeof(pred)
    except TypeError:
        aval = None
    if aval is None or getattr(aval, "shape", None) != () or aval.dtype != np.bool_:
        got = short_repr(pred) if aval is None else aval.str_short()
        raise TypeError(
            f"check takes a boolean scalar, got {got}{called()}. Compare first, and reduce with "
            "dovetail.numpy.all."
        )


def _require_value(x: Any) -> None:
    try:
        typeof(x)
    except TypeError:
        raise TypeError(
            f"the values that a check's message is formatted with are pytrees of arrays, got "
            f"{short_repr(x)} of type {type(x).__name__}{called()}. Put constants into the message "
            "itself."
        ) from None
