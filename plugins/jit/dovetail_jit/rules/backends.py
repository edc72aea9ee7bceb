"""Running a call: lowered, it calls a private function; with NumPy, its program is evaluated."""

from __future__ import annotations

from typing import Any

from dovetail_backends import evaluate, reference_rules, stablehlo_rules

from ..primitive import jit_p


@stablehlo_rules.register(jit_p)
def _jit_stablehlo(b: Any, *operands: Any, jaxpr: Any, **params: Any) -> list[Any]:
    return b.call(jaxpr, operands)


@reference_rules.register(jit_p)
def _jit_reference(*args: Any, jaxpr: Any, **params: Any) -> list[Any]:
    return evaluate(jaxpr, *args)
