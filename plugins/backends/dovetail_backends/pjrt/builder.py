"""Writing StableHLO: the builder that lowering rules emit operations through.

Modules are written as text in MLIR's generic form. Writing a line costs a fraction of a
microsecond, needs no MLIR bindings at all, and the C++ parser reads it as part of compiling.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dovetail_core import (
    AbstractValue,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    ShapedArray,
    Var,
    float0,
    reset_source_override as reset_source,
    set_source_override as set_source,
)

from ..tables import StablehloRule, stablehlo_rules
from . import effects
from .functions import ModuleText
from .text import dense, i64_array, tensor_type


class Val:
    """A value of the module that is being written: its SSA name, its type, and its spelling."""

    __slots__ = ("name", "aval", "type")

    def __init__(self, name: str, aval: AbstractValue, type: str) -> None:
        self.name = name
        self.aval: Any = aval
        self.type = type

    def __repr__(self) -> str:
        return f"{self.name}: {self.type}"


class Builder:
    """Emits the operations of one function.

    While a rule runs, ``outs`` are the result types of the operation that is being lowered and
    ``out`` the first of them.
    """

    __slots__ = ("module", "lines", "outs", "source", "clock", "_count", "_constants")

    def __init__(self, module: ModuleText) -> None:
        self.module = module
        self.lines: list[str] = []
        self.outs: tuple[Any, ...] = ()
        self.source: Any = None  # the user's line behind the operation that is being lowered
        self.clock: Val | None = None  # see the module effects
        self._count = 0
        self._constants: dict[Any, Val] = {}

    @property
    def platform(self) -> str:
        return self.module.platform

    @property
    def out(self) -> Any:
        return self.outs[0]

    def op(
        self,
        name: str,
        operands: Sequence[Val],
        out: Any,
        attrs: str = "",
        regions: Sequence[str] = (),
        notes: str = "",
    ) -> Any:
        """Emit an operation.

        Args:
            out: its result type (returns a ``Val``), or a sequence of types (returns a list).
            attrs: properties, as ``"dimension = 0 : i64, is_stable = true"``.
            regions: from :meth:`region`.
            notes: attributes that are not the operation's own, as ``mhlo.frontend_attributes``.
        """
        args = ", ".join([x.name for x in operands])
        types = ", ".join([x.type for x in operands])
        props = f" <{{{attrs}}}>" if attrs else ""
        body = f" ({', '.join(regions)})" if regions else ""
        if notes:
            body += f" {{{notes}}}"
        self._count = n = self._count + 1
        if isinstance(out, (list, tuple)):
            return self._multiple(n, f'"{name}"({args}){props}{body} : ({types})', out)  # type: ignore[arg-type]
        result = tensor_type(out)
        self.lines.append(f'%{n} = "{name}"({args}){props}{body} : ({types}) -> {result}\n')
        return Val(f"%{n}", out, result)

    def _multiple(self, n: int, text: str, outs: Sequence[AbstractValue]) -> list[Val]:
        types = [tensor_type(a) for a in outs]
        left = f"%{n}:{len(outs)} = " if len(outs) > 1 else f"%{n} = " if outs else ""
        self.lines.append(f"{left}{text} -> ({', '.join(types)})\n")
        if len(outs) == 1:
            return [Val(f"%{n}", outs[0], types[0])]
        return [Val(f"%{n}#{i}", a, t) for i, (a, t) in enumerate(zip(outs, types))]

    def arguments(self, avals: Sequence[AbstractValue]) -> list[Val]:
        """Fresh names for the arguments of a function or block."""
        self._count = n = self._count + 1
        return [Val(f"%a{n}_{i}", a, tensor_type(a)) for i, a in enumerate(avals)]

    def terminate(self, name: str, values: Sequence[Val]) -> None:
        """End a block: ``func.return`` or ``stablehlo.return``."""
        args = ", ".join([v.name for v in values])
        types = ", ".join([v.type for v in values])
        self.lines.append(f'"{name}"({args}) : ({types}) -> ()\n')

    def region(self, in_avals: Sequence[AbstractValue], body: Callable[..., Sequence[Val]]) -> str:
        """A region of one block: ``body(b, *block_arguments)`` returns the values it yields."""
        lines, constants, outs, clock = self.lines, self._constants, self.outs, self.clock
        self.lines, self._constants = [], dict(constants)
        try:
            args = self.arguments(in_avals)
            self.terminate("stablehlo.return", body(self, *args))
            head = ", ".join(f"{a.name}: {a.type}" for a in args)
            label = f"^bb0({head}):\n" if args else ""
            return f"{{\n{label}{''.join(self.lines)}}}"
        finally:
            self.lines, self._constants, self.outs, self.clock = lines, constants, outs, clock

    def constant(self, value: Any, aval: ShapedArray) -> Val:
        """A constant of type ``aval``; a scalar ``value`` fills it."""
        if aval.dtype == float0:
            return self.constant(False, ShapedArray(aval.shape, np.bool_))
        array = np.asarray(value, aval.dtype)
        key = (aval.shape, aval.dtype, array.tobytes(), array.shape)
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = self._constant(array, aval)
        return found

    def _constant(self, array: np.ndarray[Any, Any], aval: ShapedArray) -> Val:
        text = dense(array)
        if array.dtype == np.bool_ and '"' in text:  # raw bytes of i1 depend on MLIR's version
            bits = self.constant(array.astype(np.uint8), aval.update(dtype=np.uint8))
            return self.op("stablehlo.convert", [bits], aval)
        if array.shape != aval.shape and array.ndim:
            raise ValueError(f"a constant of shape {array.shape} cannot fill {aval.str_short()}")
        return self.op("stablehlo.constant", [], aval, f"value = {text} : {tensor_type(aval)}")

    def broadcast(self, x: Val, shape: Sequence[int], dims: Sequence[int]) -> Val:
        """``broadcast_in_dim``: axis ``i`` of ``x`` becomes axis ``dims[i]`` of ``shape``."""
        out = x.aval.update(shape=tuple(shape))
        if out is x.aval:
            return x
        attrs = f"broadcast_dimensions = {i64_array(dims)}"
        return self.op("stablehlo.broadcast_in_dim", [x], out, attrs)

    def broadcast_scalar(self, x: Val, aval: ShapedArray) -> Val:
        """A scalar operand in the shape of ``aval``; others as they are."""
        return x if x.aval.shape == aval.shape else self.broadcast(x, aval.shape, ())

    def convert(self, x: Val, dtype: Any) -> Val:
        """``x`` with another element type."""
        if x.aval.dtype == dtype:
            return x
        return self.op("stablehlo.convert", [x], x.aval.update(dtype=np.dtype(dtype)))

    def inline(self, program: ClosedJaxpr, args: Sequence[Val]) -> list[Val]:
        """Emit a program's operations here; returns its results."""
        outer = self.outs
        consts = [self.literal(c) for c in program.consts]
        results = self.emit(program.jaxpr, consts, args)
        self.outs = outer
        return results

    def literal(self, value: Any) -> Val:
        """An array's or scalar's value written into the module."""
        from dovetail_core import typeof

        aval: Any = typeof(value)
        return self.constant(np.asarray(value), aval.strong())

    def emit(self, jaxpr: Jaxpr, consts: Sequence[Val], args: Sequence[Val]) -> list[Val]:
        """Lower equation by equation; operands are looked up by variable."""
        env: dict[Any, Val] = dict(zip(jaxpr.constvars, consts))
        env.update(zip(jaxpr.invars, args))
        rules, miss = stablehlo_rules.rules, stablehlo_rules.miss
        annotated = self.module.annotated
        for eqn in jaxpr.eqns:
            operands = [
                env[x] if x.__class__ is Var else self.constant(x.val, x.aval)  # type: ignore
                for x in eqn.invars
            ]
            self.outs = tuple([v.aval for v in eqn.outvars])
            self.source = eqn.source
            rule = rules.get(eqn.primitive)
            if rule is None:
                token = set_source(eqn.source)
                try:
                    rule = miss(eqn.primitive)
                finally:
                    reset_source(token)
            out = (
                self._annotated(eqn, rule, operands)
                if annotated
                else rule(self, *operands, **eqn.params)
            )
            if eqn.primitive.multiple_results:
                env.update(zip(eqn.outvars, out))
            else:
                env[eqn.outvars[0]] = out
        return [
            self.constant(x.val, x.aval) if isinstance(x, Literal) else env[x]  # type: ignore
            for x in jaxpr.outvars
        ]

    def _annotated(self, eqn: Eqn, rule: StablehloRule, operands: Sequence[Val]) -> Any:
        from .blame import check_results, label

        self.lines.append(f"// {label(eqn)}\n")
        try:
            out = rule(self, *operands, **eqn.params)
        except Exception as e:
            e.add_note(f"This was raised in {label(eqn)}.")
            raise
        check_results(eqn, out)
        return out

    def case(
        self, index: Val, programs: Sequence[ClosedJaxpr], operands: Sequence[Val]
    ) -> list[Val]:
        """The results of the program number ``index`` on the operands."""
        outs = list(self.outs)
        branches = [lambda b, p=p: b.inline(p, operands) for p in programs]
        if effects.has_order(programs):
            return effects.case(self, index, branches, outs)
        return self.op("stablehlo.case", [index], outs, "", [self.region([], f) for f in branches])

    def while_loop(
        self,
        carry: Sequence[Val],
        condition: Callable[..., Sequence[Val]],
        body: Callable[..., Sequence[Val]],
        programs: Sequence[ClosedJaxpr] = (),
    ) -> list[Val]:
        """A loop: ``condition(b, *carry)`` emits a boolean, ``body(b, *carry)`` the next carry.

        ``programs`` are those that the two emit, if any: their effects may have an order.
        """
        if effects.has_order(programs):
            return effects.while_loop(self, carry, condition, body)
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
    ) -> list[Val]:
        """Call a Python function: NumPy arrays in, a sequence of them of types ``outs`` out.

        Args:
            name: what messages call it.
            effect: it is called even if nothing uses its results.
            ordered: it is called after those before it that are ordered, too.
        """
        return effects.host_callback(self, fun, operands, outs, name, effect, ordered)

    def call(self, program: ClosedJaxpr, args: Sequence[Val]) -> list[Val]:
        """Call the private function of a program."""
        if program.jaxpr.effects and effects.has_order([program]):
            return self.inline(program, args)  # a function would not pass the clock on
        name = self.module.function_for(program)
        return self.op("func.call", args, list(program.out_avals), f"callee = @{name}")
