"""Passes over programs: the order that plugins declare, stages, contradictions."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from dovetail_base.options import enable_checks
from dovetail_base.pass_rules import ordered
from dovetail_core import IRError, Pass, PluginError, RegistryError, ShapedArray, stage_closed
from dovetail_core.interpret.passes import passes_for, passes_of, run_passes
from dovetail_core.registry.discovery import swap_registry
from dovetail_testing.toy import sin_p
from dovetail_xla import mlir


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


MODULE = """module @m {
  func.func public @main(%arg0: tensor<2xf32>) -> (tensor<2xf32>) {
    %0 = stablehlo.negate %arg0 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
"""
F32 = ShapedArray((), np.float32)


def install(site, name, run, stage="ir", *, own="", more="", **kw):
    """A plugin with one pass, whose function is the expression ``run``."""
    site.plugin(name, f"passes={{{name!r}: '{name}_pass:PASS'}}", **kw)
    site.module(
        f"{name}_pass",
        "from dovetail_core import ClosedJaxpr, Pass\n"
        f"PASS = Pass({own or name!r}, {stage!r}, {run}, {more})\n",
    )


def program(n=1):
    return stage_closed(lambda *xs: [sin_p.bind(x) for x in xs], [F32] * n)


def test_plugins_passes_run_at_their_stage(site):
    for name in ("late", "early"):
        order = "before=('late',)" if name == "early" else ""
        install(site, name, f"lambda text: text + '// {name} '", "module", more=order)
    assert run_passes("module", MODULE, "cpu") == MODULE + "// early // late "
    ir = program()
    assert run_passes("ir", ir, "cpu") is ir is run_passes("hi", ir, "cpu")


def test_what_a_pass_makes_is_checked_where_asked(site):
    install(site, "acme", "lambda p: ClosedJaxpr(p.jaxpr.replace(eqns=[]))")
    assert run_passes("ir", program(), "cpu").eqns == []
    with (
        enable_checks(True),
        pytest.raises(
            IRError, match=r"after the pass 'acme' \(stage 'ir'\) of plugin 'acme' .*: o"
        ),
    ):
        run_passes("ir", program(), "cpu")


def test_passes_are_for_platforms_and_for_programs_on_one_device(site):
    install(site, "all", "str")
    install(site, "some", "str", more="platforms=('cpu', 'x')")
    install(site, "whole", "str", more="divides=False")

    def names(*where):
        return [p.name for p in passes_for("ir", *where)]

    assert names("cpu") == ["all", "some", "whole"]
    assert names("cuda") == ["all", "whole"]
    assert names("cpu", True) == ["all", "some"]
    assert passes_for("module", "cpu") == []


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (
            "lambda p: ClosedJaxpr(p.jaxpr.replace(outvars=p.jaxpr.outvars[::-1]))",
            r"changed the type of result 0 from f32\[\] to f32\[3\]\. A pass must keep what a pro",
        ),
        (
            "lambda p: ClosedJaxpr(p.jaxpr.replace(outvars=p.jaxpr.outvars[:1]))",
            r"returned a program with 1 results in place of 2\.",
        ),
        (
            "lambda p: ClosedJaxpr(p.jaxpr.replace(invars=p.jaxpr.invars[::-1]))",
            r"changed the type of input 0 from f32\[\] to f32\[3\]\.",
        ),
        ("lambda p: None", r"returned None of type NoneType, not a ClosedJaxpr\. Make it return"),
        ("lambda p: p.jaxpr", r"returned [\s\S]* of type Jaxpr, not a ClosedJaxpr"),
    ],
)
@pytest.mark.parametrize("stage", ["hi", "ir"])
def test_a_pass_keeps_what_a_program_takes_and_returns(site, run, said, stage):
    install(site, "acme", run, stage, version="2.5")
    ir = stage_closed(lambda *xs: [sin_p.bind(x) for x in xs], [F32, ShapedArray((3,), np.float32)])
    named = rf"^the pass 'acme' \(stage '{stage}'\) of plugin 'acme' of acme-dist 2\.5 "
    with pytest.raises(RegistryError, match=named + said):
        run_passes(stage, ir, "cpu")


def test_a_weak_type_is_part_of_what_a_program_returns(site):
    install(site, "acme", "lambda p: ClosedJaxpr(p.jaxpr.replace(outvars=[p.jaxpr.invars[1]]))")
    weak = ShapedArray((), np.float32, True)
    ir = stage_closed(lambda x, y: [sin_p.bind(x)], [weak, F32])
    with pytest.raises(RegistryError, match=r"result 0 from f32\[\]~ to f32\[\]\."):
        run_passes("ir", ir, "cpu")


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (
            "lambda t: t.replace('tensor<2xf32>', 'tensor<2xi32>')",
            r"changed the type of input 0 of its function main from tensor<2xf32> to tensor<2xi32>",
        ),
        (
            "lambda t: t.replace('-> (tensor<2xf32>)', '').replace('return %0 : tensor<2xf32>', "
            "'return')",
            r"returned a program with 0 results of its function main in place of 1",
        ),
        ("lambda t: t.replace('negate', 'nogate')", r"returned not a valid module: [\s\S]*nogate"),
        ("lambda t: t.replace('@main', '@entry')", r"returned a module without a function main\."),
        ("lambda t: None", r"returned None of type NoneType, not a module\. Make it return Stable"),
        ("lambda t: b'nothing'", r"returned not a valid module"),
    ],
)
def test_a_pass_keeps_what_main_takes_and_returns(site, run, said):
    install(site, "acme", run, "module")
    named = r"^the pass 'acme' \(stage 'module'\) of plugin 'acme' of acme-dist 1\.0 "
    with pytest.raises(RegistryError, match=named + said):
        run_passes("module", MODULE, "cpu")


@pytest.mark.parametrize("form", ["pretty", "bytecode", "parse"])
def test_a_pass_may_return_a_module_in_any_form(site, form):
    install(site, "acme", f"__import__('dovetail_xla.mlir').mlir.{form}", "module")
    result = run_passes("module", MODULE, "cpu")
    assert mlir.pretty(result) == mlir.pretty(MODULE) and "negate" in result


def test_an_error_within_a_pass_says_which_pass(site):
    install(site, "acme", "lambda p: 1 // 0")
    with pytest.raises(ZeroDivisionError) as e:
        run_passes("ir", program(), "cpu")
    assert e.value.__notes__ == [
        "This was raised in the pass 'acme' (stage 'ir') of plugin 'acme' of acme-dist 1.0."
    ]


def test_two_passes_of_one_name_are_an_error_that_names_both(site):
    for name in ("acme", "beta"):
        install(site, name, "lambda p: p", own="thing")
    said = (
        r"^the pass 'thing' is there twice: plugin 'acme' of acme-dist 1\.0 and plugin 'beta' of "
        r"beta-dist 1\.0 both have a pass of that name at the stage 'ir'\. Disable one of the plug"
    )
    for _ in range(2):
        with pytest.raises(RegistryError, match=said):
            run_passes("ir", program(), "cpu")


def test_two_passes_of_one_entry_are_an_error_that_names_both(site):
    for name in ("acme", "beta"):
        site.plugin(name, "passes={'thing': 'm:x'}")
    with pytest.raises(RegistryError, match=r"^passes entry 'thing' is claimed by plugin 'acme'"):
        run_passes("ir", program(), "cpu")


def test_passes_of_two_stages_may_have_one_name(site):
    install(site, "acme", "lambda p: p", "hi", own="thing")
    install(site, "beta", "lambda p: p", "ir", own="thing")
    assert [p.name for s in ("hi", "ir") for p in passes_of(s)] == ["thing", "thing"]


def test_a_pass_with_the_name_of_one_of_dovetails_is_set_aside(site, monkeypatch):
    install(site, "std", "lambda p: p", own="thing", distribution="dovetail")
    install(site, "acme", "lambda p: None", own="thing")
    said = (
        r"^the pass 'thing' is set aside: plugin 'std' of dovetail 1\.0 and plugin 'acme' of "
        r"acme-dist 1\.0 both have a pass of that name"
    )
    ir = program()
    with pytest.warns(RuntimeWarning, match=said):
        assert run_passes("ir", ir, "cpu") is ir
    monkeypatch.setenv("DOVETAIL_STRICT", "1")
    swap_registry(None)
    for _ in range(2):
        with pytest.raises(PluginError, match=said):
            run_passes("ir", ir, "cpu")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("before=('flatten.loop',)", "before= names 'flatten.loop', which is no pass: did you mean "
                                     "'flatten.loops'?"),
        ("after=('flaten.loops',)", "after= names 'flaten.loops', which is no pass: did you mean"),
        ("after=('flatten.calls',)", "after= names 'flatten.calls', which is no pass"),
        ("after=('text',)", "after= names 'text', which is a pass of another stage"),
    ],
)  # fmt: skip
def test_an_order_by_a_name_that_is_misspelt_is_refused(site, more, said):
    install(site, "flatten", "lambda p: p", own="flatten.loops")
    install(site, "text", "lambda t: t", "module")
    install(site, "acme", "lambda p: None", more=more)
    with pytest.warns(RuntimeWarning, match=rf"^the pass 'acme' is set aside: its {said}"):
        assert [p.name for p in passes_of("ir")] == ["flatten.loops"]


def test_names_of_plugins_that_are_not_there_do_not_matter(site, monkeypatch):
    install(site, "flatten", "lambda p: p", own="flatten.loops")
    install(
        site, "acme", "lambda p: p", more="before=('other.loops', 'fuse'), after=('discharge',)"
    )
    assert [p.name for p in passes_of("ir")] == ["acme", "flatten.loops"]
    # The name may be that of a plugin whose manifest was not read.
    install(site, "beta", "lambda p: p", more="before=('flatten_loops',)")
    site.plugin("more")
    monkeypatch.setenv("DOVETAIL_DISABLE_PLUGINS", "more")
    swap_registry(None)
    assert [p.name for p in passes_of("ir")] == ["acme", "beta", "flatten.loops"]


def test_names_of_passes_are_tuples(site):
    install(site, "acme", "lambda p: p", more="platforms='cpu'")
    with pytest.warns(
        RuntimeWarning, match="before, after and platforms must be tuples of strings"
    ):
        assert passes_of("ir") == []


def test_passes_come_and_go_with_the_plugins_that_are_found(site):
    assert passes_of("ir") == []
    install(site, "acme", "lambda p: p")
    swap_registry(None)
    assert [p.name for p in passes_of("ir")] == ["acme"]
