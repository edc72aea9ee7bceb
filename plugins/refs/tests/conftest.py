"""What the tests of references have in common."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import dovetail


@pytest.fixture
def wide() -> Iterator[None]:
    """64-bit types, and every program checked after it is made."""
    with dovetail.enable_x64(True), dovetail.config.option("enable_checks")(True):
        yield
