"""Every primitive of every plugin under every rule table that has a law."""

from __future__ import annotations

from dovetail_testing import matrix

test_product = matrix()
