"""The third-party law: this plugin's table on all primitives."""

from __future__ import annotations

from dovetail_testing import matrix

test_bounds_of_every_primitive = matrix(primitives=("lax", "nn"), tables="linear_bounds", quick=1)
