"""Manifest of the plugin ``custom_rules``: custom rules."""

from dovetail_core.manifest import Manifest

MANIFEST = Manifest("custom_rules")
