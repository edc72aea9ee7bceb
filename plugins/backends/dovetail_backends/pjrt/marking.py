"""Operations marked with the annotations of the equations that they come from.

Annotations (``dovetail_base.annotations``) become ``mhlo.frontend_attributes``, which XLA and
those who read its modules see. Modules are written by this builder only where annotations are used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from dovetail_base.annotations import annotations_of
from dovetail_core import ClosedJaxpr, Eqn
from dovetail_core.ir.programs import open_program, programs_in

from ..tables import StablehloRule
from .attributes import string
from .builder import Builder
from .emitter import Val

_ATTRIBUTE = "mhlo.frontend_attributes = {"
_ENTRY = re.compile(r'("[^"]*"|\w+) = ("[^"]*")(?:, )?')  # quotes within are escaped as \22
_ENTRIES = re.compile(rf"(?:{_ENTRY.pattern})*")


class MarkingBuilder(Builder):
    """A builder that marks operations with their equations' annotations."""

    __slots__ = ("_marks",)

    def __init__(self, module: Any) -> None:
        super().__init__(module)
        self._marks: Mapping[str, str] = {}

    def _watched(self, eqn: Eqn, rule: StablehloRule, operands: Sequence[Val]) -> Any:
        outer, self._marks = self._marks, annotations_of(eqn.source)
        try:
            if self.module.annotated:
                return self._annotated(eqn, rule, operands)
            return rule(self, *operands, **eqn.params)
        finally:
            self._marks = outer

    def op(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Emit an operation (:meth:`Emitter.op`) with the marks of the equation being lowered."""
        out = super().op(name, *args, **kwargs)
        if self._marks and name != "stablehlo.constant":  # constants are shared
            self.lines[-1] = marked(self.lines[-1], self._marks)
        return out

    def _identity(self, program: ClosedJaxpr) -> Any:
        return program, _marks_in(program)


def mark_value(lines: list[str], x: Val, marks: Mapping[str, str]) -> None:
    """Mark the operation among some lines whose result is ``x``; nothing where it is another's."""
    name = x.name.partition("#")[0]
    for i in reversed(range(len(lines))):
        if lines[i].startswith((f"{name} = ", f"{name}:")):
            lines[i] = marked(lines[i], marks)
            return


def marked(line: str, marks: Mapping[str, str]) -> str:
    """The text of an operation with further frontend attributes, or others in place of its own."""
    at = line.rindex(" : (")
    before, after = line[:at], line[at:]
    wanted = {f"{string(k)}": f"{string(v)}" for k, v in marks.items()}
    if not before.endswith("}"):
        return f"{before} {{{_ATTRIBUTE}{_spelt(wanted)}}}}}{after}"
    head, result, tail = before.rpartition(_ATTRIBUTE)
    if not result or "\n" in tail:  # one of its regions'
        return f"{before[:-1]}, {_ATTRIBUTE}{_spelt(wanted)}}}}}{after}"
    own = _ENTRIES.match(tail)
    assert own is not None
    known = {k if k[0] == '"' else f'"{k}"': v for k, v in _ENTRY.findall(own[0])}
    return f"{head}{result}{_spelt({**known, **wanted})}{tail[own.end() :]}{after}"


def _spelt(entries: Mapping[str, str]) -> str:
    return ", ".join([f"{k} = {v}" for k, v in sorted(entries.items())])


def _marks_in(program: Any) -> tuple[Any, ...]:
    """The annotations of all equations of a program: what distinguishes equal ones."""
    if isinstance(program, ClosedJaxpr):
        return program.memo("annotations", lambda: _marks_in(open_program(program)))
    result: list[Any] = []
    for i, eqn in enumerate(program.eqns):
        if marks := annotations_of(eqn.source):
            result.append((i, tuple(sorted(marks.items()))))
        if eqn.primitive.regions:
            within = [_marks_in(p) for p in programs_in(eqn.params)]
            result += [(i, within_i) for within_i in map(tuple, within) if within_i]
    return tuple(result)
