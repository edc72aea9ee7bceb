"""The matrix of this installation: every primitive, every table, and the kind of each rule."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from dovetail_base.errors import DovetailError, MissingRule, PluginError, RegistryError
from dovetail_core import (
    Origin,
    Primitive,
    RuleTable,
    discovery,
    import_primitives,
    primitives,
    registry,
)

DECLARED, OVERRIDE, DERIVED, EMPTY, HOLE = "declared", "override", "derived", "empty", "hole"
BROKEN = "broken"


class Rule(NamedTuple):
    """The facts about one rule: its kind, its origin, and the source of a derived one.

    The source of a declared rule without an origin is ``"primitive"`` if the primitive carries it,
    or ``"platforms"`` if there are only rules of ``platforms``, each with its origin.
    """

    kind: str
    origin: Origin | None = None
    source: str = ""
    platforms: Mapping[str, Origin] = MappingProxyType({})


def all_primitives() -> dict[str, Primitive]:
    """All primitives, by name: the modules that plugins name are imported."""
    import_primitives()
    return dict(sorted(primitives().items()))


def table_names() -> list[str]:
    """The names of all tables, the kernel's last."""
    return [*sorted(registry().entries("tables")), *sorted(discovery.KERNEL_TABLES)]


def load_table(name: str) -> RuleTable[Any]:
    """A table with all its rules.

    Raises:
        RegistryError: it cannot be loaded, or two plugins add one rule.
    """
    table: Any = registry().table(name)
    if not isinstance(table, RuleTable):
        raise RegistryError(f"tables entry {name!r} names a {type(table).__name__}: no RuleTable.")
    try:
        table.fill()
    except PluginError as e:  # of strict mode; the table itself is there
        raise RegistryError(str(e)) from e
    return cast("RuleTable[Any]", table)


def load_tables(names: list[str]) -> tuple[dict[str, RuleTable[Any]], list[str]]:
    """Tables by their names, and the problems of those that are left out."""
    result: dict[str, RuleTable[Any]] = {}
    problems: list[str] = []
    for name in names:
        try:
            result[name] = load_table(name)
        except DovetailError as e:
            problems.append(f"table {name!r} is left out: {e}")
    return result, problems


SHOWN = 5
"""The number of different problems of one table that are reported."""


def broken(result: Mapping[str, Rule]) -> list[str]:
    """The problems of rules that cannot be derived, by the names of their primitives; rules with
    the same problem share a line."""
    alike: dict[str, list[str]] = {}
    for name, r in result.items():
        if r.kind == BROKEN:
            alike.setdefault(r.source.replace(repr(name), "..."), []).append(name)
    lines: list[str] = []
    for names in [*alike.values()][:SHOWN]:
        first, *rest = names
        more = f" So it does for {len(rest)} more primitives, as {rest[0]!r}." if rest else ""
        lines.append(f"{result[first].source}{more}")
    if len(alike) > SHOWN:
        left = sum(len(names) for names in [*alike.values()][SHOWN:])
        lines.append(f"and {left} more primitives cannot be given a rule, each for another reason")
    return lines


def rule(table: RuleTable[Any], primitive: Primitive) -> Rule:
    """The rule of ``primitive``, derived if the table has none, and those of platforms."""
    own = {p: origin for p, (_, origin) in sorted(table.platforms(primitive).items())}
    result = _general(table, primitive)
    if own and result.kind in (EMPTY, HOLE):
        return Rule(DECLARED, None, "platforms", own)
    return result._replace(platforms=own) if own else result


def _general(table: RuleTable[Any], primitive: Primitive) -> Rule:
    origin = table.origins.get(primitive)
    if origin is not None and origin.kind in (DECLARED, OVERRIDE):
        return Rule(origin.kind, origin)
    if table.name in (primitive.rules or {}):
        return Rule(DECLARED, None, "primitive")
    try:
        table.general(primitive)
    except MissingRule:
        return Rule(EMPTY, None, table.empty) if table.empty else Rule(HOLE)
    except DovetailError as e:  # a deriver fails
        return Rule(BROKEN, None, str(e))
    if primitive.regions is not None:
        return Rule(DERIVED, origin, "regions")
    return Rule(DERIVED, origin, "decomposition" if primitive.decomposition else "table")
