"""Inputs of the primitive for the laws of all rule tables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dovetail_testing import Sample

from .primitives import todense_p


def samples() -> Iterator[Sample]:
    """Arrays, which are dense already."""
    yield Sample(todense_p, (np.array([[0.5, 0.0], [-1.5, 2.0]], np.float32),))
    yield Sample(todense_p, (np.array([0, 3], np.int32),), name="integers")
