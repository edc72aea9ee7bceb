"""Inputs of the primitive for the laws of all rule tables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dovetail_testing import Sample

from .sow import sow_p


def samples() -> Iterator[Sample]:
    """A vector and a scalar."""
    yield Sample(sow_p, (np.array([0.5, -1.5, 2.0], np.float32),), {"name": "h"})
    yield Sample(sow_p, (np.float32(0.25),), {"name": "h"})
