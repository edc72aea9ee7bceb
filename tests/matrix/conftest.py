"""Laws on some samples are tried by the reference backend, and on all of them by XLA."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dovetail_backends.testing import evaluated_by_reference
from dovetail_pytest import is_full
from dovetail_testing.product import Case

# NumPy rounds the operation otherwise than what it consists of, and derivatives are of the latter.
ROUNDED = {"symmetric_product"}


@pytest.fixture(autouse=True)
def evaluation(request: pytest.FixtureRequest, dovetail_case: Case) -> Iterator[None]:
    """What XLA makes of each operation is the matter of backends' laws and of evaluation's."""
    name = dovetail_case.sample.primitive.name
    compiled = is_full(request.config) or dovetail_case.table == "eval" or name in ROUNDED
    with evaluated_by_reference(not compiled):
        yield
