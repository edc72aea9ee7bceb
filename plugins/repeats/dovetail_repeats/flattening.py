"""Calls written out: what repeats is looked for in one list of equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from dovetail_jit import jit_p


def flattened(jaxpr: Jaxpr) -> Jaxpr:
    """The program with the programs that it calls (``jit``) in place of the calls."""
    names: dict[Any, Any] = {}
    eqns: list[Eqn] = []
    _write(jaxpr.eqns, names, eqns, own=True)
    return jaxpr.replace(eqns=eqns, outvars=[_of(names, x) for x in jaxpr.outvars])


def _of(names: dict[Any, Any], x: Any) -> Any:
    return x if isinstance(x, Literal) else names.get(x, x)


def _write(eqns: Sequence[Eqn], names: dict[Any, Any], made: list[Eqn], own: bool) -> None:
    """Add equations, those of a called program (not ``own``) with new variables."""
    for eqn in eqns:
        invars = [_of(names, x) for x in eqn.invars]
        program = _called(eqn)
        if program is not None:
            inner = dict(zip(program.invars, invars))
            _write(program.eqns, inner, made, own=False)
            names.update((v, _of(inner, x)) for v, x in zip(eqn.outvars, program.outvars))
            continue
        if not own:
            names.update((v, Var(v.aval)) for v in eqn.outvars)
        made.append(eqn.replace(invars=invars, outvars=[_of(names, v) for v in eqn.outvars]))


def _called(eqn: Eqn) -> ClosedJaxpr | None:
    """The program that an equation calls and that can stand in its place."""
    if eqn.primitive is not jit_p or eqn.effects:
        return None
    program: ClosedJaxpr = eqn.params["jaxpr"]
    return None if program.consts else program
