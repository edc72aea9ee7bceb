"""Mutable values that sub-programs close over become operands of the application.

A custom rule may use a mutable value that is no argument. A program that is derived by it then has
that value as a constant. No program with such a constant is called: the code that builds an
application makes it an operand, so that the effects on it are visible from outside. If the same
value is an operand already, that one is used: no value is two operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_base.source import here

from ..dispatch.primitive import Primitive
from .programs import Atom, ClosedJaxpr, Eqn, Var
from .regions import Kind, Operand, RegionInterface


def mutable_constants(program: ClosedJaxpr) -> list[Any]:
    """The mutable values that a program closes over, in order."""
    if not program.consts:
        return []
    return [c for v, c in zip(program.constvars, program.consts) if v.aval.is_mutable]


def with_inputs(program: ClosedJaxpr, positions: Sequence[int | None]) -> ClosedJaxpr:
    """The program without mutable constants; remembered with it.

    Args:
        positions: for each of them the input that is the same value, or None: it becomes an input
            then. Such inputs come first.
    """
    return program.memo(
        ("mutable_inputs", tuple(positions)), lambda: _with_inputs(program, positions)
    )


def _with_inputs(program: ClosedJaxpr, positions: Sequence[int | None]) -> ClosedJaxpr:
    jaxpr, given = program.jaxpr, iter(positions)
    kept: list[tuple[Var, Any]] = []
    new: list[Var] = []
    same: dict[Var, Var] = {}
    for v, c in zip(jaxpr.constvars, program.consts):
        position = next(given) if v.aval.is_mutable else None
        if not v.aval.is_mutable:
            kept.append((v, c))
        elif position is None:
            new.append(v)
        else:
            same[v] = jaxpr.invars[position]
    return _renamed(program, same, kept, [*new, *jaxpr.invars])


def merged(program: ClosedJaxpr, first: tuple[int, ...]) -> ClosedJaxpr:
    """The program with one input in place of several that are the same value; remembered with it.

    Args:
        first: per input, the first one that is the same value.
    """

    def make() -> ClosedJaxpr:
        invars = program.invars
        same = {v: invars[i] for v, i in zip(invars, first) if v is not invars[i]}
        kept = list(zip(program.constvars, program.consts))
        return _renamed(program, same, kept, [v for v in invars if v not in same])

    return program.memo(("merged", first), make)


def _renamed(
    program: ClosedJaxpr, same: dict[Var, Var], kept: Sequence[tuple[Var, Any]],
    invars: Sequence[Var],
) -> ClosedJaxpr:  # fmt: skip
    """The program with constants and inputs as given, and others in place of some variables."""
    jaxpr, constvars = program.jaxpr, [v for v, _ in kept]
    before = [*jaxpr.constvars, *jaxpr.invars]
    at = {v: i for i, v in enumerate([*constvars, *invars])}
    types = {at[same.get(before[i], before[i])]: t for i, t in jaxpr.mut_types.items()}
    eqns = [_with_names(e, same) for e in jaxpr.eqns] if same else jaxpr.eqns
    changed = jaxpr.replace(constvars=constvars, invars=invars, eqns=eqns, mut_types=types)
    return ClosedJaxpr(changed, [c for _, c in kept])


def _with_names(eqn: Eqn, same: dict[Var, Var]) -> Eqn:
    invars: list[Atom] = [same.get(v, v) if v.__class__ is Var else v for v in eqn.invars]  # type: ignore[arg-type]
    if invars == eqn.invars:
        return eqn
    positions = same_operands(eqn.primitive, invars, [v.aval.is_mutable for v in invars])
    if positions is None:
        return eqn.replace(invars=invars)
    params = merge_operands(eqn.primitive, eqn.params, positions)
    left = [v for i, v in enumerate(invars) if positions[i] == i]
    effects = eqn.primitive.infer(tuple([v.aval for v in left]), params).effects
    return eqn.replace(invars=left, params=params, effects=effects)


def same_operands(
    primitive: Primitive, args: Sequence[Any], mutable: Sequence[bool]
) -> list[int] | None:
    """Per operand, the first one that is the same mutable value; None if all are different, or if
    the operands are those of a function with custom rules, and so are left as they are."""
    if primitive.regions is None or primitive.anonymous or sum(mutable) < 2:
        return None
    first: dict[int, int] = {}
    pairs = enumerate(zip(args, mutable))
    positions = [first.setdefault(id(x), i) if m else i for i, (x, m) in pairs]
    return None if positions == list(range(len(args))) else positions


def merge_operands(
    primitive: Primitive, params: dict[str, Any], positions: Sequence[int]
) -> dict[str, Any]:
    """Parameters for one operand in place of several that are the same (see
    :func:`same_operands`).

    Raises:
        ValueError: iterations would get the whole value, and one slice each.
    """
    assert primitive.regions is not None
    interface: RegionInterface = primitive.regions(params)
    kinds = interface.operands
    programs: list[ClosedJaxpr] = []
    for region in interface.regions:
        at: dict[int, int] = {}
        first = [at.setdefault(positions[i], k) for k, i in enumerate(region.operands)]
        programs.append(merged(region.program, tuple(first)))
    for i, position in enumerate(positions):
        if i != position and (
            kinds[i] is not Kind.CONSTANT or kinds[position] is not Kind.CONSTANT
        ):
            raise ValueError(
                f"{interface.title or primitive.name}{here()} goes through a mutable value in "
                "slices, and also uses it by another name: a write through one name would not "
                "show in the other. Use the slices only."
            )
    operands = [Operand(kind, i) for i, kind in enumerate(kinds) if positions[i] == i]
    return interface.rebuild(programs, operands)
