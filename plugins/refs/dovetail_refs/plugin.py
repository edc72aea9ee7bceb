"""Manifest of the plugin ``refs``: mutable references."""

from dovetail_core.manifest import Manifest

MANIFEST = Manifest("refs")
