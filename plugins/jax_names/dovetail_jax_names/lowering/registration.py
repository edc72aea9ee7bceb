"""``register_lowering``: rules in JAX's form as rules of the table ``backends.stablehlo``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_backends import FAMILIES, MlirFunction, stablehlo_rules
from dovetail_base.source import registration_location, user_source
from dovetail_core import Primitive, callable_name

from .contexts import LoweringRuleContext, LoweringRuleEntry, ModuleContext, TokenSet
from .programs import LoweredFunction

PLATFORMS = ("cpu", "cuda", "oneapi", "rocm", "tpu")


class Lowering:
    """A rule in JAX's form as one of the table."""

    def __init__(self, primitive: Primitive, entry: LoweringRuleEntry) -> None:
        self.primitive, self.entry = primitive, entry
        self.__name__ = f"{primitive.name}_lowering"

    def __call__(self, b: Any, *operands: Any, **params: Any) -> Any:
        result = _written(self.entry.rule, self.primitive, b, operands, params)
        return result if self.primitive.multiple_results else result[0]


def _written(
    rule: Any, primitive: Primitive, b: Any, operands: Any, params: dict[str, Any]
) -> list[Any]:
    if isinstance(rule, LoweredFunction):
        return rule.inline(b, operands, params)
    return list(b.mlir(_Named(rule, primitive, list(b.outs)), operands, **params))


class _Named:
    """A rule in JAX's form as the builder calls it; messages name the rule."""

    def __init__(self, rule: Callable[..., Any], primitive: Primitive, avals_out: Any) -> None:
        self.rule, self.primitive, self.avals_out = rule, primitive, avals_out
        plain = getattr(rule, "func", rule)  # of a partial
        self.__name__ = callable_name(plain)
        self.__module__ = getattr(plain, "__module__", "?")
        self.__code__ = getattr(plain, "__code__", None)

    def __call__(self, m: MlirFunction, *values: Any, **params: Any) -> list[Any]:
        ctx = rule_context(m, self.primitive, self.avals_out)
        result = self.rule(ctx, *values, **params)
        return list(result) if isinstance(result, (list, tuple)) else [result]


def rule_context(m: MlirFunction, primitive: Primitive, avals_out: Any) -> LoweringRuleContext:
    """The context of a rule in JAX's form, made of the builder's."""
    source = m.builder.source
    ordered = [e for e in m.builder.effects if e.ordered]
    return LoweringRuleContext(
        module_context=ModuleContext.of(m),
        name_stack=source.scope if source is not None else "",
        traceback=None,
        primitive=primitive,
        avals_in=tuple(m.avals),
        avals_out=avals_out,
        tokens_in=TokenSet(dict.fromkeys(ordered, m.clock)),
        tokens_out=None,
    )


def register_lowering(
    prim: Primitive,
    rule: Callable[..., Any],
    platform: str | None = None,
    inline: bool = True,
    cacheable: bool = True,
) -> None:
    """Make ``rule(ctx, *values, **params)`` the lowering of a primitive.

    Args:
        platform: for which alone; by default it is that of all that have none of their own.
        inline, cacheable: accepted; what equal calls write is written once.

    Raises:
        NotImplementedError: there is no such platform.
    """
    made = Lowering(prim, LoweringRuleEntry(rule, inline, cacheable))
    if platform is not None:
        _check_platform(platform, prim)
    place = registration_location()
    source = user_source(2)
    if source is not None and place[0].startswith(__package__ or "?"):
        place = source.filename, source.line
    stablehlo_rules.set(prim, made, override=True, platform=platform, place=place)


def _check_platform(platform: str, prim: Primitive) -> None:
    if platform not in (*FAMILIES, *PLATFORMS):
        known = ", ".join(sorted((*FAMILIES, *PLATFORMS)))
        raise NotImplementedError(
            f"a lowering of the primitive {prim.name!r} is registered for the platform "
            f"{platform!r}, which is unknown. Platforms are {known}."
        )
