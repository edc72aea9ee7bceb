"""Results of a function that says itself whether a checkpointed caller keeps them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core import Eqn, Primitive


def keeping_row(name: str, rule: Callable[..., Any]) -> Primitive:
    """The identity, for which ``rule(policy, type)`` answers in place of the policy."""
    row = Primitive(f"{name}_result", anonymous=True)
    row.def_abstract_eval(lambda x: x)
    row.def_decomposition(lambda x: x)

    def jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return row.bind(primals[0]), tangents[0]

    def batch(axis: Any, args: Sequence[Any], dims: Sequence[Any], /) -> tuple[Any, Any]:
        return row.bind(args[0]), dims[0]

    def keep(policy: Any, eqn: Eqn) -> Any:
        return rule(policy, *[v.aval for v in eqn.outvars])

    row.rules = {
        "ad.jvp": jvp,
        "backends.stablehlo": lambda b, x: x,
        "batching.batch": batch,
        "eval": lambda x: x,
        "remat.keep": keep,
    }
    return row
