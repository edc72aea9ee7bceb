"""The work of loops of known length."""

from __future__ import annotations

from typing import Any

from dovetail_remat import cost_rules, program_flops

from ...primitives.control_flow import scan_p


@cost_rules.register(scan_p)
def _scan_cost(ins: Any, outs: Any, /, *, program: Any, length: int, **params: Any) -> float:
    return length * program_flops(program)
