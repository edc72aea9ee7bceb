"""Evaluating: call the function now."""

from __future__ import annotations

from typing import Any

from dovetail_backends import put_host
from dovetail_core import def_impl

from ..host import HostFunction
from ..primitives import debug_callback_p, io_callback_p, pure_callback_p
from ._values import read_only


def _call(args: Any, callback: HostFunction, result_avals: tuple[Any, ...]) -> list[Any]:
    found = callback.checked(result_avals, *[read_only(x) for x in args])
    return [put_host(x, a) for x, a in zip(found, result_avals)]


@def_impl(pure_callback_p)
def _pure_eval(*args: Any, callback: Any, result_avals: Any, vmap_method: Any) -> list[Any]:
    return _call(args, callback, result_avals)


@def_impl(io_callback_p)
def _io_eval(*args: Any, callback: Any, result_avals: Any, ordered: bool) -> list[Any]:
    return _call(args, callback, result_avals)


@def_impl(debug_callback_p)
def _debug_eval(*args: Any, callback: Any, ordered: bool) -> list[Any]:
    return _call(args, callback, ())
