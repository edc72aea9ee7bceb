"""Programs with their calls written out: repeated parts are searched in one list of equations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from dovetail_core import ClosedJaxpr, Eqn, Jaxpr, Var
from dovetail_jit import jit_p


def count_flattened(program: ClosedJaxpr) -> int:
    """The number of equations of :func:`flattened`: exponentially many in a nest of calls."""

    def count() -> int:
        called = [p for p in map(_called, program.eqns) if p is not None]
        return len(program.eqns) - len(called) + sum(map(count_flattened, called))

    return program.memo("equations without calls", count)


def count_written(program: ClosedJaxpr) -> int:
    """The number of its equations, those of a program that it calls counted once."""
    programs = {id(program): program}
    for each in (todo := [program]):  # grows
        for called in filter(None, map(_called, each.eqns)):
            if id(called) not in programs:
                programs[id(called)] = called
                todo.append(called)
    return sum(len(p.eqns) for p in programs.values())


def flat_equations(program: ClosedJaxpr) -> list[Eqn]:
    """The equations of :func:`flattened`, with the variables of the programs that they are in."""
    result: list[Eqn] = []
    for eqn in program.eqns:
        called = _called(eqn)
        if called is None:
            result.append(eqn)
        else:
            result += called.memo("equations of calls", partial(flat_equations, called))
    return result


def flattened(jaxpr: Jaxpr) -> Jaxpr:
    """The program, with its calls (``jit``) replaced by the programs that they call."""
    names: dict[Any, Any] = {}
    eqns: list[Eqn] = []
    _write(jaxpr.eqns, names, eqns, is_own=True)
    return jaxpr.replace(eqns=eqns, outvars=[names.get(x, x) for x in jaxpr.outvars])


def _write(eqns: Sequence[Eqn], names: dict[Any, Any], made: list[Eqn], is_own: bool) -> None:
    """Append equations to ``made``, those of a called program with new variables."""
    for eqn in eqns:
        program = _called(eqn)
        if program is not None:
            inner: dict[Any, Any] = dict(zip(program.invars, [names.get(x, x) for x in eqn.invars]))
            _write(program.eqns, inner, made, is_own=False)
            names.update(zip(eqn.outvars, [inner.get(x, x) for x in program.outvars]))
            continue
        if not is_own:
            names.update([(v, Var(v.aval)) for v in eqn.outvars])
        made.append(renamed(eqn, names))


def _called(eqn: Eqn) -> ClosedJaxpr | None:
    """The program that an equation calls, if the call can be written out; else None."""
    if eqn.primitive is not jit_p or eqn.effects or eqn.params.get("compiler_options_kvs"):
        return None
    program: ClosedJaxpr = eqn.params["jaxpr"]
    return None if program.consts else program


def renamed(eqn: Eqn, names: dict[Any, Any]) -> Eqn:
    """The equation with other variables; those that are not in ``names`` stay."""
    if not names:
        return eqn
    invars = [names.get(x, x) for x in eqn.invars]
    outvars = [names.get(v, v) for v in eqn.outvars]
    return Eqn(eqn.primitive, invars, outvars, eqn.params, eqn.effects, eqn.source)
