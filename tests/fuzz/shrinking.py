"""Failing cases made small: fewer steps, fewer programs inside, fewer transformations."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from .cases import Case
from .laws import Wrong
from .programs import (
    CALL,
    CONSTANT,
    Program,
    Step,
    Type,
    all_steps,
    constant,
    edited,
    renamed,
    without_dead_steps,
)


@dataclass(frozen=True)
class Failure:
    """What went wrong: the type of the error, where it was raised, and its message."""

    kind: str
    place: str
    message: str

    def is_like(self, other: Failure) -> bool:
        """Whether it may well be the same fault."""
        if self.kind == Wrong.__name__:
            return other.kind == self.kind
        return (self.kind, self.place) == (other.kind, other.place)


def failure_of(try_it: Callable[[Case], object], case: Case) -> Failure | None:
    """How a case fails, if it does."""
    try:
        try_it(case)
    except Exception as e:
        last = traceback.extract_tb(e.__traceback__)[-1]
        name = last.filename.rsplit("/", 1)[-1]
        return Failure(type(e).__name__, f"{name} {last.name}", str(e))
    return None


def shrink(
    try_it: Callable[[Case], object], case: Case, failure: Failure, seconds: float = 30.0
) -> Case:
    """The smallest case found that fails alike, in a limited time."""
    end = time.monotonic() + seconds
    smaller = True
    while smaller and time.monotonic() < end:
        smaller = False
        for candidate in _candidates(case):
            result = failure_of(try_it, candidate)
            if result is not None and failure.is_like(result):
                case, smaller = candidate, True
                break
            if time.monotonic() > end:
                break
    return case


def size(case: Case) -> tuple[int, int]:
    """How large a case is: its transformations and steps, of which constants count less."""
    steps = list(all_steps(case.program))
    counted = sum(2 if s.kind != CONSTANT else 1 for s in steps)
    return len(case.stack) * 2 + counted, sum(len(s.dovetail) for s in steps)


def _candidates(case: Case) -> Iterator[Case]:
    """Smaller cases, the much smaller ones first."""
    for i in range(len(case.stack)):
        yield replace(case, stack=(*case.stack[:i], *case.stack[i + 1 :]))
    if case.mode != "staged":
        yield replace(case, mode="staged")
    here = size(case)
    for program in _smaller_programs(case):
        made = replace(case, program=without_dead_steps(program))
        if size(made) < here:
            yield made


def _smaller_programs(case: Case) -> Iterator[Program]:
    program = case.program
    if len(program.outs) > 1:
        for out in program.outs:
            yield replace(program, outs=(out,))
    for step in program.steps:
        if step.outs != program.outs:
            yield replace(program, outs=step.outs[-1:])
    types = dict(zip(program.params, program.types))
    yield from _hoisted(program, types)
    yield from _bypassed(program, types)
    yield from edited(program, lambda s: None if s.kind == CONSTANT else constant(s.types, s.outs))
    yield from edited(program, _called)
    yield from _inlined(program)


def _hoisted(program: Program, types: dict[str, Type]) -> Iterator[Program]:
    """A program inside in place of the step that holds it, on earlier values or constants."""
    known = dict(types)
    for i, step in enumerate(program.steps):
        for region in step.regions:
            names: dict[str, str] = {}
            made: list[Step] = []
            for param, t in zip(region.params, region.types):
                result = [n for n, other in known.items() if other == t]
                if result:
                    names[param] = result[-1]
                else:
                    made.append(constant((t,), (param,)))
            body = renamed(region, names)
            steps = (*program.steps[:i], *made, *body.steps)
            yield replace(program, steps=steps, outs=body.outs)
        known.update(zip(step.outs, step.types))


def _bypassed(program: Program, types: dict[str, Type]) -> Iterator[Program]:
    """Programs in which a step's results are replaced by earlier values of their types."""
    known = dict(types)
    for i, step in enumerate(program.steps):
        result = [[n for n, t in known.items() if t == wanted] for wanted in step.types]
        if all(result):
            names = {o: f[-1] for o, f in zip(step.outs, result)}
            rest = replace(program, steps=(*program.steps[:i], *program.steps[i + 1 :]))
            yield renamed(rest, names)
        for j, region in enumerate(step.regions):
            for inner in _bypassed(region, known):
                regions = (*step.regions[:j], inner, *step.regions[j + 1 :])
                changed = replace(step, regions=regions)
                yield replace(program, steps=(*program.steps[:i], changed, *program.steps[i + 1 :]))
        known.update(zip(step.outs, step.types))


def _called(step: Step) -> Step | None:
    """A call with rules of its own, made a plain call."""
    first = step.regions[0] if step.regions else None
    if first is None or step.kind == CALL or not step.numpy.startswith("{f}("):
        return None
    return replace(step, kind=CALL, dovetail=step.numpy)


def _inlined(program: Program) -> Iterator[Program]:
    """Programs with the body of a plain call in its place."""
    for i, step in enumerate(program.steps):
        before, after = program.steps[:i], program.steps[i + 1 :]
        if step.kind == CALL:
            (region,) = step.regions[:1]
            body = renamed(region, dict(zip(region.params, step.args)))
            rest = renamed(Program((), after, program.outs), dict(zip(step.outs, body.outs)))
            yield replace(program, steps=(*before, *body.steps, *rest.steps), outs=rest.outs)
        for j, region in enumerate(step.regions):
            for inner in _inlined(region):
                regions = (*step.regions[:j], inner, *step.regions[j + 1 :])
                yield replace(program, steps=(*before, replace(step, regions=regions), *after))
