"""Manifest of the plugin ``hijax``: high types and primitives."""

from dovetail_core.manifest import Manifest

MANIFEST = Manifest("hijax")
