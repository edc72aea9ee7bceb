"""Running a call at rest: compiled with what was asked for it."""

from __future__ import annotations

from typing import Any

from dovetail_core import ClosedJaxpr, eval_rules

from ..eager import eager_call_as_asked, eager_call_cached
from ..primitive import jit_p


@eval_rules.register(jit_p)
def _jit_now(
    *args: Any, jaxpr: ClosedJaxpr, name: str, donated_invars: Any, **asked: Any
) -> list[Any]:
    if not asked:
        return eager_call_cached(jaxpr, name, args)
    return eager_call_as_asked(jaxpr, name, args, asked)
