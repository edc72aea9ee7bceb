"""The tables of lowering rules of JAX, as views of the table ``backends.stablehlo``."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

from dovetail_backends import stablehlo_rules
from dovetail_core import MissingRule, Primitive

from .contexts import LoweringRuleContext, LoweringRuleEntry
from .registration import PLATFORMS, Lowering, register_lowering


class TextRule:
    """A rule in Dovetail's form, which writes text, as one in JAX's form."""

    def __init__(self, primitive: Primitive, rule: Any) -> None:
        self.primitive, self.rule = primitive, rule
        self.__name__ = getattr(rule, "__name__", primitive.name)
        self.__wrapped__ = rule

    def __call__(self, ctx: LoweringRuleContext, *values: Any, **params: Any) -> list[Any]:
        def write(b: Any, *operands: Any) -> list[Any]:
            b.outs = tuple(ctx.avals_out)
            result = self.rule(b, *operands, **params)
            return list(result) if self.primitive.multiple_results else [result]

        function = ctx.module_context.function
        return function.emit(write, values, ctx.avals_in, self.primitive.name)


class Lowerings(MutableMapping[Primitive, LoweringRuleEntry]):
    """Per primitive, its rule for all platforms, or for one of them."""

    def __init__(self, platform: str | None = None) -> None:
        self.platform = platform

    def __getitem__(self, primitive: Primitive) -> LoweringRuleEntry:
        result = self._rule(primitive)
        if isinstance(result, Lowering):
            return result.entry
        return LoweringRuleEntry(TextRule(primitive, result))

    def _rule(self, primitive: Primitive) -> Any:
        if self.platform is not None:
            return stablehlo_rules.platforms(primitive)[self.platform][0]
        try:
            return stablehlo_rules.general(primitive)
        except MissingRule:
            raise KeyError(primitive) from None

    def __setitem__(self, primitive: Primitive, value: Any) -> None:
        rule = value.rule if isinstance(value, LoweringRuleEntry) else value
        register_lowering(primitive, rule, self.platform)

    def __delitem__(self, primitive: Primitive) -> None:
        if not isinstance(self._rule(primitive), Lowering):
            raise KeyError(primitive)
        stablehlo_rules.withdraw(primitive, self.platform)

    def __iter__(self) -> Iterator[Primitive]:
        stablehlo_rules.fill()
        return (p for p in list(stablehlo_rules.rules) if p in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, primitive: object) -> bool:
        try:
            self[primitive]  # type: ignore[index]
        except (KeyError, MissingRule):
            return False
        return True


lowerings = Lowerings()
platform_specific_lowerings = {p: Lowerings(p) for p in PLATFORMS}
