"""The comparison of public names with JAX's: what counts as missing, as differing, and as worse."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

import coverage_api
from coverage_api import Count, Name


@pytest.mark.parametrize(
    ("theirs", "mine", "differ"),
    [
        ("(x, axis=)", "x axis=", False),
        ("(x, axis=)", "x axis= more=", False),
        ("(x, axis=)", "x axis", True),
        ("(x, axis)", "x= axis=", False),
        ("(x, y)", "/x1 /x2", False),
        ("(x, y)", "x1 x2", True),
        ("(x, axis=)", "x", True),
        ("(x, axis=)", "axis= x", True),
        ("(x, axis=)", "x axis= more", True),
        ("(x, axis=)", "*args **kwargs", False),
        ("(x, **kwargs)", "x **metadata", False),
        ("(x, axis=, _hidden=)", "x axis=", False),
        ("", "anything", False),
    ],
)
def test_parameters_differ_where_a_call_would_be_refused(theirs: str, mine: str, differ: bool):
    assert coverage_api.differs(theirs, mine.split()) == differ


def test_parameters_are_written_with_defaults_and_stars():
    def f(x, y=1, *args, z=2, **kwargs): ...

    assert coverage_api.parameters(f) == ["x", "y=", "*args", "z=", "**kwargs"]
    assert coverage_api.parameters(dict) is None


def test_names_are_counted_by_module():
    names = [Name("jax.numpy", n, "function", "(x)") for n in ("sin", "no_such")]
    assert coverage_api.count(names) == Count(2, ["no_such"], [])
    assert coverage_api.count([Name("jax.no_such", "a", "function", "")]).missing == ["a"]


def test_what_got_worse_is_told():
    page = coverage_api.table({"jax.lax": Count(3, ["a"], []), "jax.nn": Count(3, [], ["b"])})
    assert coverage_api.written(page) == {"jax.lax": (1, 0), "jax.nn": (0, 1)}
    result = {"jax.lax": Count(3, ["a", "c"], []), "jax.nn": Count(3, [], [])}
    (line,) = coverage_api.worse(result, page)
    assert line == "jax.lax: 2 missing and 0 with other parameters, where coverage.md says 1 and 0"
