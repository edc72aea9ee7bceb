"""Passes that plugins run between the stages from function to executable, in declared order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from dovetail_base.errors import RegistryError
from dovetail_base.options import enable_checks
from dovetail_base.pass_rules import Named, compare_types, ordered, same_module
from dovetail_base.plugin_calls import disable_with_warning
from dovetail_base.source import short_repr

from ..ir.programs import ClosedJaxpr
from ..ir.verification import check_jaxpr
from ..registry.discovery import registry
from ..registry.plugins import Plugin, Registry

__all__ = (
    "Pass",
    "STAGES",
    "passes_for",
    "run_passes",
)

Stage = Literal["hi", "ir", "module"]


@dataclass(frozen=True)
class Pass:
    """A rewriting of programs at one stage, which keeps the types of their inputs and outputs.

    Attributes:
        name: unique among the passes of its stage.
        stage: ``hi`` (before high types are lowered), ``ir`` (before lowering; both take and return
            a ``ClosedJaxpr``), or ``module`` (takes StableHLO as text, and returns it as text,
            bytecode or ``ir.Module``).
        run: the function.
        before, after: names of passes of the same stage that it must precede or follow. Those of
            absent plugins are ignored.
        platforms: for whose programs it runs; all if empty.
        divides: True if it runs on programs that are divided among devices, too.
    """

    name: str
    stage: Stage
    run: Callable[[Any], Any]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    divides: bool = True


class _RegistryPasses(NamedTuple):
    """The passes of a registry, in order, and the names of each in messages."""

    registry: Registry
    by_stage: dict[Stage, list[Pass]]
    labels: dict[tuple[Stage, str], str]


STAGES: tuple[Stage, ...] = ("hi", "ir", "module")
"""The stages, in the order in which they run."""
CLOSE = 0.8
"""The least similarity of a misspelt name to an existing one."""
_current: list[_RegistryPasses] = []  # at most one


def _fits(thing: Any) -> str:
    """The problem of an object that a manifest names as a pass; empty if there is none."""
    if not isinstance(thing, Pass):
        return f"it is a {type(thing).__name__}, not a dovetail_core.Pass"
    if thing.stage not in STAGES:
        return f"its stage is {thing.stage!r}, not one of {', '.join(STAGES)}"
    given: list[Any] = [thing.before, thing.after, thing.platforms]
    if any(isinstance(names, str) for names in given):
        return "its before, after and platforms must be tuples of strings, and one is a string"
    names: list[Any] = [thing.name, *thing.before, *thing.after, *thing.platforms]
    return "" if all(isinstance(n, str) for n in names) else "it names passes by other than strings"


def _find_passes(result: Registry) -> _RegistryPasses:
    """The passes of each stage, in order; one that contradicts those before it is set aside.

    Raises:
        RegistryError: two plugins have a pass of one name; names the plugins.
    """
    for (kind, _), text in result.clashes.items():
        if kind == "passes":  # all are asked for, and it is not to be guessed which is meant
            raise RegistryError(text)
    accepted: list[tuple[Pass, Plugin]] = []
    for entry, each in result.load_each("passes", _fits).items():
        same = [(p, owner) for p, owner in accepted if p.stage == each.stage]
        whose = result.owner("passes", entry)
        problem = _contradiction([*[p for p, _ in same], each])
        first = next((owner for p, owner in same if p.name == each.name), None)
        if first is not None and not problem:
            problem = (
                f"{first.whose} and {whose.whose} both have a pass of that name at the stage "
                f"{each.stage!r}"
            )
            if not first.is_standard:
                raise RegistryError(
                    f"the pass {each.name!r} is there twice: {problem}. Disable one of the plugins "
                    "(DOVETAIL_DISABLE_PLUGINS) or rename the pass."
                )
        if problem:
            _disable(each, problem)
        else:
            accepted.append((each, whose))
    names = [(p.stage, p.name) for p, _ in accepted]
    for p, whose in [*accepted]:
        known = [n for stage, n in names if stage == p.stage]
        if problem := _misspelt(p, known, [n for stage, n in names if stage != p.stage]):
            _disable(p, problem)
            accepted.remove((p, whose))
    return _RegistryPasses(
        result,
        {stage: ordered([p for p, _ in accepted if p.stage == stage]) for stage in STAGES},
        {(p.stage, p.name): _label(p, whose) for p, whose in accepted},
    )


def _misspelt(p: Named, known: Sequence[str], other_names: Sequence[str]) -> str:
    """The problem of the names in ``before`` and ``after`` of a pass; empty if there is none.

    A name that no pass has may be that of a plugin which is not installed or not active, and is no
    problem, unless it is close to the name of a pass, or begins with that of an active plugin.

    Args:
        known: names of the passes of its stage.
        elsewhere: names of those of other stages.
    """
    for field, names in (("before", p.before), ("after", p.after)):
        for name in names:
            if name in known:
                continue
            if name in other_names:
                return f"its {field}= names {name!r}, which is a pass of another stage"
            if (close := _nearest(name, [n for n in known if n != p.name])) is not None:
                return f"its {field}= names {name!r}, which is no pass{close}"
    return ""


def _nearest(name: str, known: Sequence[str]) -> str | None:
    """The hint in the message about an unknown name; None if an absent plugin may have it."""
    from difflib import get_close_matches  # only where a name is not there

    plugins = registry().plugins
    owner, _, own = name.partition(".")
    is_active = bool(own) and owner in plugins and not plugins[owner].problem
    if not is_active and any(p.problem for p in plugins.values()):
        return None
    close = get_close_matches(name, known, 1, CLOSE)
    if close:
        return f": did you mean {close[0]!r}?"
    return f" of plugin {owner!r}; there are {', '.join(known) or 'none'}." if is_active else None


def _contradiction(passes: list[Pass]) -> str:
    try:
        ordered(passes)
    except RegistryError as e:
        return str(e)
    return ""


def _disable(p: Pass, problem: str) -> None:
    disable_with_warning(
        f"the pass {p.name!r} is set aside: {problem.rstrip('.')}. Correct one of them."
    )


def _label(p: Pass, whose: Plugin) -> str:
    return f"the pass {p.name!r} (stage {p.stage!r}) of {whose.whose}"


def passes_of(stage: Stage) -> list[Pass]:
    """The registered passes of ``stage``, in order.

    Raises:
        RegistryError: two plugins have a pass of one name.
    """
    return _passes_now().by_stage[stage]


def _passes_now() -> _RegistryPasses:
    result = registry()
    if not _current or _current[0].registry is not result:
        _current[:] = [_find_passes(result)]
    return _current[0]


def passes_for(stage: Stage, platform: str, divided: bool = False) -> list[Pass]:
    """The passes of ``stage`` that run on a program, in order.

    Args:
        platform: for which it is compiled.
        divided: whether it is divided among devices.
    """
    return [
        p
        for p in passes_of(stage)
        if (p.divides or not divided) and (not p.platforms or platform in p.platforms)
    ]


def run_passes(stage: Stage, program: Any, platform: str, divided: bool = False) -> Any:
    """Apply the passes of ``stage`` that are for a program (see :func:`passes_for`), in order.

    All code that computes a program's results runs them, by the platform of the device: every way
    to compute them must give the results of the compiled program.

    Raises:
        RegistryError: a pass changes the types of the program's inputs or outputs, or returns no
            program; names the pass, its plugin and the types.
        IRError: with the option ``enable_checks``, a pass breaks a rule of the IR.
    """
    for p in passes_for(stage, platform, divided):
        label = _passes_now().labels[stage, p.name]
        try:
            made = p.run(program)
        except Exception as e:
            e.add_note(f"This was raised in {label}.")
            raise
        if made is not program:
            check = same_module if stage == "module" else _same_program
            program = check(label, program, made)
        if enable_checks.value and stage != "module":
            check_jaxpr(program, label)
    return program


def _same_program(label: str, before: ClosedJaxpr, after: Any) -> ClosedJaxpr:
    """The program that a pass made of ``before``, if it takes and returns the same types.

    Args:
        label: the name of the pass in messages.

    Raises:
        RegistryError: it is no program, or of other types; names the pass and the types.
    """
    if not isinstance(after, ClosedJaxpr):
        raise RegistryError(
            f"{label} returned {short_repr(after)} of type {type(after).__name__}, not a "
            "ClosedJaxpr. Make it return the program, changed or not."
        )
    compare_types(label, "input", before.in_avals, after.in_avals)
    compare_types(label, "result", before.out_avals, after.out_avals)
    return after
