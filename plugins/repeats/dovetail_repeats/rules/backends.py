"""Rules that run ``repeated``: lowered, it is a call of a function; NumPy evaluates its program."""

from __future__ import annotations

from typing import Any

from dovetail_backends import evaluate, reference_rules, stablehlo_rules

from ..primitive import repeated_p


@stablehlo_rules.register(repeated_p)
def _stablehlo(b: Any, *operands: Any, jaxpr: Any) -> list[Any]:
    return b.call(jaxpr, operands, kept=b.platform == "cpu")


@reference_rules.register(repeated_p)
def _reference(*args: Any, jaxpr: Any) -> list[Any]:
    return evaluate(jaxpr, *args)
