"""The third-party law: this plugin's table on all primitives."""

from __future__ import annotations

import pytest

from dovetail_backends.testing import evaluated_by_reference
from dovetail_testing import matrix


@pytest.fixture(autouse=True)
def evaluation():
    """By NumPy: what XLA makes of operations is tested elsewhere."""
    with evaluated_by_reference():
        yield


test_jets_of_every_primitive = matrix(tables="laplacian", quick=1)
