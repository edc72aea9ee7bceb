"""The rules of a plugin that no case tries, with the reasons."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from dovetail_base.errors import DovetailError
from dovetail_core import Manifest, RuleTable, discovery, import_primitives, primitives, registry

from .coverage import UNTRIED, Entry
from .laws import all_laws
from .samples import Sample, all_samples


def untried(
    manifest: Manifest, tried: Collection[tuple[str, str]], samples: Iterable[Sample]
) -> Iterator[Entry]:
    """Rules of the plugin's primitives in all tables, and of all primitives in its tables, that are
    not among ``tried``: existing and missing ones.

    Args:
        tried: primitives and tables, by name.
        samples: those of the plugin's primitives.
    """
    lawful = {table for _, table, _ in all_laws()}
    sampled = {s.primitive.name for s in samples}
    everywhere = sampled | {s.primitive.name for _, s in all_samples()}
    mine = sorted(sampled | _defined_by(manifest))
    for name in [*sorted(registry().entries("tables")), *sorted(discovery.KERNEL_TABLES)]:
        table: RuleTable[Any] = registry().table(name)
        others = _declared(table) if name in manifest.tables else set[str]()
        for primitive in [*mine, *sorted(others.difference(mine))]:
            if (primitive, name) not in tried:
                why = _why(table, primitive, name in lawful, primitive in everywhere)
                if why:
                    yield Entry(primitive, name, UNTRIED, why)


def _why(table: RuleTable[Any], primitive: str, lawful: bool, sampled: bool) -> str:
    """The reason why a rule is not tried; empty if none is needed."""
    try:
        rule = table.get(primitives()[primitive])
    except DovetailError as e:  # a deriver fails
        return str(e)
    if rule is None:
        return "" if table.empty else "there is no rule"
    if not lawful:
        return "the table has no law"
    if not sampled:
        return "the primitive has no sample"
    # Of a rule that is derived the table's owner promised nothing.
    derived = table.is_derived(primitives()[primitive])
    return "" if derived else "the law speaks of none of its samples"


def _defined_by(manifest: Manifest) -> set[str]:
    """The primitives of the packages in which the manifest's modules of primitives are."""
    packages = {m.partition(".")[0] for m in manifest.primitives}
    if packages:
        import_primitives()
    return {n for n, p in primitives().items() if p.module.partition(".")[0] in packages}


def _declared(table: RuleTable[Any]) -> set[str]:
    """The primitives that have a rule in the table which is not derived."""
    table.fill()
    return {p.name for p in table.rules if not (p.anonymous or table.is_derived(p))}
