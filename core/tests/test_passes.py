"""Passes over programs: the order that plugins declare, stages, contradictions."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from dovetail_core import IRError, Pass, RegistryError, ShapedArray, stage_closed
from dovetail_core.base.options import enable_checks
from dovetail_core.interpret import passes
from dovetail_core.interpret.passes import ordered, run_passes
from dovetail_core.testing.toy import sin_p


def named(name, **kw):
    return Pass(name, "ir", lambda p: p, **kw)


def test_order_respects_before_and_after_and_names_whatever_is_installed_first():
    passes = [named("d", before=("a",)), named("a"), named("c", after=("a",)), named("b")]
    for given in permutations(passes):
        assert [p.name for p in ordered(list(given))] == ["b", "d", "a", "c"]


def test_passes_that_are_not_installed_do_not_matter():
    passes = [named("a", before=("gone",), after=("missing",))]
    assert ordered(passes) == passes


def test_an_error_for_a_contradiction_names_the_cycle():
    passes = [named("a", before=("b",)), named("b", before=("a",)), named("c")]
    with pytest.raises(RegistryError) as e:
        ordered(passes)
    text = str(e.value)
    assert text.startswith("passes contradict each other's order: ")
    assert " -> " in text and "'c'" not in text and " c " not in text


def test_plugins_passes_run_at_their_stage(site):
    for name in ("late", "early"):
        site.plugin(name, f"passes={{'{name}': '{name}_pass:PASS'}}")
        order = "before=('late',)" if name == "early" else ""
        site.module(
            f"{name}_pass",
            "from dovetail_core import Pass\n"
            f"PASS = Pass({name!r}, 'module', lambda text: text + ' {name}', {order})\n",
        )
    assert run_passes("module", "text") == "text early late"
    assert run_passes("ir", "text") == "text" == run_passes("hi", "text")


def test_what_a_pass_makes_is_checked_where_asked(site):
    site.plugin("acme", "passes={'acme.break': 'acme_pass:PASS'}")
    site.module(
        "acme_pass",
        "from dovetail_core import ClosedJaxpr, Pass\n"
        "PASS = Pass('acme.break', 'ir', lambda p: ClosedJaxpr(p.jaxpr.replace(eqns=[])))\n",
    )
    ir = stage_closed(lambda x: [sin_p.bind(x)], [ShapedArray((), np.float32)])
    assert run_passes("ir", ir).eqns == []
    with (
        enable_checks(True),
        pytest.raises(IRError, match=r"after the pass 'acme\.break': output 0"),
    ):
        run_passes("ir", ir)


def test_passes_are_for_platforms_and_for_programs_on_one_device(monkeypatch):
    def adding(name, **kw):
        return Pass(name, "module", lambda names: [*names, name], **kw)

    found = [adding("all"), adding("cpu", platforms=("cpu", "x")), adding("whole", divides=False)]
    monkeypatch.setitem(passes._by_stage, "module", found)
    assert run_passes("module", []) == ["all", "cpu", "whole"]
    assert run_passes("module", [], "cpu") == ["all", "cpu", "whole"]
    assert run_passes("module", [], "cuda") == ["all", "whole"]
    assert run_passes("module", [], "cpu", divided=True) == ["all", "cpu"]
