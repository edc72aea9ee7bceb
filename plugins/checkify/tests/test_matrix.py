"""The primitive ``check`` under every rule table."""

from __future__ import annotations

from dovetail_testing import matrix

test_primitives = matrix(primitives="checkify")
