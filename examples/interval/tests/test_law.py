"""The third-party law: this plugin's table on all primitives, and its primitive in all tables."""

from __future__ import annotations

import pytest

from dovetail_backends.testing import evaluated_by_reference
from dovetail_testing import matrix


@pytest.fixture(autouse=True)
def evaluation():
    """By NumPy: what XLA makes of operations is tested elsewhere."""
    with evaluated_by_reference():
        yield


test_bounds_of_every_row = matrix(primitives=("lax", "nn", "interval"), tables="interval")
test_gudermannian_in_every_column = matrix(primitives="interval", quick=6)
