"""Passes that plugins run between the stages from function to executable, in declared order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, Literal

from ..base.errors import RegistryError
from ..base.options import enable_checks
from ..ir.verification import check_jaxpr
from ..registry.aside import set_aside
from ..registry.discovery import registry

Stage = Literal["hi", "ir", "module"]


@dataclass(frozen=True)
class Pass:
    """A rewriting of programs at one stage.

    Attributes:
        name: unique name.
        stage: ``hi`` (before high types are lowered), ``ir`` (before lowering; both take and
            return a ``ClosedJaxpr``), or ``module`` (StableHLO text to StableHLO text).
        run: the function.
        before, after: names of passes of the same stage that it must precede or follow.
        platforms: for which programs are compiled that it is for; all if empty.
        divides: whether it is for programs that are divided among devices, too.
    """

    name: str
    stage: Stage
    run: Callable[[Any], Any]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    divides: bool = True


def ordered(passes: list[Pass]) -> list[Pass]:
    """Passes in an order that respects ``before`` and ``after``, by name where free.

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
    found: list[Pass] = []
    ready: list[str] = []
    while sorter.is_active():
        ready = sorted([*ready, *sorter.get_ready()])
        if ready:
            name = ready.pop(0)
            found.append(by_name[name])
            sorter.done(name)
    return found


_STAGES: tuple[Stage, ...] = ("hi", "ir", "module")
_by_stage: dict[Stage, list[Pass]] = {}


def forget_passes() -> None:
    """Ask the registry again at the next use (it has changed)."""
    _by_stage.clear()


def _fits(thing: Any) -> str:
    """What is wrong with what a manifest names as a pass."""
    if not isinstance(thing, Pass):
        return f"it is a {type(thing).__name__}, not a dovetail_core.Pass"
    if thing.stage not in _STAGES:
        return f"its stage is {thing.stage!r}, not one of {', '.join(_STAGES)}"
    names: list[Any] = [thing.name, *thing.before, *thing.after]
    return "" if all(isinstance(n, str) for n in names) else "it names passes by other than strings"


def _find_passes() -> dict[Stage, list[Pass]]:
    """The passes of each stage, in order; one that contradicts those before it is set aside."""
    accepted: list[Pass] = []
    for each in registry().load_all("passes", _fits):
        try:
            ordered([p for p in [*accepted, each] if p.stage == each.stage])
            accepted.append(each)
        except RegistryError as e:
            set_aside(f"the pass {each.name!r} is set aside: {e}. Correct one of them.", e)
    return {stage: ordered([p for p in accepted if p.stage == stage]) for stage in _STAGES}


def passes_of(stage: Stage) -> list[Pass]:
    """The registered passes of ``stage``, in order."""
    if stage not in _by_stage:
        _by_stage.update(_find_passes())
    return _by_stage[stage]


def run_passes(stage: Stage, program: Any, platform: str = "", divided: bool = False) -> Any:
    """Apply every registered pass of ``stage`` in order.

    Args:
        platform: for which the program is compiled, if that is known.
        divided: whether it is divided among devices.
    """
    for p in passes_of(stage):
        if (divided and not p.divides) or (
            platform and p.platforms and platform not in p.platforms
        ):
            continue
        program = p.run(program)
        if enable_checks.value and stage != "module":
            check_jaxpr(program, f"the pass {p.name!r}")
    return program
