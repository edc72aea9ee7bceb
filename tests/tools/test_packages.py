"""Plugins' packages load their public names on first use, and tell them before."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from dovetail_core.registry.discovery import registry

ROOT = Path(__file__).parents[2]
# The kernels for the CPU are a wheel of their own, with tests of their own.
PLUGINS = sorted(p.name for p in (ROOT / "plugins").iterdir() if p.name != "cpu_kernels")


@pytest.mark.parametrize("name", PLUGINS)
def test_a_package_lists_what_it_offers(name: str) -> None:
    package = importlib.import_module(f"dovetail_{name}")
    assert package.__all__ and set(package.__all__) <= set(dir(package))
    for public in package.__all__:
        getattr(package, public)
    with pytest.raises(AttributeError, match="no_such_name"):
        package.no_such_name  # noqa: B018


@pytest.mark.parametrize("name", PLUGINS)
def test_what_a_manifest_points_to_is_there(name: str) -> None:
    manifest = registry().active[name]
    for result in (manifest.names, manifest.tables, manifest.laws, manifest.options):
        for target in result.values():
            module, _, attribute = target.partition(":")
            assert hasattr(importlib.import_module(module), attribute), target
