"""Where operations come from, in the text of modules that are shown: none that is compiled has it.

An operation's location is a name and a line. The name is a path: of the program, the operations
whose sub-programs it is in, the user's scopes, and the operation: ``jit(f)/while/scope/sin``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

from dovetail_core import Eqn

from ..tables import StablehloRule
from .attributes import string
from .builder import Builder
from .emitter import Val

_HAS_LOCATION = re.compile(r" loc\(.*\)\n\Z")


class LocatingBuilder(Builder):
    """A builder whose operations say where they come from."""

    __slots__ = ()

    def _watched(self, eqn: Eqn, rule: StablehloRule, operands: Sequence[Val]) -> Any:
        start, outer = len(self.lines), self.module.path
        name = eqn.primitive.name
        called = eqn.params.get("name") if name == "jit" else None
        inner = f"jit({called})" if called is not None else name
        self.module.path = path = "/".join(filter(None, (outer, _scope(eqn), inner)))
        try:
            out = rule(self, *operands, **eqn.params)
        finally:
            self.module.path = outer
        place = f" loc({string(path)}{_line(eqn)})\n"
        self.lines[start:] = [
            x if _HAS_LOCATION.search(x) else x[:-1] + place for x in self.lines[start:]
        ]
        return out


def _scope(eqn: Eqn) -> str:
    return eqn.source.scope if eqn.source is not None else ""


def _line(eqn: Eqn) -> str:
    """``("file.py":3:5)``: the user's line and column; nothing where they are not known."""
    source = eqn.source
    if source is None:
        return ""
    at = next(islice(source.code.co_positions(), source.lasti // 2, None), None)
    column = (at and at[2]) or 0
    return f"({string(source.filename)}:{source.line}:{column + 1})"
