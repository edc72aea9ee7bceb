"""Interpretations that are not forward-style: equation by equation, with a state, through regions.

An interpreter visits every equation of a program and of its sub-programs, may replace it, carry a
state from one to the next, collect values, and supply values. If it changes anything within a loop,
a branch or a call, the primitive is rebuilt with further operands and results: the state of a loop
is one more loop variable, values collected in it are stacked. All of that follows from the
primitive's regions, so it holds for primitives of third parties, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, ClassVar

from dovetail_base.source import callable_name, get_override, here, set_override
from dovetail_tree.util import tree_flatten, tree_unflatten

from ..dispatch.primitive import Primitive
from ..ir.programs import ClosedJaxpr, Eqn, Literal, Var
from ..ir.regions import Operand, RegionInterface
from ..rules.evaluation import with_typed_constants
from ..rules.staging import stage, stage_closed
from ..types.algebra import algebra
from ..types.typeof import typeof
from .extension import Extension, Inside, Unsliceable, refuse_second

Visit = Callable[[Eqn, list[Any]], Any]


def interpret(program: ClosedJaxpr, args: Sequence[Any], visit: Visit) -> list[Any]:
    """Run ``program``, asking ``visit`` for the results of each equation, in sub-programs too.

    Args:
        visit: from an equation and the values of its operands to the list of its results, or
            NotImplemented to leave it as it is. Operations that it applies are not visited again.

    For a state that is carried from equation to equation, and for values collected in loops,
    inherit from :class:`Interpreter`.
    """
    return _Visiting(visit).run(program, args)


def program_of(f: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[ClosedJaxpr, Any, Any]:
    """Trace ``f(*args, **kwargs)``, a function of pytrees of values to one of them.

    Returns: the program, its operands, and the structure of what it returns (for
        ``tree_unflatten``). Run it at once: values that ``f`` closes over are its constants.
    """
    leaves, structure = tree_flatten((args, kwargs))
    results: list[Any] = []

    def flat(*xs: Any) -> list[Any]:
        positional, named = tree_unflatten(structure, xs)
        outs, result = tree_flatten(f(*positional, **named))
        results.append(result)
        return outs

    jaxpr, consts = stage(flat, [typeof(x) for x in leaves], callable_name(f))
    return ClosedJaxpr(jaxpr, consts), leaves, results[0]


class Interpreter:
    """Runs a program once, with the results that :meth:`visit` returns for its equations.

    Attributes:
        state: arrays of fixed types that :meth:`visit` reads and replaces. They are carried through
            calls and branches, and through loops whose iterations run in turn.
        collected: the values that :meth:`collect` was given, by name: of a call as they are; of a
            loop of known length stacked along a new leading axis; of a ``while_loop`` those of the
            last iteration that collected them (zeros if none did); of branches zeros if another one
            ran.
        supplied: values that :meth:`supply` finds at any depth, by name. In a loop of known length
            each iteration finds a slice of the leading axis, elsewhere the value is as it is.
        used: the names of the supplied values that were used.
        replaced: True if :meth:`visit` has returned results for any equation.
        keeps_results: True if the interpretation only observes equations and does not change their
            results. Then functions with custom rules keep these.
        consumed: primitives without results whose effects the interpretation takes over: they are
            removed from the programs that such functions keep.
    """

    keeps_results: ClassVar[bool] = False
    consumed: frozenset[Primitive] = frozenset()

    def __init__(self, state: Sequence[Any] = ()) -> None:
        self.state = [_strong(x) for x in state]
        self.collected: dict[Any, Any] = {}
        self.supplied: dict[Any, Any] = {}
        self.replaced = False
        self.used: set[Any] = set()

    def visit(self, eqn: Eqn, args: list[Any]) -> Any:
        """The list of results of an equation; NotImplemented leaves it as it is.

        If an equation that holds sub-programs is left as it is, these are interpreted.
        """
        return NotImplemented

    def enter(self, interface: RegionInterface, n: int) -> None:
        """Called at the begin of region ``n`` of a primitive, on the copy of the interpreter that
        runs it: changes of the state made here happen each time the region runs."""

    def joined(
        self, interface: RegionInterface, before: Sequence[Any], after: Sequence[Any]
    ) -> Any:
        """The state after regions that several devices ran, each with a state of its own.

        Called if they have changed it (see ``RegionInterface.axes``).

        Args:
            before: the state that all devices had first. after: for each value that the regions
                change, the stack of the devices' values; others are those of ``before``.

        Raises:
            TypeError: by default, since the interpretation does not define it.
        """
        raise TypeError(
            f"the state of an interpretation changes in {interface.title}{here()}, whose devices "
            "each have one of their own. Say what becomes of them (Interpreter.joined)."
        )

    def collect(self, name: Any, value: Any) -> None:
        """Collect a value in the program, at any depth, in :attr:`collected`.

        Raises:
            ValueError: a value was collected under that name already.
        """
        if name in self.collected:
            refuse_second(name)
        self.collected[name] = _strong(value)

    def supply(self, name: Any) -> Any:
        """The value that is supplied under a name, or its slice in this iteration.

        Raises:
            KeyError: there is none. ValueError: an enclosing loop cannot slice it.
        """
        value = self.supplied[name]
        if value.__class__ is Unsliceable:
            raise ValueError(
                f"{name!r} is supplied to {value.title}{here()} as {value.type_text}, and each of "
                f"its {value.length} iterations takes a slice. Supply {value.length} values, "
                "stacked."
            )
        self.used.add(name)
        return value

    def call(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """``f(*args, **kwargs)``, interpreted; arguments and results are pytrees of values."""
        program, leaves, structure = program_of(f, *args, **kwargs)
        return tree_unflatten(structure, self.run(program, leaves))

    def run(self, program: ClosedJaxpr, args: Sequence[Any]) -> list[Any]:
        """The program's results; its literals keep their types, its equations the user's lines.

        Raises:
            TypeError: the number of arguments is not that of the program's inputs.
        """
        if len(args) != len(program.in_avals):
            raise TypeError(f"the program takes {len(program.in_avals)} inputs, {len(args)} given")
        jaxpr, consts = with_typed_constants(program.jaxpr, program.consts)
        env: dict[Var, Any] = dict(zip(jaxpr.constvars, consts))
        env.update(zip(jaxpr.invars, args))

        def read(x: Any) -> Any:
            return x.val if x.__class__ is Literal else env[x]

        inherited = get_override()
        try:
            for eqn in jaxpr.eqns:
                set_override(eqn.source or inherited)
                env.update(zip(eqn.outvars, self._apply(eqn, [read(x) for x in eqn.invars])))
        finally:
            set_override(inherited)
        return [read(x) for x in jaxpr.outvars]

    def _apply(self, eqn: Eqn, args: list[Any]) -> Sequence[Any]:
        before = list(self.state)
        result = self.visit(eqn, args)
        if len(self.state) != len(before):
            now, then = len(self.state), len(before)
            raise TypeError(f"the state has {now} values{here()}, before {then}.")
        if any(x is not y for x, y in zip(self.state, before)):
            self.state = [_strong(x) for x in self.state]
        if result is not NotImplemented:
            self.replaced = True
            return _results(eqn, result)
        primitive = eqn.primitive
        if primitive.regions is not None:
            interface: RegionInterface = primitive.regions(eqn.params)
            interface.title = interface.title or primitive.name
            inside = [self._inside(interface, n) for n in range(len(interface.regions))]
            if any(r.differs for r in inside):
                return self._extended(eqn, interface, inside, args)
        return _bound(primitive, args, eqn.params)

    def _inside(self, interface: RegionInterface, n: int) -> Inside:
        inner = copy(self)
        inner.replaced = False

        def run(*parts: Any) -> tuple[list[Any], list[Any], dict[Any, Any]]:
            xs, state, inner.supplied = parts
            inner.state = list(state)
            inner.collected, inner.used = {}, set()
            inner.enter(interface, n)
            outs = inner.run(interface.regions[n].program, xs)
            result = outs, inner.state, inner.collected
            inner.state, inner.supplied, inner.collected = [], {}, {}  # they end with this trace
            return result

        result = Inside(run, interface, n, self.state, self.supplied)
        result.keep(inner.used)
        self.used |= inner.used
        self.replaced = self.replaced or inner.replaced
        result.differs = inner.replaced or result.threads
        return result

    def _extended(
        self, eqn: Eqn, interface: RegionInterface, inside: list[Inside], args: list[Any]
    ) -> Sequence[Any]:
        """Apply a primitive whose regions differ, with the state and the collected values."""
        primitive = eqn.primitive
        if not primitive.anonymous:
            extension = Extension(interface, inside, args, self.state, self.supplied)
            before = self.state
            outs, self.state, collected = extension.run(primitive)
            if interface.axes and any(x is not y for x, y in zip(before, self.state)):
                self.state = list(self.joined(interface, before, self.state))
        else:  # its author's rules are for its results alone
            outs, self.state, collected = inside[0].inline(args, self.state, self.supplied)
            if self.keeps_results:
                outs = self._kept(eqn, interface, args) or outs
        for name, value in collected.items():
            self.collect(name, value)
        return outs

    def _kept(self, eqn: Eqn, interface: RegionInterface, args: list[Any]) -> Sequence[Any] | None:
        """The results of a function with custom rules, which are kept; None if it has an effect
        that must not happen a second time."""
        if not interface.effects():
            return _bound(eqn.primitive, args, eqn.params)
        programs = [without(r.program, self.consumed) for r in interface.regions]
        if any(p.effects for p in programs):
            return None
        operands = [Operand(kind, i) for i, kind in enumerate(interface.operands)]
        return _bound(eqn.primitive, args, interface.rebuild(programs, operands))


def without(program: ClosedJaxpr, primitives: frozenset[Primitive]) -> ClosedJaxpr:
    """The program without the applications of some primitives, which have no results."""

    def left_out(eqn: Eqn, args: list[Any]) -> Any:
        return [] if eqn.primitive in primitives else NotImplemented

    def make() -> ClosedJaxpr:
        f = _Visiting(left_out).run
        return stage_closed(lambda *xs: f(program, xs), program.in_avals, program.jaxpr.name)

    return program.memo(("without", primitives), make)


class _Visiting(Interpreter):
    def __init__(self, visit: Visit) -> None:
        super().__init__()
        self._visit = visit

    def visit(self, eqn: Eqn, args: list[Any]) -> Any:
        return self._visit(eqn, args)


def _bound(primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Sequence[Any]:
    out = primitive.bind(*args, **params)
    return out if primitive.multiple_results else [out]


def _results(eqn: Eqn, result: Any) -> Sequence[Any]:
    if result.__class__ not in (list, tuple) or len(result) != len(eqn.outvars):
        given = f"{len(result)}" if result.__class__ in (list, tuple) else type(result).__name__
        raise TypeError(
            f"visit: {eqn.primitive.name!r}{here()} has {len(eqn.outvars)} results, {given} "
            "returned. Return the list of them, or NotImplemented to leave it as it is."
        )
    return result


def _strong(x: Any) -> Any:
    aval = typeof(x)
    return x if aval is aval.strong() else algebra().convert(x, aval.strong())
