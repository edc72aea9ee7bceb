"""The samples that installed plugins have of each primitive."""

from __future__ import annotations

from collections.abc import Iterable

from dovetail_core import Primitive, registry
from dovetail_testing.laws import Law
from dovetail_testing.samples import Sample, samples_of


def samples_by_primitive() -> tuple[dict[Primitive, list[Sample]], list[str]]:
    """All samples, and the problems of modules of samples that do not work."""
    result: dict[Primitive, list[Sample]] = {}
    problems: list[str] = []
    for plugin, manifest in registry().active.items():
        for module in manifest.samples:
            try:
                for sample in samples_of(module):
                    result.setdefault(sample.primitive, []).append(sample)
            except Exception as e:  # a plugin's module may fail in any way
                why = f"{type(e).__name__}: {e}"
                problems.append(f"the samples of plugin {plugin!r} ({module}) fail: {why}")
    return result, problems


def count_spoken_of(law: Law, samples: Iterable[Sample]) -> int:
    """The number of the samples on which a law is tried."""
    return sum(_speaks_of(law, sample) for sample in samples)


def _speaks_of(law: Law, sample: Sample) -> bool:
    try:
        return law.speaks_of(sample)
    except Exception:  # a type rule may fail in any way; then so does the law
        return True
