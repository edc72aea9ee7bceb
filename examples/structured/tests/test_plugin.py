"""The distribution: what is loaded when, what the command line says, how long it is."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib.metadata import requires
from importlib.resources import files

import acme_structured
import pytest

import dovetail
from dovetail_core import registry


def run(*args):
    return subprocess.run(
        [sys.executable, *args], capture_output=True, text=True, check=True
    ).stdout  # fmt: skip


def test_its_names():
    assert dovetail.structured is acme_structured
    assert "structured.rules" in registry().entries("tables")
    text = run("-m", "dovetail_cli", "explain", "dot_general", "structured.rules")
    assert "declared" in text and "acme_structured.rules" in text


def test_it_is_loaded_when_it_is_used():
    script = (
        "import sys, dovetail, dovetail.numpy as dnp; dnp.ones(3) + 1\n"
        "print(sorted(m for m in sys.modules if m.startswith('acme_')))"
    )
    assert run("-c", script).strip() == "['acme_structured', 'acme_structured.plugin']"


def test_it_depends_on_public_packages():
    needed = sorted(
        r.partition("~")[0] for r in requires("dovetail-structured") or [] if "extra" not in r
    )
    assert needed == ["dovetail", "dovetail-core"]


@pytest.mark.parametrize("module", ["values", "interpreter"])
def test_the_machinery_is_short(module):
    """Lines of code: without docstrings, comments, blank lines and imports."""
    text = files("acme_structured").joinpath(f"{module}.py").read_text()
    kept: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt) and not _is_said(node):
            head = node.body[0].lineno - 1 if hasattr(node, "body") else node.end_lineno
            kept.update(range(node.lineno, max(head, node.lineno) + 1))
    code = [s for i, s in enumerate(text.splitlines(), 1) if i in kept and s.strip()]
    assert len(code) < 150


def _is_said(node):
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return docstring or isinstance(node, (ast.Import, ast.ImportFrom))
