"""Manifest of the plugin ``source_cache``: programs found by the code of their functions."""

from dovetail_core import Manifest

MANIFEST = Manifest(
    "source_cache",
    requires=("backends", "jit"),
    providers={"cache_by_source": "dovetail_source_cache.provider:provider"},
)
