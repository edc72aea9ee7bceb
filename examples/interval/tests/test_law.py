"""The third-party law: this plugin's column on all rows, and its row under all columns."""

from __future__ import annotations

from dovetail_core.testing import matrix

test_bounds_of_every_row = matrix(primitives=("lax", "nn", "interval"), tables="interval")
test_gudermannian_in_every_column = matrix(primitives="interval", quick=6)
