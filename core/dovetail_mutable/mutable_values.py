"""Mutable values of traces that lift values, and of programs: borrowed, lent, discharged.

Operations on a :class:`LocalValue` are carried out by the provider ``discharge``, which replaces
them by operations on contents. Custom rules are used after the trace has ended, too, and need a
mutable value then: they get one of the parent that stands for the local one (:func:`stand_in`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn, Protocol

from dovetail_base.source import current_source, describe, here
from dovetail_core import (
    AbstractValue,
    ClosedJaxpr,
    Primitive,
    Trace,
    effects,
    get_trace,
    local_values,
    registry,
    rewriting,
    run_under,
    set_trace,
    typeof,
)

__all__ = (
    "Borrow",
    "Discharge",
    "Discharged",
    "LocalValue",
    "StandIns",
    "any_mutable",
    "apply_local",
    "check_aliases",
    "check_borrowed",
    "custom_rules_take_local",
    "discharge",
    "discharge_local",
    "discharge_provider",
    "final_type",
    "has_mutable",
    "inputs_of_custom_rules",
    "is_local",
    "raise_lost_rule",
    "read_stand_in",
    "stand_in",
    "uses_local",
    "write_effects",
)

LocalValue = local_values.LocalValue
is_local = local_values.is_local
uses_local = local_values.uses_local
write_effects = effects.write_effects


class Borrow:
    """A mutable argument of a transformed function, which gets a local value with lifted contents.

    The contents are read when the function begins, and written back when it has returned; in
    between the original must not be used.
    """

    __slots__ = ("originals", "local", "_first", "_type")

    def __init__(
        self, trace: Trace, originals: Sequence[Any], aval: AbstractValue, contents: Iterable[Any],
        local: LocalValue | None = None,
    ) -> None:  # fmt: skip
        self.originals = originals
        made = LocalValue(trace, aval, contents, borrowed=True) if local is None else local
        self.local = made
        self.settle()

    def settle(self) -> None:
        """Note that the original has the contents of the local value."""
        self._first = list(self.local.contents)
        self._type = self.local.aval

    @property
    def changed(self) -> bool:
        """True if the function wrote to it; a box may hold the same values in another structure."""
        local = self.local
        if local.aval != self._type or len(local.contents) != len(self._first):
            return True
        return any(a is not b for a, b in zip(local.contents, self._first))


def check_borrowed(borrows: Sequence[Borrow], args: Sequence[Any], what: str) -> None:
    """Raise ValueError where an operation uses the original of a borrow."""
    for borrow in borrows:
        for x in args:
            if any(x is y for y in borrow.originals):
                raise ValueError(
                    f"{typeof(x).str_short()} is an argument of a function under {what}, and is "
                    f"also used directly{describe(current_source())}: a write through one name "
                    "would not show in the other. Use the argument only."
                )


StandIns = dict[int, tuple[LocalValue, Any]]
"""Local values, and the parent's values that stand for them, by the ids of the former. Custom rules
are used after a trace has ended, too, and need a mutable value then."""


def stand_in(stand_ins: StandIns, local: LocalValue, held: Sequence[Any]) -> Any:
    """The value that stands for a local one, made if there is none yet, with contents ``held``.

    Called under the trace that it belongs to.
    """
    if id(local) not in stand_ins:
        stand_ins[id(local)] = local, local.aval.make(held)
    else:
        local.aval.write(stand_ins[id(local)][1], held)
    return stand_ins[id(local)][1]


def read_stand_in(stand_ins: StandIns, local: LocalValue, owner: Any) -> None:
    """Set a local value's contents to those of the value of ``owner`` that stands for it."""
    _, made = stand_ins[id(local)]
    local.contents[:] = run_under(owner, local.aval.read, made)


class Discharged(NamedTuple):
    """A program without (some of) its mutable inputs.

    Attributes:
        program: takes contents in place of each of those inputs; returns the results, then the
            final contents of the inputs that are written.
        written: the positions of those, in order, among the inputs of the original program.
    """

    program: ClosedJaxpr
    written: tuple[int, ...]


