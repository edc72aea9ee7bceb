"""The third-party law: this plugin's table on all primitives, and its primitive in all tables."""

from __future__ import annotations

from dovetail_core.testing import matrix

test_bounds_of_every_row = matrix(primitives=("lax", "nn", "interval"), tables="interval")
test_gudermannian_in_every_column = matrix(primitives="interval", quick=6)
