"""Evaluating a call with NumPy: evaluate the program."""

from __future__ import annotations

from typing import Any

from dovetail_backends import evaluate, reference_rules

from ...primitive import jit_p


@reference_rules.register(jit_p)
def _jit_reference(*args: Any, program: Any, name: str, donated: Any) -> list[Any]:
    return evaluate(program, *args)
