"""``conformance`` in an author's package: what it tries, what it says of rules, in which forms."""

from __future__ import annotations

from importlib.metadata import entry_points

import numpy as np
import pytest

from dovetail_core import RegistryError, Unsupported
from dovetail_testing import Case, Conformance, Sample, Skip, as_law, hostile, toy, toy_control
from dovetail_testing.coverage import FAILED, TESTED, Entry, coverage, summary, text
from dovetail_testing.hostile_samples import signature

INSTALLED = "dovetail" in entry_points(group="pytest11").names
X, Y = np.array([1.0, -2.0], np.float32), np.array([0.5, 3.0], np.float32)

PACKAGE = """
import numpy as np
from dovetail_core import Primitive, RuleTable
from dovetail_core.rules.evaluation import def_impl
from dovetail_testing import Sample, law, toy

cost_rules = RuleTable("acme.cost", derive=lambda p: None)
half_p, lost_p = Primitive("acme.half"), Primitive("acme.lost")
half_p.def_abstract_eval(lambda x: x)
lost_p.def_abstract_eval(lambda x: x)
cost_rules.set(half_p, np.size)
cost_rules.set(toy.neg_p, np.size)
cost_rules.set(lost_p, np.size)


@def_impl(half_p)
def half(x):
    return np.asarray(x / 2, WRONG or x.dtype)[()] if hasattr(x, "dtype") else np.float32(x / 2)


WRONG = None


@law("cost")
def cost_law(sample):
    assert cost_rules[sample.primitive](sample.args[0]) > 0, "it costs nothing"


def samples():
    yield Sample(half_p, (np.array([[1.0, 2.0, 3.0]], np.float32),))
"""
TESTS = """
from dovetail_testing import conformance

test_conformance = conformance("acme", excused={"acme.half x acme.cost x size": "nothing is free"})
"""


@pytest.fixture
def package(pytester, monkeypatch):
    """A plugin ``acme`` that pytest, run in a process of its own, finds installed."""
    pytester.makepyfile(acme=PACKAGE, test_acme=TESTS)
    pytester.makepyfile(
        acme_plugin="from dovetail_core.registry.manifest import Manifest\n"
        "MANIFEST = Manifest('acme', primitives=('acme',), samples=('acme',), "
        "tables={'acme.cost': 'acme:cost_rules'}, laws={'acme.cost': 'acme:cost_law'})\n"
    )
    info = pytester.mkdir("acme-1.0.dist-info")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[dovetail.plugins]\nacme = acme_plugin:MANIFEST\n")
    monkeypatch.setenv("PYTHONPATH", str(pytester.path))
    monkeypatch.setenv("DOVETAIL_PLUGINS", "acme")
    monkeypatch.delenv("DOVETAIL_TEST_FULL", raising=False)

    def run(*args):
        given = [] if INSTALLED else ["-p", "dovetail_pytest"]
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", *given, *args)

    return run


GRID = [
    "*conformance: test_acme.py::test_conformance*",
    "*acme",
    "*cost * check * dce * eval * text",
    "acme.half *e *●*●*●*●",
    "acme.lost *○*·*·*○*·",
    "toy.neg *○*·*·*·*·",
    "excused: nothing is free",
    "    acme.half x acme.cost",
    "untested: the primitive has no sample",
    "    acme.lost x acme.cost",
    "* rules: 1 excused, 4 tested, * untested",
]


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_each_rule_has_a_verdict_in_the_text_and_on_a_page(package, pytester, workers):
    if workers:
        pytest.importorskip("xdist")
    result = package(*workers, "--conformance-html=page.html")
    assert result.ret == 0
    result.stdout.fnmatch_lines([*GRID, "written to page.html"])
    assert "xfailed" in result.stdout.str()
    page = (pytester.path / "page.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "http" not in page and "<script" not in page
    assert '<td class="excused" title="nothing is free">e</td>' in page
    assert '<td class="tested" title="' in page and ">acme.lost</code></th>" in page


def test_a_failure_names_the_rule_and_what_it_did(package, pytester):
    (pytester.path / "acme.py").write_text(PACKAGE.replace("WRONG = None", "WRONG = np.float32"))
    result = package()
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "*the law 'eval' on the sample acme.half(f32?1,3?; float32 is *",
            "*✗*",
            "failed: AssertionError: evaluation: result 0 has type f32?1,3?, the type rule says *",
            "    acme.half x eval",
            "* rules: 1 failed, *",
        ]
    )


def test_excuses_are_of_rules_that_are_there(site):
    site.plugin("acme")
    with pytest.raises(RegistryError, match=r"excused=\.\.\.\) names 'acme.x x ad.jvp'.*no such"):
        Conformance("acme", {"acme.x x ad.jvp": "why"}).cases(full=False)
    with pytest.raises(RegistryError, match=r"conformance\('nope'\): no active plugin"):
        Conformance("nope").cases(full=False)


