"""Evaluating with NumPy: call the function."""

from __future__ import annotations

from typing import Any

from dovetail_backends import reference_rules

from ..primitives import debug_callback_p, io_callback_p, pure_callback_p
from ._values import read_only


@reference_rules.register(pure_callback_p)
def _pure_reference(*args: Any, callback: Any, result_avals: Any, vmap_method: Any) -> list[Any]:
    return callback.checked(result_avals, *map(read_only, args))


@reference_rules.register(io_callback_p)
def _io_reference(*args: Any, callback: Any, result_avals: Any, ordered: bool) -> list[Any]:
    return callback.checked(result_avals, *map(read_only, args))


@reference_rules.register(debug_callback_p)
def _debug_reference(*args: Any, callback: Any, ordered: bool) -> list[Any]:
    return callback.checked((), *map(read_only, args))
