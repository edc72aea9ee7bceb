"""Pytest plugin: generates the tests of ``dovetail_core.testing.matrix``; ``--matrix=full``.

It stands beside the kernel and imports nothing of it: pytest loads it in every process of an
environment where ``dovetail-core`` is installed, and most of them have nothing to do with Dovetail.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from dovetail_core.testing import Matrix


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--matrix``; the environment variable DOVETAIL_TEST_FULL=1 says the same as ``full``."""
    parser.getgroup("dovetail").addoption(
        "--matrix",
        choices=("quick", "full"),
        default=None,
        help="laws of rule tables on some samples of each primitive (quick) or on all (full)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker that every generated test carries."""
    config.addinivalue_line(
        "markers", "matrix: a law of a rule table tried on a sample of a primitive"
    )


def is_full(config: pytest.Config) -> bool:
    """Whether to run all of a product."""
    chosen = config.getoption("--matrix", default=None)
    return chosen == "full" or (chosen is None and os.environ.get("DOVETAIL_TEST_FULL") == "1")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise a test that :func:`dovetail_core.testing.matrix` made."""
    matrix: Matrix | None = getattr(metafunc.function, "dovetail_matrix", None)
    if matrix is not None:
        cases = matrix.cases(is_full(metafunc.config))
        metafunc.parametrize("dovetail_case", cases, ids=[c.id for c in cases])
