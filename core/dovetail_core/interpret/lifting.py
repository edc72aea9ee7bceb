"""Forward-style transformations: their trace, and running functions and programs on lifted values.

A transformation describes its lifted values by a ``Carrier`` and owns a table of rules.
``LiftTrace`` runs operations on lifted values by those rules; ``derived_rules`` has the rules that
follow from the carrier alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar, Generic, TypeVar, cast

from dovetail_base.errors import ConcretizationTypeError
from dovetail_base.options import enable_checks
from dovetail_base.source import current_source, describe, here

from ..dispatch.primitive import Primitive, Trace, get_trace, run_under, set_trace
from ..dispatch.tracer import Tracer, check_alive
from ..ir.programs import ClosedJaxpr
from ..registry.discovery import registry
from ..rules.rule_checks import check_results
from ..rules.staging import stage_closed
from ..rules.tables import RuleTable
from ..types.avals import AbstractValue
from ..types.dtypes import is_inexact
from ..types.typeof import typeof
from .carrier import Carrier
from .local_values import uses_local

V = TypeVar("V")


class LiftTracer(Tracer["LiftTrace[Any]"]):
    """A tracer of the plain type of a lifted value."""

    __slots__ = ("value",)

    def __init__(self, trace: LiftTrace[Any], aval: AbstractValue, value: Any) -> None:
        self._trace = trace
        self.aval = aval
        self.value = value

    def concrete(self) -> Any:
        plain = self._trace.plain(self.value)
        return plain.concrete() if isinstance(plain, Tracer) else plain

    def __float__(self) -> float:
        self._refuse_to_drop()
        return super().__float__()

    def __complex__(self) -> complex:
        self._refuse_to_drop()
        return super().__complex__()

    def _refuse_to_drop(self) -> None:
        """Raise if a lifted value is needed as a number, which would lose the lifted part."""
        check_alive(self)
        if self.concrete() is None or not is_inexact(getattr(self.aval, "dtype", None)):
            return
        raise ConcretizationTypeError(
            f"a value of type {self.aval.str_short()} that is being traced by {self._trace.what} "
            f"is converted to a Python number{describe(current_source())}: what the "
            "transformation computes of it (a derivative, say) would be lost. Leave it an array, "
            "or apply dovetail.lax.stop_gradient and .item() where it is meant to be a constant."
        )


class LiftTrace(Trace, Generic[V]):
    """Runs operations on lifted values by the rules of one table.

    Rules are called with the parent as current trace, as ``rule(carrier, lifted_args, params)``,
    and return a lifted result (a list where the primitive has multiple results), or NotImplemented
    for operands that they do not handle: then the derived rule is used. A transformation that
    prefers another convention for its rules overrides :meth:`apply`. Its values are of the class
    ``tracer``.
    """

    __slots__ = ("carrier", "table")
    parent: Trace
    tracer: ClassVar[type[LiftTracer]] = LiftTracer

    def __init__(self, parent: Trace, carrier: Carrier[V, Any], table: RuleTable[Any]) -> None:
        super().__init__(parent)
        self.carrier = carrier
        self.table = table

    def apply(self, rule: Callable[..., Any], args: list[V], params: dict[str, Any]) -> Any:
        """Call a rule of the table."""
        return rule(self.carrier, args, params)

    def plain(self, value: V) -> Any:
        """The plain array that Python code may look at (in ``if``), or None."""
        return self.carrier.known(value)

    def lift(self, value: V) -> Any:
        """The tracer for a lifted value, or the plain array if nothing of it is lifted."""
        plain = self.carrier.known(value)
        return self.tracer(self, self.carrier.aval(value), value) if plain is None else plain

    def lower(self, x: Any) -> V:
        """The lifted value of an argument; a plain one is lifted."""
        own = x.__class__ is self.tracer and x._trace is self
        return x.value if own else self.carrier.pure(x)

    def give_back(self) -> None:
        """Called under the parent when the traced function has returned."""

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if primitive.stateful and uses_local(self, primitive, args):
            return registry().provider("local_values")(self, primitive, args, params)
        tracer = self.tracer
        for x in args:
            if x.__class__ is tracer and x._trace is self:
                break
        else:
            return self.parent.process(primitive, args, params)
        table = self.table
        rule = table.rules.get(primitive) or table.miss(primitive)
        outer = get_trace()
        try:
            set_trace(self.parent)
            lowered = [self.lower(a) for a in args]
            out = self.apply(rule, lowered, params)
            if out is NotImplemented:
                out = self.apply(table.fallback(primitive), lowered, params)
        except Exception as e:
            table.blame(primitive, args, params, e)
            raise
        finally:
            set_trace(outer)
        result = [self.lift(v) for v in out] if primitive.multiple_results else self.lift(out)
        if enable_checks.value:
            check_results(table, primitive, args, params, result)
        return result


def lift_call(carrier: Carrier[V, Any], f: Callable[..., Any], args: Sequence[V]) -> Any:
    """``f`` on lifted values: the carrier's trace interprets every operation in it.

    ``f`` takes and returns plain values (or a list of them); this takes and returns lifted ones.
    """
    trace = carrier.trace(get_trace())
    try:
        out: Any = run_under(trace, f, *[trace.lift(a) for a in args])
        if isinstance(out, (list, tuple)):
            result: Any = [trace.lower(x) for x in cast("Sequence[Any]", out)]
        else:
            result = trace.lower(out)
        trace.give_back()
        return result
    finally:
        trace.ended = True


def lift_function(
    carrier: Carrier[V, Any],
    f: Callable[..., Sequence[V]],
    in_avals: Sequence[AbstractValue],
    structures: Sequence[Any],
    wanted: Sequence[Any] | None,
    name: str = "",
) -> tuple[ClosedJaxpr, tuple[Any, ...]]:
    """Stage ``f``, from lifted values to lifted values, as a program on their arrays.

    Args:
        structures: of the inputs. ``wanted``: of the outputs, to which they are promoted (each must
            be at least the output's own); None leaves them as they are.

    Returns: the program and its outputs' structures.
    """
    types = [carrier.types(a, s) for a, s in zip(in_avals, structures)]
    out_structures: list[Any] = []

    def on_arrays(*arrays: Any) -> list[Any]:
        values: list[V] = []
        at = 0
        for s, t in zip(structures, types):
            values.append(carrier.value(arrays[at : at + len(t)], s, 0))
            at += len(t)
        outs = f(*values)
        out_structures[:] = wanted or [carrier.structure(v, 0) for v in outs]
        if enable_checks.value:
            for v, s in zip(outs, out_structures):
                check_arrays(carrier, v, s)
        return [x for v, s in zip(outs, out_structures) for x in carrier.arrays(v, s, 0)]

    program = stage_closed(on_arrays, [t for ts in types for t in ts], name)
    return program, tuple(out_structures)


def check_arrays(carrier: Carrier[V, Any], value: V, structure: Any) -> None:
    """Raise TypeError unless a value's arrays have the types of its structure."""
    wanted = [t.strong() for t in carrier.types(carrier.aval(value), structure)]
    result = [typeof(x).strong() for x in carrier.arrays(value, structure, 0)]
    if result != wanted:
        shown = [", ".join(a.str_short() for a in avals) for avals in (result, wanted)]
        raise TypeError(
            f"{type(carrier).__name__}.arrays made arrays of types ({shown[0]}) of a value of type "
            f"{carrier.aval(value).str_short()} and structure {structure!r}{here()}; its types are "
            f"({shown[1]})."
        )


def carrier_key(carrier: Carrier[Any, Any]) -> Hashable:
    """The key under which the program that a carrier makes of another one is remembered."""
    return type(carrier), carrier.key


def lift_program(
    carrier: Carrier[V, Any],
    program: ClosedJaxpr,
    structures: tuple[Any, ...],
    wanted: tuple[Any, ...] | None = None,
) -> tuple[ClosedJaxpr, tuple[Any, ...]]:
    """:func:`lift_function` of a program; remembered with the program."""
    key = (carrier_key(carrier), structures)
    as_they_come = program.known((key, None))
    if as_they_come is not None and as_they_come[1] == wanted:
        return as_they_come

    def make() -> tuple[ClosedJaxpr, tuple[Any, ...]]:
        f, name = carrier.function(program), program.jaxpr.name

        def lifted(*values: V) -> list[V]:
            return lift_call(carrier, f, values)

        return lift_function(carrier, lifted, program.in_avals, structures, wanted, name)

    return program.memo((key, wanted), make)
