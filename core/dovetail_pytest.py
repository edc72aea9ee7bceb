"""Pytest plugin: the tests of ``dovetail_testing``'s ``matrix`` and ``conformance``.

It generates their cases (``--matrix=full``: all), and reports at the end of a run which rules were
tested (``--conformance-html=FILE``: as a page, too).

It stands beside the kernel and imports nothing of it: pytest loads it in every process of an
environment where ``dovetail-core`` is installed, and most of them have nothing to do with Dovetail.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from dovetail_testing import Conformance, Matrix

PROPERTY = "dovetail_rules"
"""The property of a test's report with the rules that it is about, as in ``dovetail_testing``."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; the environment variable DOVETAIL_TEST_FULL=1 means ``--matrix=full``."""
    group = parser.getgroup("dovetail")
    group.addoption(
        "--matrix",
        choices=("quick", "full"),
        default=None,
        help="laws of rule tables on some samples of each primitive (quick) or on all (full)",
    )
    group.addoption(
        "--conformance-html",
        metavar="FILE",
        default=None,
        help="write which rules the tests of conformance() tried, and what came of it, to a page",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker that every generated test carries."""
    config.addinivalue_line(
        "markers", "matrix: a law of a rule table tried on a sample of a primitive"
    )


def is_full(config: pytest.Config) -> bool:
    """Return whether to run all cases of a product."""
    chosen = config.getoption("--matrix", default=None)
    from dovetail_base.environment import flag

    return chosen == "full" or (chosen is None and flag("test_full"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise a test that :func:`dovetail_testing.matrix` made."""
    matrix: Matrix | Conformance | None = getattr(metafunc.function, "dovetail_matrix", None)
    if matrix is not None:
        cases = matrix.cases(is_full(metafunc.config))
        metafunc.parametrize("dovetail_case", cases, ids=[c.id for c in cases])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report for each rule whether it was tested, by the reports of tests of all processes."""
    reports = [r for kind in terminalreporter.stats.values() for r in kind]
    if not any(k == PROPERTY for r in reports for k, _ in getattr(r, "user_properties", ())):
        return
    from dovetail_testing.coverage import by_test, summary, text
    from dovetail_testing.coverage_page import page

    result = by_test(reports)
    for test, coverage in result.items():
        terminalreporter.section(f"conformance: {test}")
        for line in (*text(coverage), summary(coverage)):
            terminalreporter.line(line)
    path = terminalreporter.config.getoption("--conformance-html")
    if path:
        Path(path).write_text(page(result), encoding="utf-8")
        terminalreporter.line(f"written to {path}")
