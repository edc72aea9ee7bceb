"""Inputs of the primitive for the laws of all rule tables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dovetail_testing import Sample

from .check import check_p


def samples() -> Iterator[Sample]:
    """A check that holds."""
    x = np.array([0.5, -1.5, 2.0], np.float32)
    params = {"message": "{x}", "names": ("x",)}
    yield Sample(check_p, (np.array([True, True]), x), params, tags={"effect"})