class Discharge(Protocol):
    """The protocol of the provider ``discharge``."""

    def apply(
        self, trace: Trace, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]
    ) -> Any:
        """Apply an operation to the local values of ``trace``, which is current."""
        ...

    def program(
        self, program: ClosedJaxpr, which: tuple[bool, ...], keeps_rules: bool = False
    ) -> Discharged:
        """The program without mutable values, but for inputs not marked in ``which`` and, with
        ``keeps_rules``, those that functions with rules of their authors get."""
        ...


def discharge_provider() -> Discharge:
    """The provider ``discharge``.

    Raises:
        PluginError: no plugin provides it.
    """
    return registry().provider("discharge")


def apply_local(
    trace: Trace, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]
) -> Any:
    """Carry out an operation on mutable values of ``trace``, with it as the current trace."""
    own = [i for i, x in enumerate(args) if is_local(trace, x)]
    if operands_of_custom_rules(primitive, params, own):
        result = _borrow(trace, primitive, args, params, own)
        if result is not NotImplemented:
            return result
    outer = get_trace()
    try:
        set_trace(trace)
        return discharge_provider().apply(trace, primitive, args, params)
    finally:
        set_trace(outer)


def _borrow(
    trace: Trace, primitive: Primitive, args: Sequence[Any], params: dict[str, Any], own: list[int]
) -> Any:
    """Apply an operation that passes local values to functions with custom rules.

    Such rules are used later, too (a backward rule when the trace has ended), and need a mutable
    value then. So they get the parent's value for which the local one stands, with the same
    contents, and the local value is read from it again. NotImplemented if there is none.
    """
    outer = get_trace()
    try:
        set_trace(trace.parent)  # type: ignore[arg-type]
        stand_ins = {i: trace.stand_in_for(args[i]) for i in own}
    finally:
        set_trace(outer)
    if any(x is NotImplemented for x in stand_ins.values()):
        table = getattr(trace, "table", None)
        lost = [] if table is None else operands_of_custom_rules(primitive, params, own, table.name)
        if lost and not primitive.anonymous:
            raise_lost_rule(trace, primitive.title(params), args[lost[0]])
        return NotImplemented
    _refuse_unknown_choice(trace, primitive, args, params, args[own[0]])
    out = trace.process(primitive, tuple([stand_ins.get(i, x) for i, x in enumerate(args)]), params)
    for i in own:
        trace.read_stand_in(args[i])
    return out


def _refuse_unknown_choice(
    trace: Trace, primitive: Primitive, args: Sequence[Any], params: dict[str, Any], ref: Any
) -> None:
    control = primitive.regions(params).control if primitive.regions is not None else None
    index: Any = None if control is None else args[control]
    if getattr(index, "_trace", None) is trace and index.concrete() is None:
        raise TypeError(
            f"{primitive.title(params)}{here()} gives {ref.aval.str_short()} to a function with "
            "rules of its own, in a branch that a mapped index or predicate chooses: all branches "
            "run, so that its rules would use the reference where they should not. Choose among "
            "values, or do not map the predicate."
        )


def raise_lost_rule(trace: Trace, title: str, ref: Any) -> NoReturn:
    """Raise the error for a function whose rule for a transformation would be lost, or be wrong."""
    raise TypeError(
        f"{title} has a rule of its own for {trace.what}, and is given {ref.aval.str_short()}"
        f"{here()}, which was made under it, or is mapped or differentiated by it: the rule cannot "
        "speak of what that holds. Pass its value, ref[...], and write the result back, or make "
        "the reference outside."
    )


def final_type(program: ClosedJaxpr, i: int) -> AbstractValue:
    """The type that input number ``i`` of a program has at its end."""
    jaxpr = program.jaxpr
    return jaxpr.mut_types.get(len(jaxpr.constvars) + i, jaxpr.invars[i].aval)


def has_mutable(program: ClosedJaxpr) -> bool:
    """Return whether mutable values occur anywhere in a program; remembered with it."""
    jaxpr = program.jaxpr
    return program.memo(
        "has_mutable",
        lambda: (
            any(v.aval.is_mutable for v in (*jaxpr.constvars, *jaxpr.invars))
            or any(_eqn_has_mutable(e) for e in jaxpr.eqns)
        ),
    )


