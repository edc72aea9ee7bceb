"""Transposing a linear call: a call of the transposed program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import is_linear, transpose_program, transpose_rules

from ...primitive import call_program, jit_p


@transpose_rules.register(jit_p)
def _jit_transpose(
    cotangents: Sequence[Any], *args: Any, program: Any, name: str, donated: Any
) -> list[Any]:
    linear = tuple(is_linear(x) for x in args)
    given = tuple(ct is not None for ct in cotangents)
    transposed, nonzero = transpose_program(program, linear, given)
    values = [x for x, live in zip(args, linear) if not live]
    cts = [ct for ct in cotangents if ct is not None]
    found = iter(call_program(transposed, name, [*values, *cts]))
    have = iter(nonzero)
    return [next(found) if live and next(have) else None for live in linear]
