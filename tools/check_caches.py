"""Caches that ``clear_caches`` does not know, in the code of the product.

``dovetail_core`` has ``cached``, ``Cache`` and ``WeakTable`` (``dovetail_base``), which have
bounds and which ``clear_caches`` empties. Nothing else caches: no ``functools.cache`` or
``lru_cache``, no ``WeakKeyDictionary``, no ``weakref_lru_cache``, and no dictionary of a module
that a function reads and, where it finds nothing, fills. Run without arguments; prints each one and
exits with 1 if there is any, or an exception below that no code needs any more.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from product import product_files, report

ROOT = Path(__file__).parent.parent

ALLOWED = {
    "core/dovetail_base/caches.py: lru_cache": "what `cached` is made of",
    "core/dovetail_core/dispatch/value_methods.py: _installed": "the methods of arrays, by name",
    "core/dovetail_text/syntax.py: _by_name": "the kinds of values with a notation, by name",
    "core/dovetail_xla/client.py: _plugins": "the libraries that were loaded, by name",
    "core/dovetail_xla/shardings.py: cache": (
        "the sharding of a device, one object; the adapter to jaxlib imports nothing of the kernel"
    ),
    "core/dovetail_xla/shardings.py: lru_cache": (
        "the adapter imports nothing of the kernel; its `clear_all_caches` empties it"
    ),
    "core/dovetail_xla/options.py: _known": "which options the compiler of a platform knows",
}
"""By ``file: name``: the reason. Names are of what is imported, or of the dictionary."""

FORBIDDEN = {
    "functools": {"cache", "lru_cache"},
    "weakref": {"WeakKeyDictionary"},
}
ANYWHERE = {"WeakKeyDictionary", "lru_cache", "weakref_lru_cache"}
DICTIONARIES = {"dict", "OrderedDict", "defaultdict"}


def forbidden_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Lines and names of caches of other libraries."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = FORBIDDEN.get(node.module or "", set()) | ANYWHERE
            yield from ((node.lineno, a.name) for a in node.names if a.name in names)
        elif isinstance(node, ast.Attribute):
            of = node.value.id if isinstance(node.value, ast.Name) else ""
            if node.attr in FORBIDDEN.get(of, set()) | ANYWHERE:
                yield node.lineno, node.attr


def dictionaries(tree: ast.Module) -> dict[str, int]:
    """The names that a module gives to dictionaries, and their lines."""
    result: dict[str, int] = {}
    for node in tree.body:
        if isinstance(node, ast.AnnAssign):
            targets: list[ast.expr] = [node.target]
        elif isinstance(node, ast.Assign):
            targets = node.targets
        else:
            continue
        if node.value is not None and _is_dictionary(node.value):
            result.update((t.id, node.lineno) for t in targets if isinstance(t, ast.Name))
    return result


def _is_dictionary(value: ast.expr) -> bool:
    if isinstance(value, (ast.Dict, ast.DictComp)):
        return True
    return isinstance(value, ast.Call) and _name(value.func) in DICTIONARIES


def _name(f: ast.expr) -> str:
    return f.id if isinstance(f, ast.Name) else f.attr if isinstance(f, ast.Attribute) else ""


def filled_on_a_miss(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Dictionaries of the module that one function reads by key and stores results in.

    What a caller gave is no result: who stores that registers it.
    """
    known = dictionaries(tree)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            used = _read(node) & _filled(node) & known.keys()
            yield from ((known[n], n) for n in sorted(used))


def _read(function: ast.AST) -> set[str]:
    """The names that a function reads by key."""
    result = {_name(call.func.value) for call in _methods(function, "get", "setdefault")}
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            result.add(_name(node.value))
        elif isinstance(node, ast.Compare):
            result.update(map(_name, node.comparators))
    return result


def _filled(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The names that a function stores results in, by key."""
    args = function.args
    given = {a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs]}
    calls = _methods(function, "setdefault")
    result = {_name(c.func.value) for c in calls if _is_result(c.args[-1], given)}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and _is_result(node.value, given):
            result.update(_name(t.value) for t in node.targets if isinstance(t, ast.Subscript))
    return result


def _methods(function: ast.AST, *names: str) -> Iterator[Any]:
    """Calls of methods of these names."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in names:
            yield node


def _is_result(value: ast.expr, given: set[str]) -> bool:
    if isinstance(value, ast.Name):
        return value.id not in given
    return any(isinstance(x, ast.Call) and _name(x.func) != "get" for x in ast.walk(value))


def caches_in(file: Path, root: Path) -> Iterator[tuple[str, int, str]]:
    """The caches in a file: the key of :data:`ALLOWED`, line, and message."""
    tree = ast.parse(file.read_text())
    for line, name in {*forbidden_names(tree), *filled_on_a_miss(tree)}:
        text = f"{name} is a cache that clear_caches does not know: use cached, Cache or WeakTable"
        yield f"{file.relative_to(root).as_posix()}: {name}", line, f"{text} of dovetail_core"


def main(root: Path = ROOT, allowed: dict[str, str] = ALLOWED) -> int:
    """Print what is there and is not allowed, and what is allowed and not there; 1 if any is."""
    caches = (x for f in product_files(root) for x in caches_in(f, root))
    return report(caches, allowed, "check_caches.py")


if __name__ == "__main__":
    sys.exit(main())
