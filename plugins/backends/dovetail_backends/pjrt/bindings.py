"""Lowering rules that are written with MLIR's Python bindings (``jaxlib.mlir``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core import AbstractValue, RegistryError, callable_name, describe_source

from ..tables import StablehloRule
from .attributes import symbol
from .emitter import Emitter, Val
from .text import tensor_type

_NAME = "the name comes later"


class MlirFunction:
    """What a function gets that writes operations with MLIR's bindings, while they are in place.

    Attributes:
        context: the ``ir.Context``, which is current.
        insertion_point: the ``ir.InsertionPoint``, which is current, too.
        outs: the ``ir.Type`` of each result. ``out`` is the first.
        platform: for which the program is compiled: ``"cpu"``.
    """

    __slots__ = ("context", "insertion_point", "outs", "platform", "_parse")

    def __init__(self, place: Any, outs: Sequence[Any], platform: str, parse: Any) -> None:
        self.insertion_point = place
        self.context = place.block.owner.context
        self.outs = outs
        self.platform = platform
        self._parse = parse

    @property
    def out(self) -> Any:
        return self.outs[0]

    def type(self, aval: AbstractValue) -> Any:
        """The ``ir.Type`` of an array type, for operations that take their results' types."""
        return self._parse(tensor_type(aval))


def splice(
    b: Emitter,
    function: Callable[..., Any],
    operands: Sequence[Val],
    outs: Sequence[AbstractValue],
    params: dict[str, Any],
) -> Any:
    """Emit a call of what ``function`` builds; see :meth:`Builder.mlir`."""
    from dovetail_core.xla import mlir

    alone = False

    def build(place: Any, values: list[Any], types: list[Any], parse: Any) -> list[Any]:
        nonlocal alone
        found = function(MlirFunction(place, types, b.platform, parse), *values, **params)
        results = getattr(found, "results", found)  # of an operation of several results
        alone = results is found and not isinstance(found, (list, tuple, type(None)))
        return [found] if alone else list(results or ())

    types = [tensor_type(a) for a in outs]
    try:
        text = mlir.function_text(_NAME, [x.type for x in operands], types, build)
    except mlir.InvalidFunction as e:
        who = f"the MLIR function {_place(function)}, called{describe_source(b.source)},"
        raise RegistryError(f"{who} {e}") from None
    name = b.module.spliced.get(text)
    if name is None:
        name = b.module.spliced[text] = b.module.fresh(callable_name(function))
        b.module.functions.append(text.replace(f'"{_NAME}"', f'"{name}"', 1) + "\n")
    results = b.op("func.call", operands, list(outs), {"callee": symbol(name)})
    return results[0] if alone else results


def _place(function: Callable[..., Any]) -> str:
    code = getattr(function, "__code__", None)
    line = "" if code is None else f":{code.co_firstlineno}"
    return f"{callable_name(function)} ({function.__module__}{line})"


def mlir_rule(function: Callable[..., Any]) -> StablehloRule:
    """Decorator: the rule of ``backends.stablehlo`` that a function written with the bindings is.

    ``function(m, *operands, **params)`` gets a :class:`MlirFunction` and an ``ir.Value`` for each
    operand, and returns the result's value, or a sequence of them where the primitive has
    multiple results. See :meth:`Builder.mlir`.
    """

    def rule(b: Any, *operands: Val, **params: Any) -> Any:
        return b.mlir(function, operands, **params)

    rule.__name__ = callable_name(function)
    rule.__doc__ = function.__doc__
    return rule