def _eqn_has_mutable(eqn: Any) -> bool:
    if eqn.primitive.allocates:
        return True
    if eqn.primitive.regions is None:
        return False
    return any(has_mutable(r.program) for r in eqn.primitive.regions(eqn.params).regions)


def inputs_of_custom_rules(program: ClosedJaxpr, table: str = "") -> frozenset[int]:
    """The mutable inputs that functions with custom rules get, or close over; remembered with the
    program. Without these values the rules would be those of another function.

    Args:
        table: only functions with a rule of this table; all if empty.
    """
    key = "given_to_rules", table
    return program.memo(key, lambda: frozenset(_given_to_rules(program, table)))


def _given_to_rules(program: ClosedJaxpr, table: str) -> Iterator[int]:
    at = {v: i for i, v in enumerate(program.invars) if v.aval.is_mutable}
    for eqn in program.eqns if at else ():
        given: dict[int, int] = {}
        for i, v in enumerate(eqn.invars):
            if v in at:
                given[i] = at[v]  # type: ignore[index]
        if given:
            kept = operands_of_custom_rules(eqn.primitive, eqn.params, list(given), table)
            yield from (given[i] for i in kept)


def operands_of_custom_rules(
    primitive: Primitive, params: dict[str, Any], mutable: Sequence[int], table: str = ""
) -> list[int]:
    """The ``mutable`` operands of an application that functions with custom rules get."""
    if primitive.anonymous:
        return list(mutable) if not table or table in (primitive.rules or ()) else []
    if primitive.regions is None:
        return []
    regions = primitive.regions(params).regions
    kept = {r.operands[k] for r in regions for k in inputs_of_custom_rules(r.program, table)}
    return [i for i in mutable if i in kept]


def custom_rules_take_local(program: ClosedJaxpr) -> bool:
    """Return whether functions with custom rules get mutable values that are made in the program;
    remembered with it. Without these values the rules would be those of another function."""
    return program.memo("gives_own_to_rules", lambda: any(_given_own(program)))


def _given_own(program: ClosedJaxpr) -> Iterator[bool]:
    made: set[Any] = set()
    for eqn in program.eqns:
        made.update(v for v in eqn.outvars if v.aval.is_mutable)
        if eqn.primitive.regions is not None:
            regions = eqn.primitive.regions(eqn.params).regions
            yield from (custom_rules_take_local(r.program) for r in regions)
        given = [i for i, v in enumerate(eqn.invars) if v in made] if made else []
        yield bool(given and operands_of_custom_rules(eqn.primitive, eqn.params, given))


def discharge_local(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program in which mutable values are discharged, except those that functions with custom
    rules get: it may still be transformed."""
    if not has_mutable(program):
        return program
    inputs = (False,) * len(program.in_avals)
    return discharge_provider().program(program, inputs, keeps_rules=True).program


def discharge(program: ClosedJaxpr) -> ClosedJaxpr:
    """A program without mutable inputs, in which mutable values are discharged.

    Raises:
        TypeError: it closes over one, as only a rule can that is used when a program is compiled.
    """
    if not has_mutable(program):
        return program
    for x in rewriting.mutable_constants(program):
        raise TypeError(
            f"{program.jaxpr.name}{describe(current_source())} is computed by a rule that closes "
            f"over {typeof(x).str_short()}, which the program that is compiled does not have. Make "
            "it an argument of the function that has the rule. (Forward-mode differentiation of a "
            "function with a backward rule uses that rule so late; reverse mode does not.)"
        )
    return discharge_provider().program(program, (False,) * len(program.in_avals)).program


def any_mutable(avals: Iterable[AbstractValue]) -> bool:
    """Return whether a type among ``avals`` is mutable."""
    return any(a.is_mutable for a in avals)


def check_aliases(what: str, values: Sequence[Any], names: Sequence[str]) -> None:
    """Refuse a mutable value that occurs twice among ``values``.

    Raises:
        ValueError: gives the names of both occurrences.
    """
    first: dict[int, int] = {}
    for i, x in enumerate(values):
        j = first.setdefault(id(x), i)
        if j != i and typeof(x).is_mutable:
            raise ValueError(
                f"{what}: one {typeof(x).str_short()} is passed as {names[j]} and as {names[i]}"
                f"{describe(current_source())}: a write through one name would not show in the "
                "other. Pass it once."
            )
