"""Compiled code has no checks: what shall fail there is asked for with ``checked``."""

from __future__ import annotations

from typing import Any

from dovetail_backends import reference_rules, stablehlo_rules

from ..check import check_p


@reference_rules.register(check_p)
def _check_reference(*operands: Any, **params: Any) -> list[Any]:
    return []


@stablehlo_rules.register(check_p)
def _check_stablehlo(b: Any, *operands: Any, **params: Any) -> list[Any]:
    return []
