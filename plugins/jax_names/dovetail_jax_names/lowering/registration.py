"""``register_lowering``: rules in JAX's form as rules of the table ``backends.stablehlo``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_backends import MlirFunction, stablehlo_rules
from dovetail_core import MissingRule, Primitive, callable_name, describe_source
from dovetail_core.base.source import user_source

from .contexts import LoweringRuleContext, LoweringRuleEntry, ModuleContext, TokenSet
from .programs import LoweredFunction

ALIASES = {"gpu": ("cuda", "rocm")}
PLATFORMS = ("cpu", "cuda", "oneapi", "rocm", "tpu")


class Lowering:
    """The rule of the table for a primitive with rules in JAX's form: by platform, or for all."""

    def __init__(self, primitive: Primitive) -> None:
        self.primitive = primitive
        self.default: LoweringRuleEntry | None = None
        self.platforms: dict[str, LoweringRuleEntry] = {}
        self.other: Callable[..., Any] | None = None  # a rule in Dovetail's form, for the rest
        self.__name__ = f"{primitive.name}_lowering"

    def __call__(self, b: Any, *operands: Any, **params: Any) -> Any:
        entry = self.platforms.get(b.platform, self.default)
        if entry is None:
            if self.other is None:
                raise MissingRule(self._missing(b))
            return self.other(b, *operands, **params)
        found = _written(entry.rule, self.primitive, b, operands, params)
        return found if self.primitive.multiple_results else found[0]

    def _missing(self, b: Any) -> str:
        there = ", ".join(sorted(self.platforms)) or "no platform"
        return (
            f"the primitive {self.primitive.name!r}{describe_source(b.source)} has a lowering for "
            f"{there}, but none for the platform {b.platform!r}. Register one with "
            f"mlir.register_lowering(primitive, rule, platform={b.platform!r}), or without "
            "platform one for all."
        )


def _written(
    rule: Any, primitive: Primitive, b: Any, operands: Any, params: dict[str, Any]
) -> list[Any]:
    if isinstance(rule, LoweredFunction):
        return rule.inline(b, operands, params)
    return list(b.mlir(_Named(rule, primitive, list(b.outs)), operands, **params))


class _Named:
    """What the builder calls for a rule in JAX's form; messages name the rule."""

    def __init__(self, rule: Callable[..., Any], primitive: Primitive, avals_out: Any) -> None:
        self.rule, self.primitive, self.avals_out = rule, primitive, avals_out
        plain = getattr(rule, "func", rule)  # of a partial
        self.__name__ = callable_name(plain)
        self.__module__ = getattr(plain, "__module__", "?")
        self.__code__ = getattr(plain, "__code__", None)

    def __call__(self, m: MlirFunction, *values: Any, **params: Any) -> list[Any]:
        ctx = rule_context(m, self.primitive, self.avals_out)
        found = self.rule(ctx, *values, **params)
        return list(found) if isinstance(found, (list, tuple)) else [found]


def rule_context(m: MlirFunction, primitive: Primitive, avals_out: Any) -> LoweringRuleContext:
    """What a rule gets, of what the builder gives."""
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
    entry = LoweringRuleEntry(rule, inline, cacheable)
    if platform is None:
        _lowering_of(prim).default = entry
        return
    for p in _platforms(platform, prim):
        _lowering_of(prim, keeps=True).platforms[p] = entry


def _platforms(platform: str, prim: Primitive) -> tuple[str, ...]:
    found = ALIASES.get(platform, (platform,))
    if not set(found) <= set(PLATFORMS):
        known = ", ".join(sorted((*ALIASES, *PLATFORMS)))
        raise NotImplementedError(
            f"a lowering of the primitive {prim.name!r} is registered for the platform "
            f"{platform!r}, which is unknown. Platforms are {known}."
        )
    return found


def _lowering_of(prim: Primitive, keeps: bool = False) -> Lowering:
    """The rule of the table, where it is one of ours; else a new one in its place.

    ``keeps``: where the other's rule is still wanted for some platforms.
    """
    found: Any = stablehlo_rules.get(prim) if keeps else stablehlo_rules.entered(prim)
    made = Lowering(prim)
    if isinstance(found, Lowering):
        made.default, made.platforms = found.default, found.platforms
        made.other = found.other
    elif keeps:
        made.other = found
    place = user_source(2)
    stablehlo_rules.set(prim, made, override=True)  # also tells caches of the change
    origin = stablehlo_rules.origins[prim]
    if place is not None and origin.module.startswith(__package__ or "?"):
        stablehlo_rules.origins[prim] = origin._replace(module=place.filename, line=place.line)
    return made
