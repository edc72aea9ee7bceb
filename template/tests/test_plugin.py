"""The plugin is found and well, and all that its manifest names is there."""

from __future__ import annotations

from dovetail_cli.manifests import manifest_problems
from dovetail_core import registry


def test_the_plugin_is_active():
    assert "acme" in registry().active


def test_all_that_the_manifest_names_is_there():
    found, name = registry(), "acme"
    assert not list(manifest_problems(found.plugins[name], found.active[name]))
