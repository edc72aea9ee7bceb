"""What makes this a plugin: it is found, and its machinery is short."""

from __future__ import annotations

import ast
from importlib.resources import files

import acme_sparsity

import dovetail
from dovetail_core import registry


def code_lines(path):
    """Lines of a module that are no comment, docstring or import, and not empty."""
    module = ast.parse(path.read_text())
    lines = {
        i
        for node in ast.walk(module)
        if isinstance(node, (ast.stmt, ast.excepthandler))
        and not isinstance(node, (ast.Import, ast.ImportFrom))
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for i in range(
            node.lineno, node.lineno + 1 if hasattr(node, "body") else node.end_lineno + 1
        )
    }
    return len(lines)


def test_its_names_are_in_the_facade():
    assert dovetail.sparse_jacobian is acme_sparsity.sparse_jacobian
    assert registry().table("sparsity.pattern") is acme_sparsity.pattern_rules


def test_the_transformation_is_short():
    """Carrier, trace, table and public function; without rules, which are another matter."""
    package = files("acme_sparsity")
    lines = {m: code_lines(package / f"{m}.py") for m in ("pattern", "coloring", "jacobian")}
    assert lines["pattern"] <= 100 and sum(lines.values()) <= 160
