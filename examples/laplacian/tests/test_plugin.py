"""What makes this a plugin: it is found, and is loaded when it is asked for."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import requires

import acme_laplacian
import pytest

import dovetail


@pytest.mark.parametrize("name", acme_laplacian.__all__)
def test_its_names_are_in_the_facade(name):
    assert getattr(dovetail, name) is getattr(acme_laplacian, name)


def test_it_depends_on_the_kernel_only():
    needed = [r for r in requires("dovetail-laplacian") or [] if "extra ==" not in r]
    assert [r.partition("~")[0] for r in needed] == ["dovetail-core"]


def test_importing_it_imports_no_other_plugin():
    script = (
        "import sys, acme_laplacian\n"
        "print([m for m in sys.modules if m.startswith('dovetail_')"
        " and m[9:].partition('.')[0] not in ('base', 'core', 'high', 'hooks', 'mesh', 'mutable',"
        " 'surface', 'tree', 'text', 'xla')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
