"""``matrix`` in a test file, run by pytest: quick and full, skips, failures."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

import dovetail_pytest

INSTALLED = "dovetail" in entry_points(group="pytest11").names

TESTS = """
import numpy as np
from dovetail_testing import Sample, matrix, skip, toy

SAMPLES = [Sample(toy.neg_p, (np.full(2, n, np.float32),), name=f"s{n}") for n in range(6)]


def cost(sample):
    if sample.args[0][0] == 0:
        skip("zero costs nothing")
    assert sample.args[0][0] != 5, "five is too much"


test_cost = matrix(primitives=(), tables=(), samples=SAMPLES, laws={"acme.cost": cost})
test_kernel = matrix(primitives=(), tables=("text", "dce"), samples=SAMPLES)
"""


@pytest.fixture
def run(pytester, monkeypatch):
    monkeypatch.delenv("DOVETAIL_TEST_FULL", raising=False)
    monkeypatch.setenv("DOVETAIL_PLUGINS", "none")
    pytester.makepyfile(TESTS)

    def run_inside(*args):
        given = [] if INSTALLED else ["-p", "dovetail_pytest"]
        return pytester.runpytest_inprocess("-v", "-rs", "-p", "no:cacheprovider", *given, *args)

    return run_inside


def test_quick_by_default(run):
    result = run()
    result.assert_outcomes(passed=2 * 2 + 1, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED * zero costs nothing"])


def test_full_by_option(run):
    result = run("--matrix=full")
    result.assert_outcomes(passed=2 * 6 + 4, skipped=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*AssertionError: five is too much*", "*the law 'acme.cost' on the sample toy.neg(s5)*"]
    )


def test_full_by_environment(run, monkeypatch):
    monkeypatch.setenv("DOVETAIL_TEST_FULL", "1")
    run().assert_outcomes(passed=2 * 6 + 4, skipped=1, failed=1)
    run("--matrix=quick").assert_outcomes(passed=2 * 2 + 1, skipped=1)


def test_the_marker_selects(run):
    run("-m", "not matrix", "--strict-markers").assert_outcomes(deselected=6)


def test_the_plugin_is_the_one_that_is_installed(pytestconfig):
    assert pytestconfig.pluginmanager.get_plugin("dovetail") is dovetail_pytest


def test_tests_of_other_projects_are_left_alone(pytester, monkeypatch):
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", raising=False)
    pytester.makepyfile(jax="here = True")
    pytester.makepyfile(
        """
        import sys


        def test_jax_is_importable():
            import jax

            assert jax.here
            assert "dovetail_pytest" in sys.modules
            assert not [m for m in sys.modules if m.split(".")[0] in ("dovetail_core", "jaxlib")]
        """
    )
    given = [] if INSTALLED else ["-p", "dovetail_pytest"]
    pytester.runpytest_subprocess("-p", "no:cacheprovider", *given).assert_outcomes(passed=1)
