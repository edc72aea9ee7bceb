"""Locations of code as text: of rules, of functions, of primitives."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dovetail_core import Origin, Primitive, discovery


def rule_location(origin: Origin | None) -> str:
    """The module and line that registered a rule, and the distribution of the module."""
    return (
        f"{origin}, of {discovery.distribution_of(origin.module)}" if origin else "an unknown place"
    )


def code_location(function: Any) -> str:
    """``module:line`` of a function."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    line = f":{code.co_firstlineno}" if code is not None else ""
    return f"{getattr(function, '__module__', '?')}{line}"


def call(function: Any) -> str:
    """A function with the names of its parameters: ``_sin_jvp(primals, tangents)``."""
    result = _parameters(function)
    shown = (
        "" if result is None else f"({', '.join(_STARS.get(p.kind, '') + p.name for p in result)})"
    )
    return f"{_name(function)}{shown}"


def signature(function: Any) -> str:
    """A function with its parameters and their types: ``_type(x: ShapedArray, *, axis: int)``."""
    results = _parameters(function)
    if results is None:
        return _name(function)
    shown: list[str] = []
    for p in results:
        if p.kind is p.KEYWORD_ONLY and not any(s.startswith("*") for s in shown):
            shown.append("*")
        shown.append(_STARS.get(p.kind, "") + _declared(p))
    result = spell_type(inspect.signature(function).return_annotation)
    return f"{_name(function)}({', '.join(shown)}){f' -> {result}' if result else ''}"


def keywords(function: Any) -> dict[str, str]:
    """The keyword parameters that a function names, with their types ("" where there is none)."""
    result = _parameters(function) or []
    return {p.name: spell_type(p.annotation) for p in result if p.kind is p.KEYWORD_ONLY}


def spell_type(annotation: Any) -> str:
    """An annotation as it is written; "" if there is none."""
    if annotation is inspect.Signature.empty or annotation in (Any, "Any"):
        return ""
    name = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return name.replace("typing.", "")


_STARS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def _name(function: Any) -> str:
    return getattr(function, "__qualname__", None) or repr(function)


def _parameters(function: Any) -> list[inspect.Parameter] | None:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def _declared(parameter: inspect.Parameter) -> str:
    kind = spell_type(parameter.annotation)
    typed = f"{parameter.name}: {kind}" if kind else parameter.name
    if parameter.default is parameter.empty:
        return typed
    return f"{typed}{' = ' if kind else '='}{parameter.default!r}"


class Definition(NamedTuple):
    """The definition of a primitive: a variable of its module, and its line (0: unknown)."""

    variable: str
    file: str
    line: int


def definition(primitive: Primitive) -> Definition:
    """The variable that holds a primitive (or the object that wraps it), and its assignment."""
    module = sys.modules.get(primitive.module)
    names = [
        name
        for name, value in vars(module or object).items()
        if value is primitive or getattr(value, "primitive", None) is primitive
    ]
    file: str = getattr(module, "__file__", None) or ""
    try:
        lines = dict(_assignments(ast.parse(Path(file).read_text(encoding="utf-8"))))
    except (OSError, SyntaxError):
        lines = {}
    result = next((n for n in names if n in lines), names[0] if names else "")
    return Definition(result, file, lines.get(result, 0))


def _assignments(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The names that a module's statements assign, with the lines."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        yield name.id, node.lineno
