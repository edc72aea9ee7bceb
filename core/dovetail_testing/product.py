"""The product of tables' laws and primitives' samples, and a deterministic selection of it."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from dovetail_base.errors import MissingRule, RegistryError, Unsupported
from dovetail_base.options import enable_x64
from dovetail_core import Primitive, registry

from .coverage import TRIED, UNSUPPORTED, Entry
from .laws import Law, all_laws, skip
from .samples import Sample, all_samples, is_wide

Names = str | Primitive | Collection[str | Primitive] | None


@dataclass(frozen=True)
class Case:
    """One law tried on one sample.

    Attributes:
        kind: the sample's kind of hostility, where it was derived from another.
        excuse: the reason why the law need not hold.
    """

    table: str
    law: Law
    sample: Sample
    kind: str = ""
    excuse: str = ""

    @property
    def id(self) -> str:
        """A name for reports: rule table, primitive, sample."""
        return f"{self.table}-{self.sample.primitive.name}-{self.sample.label}"

    @property
    def entries(self) -> list[Entry]:
        """The rule that is tried, for the coverage table."""
        return [Entry(self.sample.primitive.name, self.table, TRIED)]

    def run(self) -> None:
        """Try the law on the sample.

        Raises:
            Skip: the table has no rule for the primitive, and neither's author promised one; or
            a backend says that it does not support the sample.
        """
        try:
            with enable_x64(is_wide(self.sample)):
                self.law(self.sample)
        except Unsupported as e:
            skip(f"{UNSUPPORTED}: {e}")
        except MissingRule as e:
            if _is_nobodys(self.table, self.sample.primitive):
                skip(f"two packages that do not know each other: {e}")
            raise


@dataclass(frozen=True)
class Matrix:
    """A part of the product, by names of plugins, primitives and rule tables; None: all.

    Attributes:
        primitives: primitives, or names of primitives or of plugins whose samples to take.
        tables: names of rule tables, or of plugins whose rule tables to take.
        samples: further samples, of primitives that no manifest brings.
        laws: further laws, of rule tables that no manifest brings, by rule table.
        quick: how many samples of a primitive to try per law in quick mode.
    """

    primitives: frozenset[str] | None = None
    tables: frozenset[str] | None = None
    samples: tuple[Sample, ...] = ()
    laws: tuple[tuple[str, Law], ...] = ()
    quick: int = 2

    def cases(self, full: bool) -> list[Case]:
        """The cases to run; in quick mode some samples of every primitive for every law.

        Raises:
            RegistryError: a name in ``primitives`` or ``tables`` fits nothing that is installed.
        """
        by_row: dict[Primitive, list[Sample]] = {}
        for sample in self._samples():
            by_row.setdefault(sample.primitive, []).append(sample)
        result: list[Case] = []
        for table, law in self._laws():
            for primitive, samples in by_row.items():
                spoken_of = [s for s in samples if law.speaks_of(s)]
                chosen = spoken_of if full else some(spoken_of, self.quick, table, primitive)
                result += [Case(table, law, s) for s in chosen]
        return result

    def _samples(self) -> Iterator[Sample]:
        missing = set(self.primitives or ())
        for plugin, sample in all_samples():
            names = {plugin, sample.primitive.name}
            if self.primitives is None or self.primitives & names:
                missing -= names
                yield sample
        _none_missing(missing, "primitives", "plugin or primitive with samples")
        yield from self.samples

    def _laws(self) -> Iterator[tuple[str, Law]]:
        missing = set(self.tables or ())
        for plugin, table, law in all_laws():
            names = {plugin, table}
            if self.tables is None or self.tables & names:
                missing -= names
                yield table, law
        _none_missing(missing, "tables", "plugin or rule table with a law")
        yield from self.laws


def _is_nobodys(table: str, primitive: Primitive) -> bool:
    """Return whether a rule is missing that no plugin should have: the distributions of table and
    primitive do not know each other, since the primitive's contributes nothing to the table, and
    the table's does not require the primitive's."""
    result = registry()
    owner = next((n for n, m in result.active.items() if table in m.tables), None)
    if owner is None or result.table(table).get(primitive) is not None:
        return False
    package = primitive.module.partition(".")[0]
    home = [n for n in result.active if result.plugins[n].target.partition(".")[0] == package]
    known = {n for n in home if table in result.active[n].contributes}
    known |= {n for n in home if n in result.active[owner].requires}
    known |= {
        n for n in home if result.plugins[n].distribution == result.plugins[owner].distribution
    }
    return not known


def _none_missing(missing: set[str], what: str, kind: str) -> None:
    if missing:
        names = ", ".join(map(repr, sorted(missing)))
        raise RegistryError(f"matrix({what}=...) names {names}: no installed {kind} is called so")


def some(samples: list[Sample], n: int, table: str, primitive: Primitive) -> list[Sample]:
    """The first sample, and others that differ from table to table but not from run to run."""
    if len(samples) <= n:
        return samples
    start = zlib.crc32(f"{table} {primitive.name}".encode())
    stride = max(1, (len(samples) - 1) // max(1, n - 1))
    others = [1 + (start + k * stride) % (len(samples) - 1) for k in range(n - 1)]
    return [samples[i] for i in sorted({0, *others})]


def names_of(chosen: Names) -> frozenset[str] | None:
    """Names of plugins, rule tables or primitives as a set; None stays None."""
    if chosen is None:
        return None
    items: Iterable[str | Primitive] = [chosen] if isinstance(chosen, (str, Primitive)) else chosen
    return frozenset(p.name if isinstance(p, Primitive) else p for p in items)
