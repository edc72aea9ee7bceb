"""The names of JAX that a project uses, by its sources; nothing of it is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from dovetail_core import cached

from . import names, options
from .absence import is_expected, reason, reason_of_empty

_SKIPPED = ("site-packages", "__pycache__", "node_modules")
_VARIABLE = re.compile(r"JAX_[A-Z0-9_]+")
_PROBING = {"ImportError", "ModuleNotFoundError", "AttributeError", "Exception"}

MISSING, PRIVATE, PRIVATE_MISSING = "missing", "private, emulated", "private, missing"
UNKNOWN, IDLE, UNREAD = "not in JAX", "no effect here", "not read"
EMPTY = "imports, but is empty"


class Use(NamedTuple):
    """A name of JAX (or an option of it, ``jax_enable_x64``) that a line uses."""

    file: str
    line: int
    name: str
    is_probed: bool = False
    """True if the program goes on without it: it stands in a ``try`` that expects that."""


class Problem(NamedTuple):
    """A use that does not do here what it does in JAX, or only by courtesy."""

    use: Use
    kind: str
    why: str = ""

    @property
    def is_fatal(self) -> bool:
        """True if the program cannot run for it."""
        return self.kind in (MISSING, PRIVATE_MISSING) and not self.use.is_probed


def files_of(paths: Iterable[str | Path]) -> Iterator[Path]:
    """The Python files among some files and below some folders, but hidden and installed ones."""
    for path in map(Path, paths):
        if path.is_dir():
            for inner in sorted(path.iterdir()):
                skipped = inner.name.startswith(".") or inner.name in _SKIPPED
                if not skipped and (inner.is_dir() or inner.suffix == ".py"):
                    yield from files_of([inner])
        else:
            yield path


def scan(paths: Iterable[str | Path]) -> list[Use]:
    """The uses of JAX in files and folders, in order.

    Raises:
        SyntaxError, UnicodeDecodeError: a file cannot be read; see :func:`scan_files`.
    """
    return [use for path in files_of(paths) for use in scan_file(path)]


def scan_file(path: Path) -> list[Use]:
    """The uses of JAX in one file.

    Raises:
        SyntaxError, ValueError: it is no Python source.
    """
    tree = ast.parse(path.read_bytes(), str(path))
    result = _Scan(str(path))
    result.visit(tree)
    return sorted(set(result.uses), key=lambda use: (use.line, use.name))


class _Scan(ast.NodeVisitor):
    """Walks one file; ``known`` says which module each name of the file stands for."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.known: dict[str, str] = {}
        self.uses: list[Use] = []
        self.probing = 0

    def _note(self, node: ast.AST, name: str) -> None:
        line: int = getattr(node, "lineno", 0)
        self.uses.append(Use(self.file, line, _public_part(name), self.probing > 0))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if _is_jax(alias.name):
                self._note(node, alias.name)
                self.known[alias.asname or "jax"] = alias.name if alias.asname else "jax"

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level or not _is_jax(node.module or ""):
            return
        for alias in node.names:
            full = f"{node.module}.{alias.name}" if alias.name != "*" else str(node.module)
            self._note(node, full)
            self.known[alias.asname or alias.name] = full

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        full = self._spelled(node.value)
        for target in node.targets:
            if not isinstance(target, ast.Name):
                self.visit(target)
            elif full is not None and full not in ("jax", *self.known.values()):
                self.known[target.id] = full  # lax = jax.lax
            else:
                self.known.pop(target.id, None)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        full = self._spelled(node)
        if full is None:
            self.generic_visit(node)
        else:
            self._note(node, full)

    def _spelled(self, node: ast.expr) -> str | None:
        """``a.b.c`` with what ``a`` stands for, where that is of JAX."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        root = self.known.get(node.id) if isinstance(node, ast.Name) else None
        return None if root is None else ".".join([root, *reversed(parts)])

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        name = node.func.id if isinstance(node.func, ast.Name) else name
        given = [a.value if isinstance(a, ast.Constant) else None for a in node.args]
        if given and isinstance(given[0], str) and _names(name, given[0]):
            self._note(node, given[0])
        if name in ("hasattr", "getattr") and len(given) > 1 and isinstance(given[1], str):
            root = self._spelled(node.args[0])
            self.probing += name == "hasattr" or len(given) > 2
            if root is not None:
                self._note(node, f"{root}.{given[1]}")
            self.probing -= name == "hasattr" or len(given) > 2
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and _VARIABLE.fullmatch(node.value):
            self._note(node, node.value)

    def visit_Try(self, node: ast.Try) -> None:
        handled = {n for h in node.handlers for n in _exceptions(h.type)}
        probes = bool(handled & _PROBING)
        self.probing += probes
        for statement in node.body:
            self.visit(statement)
        self.probing -= probes
        for statement in [*node.handlers, *node.orelse, *node.finalbody]:
            self.visit(statement)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        outer = self.known
        arguments = node.args
        own = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        hidden = {a.arg for a in [*own, arguments.vararg, arguments.kwarg] if a is not None}
        inner = {k: v for k, v in outer.items() if k not in hidden}
        self.known = inner
        self.generic_visit(node)
        # What is imported within may be used by others: classes, closures, further functions.
        self.known = {**{k: v for k, v in inner.items() if k not in hidden}, **outer}

    visit_AsyncFunctionDef = visit_FunctionDef
    visit_Lambda = visit_FunctionDef


def _names(function: str, argument: str) -> bool:
    """True if a call names a module, or an option, of JAX."""
    if function == "update":
        return argument.startswith("jax_")
    return function == "import_module" and _is_jax(argument)


def _exceptions(node: ast.expr | None) -> list[str]:
    if node is None:
        return ["Exception"]
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return [p.id for p in parts if isinstance(p, ast.Name)]


def _is_jax(module: str) -> bool:
    return module == "jax" or module.startswith("jax.")


def _public_part(full: str) -> str:
    """A chain of attributes up to the first object that is no module."""
    parts = full.split(".")
    if parts[0] != "jax":
        return full
    end = 1
    while end < len(parts) and _is_module(".".join(parts[:end])):
        end += 1
    return ".".join(parts[:end])


@cached
def _is_module(name: str) -> bool:
    if name.startswith("jax._src."):  # of those that nobody emulates, nothing is known
        return name.count(".") == 2 or bool(names.home(name))
    return name == "jax" or names.is_module(name) or bool(names.home(name))


def problems(result: Sequence[Use]) -> list[Problem]:
    """The problems of some uses where the import hook answers for ``jax``."""
    verdicts = [(use, _verdict(use.name)) for use in result]
    return [Problem(use, kind, why) for use, (kind, why) in verdicts if kind]


@cached
def _verdict(name: str) -> tuple[str, str]:
    if not name.startswith("jax."):
        return ("", "") if name == "jax" else _verdict_of_option(name)
    is_there = _is_there(name)
    if name.startswith("jax._src"):
        why = "" if is_there else "it is private in JAX, and no library is known to need it"
        return (PRIVATE if is_there else PRIVATE_MISSING), why
    if is_there:
        return (EMPTY, reason_of_empty(name)) if _is_empty(name) else ("", "")
    module, _, last = name.rpartition(".")
    why = reason(module, last)
    return (MISSING if names.knows(module, last) or is_expected(name) else UNKNOWN), why


def _verdict_of_option(name: str) -> tuple[str, str]:
    option = name.lower().removeprefix("jax_")
    if option in options.IDLE:
        return IDLE, ""
    if option in options.FIXED:
        return IDLE, f"Dovetail has no other than {options.FIXED[option]!r}"
    return "", ""


def _is_there(name: str) -> bool:
    """True if a program would find the name."""
    parts = name.split(".")
    result: Any = import_module("jax")
    for i, part in enumerate(parts[1:], 2):
        below = ".".join(parts[:i])
        try:
            result = import_module(below) if names.home(below) else getattr(result, part)
        except (AttributeError, ImportError):
            return False
    return True


def _is_empty(name: str) -> bool:
    """True if a name that is there is a module of which nothing is there yet."""
    if not is_expected(name):
        return False
    result = import_module(name) if names.home(name) else None
    return isinstance(result, ModuleType) and not result.__all__
