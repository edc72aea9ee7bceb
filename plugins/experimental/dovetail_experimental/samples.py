"""Sample inputs of the primitives of this plugin, for tests by the matrix."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import dovetail_lax as lax
from dovetail_core import ShapedArray, stage_closed
from dovetail_testing import Sample

from .primitives import layout_constraint_p, xla_metadata_call_p, xla_metadata_value_p

ATTRIBUTES = (("colour", "green"), ("weight", "3"))


def samples() -> Iterator[Sample]:
    """The samples of all primitives."""
    x = np.array([0.5, -1.5, 2.0], np.float32)
    for value in (x, np.float32(0.25), np.arange(4), x > 0, np.zeros((0, 2), np.float32)):
        yield Sample(xla_metadata_value_p, (value,), {"attributes": ATTRIBUTES})
    for order in ((0, 1), (1, 0)):
        matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
        yield Sample(layout_constraint_p, (matrix,), {"major_to_minor": order})
    yield Sample(layout_constraint_p, (np.arange(3),), {"major_to_minor": (0,)})
    yield Sample(layout_constraint_p, (np.float32(2.5),), {"major_to_minor": ()})
    aval = ShapedArray(x.shape, x.dtype)
    program = stage_closed(
        lambda x, y: [lax.mul_p.bind(lax.sin_p.bind(x), y), lax.neg_p.bind(y)], [aval, aval]
    )
    params = {"program": program, "attributes": ATTRIBUTES}
    yield Sample(xla_metadata_call_p, (x, x[::-1].copy()), params)
