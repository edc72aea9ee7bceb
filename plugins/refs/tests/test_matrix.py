"""Programs that make references under every table that has a law."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dovetail_backends.testing import evaluated_by_reference
from dovetail_testing import matrix


@pytest.fixture(autouse=True)
def evaluation() -> Iterator[None]:
    """By NumPy: what XLA makes of operations is tested by itself."""
    with evaluated_by_reference():
        yield


test_product = matrix(primitives="refs")
