"""The functions of a module that is being written; equal programs share one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_core import ClosedJaxpr


class ModuleText:
    """The functions of a module; equal programs share one."""

    def __init__(self, platform: str, annotated: bool = False) -> None:
        self.platform = platform
        self.annotated = annotated  # say above each operation's lines where it comes from
        self.functions: list[str] = []
        self.callbacks: list[Callable[..., Any]] = []
        self._names: dict[ClosedJaxpr, str] = {}
        self._used: set[str] = {"main"}

    def function_for(self, program: ClosedJaxpr) -> str:
        """The name of the private function for ``program``, written at the first request."""
        name = self._names.get(program)
        if name is None:
            name = self._names[program] = self._fresh(program.jaxpr.name or "fn")
            self.functions.append(write_function(self, program, name))
        return name

    def add_callback(self, fun: Callable[..., Any]) -> int:
        """The number under which the module's operations call a Python function."""
        self.callbacks.append(fun)
        return len(self.callbacks) - 1

    def _fresh(self, wanted: str) -> str:
        stem = "".join(c if c.isalnum() else "_" for c in wanted) or "fn"
        name, n = stem, 0
        while name in self._used:
            n += 1
            name = f"{stem}_{n}"
        self._used.add(name)
        return name


def write_function(module: ModuleText, program: ClosedJaxpr, name: str) -> str:
    """A private function for ``program``."""
    from .builder import Builder

    b = Builder(module)
    args = b.arguments(program.in_avals)
    outs = b.inline(program, args)
    head = ", ".join(f"{a.name}: {a.type}" for a in args)
    types = ", ".join(v.type for v in outs)
    b.terminate("func.return", outs)
    return f"func.func private @{name}({head}) -> ({types}) {{\n{''.join(b.lines)}}}\n"
