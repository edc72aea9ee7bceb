"""The order of named things by what they declare to precede and to follow."""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Protocol, TypeVar

from .errors import RegistryError


class Named(Protocol):
    """A pass to be ordered: ``before`` and ``after`` are names of others."""

    @property
    def name(self) -> str: ...
    @property
    def before(self) -> tuple[str, ...]: ...
    @property
    def after(self) -> tuple[str, ...]: ...


T = TypeVar("T", bound=Named)


def ordered(passes: Sequence[T]) -> list[T]:
    """Passes in an order that respects ``before`` and ``after``, and else is by name.

    Raises:
        RegistryError: the constraints contradict each other; names the passes of the cycle.
    """
    by_name = {p.name: p for p in sorted(passes, key=lambda p: p.name)}
    needs = {n: {a for a in p.after if a in by_name} for n, p in by_name.items()}
    for n, p in by_name.items():
        for b in p.before:
            if b in needs:
                needs[b].add(n)
    sorter = TopologicalSorter(needs)
    try:
        sorter.prepare()
    except CycleError as e:
        cycle = " -> ".join(e.args[1])
        raise RegistryError(f"passes contradict each other's order: {cycle}") from e
    result: list[T] = []
    ready: list[str] = []
    while sorter.is_active():
        ready = sorted([*ready, *sorter.get_ready()])
        if ready:
            name = ready.pop(0)
            result.append(by_name[name])
            sorter.done(name)
    return result
