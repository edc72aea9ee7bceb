"""Lowering a call: a call of the program's private function."""

from __future__ import annotations

from typing import Any

from dovetail_backends import stablehlo_rules

from ...primitive import jit_p


@stablehlo_rules.register(jit_p)
def _jit_stablehlo(b: Any, *operands: Any, program: Any, name: str, donated: Any) -> list[Any]:
    return b.call(program, operands)
