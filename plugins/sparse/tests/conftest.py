"""Helpers of the tests of sparse arrays."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dovetail_backends.testing import evaluated_by_reference


@pytest.fixture(autouse=True)
def _by_reference() -> Iterator[None]:
    """Nearly all that takes time here is the compilation of operations."""
    with evaluated_by_reference():
        yield
