"""The cases of a plugin: its contributions with those of all others, also on hostile samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from dovetail_base.errors import RegistryError
from dovetail_base.options import enable_x64
from dovetail_core import Manifest, Primitive, registry

from .coverage import EXCUSED, SKIPPED, Entry
from .hostile_samples import hostile, signature
from .inventory import untried
from .laws import Law, all_laws
from .product import Case, some
from .samples import Sample, all_samples, is_wide, samples_of


@dataclass(frozen=True)
class Inventory:
    """The case of the rules that no other case tries: it passes, and names them."""

    entries: list[Entry]
    id: str = "untested"
    excuse: str = ""

    def run(self) -> None:
        """Do nothing: rules that are not tested are reported, and are no failure."""


class Group:
    """Samples of one primitive: those that are given, and those derived from them when asked.

    ``values``: True to derive samples of other values, too. ``most``: the number of given samples
    from which others are derived; None is all.
    """

    def __init__(self, values: bool, most: int | None) -> None:
        self.given: list[Sample] = []
        self.values, self.most = values, most
        self._derived: dict[str, list[Sample]] | None = None

    @property
    def derived(self) -> dict[str, list[Sample]]:
        """Hostile samples by kind, each once."""
        if self._derived is None:
            self._derived = {}
            seen = {signature(s) for s in self.given}
            for sample in self.given[: self.most]:
                for kind, made in hostile(sample, values=self.values):
                    if signature(made) not in seen:
                        seen.add(signature(made))
                        self._derived.setdefault(kind, []).append(made)
        return self._derived


@dataclass(frozen=True)
class Conformance:
    """The selection of cases of a plugin.

    Attributes:
        plugin: its name; empty for ``samples`` and ``laws`` alone.
        excused: the reasons why rules need not hold, by ``"primitive x table"``, in which ``*``
            stands for anything; ``"primitive x table x kind"`` is about one kind of hostile
            samples.
        samples: further ones, of primitives that no manifest brings.
        laws: further ones by rule table, for tables that no manifest brings.
        quick: how many given samples of a primitive to try per law in quick mode.
    """

    plugin: str
    excused: Mapping[str, str] = field(default_factory=dict[str, str])
    samples: tuple[Sample, ...] = ()
    laws: tuple[tuple[str, Law], ...] = ()
    quick: int = 2

    def cases(self, full: bool) -> list[Case | Inventory]:
        """The cases; in quick mode some samples, and one of each kind of hostility, per law.

        Raises:
            RegistryError: there is no such plugin, or an excuse is about no rule.
        """
        manifest = self._manifest()
        own = [*(s for m in manifest.samples for s in samples_of(m)), *self.samples]
        others = [s for plugin, s in all_samples() if plugin != self.plugin]
        mine = [(t, law) for plugin, t, law in all_laws() if plugin and plugin == self.plugin]
        mine += self.laws
        every = [(t, law) for _, t, law in all_laws()] + list(self.laws)
        result = [*self._tried(every, own, full), *self._tried(mine, others, full, values=False)]
        skipped: list[Entry] = []
        for name in manifest.backends:
            law = _law_of_backend(name, skipped)
            result += self._tried([law] if law else [], [*others, *own], full, values=False)
        entries = [*skipped, *untried(manifest, {e[:2] for c in result for e in c.entries}, own)]
        self._check_excuses([*(e for c in result for e in c.entries), *entries])
        return [*result, Inventory([self._with_excuse(e) for e in entries])]

    def _manifest(self) -> Manifest:
        active = registry().active
        if self.plugin and self.plugin not in active:
            raise RegistryError(
                f"conformance({self.plugin!r}): no active plugin is called so. Active are "
                f"{', '.join(active) or 'none'}; `dovetail plugins` says which were set aside, and "
                "why."
            )
        return active[self.plugin] if self.plugin else Manifest("")

    def _tried(
        self,
        laws: Iterable[tuple[str, Law]],
        samples: Iterable[Sample],
        full: bool,
        *,
        values: bool = True,
    ) -> Iterator[Case]:
        most = None if full or values else self.quick  # of the installed primitives there are many
        groups: dict[Primitive, Group] = {}
        for sample in samples:
            groups.setdefault(sample.primitive, Group(values, most)).given.append(sample)
        for table, law in laws:
            for primitive, group in groups.items():
                chosen = _spoken_of(law, group.given)
                if not chosen:
                    continue  # nor of samples derived from them
                for sample in chosen if full else some(chosen, self.quick, table, primitive):
                    yield self._case(table, law, sample, "")
                for kind, derived in group.derived.items():
                    chosen = _spoken_of(law, derived)
                    for sample in chosen if full else some(chosen, 2, table, primitive)[-1:]:
                        yield self._case(table, law, sample, kind)

    def _case(self, table: str, law: Law, sample: Sample, kind: str) -> Case:
        return Case(table, law, sample, kind, self._excuse(sample.primitive.name, table, kind))

    def _excuse(self, primitive: str, table: str, kind: str = "") -> str:
        rule = f"{primitive} x {table}"
        for pattern, why in self.excused.items():
            if fnmatchcase(rule, pattern) or (kind and fnmatchcase(f"{rule} x {kind}", pattern)):
                return why
        return ""

    def _with_excuse(self, entry: Entry) -> Entry:
        why = self._excuse(entry.primitive, entry.table)
        return entry._replace(verdict=EXCUSED, reason=why) if why else entry

    def _check_excuses(self, entries: Iterable[Entry]) -> None:
        rules = {f"{e.primitive} x {e.table}" for e in entries}
        for pattern in self.excused:
            wanted = " x ".join(pattern.split(" x ")[:2])
            if not any(fnmatchcase(rule, wanted) for rule in rules):
                raise RegistryError(
                    f"conformance({self.plugin!r}, excused=...) names {pattern!r}, and there is no "
                    "such rule. Write 'primitive x table', or 'primitive x table x kind'."
                )


def _spoken_of(law: Law, samples: Iterable[Sample]) -> list[Sample]:
    result: list[Sample] = []
    for sample in samples:
        with enable_x64(is_wide(sample)):
            if law.speaks_of(sample):
                result.append(sample)
    return result


def _law_of_backend(name: str, skipped: list[Entry]) -> tuple[str, Law] | None:
    """The law that the provider ``backend_law`` makes for a backend; None if it cannot be tried."""
    table = f"backend {name}"
    make = registry().provider("backend_law", default=None)
    why = registry().backend(name).problem() if make else "no plugin provides 'backend_law'"
    if why:
        skipped.append(Entry("*", table, SKIPPED, why))
        return None
    return table, make(name)
