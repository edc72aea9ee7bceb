"""Calls of functions with derivative rules that are given by hand, as functions of flat lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import Primitive

from .calls import custom_jvp_call_p


def call_functions(
    custom: Any, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]
) -> Any:
    """Call a function with its rule or rules, as a function made by ``custom``.

    ``subfuns`` has, with methods ``call_wrapped``,

    - of forward mode ``fun(*args)`` and ``jvp(*args, *tangents)``, which returns results and
      tangents;
    - of reverse mode ``fun``, ``fwd(arg, is_differentiated, ...)``, which returns residuals and
      results, and ``bwd(*residuals, *cotangents)``; ``out_trees()`` says how many residuals there
      are, and which of them are operands, so that ``fwd`` does not return them.
    """
    fun, *rules = params["subfuns"]
    call = custom(lambda *xs: list(fun.call_wrapped(*xs)))
    symbolic = bool(params.get("symbolic_zeros", False))
    if primitive is custom_jvp_call_p:
        (jvp,) = rules

        def forward_mode(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
            result = list(jvp.call_wrapped(*primals, *tangents))
            return result[: len(result) // 2], result[len(result) // 2 :]

        call.def_jvp(forward_mode, symbolic)
        return call(*args)
    fwd, bwd = rules

    def forward(*xs: Any) -> Any:
        result = list(fwd.call_wrapped(*[y for x in xs for y in (x, True)]))
        operands = params["out_trees"]()[2]
        n = sum(i is None for i in operands)
        rest = iter(result[:n])
        return result[n:], [next(rest) if i is None else xs[i] for i in operands]

    def backward(residuals: Sequence[Any], cotangents: Sequence[Any]) -> Any:
        return tuple(bwd.call_wrapped(*residuals, *cotangents))

    call.def_vjp(forward, backward)
    return call(*args)
