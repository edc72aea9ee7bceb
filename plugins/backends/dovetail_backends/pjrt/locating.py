"""Operations with locations: names of the scopes and primitives that they come from, and lines.

Names are as ``jit(f)/jvp(model)/sin``; what a loop or branch holds is within it. Modules are
written so only for those who read them: equal modules with names of their own would be compiled
each by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from dovetail_base.naming import inside
from dovetail_core import ClosedJaxpr, Eqn

from ..tables import StablehloRule
from .attributes import string
from .emitter import Val
from .marking import MarkingBuilder


class LocatingBuilder(MarkingBuilder):
    """A builder whose operations have the names of their equations, and the user's lines."""

    __slots__ = ("_location",)

    def __init__(self, module: Any) -> None:
        super().__init__(module)
        self._location = ""

    def _watched(self, eqn: Eqn, rule: StablehloRule, operands: Sequence[Val]) -> Any:
        outer = self.module.located, self._location
        scope = eqn.source.scope if eqn.source is not None else ""
        path = f"{self.module.located}/{scope}" if scope else self.module.located
        self._location = f"loc({string(f'{path}/{eqn.primitive.name}')}{_line(eqn)})"
        self.module.located = inside(path, _label(eqn))
        try:
            return super()._watched(eqn, rule, operands)
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
        """A loop (:meth:`Builder.while_loop`), in which it is told what is the condition."""
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
    """What is shown around the operations that an equation holds."""
    name = eqn.params.get("name") if eqn.primitive.regions else None
    return f"{eqn.primitive.name}({name})" if isinstance(name, str) else eqn.primitive.name


def _line(eqn: Eqn) -> str:
    """``("file.py":3:5)``: the user's line and column; nothing where they are not known."""
    source = eqn.source
    if source is None:
        return ""
    at = next(islice(source.code.co_positions(), source.lasti // 2, None), None)
    column = (at and at[2]) or 0
    return f"({string(source.filename)}:{source.line}:{column + 1})"
