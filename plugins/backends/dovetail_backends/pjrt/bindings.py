"""Lowering rules that are written with MLIR's Python bindings (``jaxlib.mlir``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core import AbstractValue, RegistryError, callable_name, describe_source

from ..tables import StablehloRule
from . import custom_calls
from .attributes import symbol
from .emitter import Emitter, Val, definition
from .text import identifier, tensor_type

_NAME = "a name to be replaced"


class MlirFunction:
    """The first argument of a function that builds operations with MLIR's bindings.

    Attributes:
        context: the ``ir.Context``, which is current.
        module: the ``ir.Module`` of the function; others that are put into it are moved along.
        insertion_point: the ``ir.InsertionPoint``, which is current, too.
        avals, outs: the types of the operands, as Dovetail's; the ``ir.Type`` of each result.
            ``out`` is the first.
        platform: the platform that the program is compiled for: ``"cpu"``.
        builder: the builder of the program.
        clock: an ``ir.Value`` that operations with ordered effects take and replace, or None.
    """

    __slots__ = ("module", "insertion_point", "avals", "outs", "builder", "clock")

    def __init__(
        self, builder: Emitter, module: Any, insertion_point: Any, avals: Any, outs: Any
    ) -> None:
        self.builder = builder
        self.module = module
        self.insertion_point = insertion_point
        self.avals: Sequence[Any] = avals
        self.outs: Sequence[Any] = outs
        self.clock: Any = None

    @property
    def context(self) -> Any:
        return self.module.context

    @property
    def platform(self) -> str:
        return self.builder.platform

    @property
    def out(self) -> Any:
        return self.outs[0]

    def type(self, aval: AbstractValue) -> Any:
        """The ``ir.Type`` of an array type, for operations that take their results' types."""
        from dovetail_xla.mlir_functions import ir

        return ir().Type.parse(tensor_type(aval))

    def emit(
        self,
        write: Callable[..., Sequence[Val]],
        operands: Sequence[Any],
        avals: Sequence[AbstractValue],
        name: str = "fn",
    ) -> list[Any]:
        """The results of a call of a function whose body ``write(b, *operands)`` emits through a
        builder, with operands (``ir.Value``) of types ``avals``, as lowering rules do."""
        from dovetail_xla import mlir_functions

        ordered = self.clock is not None
        avals = [*avals, custom_calls.CLOCK] if ordered else avals
        text, outs = module_text(self.builder, write, avals, ordered=ordered)
        callee = mlir_functions.merge(self.module, name, text)
        result = mlir_functions.call(
            callee, [*operands, self.clock] if ordered else operands, [self.type(a) for a in outs]
        )
        if ordered:
            *result, self.clock = result
        return result


def module_text(
    b: Emitter,
    write: Callable[..., Sequence[Val]],
    avals: Sequence[AbstractValue],
    name: str = "module",
    *,
    ordered: bool = False,
) -> tuple[str, list[AbstractValue]]:
    """A module whose function ``main`` has the operations that ``write(b, *operands)`` emits
    through a builder like ``b``, and the types of its results; ``ordered``: the last operand and
    result are the clock."""
    inner = type(b)(module := b.module.companion())
    args = inner.arguments(avals)
    inner.source = b.source
    if ordered:
        *operands, inner.clock = args
        results = list(write(inner, *operands))
        results.append(inner.clock)
    else:
        results = list(write(inner, *args))
    inner.terminate("func.return", results)
    main = definition("public", "main", args, results, inner.lines)
    text = f"module @{identifier(name)} {{\n{main}{''.join(module.functions)}}}\n"
    return text, [x.aval for x in results]


def call_mlir_function(
    b: Emitter,
    function: Callable[..., Any],
    operands: Sequence[Val],
    outs: Sequence[AbstractValue],
    params: dict[str, Any],
) -> Any:
    """Emit a call of the function that ``function`` builds; see :meth:`Builder.mlir`."""
    ordered = any(e.ordered for e in b.effects)
    is_single = False

    def build(module: Any, insertion_point: Any, values: list[Any], types: list[Any]) -> list[Any]:
        nonlocal is_single
        m = MlirFunction(b, module, insertion_point, [x.aval for x in operands], types)
        if ordered:
            m.outs = types[:-1]
            *values, m.clock = values
        result = function(m, *values, **params)
        is_sequence = hasattr(result, "results") or isinstance(result, (list, tuple, type(None)))
        is_single = not is_sequence
        return [result, m.clock] if ordered else [result]

    if not ordered:
        results = _call(b, function, operands, outs, build)
    else:
        clocked = [*operands, custom_calls.clock(b)], [*outs, custom_calls.CLOCK]
        *results, b.clock = _call(b, function, *clocked, build)
    return results[0] if is_single else results


def _call(
    b: Emitter,
    function: Callable[..., Any],
    operands: Sequence[Val],
    outs: Sequence[AbstractValue],
    build: Callable[..., list[Any]],
) -> list[Val]:
    from dovetail_xla.mlir_functions import InvalidFunction, function_texts

    mlir_functions, fresh = b.module.mlir_functions, b.module.fresh

    def final_name(symbol: str, key: Any) -> tuple[str, bool]:
        name = mlir_functions.get(key)
        return (name, False) if name is not None else (_new(symbol, key), True)

    def _new(wanted: str, key: Any) -> str:
        name = mlir_functions[key] = fresh(wanted) if wanted else ""
        return name

    types = [tensor_type(a) for a in outs]
    try:
        text, others = function_texts(_NAME, [x.type for x in operands], types, build, final_name)
    except InvalidFunction as e:
        subject = f"the MLIR function {_location(function)}, called{describe_source(b.source)},"
        raise RegistryError(f"{subject} {e}") from None
    name = mlir_functions.get(text)
    if name is None:
        name = _new(callable_name(function), text)
        b.module.functions.append(text.replace(f'"{_NAME}"', f'"{name}"', 1) + "\n")
    b.module.functions += others
    return b.op("func.call", operands, list(outs), {"callee": symbol(name)})


def _location(function: Callable[..., Any]) -> str:
    code = getattr(function, "__code__", None)
    line = "" if code is None else f":{code.co_firstlineno}"
    return f"{callable_name(function)} ({function.__module__}{line})"


def mlir_rule(function: Callable[..., Any]) -> StablehloRule:
    """Decorator: the rule of ``backends.stablehlo`` for a function that uses MLIR's bindings.

    ``function(m, *operands, **params)`` gets a :class:`MlirFunction` and an ``ir.Value`` for each
    operand, and returns the result's value, or a sequence of them where the primitive has
    multiple results. See :meth:`Builder.mlir`.
    """

    def rule(b: Any, *operands: Val, **params: Any) -> Any:
        return b.mlir(function, operands, **params)

    rule.__name__ = callable_name(function)
    rule.__doc__ = function.__doc__
    return rule
