"""Rules of ``ad.partial_eval``: known operands of ``taken`` do not wait for unknown ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import partial_eval_rules

from ..primitives.taken import bind_taken, taken_p, zeroed_operands


@partial_eval_rules.register(taken_p)
def _taken(trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    index, *operands = args
    unknown, positions = [trace.owns(x) for x in operands], params["positions"]

    def part(which: bool) -> tuple[list[Any], dict[str, Any]]:
        own = [i for i, u in enumerate(unknown) if u is which]
        return [operands[i] for i in own], {
            **params,
            "positions": tuple([positions[i] for i in own]),
        }

    known, rest = part(False)
    done = iter(bind_taken(index, zeroed_operands(index, known, **rest), **rest))
    known, rest = part(True)
    result = iter(trace.record(taken_p, [index, *known], rest))
    return [next(result if u else done) for u in unknown]
