"""The builder that lowering rules emit operations through: programs, branches, loops and calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from dovetail_base.source import run_at
from dovetail_core import (
    AbstractValue,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Primitive,
    RegistryError,
    Var,
    describe_source,
    mutable_values,
    typeof,
)
from dovetail_xla.guards import explicit_get

from ..tables import StablehloRule, stablehlo_rules
from . import bindings, custom_calls
from .attributes import Attribute, symbol
from .emitter import Emitter, Val, definition
from .text import tensor_type

_KEPT = Attribute('{inlineable = "false"}')


class Builder(Emitter):
    """Emits the operations of one function, those of programs by the rules of their primitives."""

    __slots__ = ()

    def inline(self, program: ClosedJaxpr, args: Sequence[Val]) -> list[Val]:
        """Emit a program's operations inline; returns its results.

        A program that contains others is inlined once and called after that, since text would grow
        exponentially with the depth of nests in which each level has the next one twice. Mutable
        values that the program makes are discharged.
        """
        if mutable_values.has_mutable(program):
            program = run_at(self.source, mutable_values.discharge, program)
        if _nests(program):
            inlined = self.module.inlined
            if id(program) in inlined and not custom_calls.has_order([program]):
                return self.call(program, args)
            inlined[id(program)] = program
        return self._inline(program, args)

    def _inline(self, program: ClosedJaxpr, args: Sequence[Val]) -> list[Val]:
        outer = self.outs
        consts = [self.literal(c) for c in program.consts]
        results = self.emit(program.jaxpr, consts, args)
        self.outs = outer
        return results

    def literal(self, value: Any) -> Val:
        """An array's or scalar's value written into the module."""
        aval: Any = typeof(value)
        return self.constant(explicit_get(np.asarray, value), aval.strong())

    def emit(self, jaxpr: Jaxpr, consts: Sequence[Val], args: Sequence[Val]) -> list[Val]:
        """Lower equation by equation; operands are looked up by variable."""
        env: dict[Any, Val] = dict(zip(jaxpr.constvars, consts))
        env.update(zip(jaxpr.invars, args))
        rules, miss = stablehlo_rules.rules, stablehlo_rules.miss
        is_instrumented = self.module.is_instrumented
        for eqn in jaxpr.eqns:
            operands = [
                env[x] if x.__class__ is Var else self.constant(x.val, x.aval)  # type: ignore
                for x in eqn.invars
            ]
            self.outs = tuple([v.aval for v in eqn.outvars])
            self.source = eqn.source
            self.effects = eqn.effects
            rule = rules.get(eqn.primitive)
            if rule is None:
                rule = run_at(eqn.source, miss, eqn.primitive)
            if self.module.divides:
                out = self._lower_with_shardings(eqn, rule, operands)
            elif is_instrumented:
                out = self._lower_instrumented(eqn, rule, operands)
            else:
                out = rule(self, *operands, **eqn.params)
            if eqn.primitive.multiple_results:
                env.update(zip(eqn.outvars, out))
            else:
                env[eqn.outvars[0]] = out
        return [
            self.constant(x.val, x.aval) if isinstance(x, Literal) else env[x]  # type: ignore
            for x in jaxpr.outvars
        ]

    def _lower_with_shardings(self, eqn: Eqn, rule: StablehloRule, operands: Sequence[Val]) -> Any:
        """Lower an equation whose results have the shardings of their types."""
        primitive, outs = eqn.primitive, self.outs

        def emit(b: Any, *operands: Val) -> list[Val]:
            out = (
                b._lower_instrumented(eqn, rule, operands)
                if b.module.is_instrumented
                else rule(b, *operands, **eqn.params)
            )
            return list(out) if primitive.multiple_results else [out]

        if primitive.regions is None and primitive.traits.places is None:
            result = self.divided([x.aval for x in eqn.invars], operands, outs, emit)
        else:
            result = [self.as_told(x, a) for x, a in zip(emit(self, *operands), outs)]
        return result if primitive.multiple_results else result[0]

    def divided(
        self,
        types: Sequence[Any],
        operands: Sequence[Val],
        outs: Sequence[Any],
        emit: Callable[..., list[Val]],
    ) -> list[Val]:
        """``emit(b, *operands)``, results of types ``outs`` with the shardings of these.

        Args:
            types: the types of the operands.
            emit: emits an operation that is linear in operands with pending sums over devices.
        """
        self.outs = tuple(outs)
        if not self.module.divides:
            return emit(self, *operands)
        grid: Any = self.module.partition.grid  # type: ignore[union-attr]
        result = grid.on_summands(self, types, operands, emit) or emit(self, *operands)
        return [self.as_told(x, a) for x, a in zip(result, outs)]

    def _lower_instrumented(self, eqn: Eqn, rule: StablehloRule, operands: Sequence[Val]) -> Any:
        """Lower an equation and do more than emitting its operations."""
        return self._annotated(eqn, rule, operands)

    def _annotated(self, eqn: Eqn, rule: StablehloRule, operands: Sequence[Val]) -> Any:
        label = _label(eqn, self.platform)
        self.lines.append(f"// {label}\n")
        try:
            out = rule(self, *operands, **eqn.params)
        except Exception as e:
            e.add_note(f"This was raised in {label}.")
            raise
        _check_results(eqn, out, label)
        return out

    def case(
        self, index: Val, programs: Sequence[ClosedJaxpr], operands: Sequence[Val]
    ) -> list[Val]:
        """The results of the program number ``index`` on the operands."""
        outs = list(self.outs)
        branches = [partial(self._branch, i, p, operands) for i, p in enumerate(programs)]
        if custom_calls.has_order(programs):
            return custom_calls.case(self, index, branches, outs)
        return self.op("stablehlo.case", [index], outs, "", [self.region([], f) for f in branches])

    def _branch(self, i: int, program: ClosedJaxpr, operands: Sequence[Val], b: Any) -> list[Val]:
        return b.inline(program, operands)

    def while_loop(
        self,
        carry: Sequence[Val],
        condition: Callable[..., Sequence[Val]],
        body: Callable[..., Sequence[Val]],
        programs: Sequence[ClosedJaxpr] = (),
    ) -> list[Val]:
        """A loop: ``condition(b, *carry)`` emits a boolean, ``body(b, *carry)`` the next carry.

        ``programs`` are those that the two emit, if any; they may have ordered effects.
        """
        if custom_calls.has_order(programs):
            return custom_calls.while_loop(self, carry, condition, body)
        avals = [x.aval for x in carry]
        regions = [self.region(avals, condition), self.region(avals, body)]
        return self.op("stablehlo.while", carry, avals, "", regions)

    def host_callback(
        self,
        fun: Callable[..., Sequence[Any]],
        operands: Sequence[Val],
        outs: Sequence[AbstractValue],
        name: str,
        *,
        effect: bool = False,
        ordered: bool = False,
        partitioned: bool = False,
    ) -> list[Val]:
        """Call a Python function: NumPy arrays in, a sequence of them of types ``outs`` out.

        Args:
            name: its name in messages.
            effect: True to call it even if its results are unused.
            ordered: True to keep the order of its calls and those of other ordered ones.
            partitioned: True to call it on each of several devices, with that device's parts of the
                operands; for functions without results and order.
        """
        args = self, fun, operands, outs, name, effect, ordered, partitioned
        return custom_calls.host_callback(*args)

    def buffer_callback(
        self,
        fun: Callable[..., None],
        operands: Sequence[Val],
        outs: Sequence[AbstractValue],
        name: str,
        *,
        effect: bool = False,
        aliases: Mapping[int, int] | None = None,
        recorded: bool = False,
    ) -> list[Val]:
        """Call a Python function of an execution context, operands, and results to write to.

        Args:
            name: its name in messages.
            effect: True to call it even if its results are unused.
            aliases: the positions of results that have the memory of operands, by the operands'.
            recorded: True if a GPU may record its work and repeat that without a call.
        """
        args = self, fun, operands, outs, name, effect, aliases or {}, recorded
        return custom_calls.buffer_callback(*args)

    def custom_call(
        self,
        target: str,
        operands: Sequence[Val],
        outs: Sequence[AbstractValue],
        config: Mapping[str, Any] | None = None,
        *,
        effect: bool = False,
        further: Mapping[str, Any] | None = None,
    ) -> list[Val]:
        """Call a foreign function that is registered with XLA; arrays are row-major.

        Args:
            target: the name under which it is registered for the platform.
            config: its attributes (of the typed interface), made by the module ``attributes``.
            effect: True to call it even if its results are unused.
            further: other attributes of the operation, or other values of the standard ones.
        """
        return custom_calls.custom_call(
            self, target, operands, outs, config or {}, effect, further or {}
        )

    def mlir(
        self,
        function: Callable[..., Any],
        operands: Sequence[Val],
        outs: Sequence[AbstractValue] | None = None,
        **params: Any,
    ) -> Any:
        """The results of operations that a function builds with MLIR's bindings (``jaxlib.mlir``).

        ``function(m, *values, **params)`` runs with a current ``ir.Context``, location and
        insertion point, in a function of its own (``m`` is a ``MlirFunction``), and returns a value
        or a sequence of them; so does this method. The operations are verified and become a private
        function of the module, which is called.

        Args:
            outs: the types of its results; by default those of the operation.

        Raises:
            RegistryError: the operations are not valid, or the results are of other types; names
                the function, its source location and the problem.
        """
        types = self.outs if outs is None else outs
        return bindings.call_mlir_function(self, function, operands, types, params)

    def call(self, program: ClosedJaxpr, args: Sequence[Val], *, kept: bool = False) -> list[Val]:
        """Call the private function of a program.

        Args:
            kept: True to keep XLA from inlining the function, so that it is compiled once and
                called. By default XLA compiles a copy of it at each call, with its surroundings.
        """
        if program.jaxpr.effects and custom_calls.has_order([program]):
            return self._inline(program, args)  # functions do not take the clock
        name = self.function(program)
        callee = {"callee": symbol(name)}
        notes = {"mhlo.frontend_attributes": _KEPT} if kept else ""
        made = self.op("func.call", args, list(program.out_avals), callee, notes=notes)
        return [x.moved(v) for x, v in zip(self.module.results[name], made)]

    def function(self, program: ClosedJaxpr) -> str:
        """The name of the private function of a program, which equal programs share."""
        key = self._identity(program)
        if self.module.parts is not None:
            key = key, self.module.parts
        return self.module.names.get(key) or self._write_function(key, program)

    def _identity(self, program: ClosedJaxpr) -> Any:
        """The key of a program's function: programs with equal keys share one."""
        return program

    def _write_function(self, key: Any, program: ClosedJaxpr) -> str:
        """The name of a new private function for ``program``."""
        module = self.module
        name = module.names[key] = module.fresh(program.jaxpr.name or "fn")
        b = type(self)(module)
        args = b.arguments(program.in_avals)
        outs = b._inline(program, args)
        b.terminate("func.return", outs)
        module.functions.append(definition("private", name, args, outs, b.lines))
        module.results[name] = outs
        return name


