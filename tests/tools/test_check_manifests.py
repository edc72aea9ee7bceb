"""The check of imports against manifests, on small trees that break one rule each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).parents[2] / "tools" / "check_manifests.py"

PROJECT = """\
[project.entry-points."dovetail.plugins"]
alpha = "dovetail_alpha.plugin:MANIFEST"
beta = "dovetail_beta.plugin:MANIFEST"
[tool.hatch.build.targets.wheel]
packages = ["plugins/alpha/dovetail_alpha", "plugins/beta/dovetail_beta"]
[tool.importlinter]
root_packages = ["dovetail_alpha", "dovetail_beta"]
[[tool.importlinter.contracts]]
id = "kernel"
forbidden_modules = ["dovetail_alpha", "dovetail_beta"]
"""

ALPHA = 'MANIFEST = Manifest("alpha", tables={"alpha.table": "dovetail_alpha:table"})'
BETA = 'MANIFEST = Manifest("beta", contributes={"alpha.table": ("dovetail_beta.rules.table",)})'


def write(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository of two plugins that keeps every rule: beta has rules for alpha's table."""
    write(tmp_path / "pyproject.toml", PROJECT)
    for name, manifest in (("alpha", ALPHA), ("beta", BETA)):
        package = tmp_path / "plugins" / name / f"dovetail_{name}"
        write(package / "__init__.py")
        write(package / "py.typed")
        write(
            package / "plugin.py",
            f"from dovetail_core import Manifest\n{manifest}\n",
        )
    write(tmp_path / "plugins/alpha/dovetail_alpha/public/__init__.py")
    write(tmp_path / "plugins/beta/dovetail_beta/rules/table/__init__.py", "import dovetail_alpha")
    write(tmp_path / "core/dovetail_core/py.typed")
    write(tmp_path / "facade/dovetail/py.typed")
    return tmp_path


def problems(tree: Path) -> str:
    """What the check prints about ``tree``; its exit status has to agree."""
    done = subprocess.run([sys.executable, CHECK, tree], capture_output=True, text=True)
    assert done.stderr == ""
    assert (done.returncode == 0) == (done.stdout == "manifests: every import is accounted for\n")
    return done.stdout


def test_a_tree_that_keeps_the_rules(tree: Path) -> None:
    assert problems(tree) == "manifests: every import is accounted for\n"


def test_import_of_a_plugin_that_is_not_required(tree: Path) -> None:
    write(tree / "plugins/beta/dovetail_beta/other.py", "def f():\n    import dovetail_alpha\n")
    text = problems(tree)
    assert "dovetail_beta/other.py:2: imports dovetail_alpha, but the manifest of 'beta'" in text
    assert "does not require 'alpha'. Require it, or move a rule to rules/<table>/." in text


def test_rules_know_the_owner_of_their_own_table_only(tree: Path) -> None:
    write(tree / "plugins/beta/dovetail_beta/rules/else/__init__.py", "import dovetail_alpha")
    assert "dovetail_beta/rules/else/__init__.py:1: imports dovetail_alpha" in problems(tree)


def test_import_past_the_public_packages(tree: Path) -> None:
    table = tree / "plugins/beta/dovetail_beta/rules/table"
    write(table / "fine.py", "from dovetail_alpha.public import something")
    assert "accounted for" in problems(tree)
    write(table / "sine.py", "from dovetail_alpha.tables import table")
    text = problems(tree)
    assert "sine.py:1: reaches past the public packages of dovetail_alpha into" in text
    assert "fine.py" not in text


def test_heavy_import_in_a_manifest_module(tree: Path) -> None:
    path = tree / "plugins/alpha/dovetail_alpha/plugin.py"
    write(path, f"import numpy\n{path.read_text()}def hook():\n    import scipy\n")
    text = problems(tree)
    assert "plugin.py:1: a manifest's module imports numpy. It is read at every start-up" in text
    assert "scipy" not in text


def test_promise_of_rules_that_do_not_exist(tree: Path) -> None:
    (tree / "plugins/beta/dovetail_beta/rules/table/__init__.py").unlink()
    assert "promises rules in dovetail_beta.rules.table, which does not exist" in problems(tree)


def test_plugin_that_the_project_forgets(tree: Path) -> None:
    package = tree / "plugins/gamma/dovetail_gamma"
    write(package / "__init__.py")
    manifest = 'from dovetail_core import Manifest\nMANIFEST = Manifest("delta")\n'
    write(package / "plugin.py", manifest)
    text = problems(tree)
    assert 'no entry point gamma = "dovetail_gamma.plugin:MANIFEST". Add it.' in text
    assert "the wheel leaves out" in text
    assert "importlinter.root_packages lacks dovetail_gamma" in text
    assert "contract 'kernel', forbidden_modules lacks dovetail_gamma" in text
    assert "py.typed:1: missing." in text
    assert "the manifest calls itself 'delta'. Call it 'gamma'." in text
