"""Effects of checkpointed functions: once, again at each recomputation, or forbidden.

References are operands of a checkpointed call, until it is differentiated. Then it is *discharged*:
its program takes their contents and returns the new contents; reads before the call and writes
after it are separate operations, which happen once. Contents are kept for the second computation
only if it reads them, like every other input.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NoReturn

from dovetail_core import (
    ClosedJaxpr,
    Effect,
    Eqn,
    InputEffect,
    IOEffect,
    ReadEffect,
    describe_source,
    mutable_values,
    programs,
)

from .primitive import remat_p

Effects = Literal["once", "replay", "forbid"]


def bind_with_effects(
    program: ClosedJaxpr, operands: Sequence[Any], params: dict[str, Any]
) -> list[Any]:
    """The results of a checkpointed call, with effects according to ``params["effects"]``."""
    name = program.jaxpr.name
    if params.get("effects") == "forbid" and any(map(_forbidden, program.effects)):
        _refuse(program, name)
    if any(a.is_mutable for a in program.in_avals):
        names = [f"input {i}" for i in range(len(operands))]
        mutable_values.check_aliases(f"checkpoint of {name}", operands, names)
    return remat_p.bind(*operands, jaxpr=program, **params)


def touched(program: ClosedJaxpr) -> bool:
    """True if the program itself reads or writes references."""
    return any(isinstance(e, InputEffect) for e in program.effects)


def bind_discharged(
    program: ClosedJaxpr, operands: Sequence[Any], params: dict[str, Any]
) -> list[Any]:
    """The results of a call on the contents of references that it reads or writes.

    A reference that only a derivative rule uses stays an operand.
    """
    result = {e.input_index for e in program.effects if isinstance(e, InputEffect)}
    return _once(program, tuple(i in result for i in range(len(operands))), operands, params)


def _once(
    program: ClosedJaxpr,
    mutable: tuple[bool, ...],
    operands: Sequence[Any],
    params: dict[str, Any],
) -> list[Any]:
    """Read the references, call the program without them, write them."""
    pure, written = mutable_values.discharge_provider().program(program, mutable, keeps_rules=True)
    groups: list[Sequence[Any]] = [
        a.read(x) if m else (x,) for x, a, m in zip(operands, program.in_avals, mutable)
    ]
    widths = [len(g) for g in groups]
    barrier = params["prevent_cse"]
    if isinstance(barrier, tuple):
        barrier = tuple(b for b, n in zip(barrier, widths) for _ in range(n))
    flat = [x for g in groups for x in g]
    outs = remat_p.bind(*flat, jaxpr=pure, **{**params, "prevent_cse": barrier})
    n = len(program.out_avals)
    finals = iter(outs[n:])
    for i in written:
        final: Any = mutable_values.final_type(program, i)
        final.write(operands[i], [next(finals) for _ in final.content_types()])
    return outs[:n]


def has_io(eqn: Eqn) -> bool:
    """True if an equation has an effect outside of the program, such as printing."""
    return any(isinstance(e, IOEffect) for e in eqn.effects)


def _forbidden(effect: Effect) -> bool:
    """True for effects other than reads, whose values are kept like other inputs."""
    return not isinstance(effect, ReadEffect)


def _refuse(program: ClosedJaxpr, name: str) -> NoReturn:
    eqn = _behind(program)
    what = f"{eqn.primitive.name!r}{describe_source(eqn.source)}" if eqn else "an operation"
    effects = eqn.effects if eqn else program.effects
    effect = sorted(filter(_forbidden, effects), key=repr)[0]
    on = ""
    if eqn and isinstance(effect, InputEffect):
        on = f" on {eqn.invars[effect.input_index].aval.str_short()}"
    raise ValueError(
        f"checkpoint of {name} with effects='forbid': {what} has a {type(effect).__name__}{on}. "
        "Take it out of the function, or let it happen in the first pass only (effects='once')."
    )


def _behind(program: ClosedJaxpr) -> Eqn | None:
    """The innermost equation with a forbidden effect."""
    result = next((e for e in program.eqns if any(map(_forbidden, e.effects))), None)
    if result is None:
        return None
    inner = (_behind(p) for p in programs.subprograms(result.params) if isinstance(p, ClosedJaxpr))
    return next((e for e in inner if e is not None), result)