def _nests(program: ClosedJaxpr) -> bool:
    """True if a program contains others."""
    return program.memo("nests", lambda: any(e.primitive.regions for e in program.eqns))


def _origin_of(primitive: Primitive, platform: str) -> str:
    """The source location of a primitive's lowering rule, for messages."""
    origin = stablehlo_rules.origin(primitive, platform)
    return f" (the rule at {origin})" if origin else " (its decomposition)"


def _label(eqn: Eqn, platform: str) -> str:
    """An operation in messages: its primitive, the user's line, and its rule's location."""
    name = eqn.primitive.name
    origin = _origin_of(eqn.primitive, platform)
    return f"the lowering of {name!r}{describe_source(eqn.source)}{origin}"


def _check_results(eqn: Eqn, results: Any, label: str) -> None:
    """Raise if a rule did not return values of exactly the operation's result types.

    Raises:
        RegistryError: names the primitive, the user's line, the rule's location and the types.
    """
    result = list(results) if eqn.primitive.multiple_results else [results]
    expected = [tensor_type(v.aval) for v in eqn.outvars]
    got = [getattr(x, "type", type(x).__name__) for x in result]
    if got != expected:
        raise RegistryError(
            f"{label} returned ({', '.join(got)}), but the operation's results are "
            f"({', '.join(expected)}). Make the rule return one value per result, of that type."
        )
