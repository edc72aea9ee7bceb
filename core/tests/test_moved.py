"""Old names of modules that have packages of their own are found: they are the same modules."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

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
