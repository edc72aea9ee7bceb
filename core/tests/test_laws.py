"""Samples and laws: what they are, how they are found, the kernel's own, and the product."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail_core import Manifest, MissingRule, Primitive, RegistryError, ShapedArray, dce_rules
from dovetail_testing import (
    Law,
    Sample,
    Skip,
    all_laws,
    all_samples,
    law,
    samples_of,
    skip,
    toy,
    toy_control,
)
from dovetail_testing.kernel_laws import check_law, dce_law, text_law
from dovetail_testing.laws import KERNEL_LAWS
from dovetail_testing.product import Matrix

X = np.array([1.0, 2.0], np.float32)
TOYS = [*toy.samples(), *toy_control.samples()]


def test_a_sample_is_an_application():
    s = Sample(toy.sum_p, (X,), {"axes": (0,)}, {"smooth"})
    assert s.avals == (ShapedArray((2,), np.float32),)
    assert s.bind() == 3 and s.bind(X + 1) == 5 and s.flat() == [3]
    assert str(s) == "toy.sum(f32[2] axes=(0,) smooth)"
    assert Sample(toy.sum_p, (X,), name="mine").label == "mine"
    assert len(Sample(toy.sincos_p, (X,)).flat()) == 2
    assert Sample(toy_control.call_p, (1.0,), {"program": TOYS[-1].params["program"]}).label == (
        "f32[]~ program={...}"
    )


@pytest.mark.parametrize("kernel_law", [text_law, check_law, dce_law], ids=lambda x: x.name)
@pytest.mark.parametrize("sample", TOYS, ids=str)
def test_the_kernels_laws_hold_for_the_toy_rows(kernel_law, sample):
    with np.errstate(all="ignore"):
        kernel_law(sample)


def test_a_bad_dce_rule_breaks_the_law():
    p = Primitive("test.pair", multiple_results=True)
    p.def_abstract_eval(lambda x: [x, x])
    toy.def_impl(p)(lambda x: [x, -x])
    dce_rules.set(
        p, lambda used, e: ([True], e.replace(primitive=toy.neg_p, outvars=e.outvars[:1]))
    )
    with pytest.raises(Exception) as e:
        dce_law(Sample(p, (X,)))
    assert "the law 'dce' on the sample test.pair(f32[2])" in e.value.__notes__


def test_a_parameter_without_text_leaves_the_text_law():
    p = Primitive("test.opaque")
    p.def_abstract_eval(lambda x, **params: x)
    with pytest.raises(Skip, match="a parameter has no text form"):
        text_law(Sample(p, (X,), {"f": print}))


def test_laws_speak_of_some_samples():
    @law("mine", without=["empty"], applies=lambda s: s.primitive is toy.add_p)
    def mine(sample):
        skip("for a reason")

    assert mine.speaks_of(Sample(toy.add_p, (X, X)))
    assert not mine.speaks_of(Sample(toy.add_p, (X, X), tags={"empty"}))
    assert not mine.speaks_of(Sample(toy.mul_p, (X, X)))
    with pytest.raises(Skip, match="for a reason"):
        mine(Sample(toy.add_p, (X, X)))


@pytest.fixture
def acme(site):
    """A plugin with two primitives that have samples, a rule table, and a law of it."""
    site.plugin(
        "acme",
        "samples=('acme_samples',), laws={'acme.cost': 'acme_samples:cost_law'}, "
        "tables={'acme.cost': 'acme_samples:table'}",
    )
    site.module(
        "acme_samples",
        "import numpy as np\n"
        "from dovetail_core import RuleTable\n"
        "from dovetail_testing import Sample, toy\n"
        "table = RuleTable('acme.cost')\n\n\n"
        "def samples():\n"
        "    for n in range(10):\n"
        "        yield Sample(toy.neg_p, (np.full(2, n, np.float32),), name=f's{n}')\n"
        "    yield Sample(toy.add_p, (1.0, 2.0), tags={'odd'})\n\n\n"
        "def cost_law(sample):\n"
        "    assert sample.args\n",
    )
    return site


def test_samples_and_laws_are_found_in_manifests(acme):
    result = list(all_samples())
    assert len(result) == 11 and {plugin for plugin, _ in result} == {"acme"}
    laws = list(all_laws())
    assert [c for p, c, _ in laws if not p] == [*KERNEL_LAWS]
    assert [(p, c) for p, c, _ in laws if p] == [("acme", "acme.cost")]
    assert all(isinstance(x, Law) for _, _, x in laws) and laws[-1][2].name == "acme.cost"


def test_the_quick_product_has_every_row_under_every_law_and_is_always_the_same(acme):
    quick, full = Matrix().cases(full=False), Matrix().cases(full=True)
    laws = {
        "text",
        "check",
        "dce",
        "eval",
        "traits",
        "acme.cost",
    }  # the others speak of none of the samples
    assert len(full) == len(laws) * 11 and len(quick) == len(laws) * 3
    rules = {(c.table, c.sample.primitive.name) for c in quick}
    assert rules == {(t, p) for t in laws for p in ("toy.neg", "toy.add")}
    assert [c.id for c in quick] == [c.id for c in Matrix().cases(full=False)]
    of_neg = [c.sample.name for c in quick if c.sample.primitive is toy.neg_p]
    assert of_neg.count("s0") == len(laws)
    assert len(set(of_neg)) > 2  # rule tables differ in their second
    for c in full:
        c.run()
    assert full[0].id == "text-toy.neg-s0"


@pytest.mark.parametrize(
    ("flap", "acme", "owed"),
    [
        ("", "", False),
        (", requires=('acme',)", "", True),
        ("", ", contributes={'flap.t': ()}", True),
    ],
)
def test_what_two_packages_do_not_know_of_each_other_is_nobodys_fault(site, flap, acme, owed):
    head = "from dovetail_core import Manifest, Primitive, RuleTable\n"
    tables = "tables={'flap.t': 'flap.plugin:t'}, laws={'flap.t': 'flap.plugin:look'}"
    site.module(
        "flap.plugin",
        f"{head}M = Manifest('flap', {tables}{flap})\nt = RuleTable('flap.t')\n"
        "def look(sample):\n    t[sample.primitive]\n",
    )
    site.module(
        "acme.plugin",
        f"{head}M = Manifest('acme', samples=('acme.samples',){acme})\n"
        f"p = Primitive('acme.p_{len(flap)}_{len(acme)}')\np.def_abstract_eval(lambda x: x)\n",
    )
    site.module(
        "acme.samples",
        "from dovetail_testing import Sample\nfrom acme.plugin import p\n"
        "def samples():\n    yield Sample(p, (1.0,))\n",
    )
    for name in ("flap", "acme"):
        site.install(f"{name}-dist", {name: f"{name}.plugin:M"}, "1.0")
    (case,) = Matrix(tables=frozenset(["flap"])).cases(full=True)
    error = MissingRule if owed else Skip
    with pytest.raises(error, match=r"table 'flap.t' has no rule for"):
        case.run()


def test_parts_of_the_product(acme):
    by = lambda **kw: {(c.table, c.sample.primitive.name) for c in Matrix(**kw).cases(True)}  # noqa: E731
    everything = by()
    assert (
        by(primitives=frozenset(["acme"]))
        == everything
        == by(primitives=frozenset(["toy.add", "toy.neg"]))
    )
    assert by(primitives=frozenset(["toy.add"]), tables=frozenset(["acme"])) == {
        ("acme.cost", "toy.add")
    }
    assert by(tables=frozenset(["dce", "text"]), primitives=frozenset(["toy.add"])) == {
        ("dce", "toy.add"),
        ("text", "toy.add"),
    }
    mine = Law("mine", lambda sample: None, applies=lambda s: s.primitive is toy.sin_p)
    assert by(
        primitives=frozenset(),
        tables=frozenset(),
        samples=(Sample(toy.sin_p, (X,)),),
        laws=(("mine", mine),),
    ) == {("mine", "toy.sin")}


def test_names_that_fit_nothing_are_errors(acme):
    with pytest.raises(
        RegistryError, match=r"matrix\(primitives=\.\.\.\) names 'nope': no installed"
    ):
        Matrix(primitives=frozenset(["acme", "nope"])).cases(True)
    with pytest.raises(RegistryError, match=r"matrix\(tables=\.\.\.\) names 'nope'"):
        Matrix(tables=frozenset(["nope"])).cases(True)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", r"bad_samples is named in a manifest's samples and has no samples\(\)"),
        ("def samples(): return [3]", r"bad_samples.samples\(\) yields 3, which is not a Sample"),
    ],
)
def test_modules_without_samples_are_errors(site, source, message):
    site.module("bad_samples", source)
    with pytest.raises(RegistryError, match=message):
        list(samples_of("bad_samples"))


def test_a_law_must_be_a_function(site):
    site.plugin("acme", "laws={'acme.cost': 'dovetail_core.registry.manifest:KERNEL_API'}")
    with pytest.raises(RegistryError, match=r"the law of 'acme\.cost'.* is not a function: 2"):
        list(all_laws())
    assert Manifest("x").laws == {}
