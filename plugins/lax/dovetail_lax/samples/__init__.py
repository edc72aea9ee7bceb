"""Sample inputs of the primitives on arrays, by family, for tests by the matrix."""

from __future__ import annotations

from collections.abc import Iterator

from dovetail_testing import Sample

from . import (
    arithmetic,
    contractions,
    control_flow,
    indexing,
    linalg,
    reductions,
    shape,
    transcendental,
    values,
    windows,
)

FAMILIES = (
    arithmetic,
    transcendental,
    values,
    shape,
    indexing,
    reductions,
    contractions,
    windows,
    linalg,
    control_flow,
)


def samples() -> Iterator[Sample]:
    """The samples of all families."""
    for family in FAMILIES:
        yield from family.samples()
