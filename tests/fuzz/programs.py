"""Programs as data: steps, each with its text in Dovetail and in NumPy.

What one step says is text with places for its operands, so that whatever handles programs (their
rendering, their shrinking) needs to know of no operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

CONSTANT, CALL = "constant", "call"
PLACES = "fgh"
"""The names by which the texts of a step call its regions."""


@dataclass(frozen=True)
class Type:
    """The shape and the dtype of a value."""

    shape: tuple[int, ...]
    dtype: str


def type_of(x: Any) -> Type:
    return Type(np.shape(x), np.asarray(x).dtype.name)


def kind_of(dtype: Any) -> str:
    """The letter of NumPy's kinds, and "f" for the narrow floating-point types too."""
    dt = np.dtype(dtype)
    return "f" if dt == ml_dtypes.bfloat16 else dt.kind


@dataclass(frozen=True)
class Step:
    """One operation.

    Attributes:
        outs, types: names and types of its results.
        kind: its family, for reports.
        dovetail, numpy: its texts. ``{0}`` is the first operand, ``{f}`` the first region, ``{r}``
            a name of the step's own; the last line is an expression.
        args: names of operands.
        regions: programs inside, which may use names from outside.
        error: a bound of the error of NumPy's values that is not rounding, relative to 1 + their
            size, where these are differences.

    An expression has one value, or where there are regions or several results a tuple of them.
    """

    outs: tuple[str, ...]
    types: tuple[Type, ...]
    kind: str
    dovetail: str
    numpy: str
    args: tuple[str, ...] = ()
    regions: tuple[Program, ...] = ()
    error: float = 0.0

    @property
    def is_tuple(self) -> bool:
        return bool(self.regions) or len(self.outs) > 1


@dataclass(frozen=True)
class Program:
    """A function of ``params``, of types ``types``, that returns the tuple ``outs``."""

    params: tuple[str, ...]
    steps: tuple[Step, ...]
    outs: tuple[str, ...]
    types: tuple[Type, ...] = ()


def used_names(program: Program) -> set[str]:
    """All names that steps or results of a program, or of programs inside, refer to."""
    names = set(program.outs)
    for step in program.steps:
        names.update(step.args)
        for region in step.regions:
            names |= used_names(region)
    return names


def without_dead_steps(program: Program) -> Program:
    """The program less the steps that nothing uses."""
    kept: list[Step] = []
    used = set(program.outs)
    for step in reversed(program.steps):
        if used.isdisjoint(step.outs):
            continue
        regions = tuple(without_dead_steps(r) for r in step.regions)
        step = replace(step, regions=regions)
        kept.append(step)
        used.update(step.args)
        for region in regions:
            used |= used_names(region)
    return replace(program, steps=tuple(reversed(kept)))


def all_steps(program: Program) -> Iterator[Step]:
    """The steps of a program and of the programs inside."""
    for step in program.steps:
        yield step
        for region in step.regions:
            yield from all_steps(region)


def renamed(program: Program, names: dict[str, str]) -> Program:
    """The program with references to some names replaced by references to others."""
    steps = tuple(
        replace(
            s,
            args=tuple(names.get(a, a) for a in s.args),
            regions=tuple(renamed(r, names) for r in s.regions),
        )
        for s in program.steps
    )
    return replace(program, steps=steps, outs=tuple(names.get(a, a) for a in program.outs))


def edited(program: Program, edit: Callable[[Step], Step | None]) -> Iterator[Program]:
    """The programs with one step, here or inside, replaced by what ``edit`` makes of it."""
    for i, step in enumerate(program.steps):
        before, after = program.steps[:i], program.steps[i + 1 :]
        result = edit(step)
        if result is not None:
            yield replace(program, steps=(*before, result, *after))
        for j, region in enumerate(step.regions):
            for inner in edited(region, edit):
                regions = (*step.regions[:j], inner, *step.regions[j + 1 :])
                yield replace(program, steps=(*before, replace(step, regions=regions), *after))


def literal(x: Any) -> str:
    """Text that evaluates to a NumPy array."""
    array = np.asarray(x)
    values = array.astype(np.float64).tolist() if kind_of(array.dtype) == "f" else array.tolist()
    return f"np.array({values!r}, np.dtype({array.dtype.name!r}))"


def constant(types: tuple[Type, ...], outs: tuple[str, ...]) -> Step:
    """A step whose results are constants: what is left of a step that does not matter."""
    values = [literal(np.full(t.shape, 0.75).astype(np.dtype(t.dtype))) for t in types]
    ours = ", ".join(f"dnp.asarray({v})" for v in values)
    return Step(outs, types, CONSTANT, ours, ", ".join(values))
