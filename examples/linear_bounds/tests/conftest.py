"""How operations are evaluated in these tests."""

import pytest

from dovetail_backends.testing import evaluated_by_reference


@pytest.fixture(autouse=True)
def evaluation():
    """By NumPy: what XLA makes of operations is tested elsewhere."""
    with evaluated_by_reference():
        yield
