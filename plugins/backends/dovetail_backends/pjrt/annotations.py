"""Builders that add to operations the annotations and source locations of their equations.

Annotations (``dovetail_base.source_info``) become ``mhlo.frontend_attributes``, which XLA keeps.
Locations have names as ``jit(f)/jvp(model)/sin``, nested by regions. They are written only into
modules that are shown: modules that differ in nothing but names would each be compiled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from dovetail_base.naming import inside
from dovetail_base.source_info import annotations_of
from dovetail_core import ClosedJaxpr, Eqn, programs

from ..tables import StablehloRule
from .attributes import string
from .builder import Builder
from .emitter import Val

_ATTRIBUTE = "mhlo.frontend_attributes = {"
_ENTRY = re.compile(r'("[^"]*"|\w+) = ("[^"]*")(?:, )?')  # quotes within are escaped as \22
_ENTRIES = re.compile(rf"(?:{_ENTRY.pattern})*")


class AnnotatingBuilder(Builder):
    """A builder that adds the annotations of equations to their operations."""

    __slots__ = ("_annotations",)

    def __init__(self, module: Any) -> None:
        super().__init__(module)
        self._annotations: Mapping[str, str] = {}

    def _lower_instrumented(self, eqn: Eqn, rule: StablehloRule, operands: Sequence[Val]) -> Any:
        outer, self._annotations = self._annotations, annotations_of(eqn.source)
        try:
            if self.module.annotated:
                return self._annotated(eqn, rule, operands)
            return rule(self, *operands, **eqn.params)
        finally:
            self._annotations = outer

    def op(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Emit an operation (:meth:`Emitter.op`) with the annotations of its equation."""
        out = super().op(name, *args, **kwargs)
        if self._annotations and name != "stablehlo.constant":  # constants are shared
            self.lines[-1] = with_attributes(self.lines[-1], self._annotations)
        return out

    def _identity(self, program: ClosedJaxpr) -> Any:
        return program, _annotations_in(program)


def annotate_value(lines: list[str], x: Val, annotations: Mapping[str, str]) -> None:
    """Annotate the operation among some lines whose result is ``x``, if it is among them."""
    name = x.name.partition("#")[0]
    for i in reversed(range(len(lines))):
        if lines[i].startswith((f"{name} = ", f"{name}:")):
            lines[i] = with_attributes(lines[i], annotations)
            return


def with_attributes(line: str, annotations: Mapping[str, str]) -> str:
    """The text of an operation with further frontend attributes, which replace its own of the same
    names."""
    at = line.rindex(" : (")
    before, after = line[:at], line[at:]
    new = {f"{string(k)}": f"{string(v)}" for k, v in annotations.items()}
    if not before.endswith("}"):
        return f"{before} {{{_ATTRIBUTE}{_entries_text(new)}}}}}{after}"
    head, result, tail = before.rpartition(_ATTRIBUTE)
    if not result or "\n" in tail:  # an operation of one of its regions has attributes
        return f"{before[:-1]}, {_ATTRIBUTE}{_entries_text(new)}}}}}{after}"
    match = _ENTRIES.match(tail)
    assert match is not None
    old = {k if k[0] == '"' else f'"{k}"': v for k, v in _ENTRY.findall(match[0])}
    return f"{head}{result}{_entries_text({**old, **new})}{tail[match.end() :]}{after}"


def _entries_text(entries: Mapping[str, str]) -> str:
    return ", ".join([f"{k} = {v}" for k, v in sorted(entries.items())])


def _annotations_in(program: Any) -> tuple[Any, ...]:
    """The annotations of all equations of a program, which distinguish equal programs."""
    if isinstance(program, ClosedJaxpr):
        return program.memo("annotations", lambda: _annotations_in(programs.open_program(program)))
    result: list[Any] = []
    for i, eqn in enumerate(program.eqns):
        if annotations := annotations_of(eqn.source):
            result.append((i, tuple(sorted(annotations.items()))))
        if eqn.primitive.regions:
            within = [_annotations_in(p) for p in programs.subprograms(eqn.params)]
            result += [(i, within_i) for within_i in map(tuple, within) if within_i]
    return tuple(result)


class LocatingBuilder(AnnotatingBuilder):
    """A builder that adds locations to operations: names of equations, and the user's lines."""

    __slots__ = ("_location",)

    def __init__(self, module: Any) -> None:
        super().__init__(module)
        self._location = ""

    def _lower_instrumented(self, eqn: Eqn, rule: StablehloRule, operands: Sequence[Val]) -> Any:
        outer = self.module.located, self._location
        scope = eqn.source.scope if eqn.source is not None else ""
        path = f"{self.module.located}/{scope}" if scope else self.module.located
        self._location = f"loc({string(f'{path}/{eqn.primitive.name}')}{_line(eqn)})"
        self.module.located = inside(path, _label(eqn))
        try:
            return super()._lower_instrumented(eqn, rule, operands)
        finally:
            self.module.located, self._location = outer

    def op(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Emit an operation (:meth:`Emitter.op`) with the location of the equation it is for."""
        out = super().op(name, *args, **kwargs)
        if self._location and name != "stablehlo.constant":  # constants are shared
            self.lines[-1] = f"{self.lines[-1][:-1]} {self._location}\n"
        return out

    def while_loop(
        self,
        carry: Sequence[Val],
        condition: Callable[..., Sequence[Val]],
        body: Callable[..., Sequence[Val]],
        programs: Sequence[ClosedJaxpr] = (),
    ) -> list[Val]:
        """A loop (:meth:`Builder.while_loop`) whose condition and body have names in locations."""
        condition, body = self._within("cond", condition), self._within("body", body)
        return super().while_loop(carry, condition, body, programs)

    def _branch(self, i: int, program: ClosedJaxpr, operands: Sequence[Val], b: Any) -> list[Val]:
        return self._within(f"branch_{i}_fun", super()._branch)(i, program, operands, b)

    def _within(self, name: str, f: Callable[..., Any]) -> Callable[..., Any]:
        def emit(*args: Any) -> Any:
            outer = self.module.located
            self.module.located = f"{outer}/{name}"
            try:
                return f(*args)
            finally:
                self.module.located = outer

        return emit


def _label(eqn: Eqn) -> str:
    """The name of an equation in the locations of operations of its regions."""
    name = eqn.params.get("name") if eqn.primitive.regions else None
    return f"{eqn.primitive.name}({name})" if isinstance(name, str) else eqn.primitive.name


def _line(eqn: Eqn) -> str:
    """``("file.py":3:5)``: the user's line and column; empty if they are unknown."""
    source = eqn.source
    if source is None:
        return ""
    at = next(islice(source.code.co_positions(), source.lasti // 2, None), None)
    column = (at and at[2]) or 0
    return f"({string(source.filename)}:{source.line}:{column + 1})"
