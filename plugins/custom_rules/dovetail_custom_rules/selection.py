"""A row of which some results are not used, where the row itself cannot do with less."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core import ClosedJaxpr, Eqn, Primitive, Var, dce_closed, stage_closed

from .flat import Flags, pick, spread

Reduced = tuple[list[bool], Eqn | None]


def selected(row: Primitive, used: Flags) -> Primitive:
    """``row`` with the ``used`` results only, and its rules."""
    rules: Any = row.rules
    run: Any = row.decomposition
    made = Primitive(row.name, multiple_results=True, anonymous=True)
    made.def_decomposition(lambda *args, **params: pick(run(*args, **params), used))
    infer: Any = row.abstract_eval

    @made.def_effectful_abstract_eval
    def _type(*avals: Any, **params: Any) -> Any:
        types, effects = infer(*avals, **params)
        return pick(types, used), effects

    lift: Any = row.lift
    made.lift = lambda carrier, args, params: pick(lift(carrier, args, params), used)
    split = rules["ad.partial_eval"]

    def partial_eval(trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        return pick(split(trace, args, params), used)

    def dce(used_now: list[bool], eqn: Eqn) -> Reduced:
        variables = spread(eqn.outvars, used)
        types = infer(*[x.aval for x in eqn.invars], **eqn.params)[0]
        every = [Var(a) if v is None else v for v, a in zip(variables, types)]
        asked = [bool(u) for u in spread(used_now, used)]
        return rules["dce"](asked, eqn.replace(primitive=row, outvars=every))

    made.rules = {
        "ad.partial_eval": partial_eval,
        "backends.stablehlo": lean_lowering(made),
        "dce": dce,
        "eval": made.decomposition,  # type: ignore[dict-item]
    }
    return made


def lean_lowering(row: Primitive) -> Callable[..., Any]:
    """The rule of ``backends.stablehlo`` that lowers what a row's decomposition needs."""

    def rule(b: Any, *operands: Any, **params: Any) -> list[Any]:
        run: Any = row.decomposition
        program: ClosedJaxpr = stage_closed(
            lambda *xs: run(*xs, **params), [x.aval for x in operands], row.name
        )
        used = [True] * len(program.out_avals)
        return b.inline(dce_closed(program, used, True)[0], operands)

    return rule
