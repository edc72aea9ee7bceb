"""The primitive ``check``, which has an effect and no results, and the first failure of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import dovetail_lax as lax
from dovetail_core import IOEffect, Primitive, typeof

from .errors import Check


@dataclass(frozen=True, slots=True)
class CheckEffect(IOEffect):
    """The effect of a check, which only ``checkify`` turns into a value."""

    name: str = "check"
    guardable: ClassVar[bool] = True


check_p = Primitive("check", multiple_results=True)
check_p.def_traits(
    effect_only=True,  # derivatives check primal values
    parameters={
        "checks": "the checks that may have failed",
        "debug": "true if it is ignored outside of checkify",
    },
)


def _guard(predicate: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    failed, *rest = args
    return check_p.bind(lax.bitwise_and(failed, predicate), *rest, **params)


check_p.def_traits(guard=_guard)


@check_p.def_effectful_abstract_eval
def _check_type(
    failed: Any, code: Any, *payload: Any, checks: tuple[Check, ...], debug: bool
) -> Any:
    return [], {CheckEffect()}


Failure = tuple[Any, Any, list[Any], tuple[Check, ...]]


def first_failure(
    failed: Any,
    code: Any,
    payload: Sequence[Any],
    checks: tuple[Check, ...],
    mapped: Sequence[bool] | None = None,
) -> Failure:
    """The first failure along the leading axis of all arrays, with its index as one more payload.

    Args:
        mapped: True for each of ``failed``, ``code`` and the payload that has this axis; by default
            all have it.
    """
    has = [True] * (2 + len(payload)) if mapped is None else list(mapped)
    size = next(typeof(x).shape[0] for x, m in zip((failed, code, *payload), has) if m)  # type: ignore[attr-defined]
    if not size:
        nothing = [
            lax.full(_element(x, m).shape, 0, _element(x, m).dtype)
            for x, m in zip(payload, has[2:])
        ]
        failed, code = np.False_, np.int32(0)
        return failed, code, [*nothing, np.int32(0)], _with_index(checks, len(payload))
    at: Any = np.int32(0)
    if has[0]:
        at = lax.argmax(failed, 0, np.int32)
        failed = lax.reduce_or(failed, (0,))
    code, *rest = [
        lax.dynamic_index_in_dim(x, at, 0, keepdims=False) if m else x
        for x, m in zip((code, *payload), has[1:])
    ]
    return failed, code, [*rest, at], _with_index(checks, len(payload))


def _with_index(checks: tuple[Check, ...], slot: int) -> tuple[Check, ...]:
    return tuple([c._replace(mapped=(*c.mapped, slot)) for c in checks])


def _element(x: Any, mapped: bool) -> Any:
    aval: Any = typeof(x)
    return aval.update(shape=aval.shape[1:]) if mapped else aval
