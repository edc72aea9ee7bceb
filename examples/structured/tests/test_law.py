"""The law of the rule table on the samples of all primitives: the dense computation."""

from __future__ import annotations

from dovetail_testing import matrix

test_structured_arrays_in_every_operation = matrix(
    primitives=("lax", "nn", "jit"), tables="structured", quick=1
)
