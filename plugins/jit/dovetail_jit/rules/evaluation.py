"""The rule of the primitive ``jit`` that evaluates a call."""

from __future__ import annotations

from typing import Any

from dovetail_core import ClosedJaxpr, eval_rules

from ..eager import evaluate_program
from ..primitive import jit_p


@eval_rules.register(jit_p)
def _jit_now(
    *args: Any, jaxpr: ClosedJaxpr, name: str, donated_invars: Any, **requested: Any
) -> list[Any]:
    return evaluate_program(jaxpr, name, args, requested)