def test_hostile_samples_of_each_kind():
    given = Sample(toy.add_p, (X, Y))
    result: dict[str, list[Sample]] = {}
    for kind, made in hostile(given):
        result.setdefault(kind, []).append(made)
    assert set(result) == {"size", "weak", "dtype", "mixed", "extreme"}
    assert {s.args[0].shape for s in result["size"]} == {(0,), (1,)}
    assert all("empty" in s.tags for s in result["size"] if s.args[0].size == 0)
    assert {s.args[0].dtype.name for s in result["dtype"]} == {"float16", "bfloat16", "float64"}
    assert [("wide" in s.tags) for s in result["dtype"]].count(True) == 1
    assert {tuple(map(type, s.args)) for s in result["weak"]} >= {
        (float, float),
        (np.float32, float),
    }
    assert [(s.fixed.keys(), s.args[0][0]) for s in result["mixed"]] == [({1}, 1.0), ({0}, 0.5)]
    extreme = result["extreme"]
    pairs = {(str(a), str(b)) for s in extreme for a, b in zip(*s.args)}
    assert len(pairs) > 16 and ("nan", "1.0") in pairs
    assert all({"extreme", "nonsmooth"} <= s.tags for s in extreme)
    assert [str(s) for _, s in hostile(given)] == [str(s) for _, s in hostile(given)]


def test_what_a_type_rule_refuses_is_not_tried():
    matrix = np.ones((2, 3), np.float32)
    derived = [s for _, s in hostile(Sample(toy.sum_p, (matrix,), {"axes": (0, 1)}))]
    assert all(np.ndim(s.args[0]) == 2 for s in derived)  # no axis to sum over in a scalar
    tame = [k for k, _ in hostile(Sample(toy.neg_p, (X,), tags={"tame"}))]
    assert "extreme" not in tame and "size" in tame
    assert "extreme" not in [k for k, _ in hostile(Sample(toy.neg_p, (X,)), values=False)]


def test_programs_are_for_the_types_that_they_were_made_for():
    for sample in toy_control.samples():
        assert {k for k, _ in hostile(sample)} <= {"mixed"}


def test_fixed_operands_are_not_the_laws():
    mixed = [s for k, s in hostile(Sample(toy.select_p, (np.array([True, False]), X, Y))) if k]
    only = next(s for s in mixed if set(s.fixed) == {0, 2})
    assert len(only.args) == 1 and len(only.operands) == 3
    assert only.bind(only.args[0] * 10).tolist() == [0.5, -20.0]
    assert only.infer().avals == only.infer(only.avals).avals
    assert len({signature(s) for s in mixed}) == len(mixed)


def test_verdicts_and_their_weight():
    one, two = ("acme.p", "ad.jvp"), ("acme.q", "dce")
    result = coverage(
        [Entry(*one, TESTED), Entry(*one, FAILED, "wrong"), Entry(*two, "skipped", "no digits")]
    )
    assert (
        result[one].verdict == FAILED
        and result[one].reasons == ("wrong",)
        and result[one].cases == 2
    )
    assert summary(result) == "2 rules: 1 failed, 1 skipped"
    assert text(result) == [
        "        ad",
        "        jvp  dce",
        "acme.p  ✗    ·",
        "acme.q  ·    -",
        "",
        "✗ failed   - skipped",
        "failed: wrong",
        "    acme.p x ad.jvp",
        "skipped: no digits",
        "    acme.q x dce",
    ]


def test_what_a_backend_does_not_support_is_counted_and_is_no_failure():
    one, two = ("acme.p", "backend mine"), ("acme.q", "backend mine")
    lacks = [Entry(*p, "unsupported", "no complex64") for p in (one, two, two)]
    result = coverage([Entry(*one, TESTED), *lacks])
    assert result[one] == (TESTED, (), 2, 1)
    assert result[two] == ("unsupported", ("no complex64",), 2, 2)
    assert summary(result) == "2 rules: 1 tested, 1 unsupported; 3 samples unsupported"
    assert text(result)[-4:] == [
        "",
        "● tested   u unsupported",
        "unsupported: no complex64",
        "    acme.q x backend mine",
    ]
    assert summary(coverage([lacks[0]])) == "1 rule: 1 unsupported; 1 sample unsupported"


def test_an_error_that_says_unsupported_skips_the_sample():
    def refuses(sample):
        raise Unsupported("backend 'mine' has no arrays of float32")

    sample = Sample(toy.neg_p, (np.ones(2, np.float32),))
    with pytest.raises(Skip, match=r"^unsupported: backend 'mine' has no arrays of float32$"):
        Case("backend mine", as_law("mine", refuses), sample).run()
    assert issubclass(Unsupported, NotImplementedError)
