"""Programs that make references under every table that has a law."""

from __future__ import annotations

from dovetail_core.testing import matrix

test_product = matrix(primitives="refs")
