"""Counting what a program costs: the multiplications and additions of its matrix products."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import dovetail
from dovetail_core import ClosedJaxpr, lower_to_lo


def dot_flops(f: Callable[..., Any], *args: Any) -> int:
    """The operations of all ``dot_general`` in the program of ``f(*args)``, as it is compiled."""
    return _of_program(lower_to_lo(dovetail.make_jaxpr(f)(*args)))


def _of_program(program: ClosedJaxpr) -> int:
    total = 0
    for eqn in program.eqns:
        if eqn.primitive.name == "dot_general":
            x: Any = eqn.invars[0].aval
            out: Any = eqn.outvars[0].aval
            summed = eqn.params["dimension_numbers"][0][0]
            total += 2 * prod(out.shape) * prod(x.shape[i] for i in summed)
        inner = [p for p in eqn.params.values() if isinstance(p, ClosedJaxpr)]
        total += eqn.params.get("length", 1) * sum(map(_of_program, inner))
    return total
