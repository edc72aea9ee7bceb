"""The order of passes by what they declare to precede and to follow, and what they must keep."""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any, Protocol, TypeVar

from .errors import RegistryError
from .source import short_repr


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


def same_module(label: str, before: str, after: Any) -> str:
    """The text of the module that a pass made of ``before``, if its ``main`` is of the same type.

    Args:
        after: text, bytecode or a module of MLIR's.

    Raises:
        RegistryError: it is no module, or one with another ``main``; names the pass and the types.
    """
    from dovetail_xla import mlir  # most programs run without such a pass

    try:
        parsed = mlir.parse(after) if isinstance(after, (str, bytes)) else after
        text = after if isinstance(after, str) else mlir.pretty(parsed)
        result = mlir.type_of_main(parsed)
    except AttributeError:
        raise RegistryError(
            f"{label} returned {short_repr(after)} of type {type(after).__name__}, not a module. "
            "Make it return StableHLO as text, as bytecode, or as an ir.Module."
        ) from None
    except ValueError as e:
        raise RegistryError(f"{label} returned {e}. Correct the pass.") from e
    wanted = mlir.type_of_main(mlir.parse(before))
    for what, old, new in zip(("input", "result"), wanted, result):
        compare_types(label, what, old, new, " of its function main")
    return text


def compare_types(
    label: str, what: str, before: Sequence[Any], after: Sequence[Any], where: str = ""
) -> None:
    """Raise RegistryError unless inputs or results have the types that they had; names the first
    that has not.

    Args:
        label: the name of the pass. what: ``input`` or ``result``. where: of which function.
    """
    if before == after:
        return
    more = f"A pass must keep what a program takes and returns. Correct the pass, or {_DISABLE}"
    if len(before) != len(after):
        raise RegistryError(
            f"{label} returned a program with {len(after)} {what}s{where} in place of "
            f"{len(before)}. {more}"
        )
    i = next(i for i, (x, y) in enumerate(zip(before, after)) if x != y)
    raise RegistryError(
        f"{label} changed the type of {what} {i}{where} from {_spell(before[i])} to "
        f"{_spell(after[i])}. {more}"
    )


_DISABLE = "disable its plugin (DOVETAIL_DISABLE_PLUGINS)."


def _spell(aval: Any) -> str:
    return aval if isinstance(aval, str) else aval.str_short()
