"""Rules of ``refs.discharge``: operations on references as operations on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dovetail_lax as lax
from dovetail_core import Trace, algebra, here, mutable_values, typeof

from ..indexing import accumulate, read, write
from ..primitives import (
    addupdate_p,
    empty_p,
    free_p,
    freeze_p,
    get_p,
    new_p,
    set_p,
    swap_p,
)
from ..tables import discharge_rules
from ..types import AbstractRef


def _as(x: Any, aval: Any) -> Any:
    """``x`` as a strongly typed array, as Python and NumPy values lack methods of arrays."""
    if aval.is_high or getattr(x, "aval", None) is aval:
        return x
    return algebra().array(x, aval)


@discharge_rules.register(new_p)
def _new(trace: Trace, args: Sequence[Any], params: dict[str, Any]) -> Any:
    aval = AbstractRef(typeof(args[0]), None, params.get("kind"))
    return mutable_values.LocalValue(trace, aval, [_as(args[0], aval.inner_aval)])


@discharge_rules.register(empty_p)
def _empty(trace: Trace, args: Sequence[Any], params: dict[str, Any]) -> Any:
    aval: Any = params["aval"]
    return mutable_values.LocalValue(
        trace, AbstractRef(aval), [lax.full(aval.shape, 0, aval.dtype)]
    )


@discharge_rules.register(get_p)
def _get(trace: Trace, args: Sequence[Any], params: dict[str, Any]) -> Any:
    ref, *operands = args
    return read(ref.contents[0], params["index"], operands)


@discharge_rules.register(set_p)
def _set(trace: Trace, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    ref, value, *operands = args
    new = write(ref.contents[0], params["index"], operands, value)
    ref.contents[0] = _as(new, ref.aval.inner_aval)
    return []


@discharge_rules.register(swap_p)
def _swap(trace: Trace, args: Sequence[Any], params: dict[str, Any]) -> Any:
    ref, _, *operands = args
    old = read(ref.contents[0], params["index"], operands)
    _set(trace, args, params)
    return old


@discharge_rules.register(addupdate_p)
def _addupdate(trace: Trace, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    ref, value, *operands = args
    new = accumulate(ref.contents[0], params["index"], operands, value)
    ref.contents[0] = _as(new, ref.aval.inner_aval)
    return []


@discharge_rules.register(freeze_p)
def _freeze(trace: Trace, args: Sequence[Any], params: dict[str, Any]) -> Any:
    _close(args[0], "frozen")
    return args[0].contents[0]


@discharge_rules.register(free_p)
def _free(trace: Trace, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    _close(args[0], "freed")
    return []


def _close(ref: mutable_values.LocalValue, how: str) -> None:
    source = here()
    if ref.borrowed:
        raise ValueError(
            f"{ref.aval.str_short()} is {how}{source}, but it comes from outside of the "
            f"transformed function: only a reference that is made inside can be {how} "
            f"there. Read it, or have it {how} by the caller."
        )
    ref.closed_by = f"{how}{source}. Read or copy it before."
