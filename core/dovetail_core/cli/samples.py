"""The samples that installed plugins have of each primitive."""

from __future__ import annotations

from ..dispatch.primitive import Primitive
from ..registry.discovery import registry
from ..testing.samples import Sample, samples_of


def samples_by_primitive() -> tuple[dict[Primitive, list[Sample]], list[str]]:
    """All samples, and what is wrong with modules that should have some."""
    found: dict[Primitive, list[Sample]] = {}
    problems: list[str] = []
    for plugin, manifest in registry().active.items():
        for module in manifest.samples:
            try:
                for sample in samples_of(module):
                    found.setdefault(sample.primitive, []).append(sample)
            except Exception as e:  # a plugin's module may fail in any way
                why = f"{type(e).__name__}: {e}"
                problems.append(f"the samples of plugin {plugin!r} ({module}) fail: {why}")
    return found, problems
