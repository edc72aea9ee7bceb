"""The rows of this plugin under every column that has a law."""

from __future__ import annotations

from dovetail_core.testing import matrix

test_rows = matrix(primitives="nn")
