"""The typed contract `bindings.pyi` holds for the installed jaxlib: every name in it exists."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from dovetail_xla import bindings

STUB = ast.parse(Path(bindings.__file__).with_suffix(".pyi").read_text())
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
NOT_ON_THE_CLASS = {
    ("ArrayImpl", "__buffer__"),  # visible to Python only from 3.12 on
    ("JaxRuntimeError", "error_code"),  # these three are set on instances
    ("JaxRuntimeError", "error_code_string"),
    ("JaxRuntimeError", "error_message"),
    ("PyTreeRegistry", "__name__"),  # dovetail sets it on its registry
}


def _declared() -> set[str]:
    names = set(CLASSES)
    for node in STUB.body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def _members(node: ast.ClassDef) -> set[str]:
    names = set()
    for item in node.body:
        if isinstance(item, ast.FunctionDef):
            names.add(item.name)
        elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            names.add(item.target.id)
        elif isinstance(item, ast.Assign):
            names.update(t.id for t in item.targets if isinstance(t, ast.Name))
    return names


def test_every_declared_name_is_provided():
    assert {name for name in _declared() if not hasattr(bindings, name)} == set()


def test_every_provided_name_is_declared():
    provided = {n for n in vars(bindings) if not n.startswith(("_", "@"))} - {
        "load",
        "annotations",
    }
    assert provided - _declared() == set()


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_every_declared_member_exists(name):
    cls = getattr(bindings, name)
    missing = {m for m in _members(CLASSES[name]) if not hasattr(cls, m)}
    assert {m for m in missing if (name, m) not in NOT_ON_THE_CLASS} == set()
