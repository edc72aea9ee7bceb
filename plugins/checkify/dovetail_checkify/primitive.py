"""The primitive ``check``: no result, and an effect, so that it is never dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import dovetail_lax as lax
from dovetail_core import IOEffect, Primitive

from .error import Check


@dataclass(frozen=True, slots=True)
class CheckEffect(IOEffect):
    """Something is checked. Only a function that is functionalized has a place for failures."""

    name: str = "check"
    guardable: ClassVar[bool] = True


check_p = Primitive("check", multiple_results=True)
check_p.def_traits(
    effect_only=True,  # derivatives check primal values
    parameters={
        "checks": "what can have failed",
        "debug": "whether nothing is checked outside of checkify",
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
