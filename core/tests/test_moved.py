"""Old names of modules that have packages of their own are found: they are the same modules."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from dovetail_core.moved import MOVED


@pytest.mark.parametrize("old", MOVED)
def test_an_old_name_is_the_new_module(old):
    assert import_module(old) is import_module(MOVED[old])
    assert import_module(old).__spec__.name == MOVED[old]


def test_modules_below_and_their_names():
    from dovetail_core.base.source import here
    from dovetail_core.tree.util import Partial

    import dovetail_tree.util
    from dovetail_base import source

    assert Partial is dovetail_tree.util.Partial and here is source.here


def test_what_there_is_not_is_not_found():
    assert find_spec("dovetail_core.tree.nothing") is None
    with pytest.raises(
        ModuleNotFoundError, match=r"No module named 'dovetail_core\.tree\.nothing'"
    ):
        import_module("dovetail_core.tree.nothing")
    assert find_spec("dovetail_core.nothing") is None


@pytest.mark.parametrize(
    "first", ["dovetail_tree", "dovetail_text.parser", "dovetail_core.xla.client"]
)
def test_any_of_them_may_be_imported_first(first):
    subprocess.run(
        [sys.executable, "-W", "error", "-c", f"import {first}, dovetail_core"], check=True
    )


def test_an_old_name_is_run_as_a_program():
    command = [sys.executable, "-W", "error", "-m", "dovetail_core.cli", "--help"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and "plugins" in done.stdout, done.stderr


PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "what_moved.md"
ROWS = re.findall(r"^\| `([\w.]+)` \| `([\w.]+)`", PAGE.read_text(), re.MULTILINE)


def test_the_page_has_all_modules_that_moved():
    assert MOVED.items() <= dict(ROWS).items()


@pytest.mark.parametrize(("old", "new"), [r for r in ROWS if r[0] not in MOVED])
def test_the_new_names_on_the_page_are_there(old, new):
    names = new if new.startswith("dovetail_") else f"dovetail_core.{new}"
    package, *rest = names.split(".")
    value = import_module(package)
    for name in rest:
        if not hasattr(value, name):
            import_module(f"{value.__name__}.{name}")
        value = getattr(value, name)
