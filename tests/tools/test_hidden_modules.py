"""No package has, under the name of one of its modules, anything but that module."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import dovetail_core
from dovetail_base.source import KERNEL_PACKAGES
from dovetail_core.interpret.interpreter import interpret
from dovetail_core.registry.discovery import registry

ROOT = Path(__file__).parents[2]
LOOK = """
import importlib, json, pkgutil, sys, warnings

warnings.simplefilter("ignore")
import dovetail.jax  # modules that stand for those of jax import such
found, packages = [], [importlib.import_module(name) for name in sys.argv[1:]]
seen = 0
while packages:
    package = packages.pop()
    seen += 1
    for info in pkgutil.iter_modules(package.__path__):
        name = f"{package.__name__}.{info.name}"
        if info.name.startswith("__"):
            continue
        if info.ispkg:
            packages.append(importlib.import_module(name))
        there = getattr(package, info.name, None)
        if there is not None and there is not sys.modules.get(name):
            found.append(name)
print(json.dumps([seen, found]))
"""


def test_no_name_hides_a_module() -> None:
    names = [f"dovetail_{p.name}" for p in sorted((ROOT / "plugins").iterdir())]
    names = [*KERNEL_PACKAGES, "dovetail", *(n for n in names if n != "dovetail_cpu_kernels")]
    command = [sys.executable, "-c", LOOK, *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seen, result = json.loads(done.stdout)
    assert seen > 100 and result == []


IMPORTS = {
    "import dovetail_core.registry.manifest as m": "m.Manifest('a').name == 'a'",
    "import dovetail_core.registry.manifest": "dovetail_core.registry.manifest.Manifest",
    "from dovetail_core.registry import manifest": "manifest.Manifest",
    "import dovetail_core.interpret.carrier as c": "c.Carrier is Carrier",
    "import dovetail_testing.conforming as t": "t.Conformance is testing.Conformance",
    "from dovetail_core import registry": "'numpy' in registry().active",
    "from dovetail_core import interpret": "interpret.carrier.Carrier is Carrier",
}


@pytest.mark.parametrize("statement", IMPORTS)
def test_modules_are_imported_however_that_is_written(statement: str) -> None:
    source = (
        f"from dovetail_core import Carrier, testing\n{statement}\nassert {IMPORTS[statement]}\n"
    )
    subprocess.run([sys.executable, "-c", source], check=True)


def test_packages_are_called_like_their_functions() -> None:
    assert dovetail_core.registry() is registry()
    assert "registry" in dovetail_core.__all__ and "interpret" in dovetail_core.__all__
    assert "base" not in dovetail_core.__all__
    assert inspect.signature(dovetail_core.interpret) == inspect.signature(interpret)
    assert dovetail_core.registry.is_made is registry.is_made
    with pytest.raises(
        AttributeError, match=r"module 'dovetail_core\.registry' has no attribute 'x'"
    ):
        dovetail_core.registry.x  # noqa: B018
