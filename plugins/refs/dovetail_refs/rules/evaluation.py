"""Evaluation of operations on references, which act on the reference's array."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
from dovetail_core import eval_rules

from ..indexing import Chain
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
from ..value import Ref, concrete_ref


@eval_rules.register(new_p)
def _new(x: Any, *, kind: str | None = None) -> Ref:
    return Ref.holding(x, kind=kind)


@eval_rules.register(empty_p)
def _empty(*, aval: Any) -> Ref:
    # Zeros: uninitialised memory would differ from run to run.
    return Ref.holding(lax.full(aval.shape, 0, aval.dtype), own=True)


@eval_rules.register(get_p)
def _get(ref: Any, *operands: Any, index: Chain) -> Any:
    return concrete_ref(ref).read(index, operands)


@eval_rules.register(set_p)
def _set(ref: Any, value: Any, *operands: Any, index: Chain) -> list[Any]:
    concrete_ref(ref).update("set", value, index, operands)
    return []


@eval_rules.register(swap_p)
def _swap(ref: Any, value: Any, *operands: Any, index: Chain) -> Any:
    target = concrete_ref(ref)
    old = target.read(index, operands)
    target.update("set", value, index, operands)
    return old


@eval_rules.register(addupdate_p)
def _addupdate(ref: Any, value: Any, *operands: Any, index: Chain) -> list[Any]:
    concrete_ref(ref).update("add", value, index, operands)
    return []


@eval_rules.register(freeze_p)
def _freeze(ref: Any) -> Any:
    return concrete_ref(ref).close("frozen")


@eval_rules.register(free_p)
def _free(ref: Any) -> list[Any]:
    concrete_ref(ref).close("freed")
    return []
