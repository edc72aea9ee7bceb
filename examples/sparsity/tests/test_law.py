"""The third-party law: this plugin's table on all primitives."""

from __future__ import annotations

from dovetail_testing import matrix

test_patterns_of_every_primitive = matrix(primitives=("lax", "nn"), tables="sparsity", quick=1)
