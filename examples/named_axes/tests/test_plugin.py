"""The distribution: what is loaded when, and what it depends on."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import requires

import acme_named_axes

import dovetail


def test_its_names():
    assert dovetail.named_axes is acme_named_axes


def test_it_is_loaded_when_it_is_used():
    script = (
        "import sys, dovetail, dovetail.numpy as dnp; dnp.ones(3) + 1\n"
        "print(sorted(m for m in sys.modules if m.startswith('acme_named')))"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stdout.strip() == "['acme_named_axes', 'acme_named_axes.plugin']", found.stderr


def test_it_depends_on_public_packages():
    needed = [r for r in requires("dovetail-named-axes") or [] if "extra" not in r]
    assert sorted(r.partition("~")[0] for r in needed) == ["dovetail", "dovetail-core"]
