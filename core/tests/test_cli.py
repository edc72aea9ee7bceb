"""The command line: every command's output and exit status, errors, plugins' own commands."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

from dovetail_cli import main
from dovetail_cli.render import count, fields, style, table
from dovetail_core.dispatch import primitive

MANIFEST = """
from dovetail_core import Manifest

MANIFEST = Manifest(
    "acme",
    names={"cost": "acme.api:cost"},
    primitives=("acme.primitives",),
    tables={"acme.cost": "acme.tables:cost_rules"},
    contributes={"acme.cost": ("acme.rules",)},
    laws={"acme.cost": "acme.laws:cost_law"},
    backends={"good": "acme.backends:GOOD", "poor": "acme.backends:POOR"},
    commands={"greet": "acme.command:GREET"},
    hooks="acme.hooks",
)
"""
MODULES = {
    "api": "def cost(): ...\n",
    "laws": "def cost_law(sample): ...\n",
    "primitives": """
from dovetail_core import Primitive

one_p, two_p, three_p = (Primitive(f"acme.{n}") for n in ("one", "two", "three"))
two_p.def_decomposition(lambda x: one_p.bind(x))
""",
    "tables": '''
from typing import Any, Protocol

from dovetail_core import RuleTable


class CostRule(Protocol):
    """How much an operation costs.

    ``rule(*types, **params)`` returns
    a number.
    """

    def __call__(self, *types: Any, **params: Any) -> int: ...


cost_rules = RuleTable(
    "acme.cost", signature=CostRule, derive=lambda p: p.decomposition, law="cost"
)
''',
    "rules": """
from acme.primitives import one_p
from acme.tables import cost_rules


@cost_rules.register(one_p)
def _one_cost(x, *, n, **params):
    return 1
""",
    "backends": """
class Backend:
    def __init__(self, missing):
        self.missing = missing

    def problem(self):
        return self.missing


GOOD, POOR = Backend(""), Backend("libpoor.so is not installed: pip install poor")
""",
    "command": """
class Greet:
    help = "say hello"

    def configure(self, parser):
        parser.add_argument("name")

    def run(self, args):
        print(f"hello {args.name}")
        return 3


GREET = Greet()
""",
    "hooks": """
from dovetail_core import hookimpl


@hookimpl
def dovetail_environment():
    return {"acme licence": "valid"}
""",
}


@pytest.fixture
def acme(site):
    """A plugin with three primitives, a table with one rule, three backends, a command, hooks."""
    primitive._named.clear()  # primitives of other tests
    site.install("acme-dist", {"acme": "acme.plugin:MANIFEST"}, "2.5")
    for name, source in {"plugin": MANIFEST, **MODULES}.items():
        site.module(f"acme.{name}", source)
    return site


@pytest.fixture
def dovetail(capsys, monkeypatch):
    """Run a command line; its exit status, output and error output."""
    monkeypatch.setenv("COLUMNS", "100")

    def run(*argv):
        try:
            status = main(argv)
        except SystemExit as e:
            status = e.code
        out, err = capsys.readouterr()
        return status, out, err

    return run


# --- plugins ------------------------------------------------------------------------------------


def test_plugins(acme, dovetail):
    acme.plugin("sad", "requires=('gone',)", version="0.1")
    status, out, err = dovetail("plugins")
    lines = out.splitlines()
    assert status == 1 and err == ""
    assert lines[0].split() == [
        "plugin",
        "version",
        "distribution",
        "state",
        "loaded",
        "in",
        "contributes",
    ]
    assert lines[1].startswith("acme    2.5      acme-dist     active     ")
    assert lines[1].endswith(
        "1 name, 1 module of primitives, 1 table, 2 backends, 1 command, rules in 1 table, hooks"
    )
    assert lines[2].split()[:5] == ["sad", "0.1", "sad-dist", "set", "aside"]
    assert out.endswith("Not active\n  sad  needs plugin 'gone', which is not installed\n")


def test_plugins_that_are_disabled_are_no_problem(acme, dovetail, monkeypatch):
    monkeypatch.setenv("DOVETAIL_DISABLE_PLUGINS", "acme")
    status, out, _ = dovetail("plugins")
    assert status == 0 and "acme    2.5      acme-dist     disabled  -          -" in out


def test_one_plugin_in_full(acme, dovetail):
    status, out, _ = dovetail("plugins", "acme")
    assert status == 0
    for line in (
        "  from           acme-dist 2.5 (acme.plugin:MANIFEST)",
        "  kernel API     1 to 2",
        "  tables         acme.cost",
        "  backends       good, poor",
        "  hooks in       acme.hooks",
    ):
        assert line in out.splitlines()


def test_no_plugins(site, dovetail):
    status, out, _ = dovetail("plugins")
    assert status == 0 and "No plugins are installed" in out and "pip install dovetail" in out


def test_an_unknown_plugin(acme, dovetail):
    status, out, err = dovetail("plugins", "nope")
    assert (status, out) == (2, "")
    assert err == "dovetail: error: no plugin is called 'nope'; installed: acme\n"


# --- matrix -------------------------------------------------------------------------------------


def test_matrix(acme, dovetail):
    status, out, _ = dovetail("matrix")
    assert status == 0
    assert (
        out
        == """\
                        acme
primitive   defined in  cost  dce  eval  to_lo
acme.one    acme        ●     ·    ✗     ·
acme.three  acme        ✗     ·    ✗     ·
acme.two    acme        ○     ·    ○     ○

● declared: 1   ○ derived (regions, decomposition): 3   · none, none needed: 5   ✗ hole: 3
3 primitives, 4 tables
"""
    )


def test_matrix_of_some_primitives_and_tables(acme, dovetail):
    status, out, _ = dovetail("matrix", "--table", "cost", "--primitive", "*.t*")
    assert status == 0 and out.splitlines()[-1] == "2 primitives, 1 table"
    assert "acme.one" not in out and "dce" not in out


def test_holes(acme, dovetail):
    status, out, _ = dovetail("matrix", "--table", "cost", "--holes")
    assert status == 1 and "acme.three" in out and "acme.one" not in out
    assert out.splitlines()[-1] == "1 primitive with a hole, 1 table"
    status, out, _ = dovetail("matrix", "--table", "dce", "--holes")
    assert (status, out) == (0, "0 primitives with a hole, 1 table\n")


def test_overrides_are_marked(acme, dovetail):
    acme.plugin("beta", "contributes={'acme.cost': ('beta_rules',)}")
    acme.module(
        "beta_rules",
        "from acme.primitives import one_p\nfrom acme.tables import cost_rules\n"
        "cost_rules.set(one_p, lambda *types: 2, override=True)\n",
    )
    assert "acme.one    acme        ◆" in dovetail("matrix", "--table", "cost")[1]
    status, out, _ = dovetail("explain", "acme.one", "cost")
    assert status == 0 and out.startswith("acme.one x acme.cost: declared, overriding another\n")
    assert "registered at  beta_rules:3, of module beta_rules" in out
    assert "in place of    acme.rules:6, of acme-dist 2.5 (plugin 'acme')" in out


def test_marks_have_colours_on_a_terminal(acme, dovetail, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    _, out, _ = dovetail("matrix", "--table", "cost")
    assert "\x1b[31m✗\x1b[0m" in out, "a hole is red"
    assert "\x1b[32m○\x1b[0m" in out, "what is derived is green"


def test_marks_without_unicode(acme, dovetail, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw := io.BytesIO(), encoding="ascii"))
    assert main(["matrix"]) == 0
    sys.stdout.flush()
    text = raw.getvalue().decode()
    assert "acme.one    acme        D     .    -" in text and "D declared: 1" in text


# --- the matrix as a page -----------------------------------------------------------------------


class Page(HTMLParser):
    """Rows of the page's table, as pairs of class and text, and all attributes that load things."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.loads, self.titles, self.open = [], [], {}, []
        self.feed(text)
        assert not self.open, "every tag is closed"

    def handle_starttag(self, tag, attrs):
        result = dict(attrs)
        self.loads += [a for a in ("src", "href", "data", "action") if a in result]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append([result.get("class", ""), ""])
            self.titles[len(self.rows) - 1, len(self.rows[-1]) - 1] = result.get("title")
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.rows and self.rows[-1] and {"td", "th"} & set(self.open):
            self.rows[-1][-1][1] += data


def test_the_matrix_as_a_page(wave, dovetail, tmp_path):
    wave.plugin("over", "contributes={'wave.height': ('over_rules',)}")
    wave.module(
        "over_rules",
        "from wave.primitives import roll_p\nfrom wave.tables import height_rules\n"
        "height_rules.set(roll_p, lambda x: x)\n"
        "height_rules.set(roll_p, lambda x: x, override=True)\n",
    )
    file = tmp_path / "page.html"
    status, out, err = dovetail("matrix", "--html", str(file))
    assert (status, out, err) == (0, f"{file}: written\n2 primitives, 5 tables\n", "")
    text = file.read_text()
    result = Page(text)
    assert not result.loads and "://" not in text and "@import" not in text and "url(" not in text
    owners, heads, package, bare, roll = result.rows
    assert [t for _, t in owners] == ["", "", "wave", "kernel"]
    assert [t for _, t in heads] == [
        "primitive",
        "samples",
        "depthno law·\u202f2",
        "heightlaw: height◆\u202f1 ✗\u202f1",
        "dcelaw: dce·\u202f2",
        "evallaw: eval○\u202f1 ✗\u202f1",
        "to_lolaw: to_lo○\u202f1 ·\u202f1",
    ]
    assert package == [["", "wave 2 primitives, of module wave.primitives"]]
    assert bare[:2] == [["name", "wave.bare"], ["count", "none"]]
    assert roll == [
        ["name", "wave.roll"],
        ["count", "9"],
        ["empty", "·"],
        ["override", "◆"],
        ["empty", "·"],
        ["derived", "○"],
        ["derived", "○"],
    ]
    assert result.titles[4, 0] == "wave.roll, defined at wave.primitives:4 as roll_p"
    assert result.titles[4, 3] == (
        "declared to override another\nat over_rules:4\nin place of over_rules:3\n"
        "its law is tried on 8 samples"
    )
    assert result.titles[4, 5] == (
        "derived\nfrom its decomposition, wave.primitives:17\nits law is tried on 9 samples"
    )
    assert result.titles[3, 3] == "hole\nits law is tried on 0 samples"
    assert "2 primitives (1 with samples), 5 rule tables (4 with a law)." in text
    assert "Plugins: over (over-dist 1.0), wave (wave-dist 1.0)." in text


def test_a_page_of_some_primitives_and_tables(acme, dovetail, tmp_path):
    file = tmp_path / "page.html"
    status, out, _ = dovetail("matrix", "--table", "cost", "--holes", "--html", str(file))
    assert (status, out) == (1, f"{file}: written\n1 primitive with a hole, 1 table\n")
    rows = Page(file.read_text()).rows
    assert rows[3:] == [[["name", "acme.three"], ["count", "none"], ["hole", "✗"]]]


def test_the_page_says_what_is_wrong(wave, dovetail, tmp_path):
    wave.module("wave.tables", WAVE["tables"].replace("p.decomposition", "1 / 0"))
    wave.module("wave.samples", "raise KeyError('<x>')\n")
    file = tmp_path / "page.html"
    assert dovetail("matrix", "--html", str(file))[0] == 1
    text = file.read_text()
    assert '<p class="problem">the samples of plugin &#x27;wave&#x27; (wave.samples) fail' in text
    assert "KeyError: &#x27;&lt;x&gt;&#x27;" in text
    assert '<p class="problem">the deriver of table &#x27;wave.height&#x27;' in text
    assert Page(text).rows[3][3] == ["broken", "!"]


def test_a_page_that_cannot_be_written(acme, dovetail, tmp_path):
    status, _, err = dovetail("matrix", "--html", str(tmp_path / "no" / "page.html"))
    assert status == 2 and f"{tmp_path}/no/page.html cannot be written: " in err


# --- explain ------------------------------------------------------------------------------------


def test_explain_a_declared_rule(acme, dovetail):
    status, out, _ = dovetail("explain", "acme.one", "acme.cost")
    assert status == 0
    assert (
        out
        == """\
acme.one x acme.cost: declared
  registered at  acme.rules:6, of acme-dist 2.5 (plugin 'acme')
  rule           _one_cost(x, n, **params)
  primitive      acme.one, defined in acme.primitives of acme-dist 2.5 (plugin 'acme'); one \
result
  table          acme.cost, defined in acme.tables of acme-dist 2.5 (plugin 'acme')
  a rule is      a CostRule: How much an operation costs.
                 ``rule(*types, **params)`` returns a number.
  law            cost (acme.laws:cost_law)
"""
    )


def test_explain_a_derived_rule(acme, dovetail):
    status, out, _ = dovetail("explain", "acme.two", "cost")
    assert status == 0 and out.startswith("acme.two x acme.cost: derived\n")
    assert "follows from  the primitive's decomposition, acme.primitives:5" in out
    assert "to better it  @dovetail_core.registry().table('acme.cost').register(two_p)" in out


def test_explain_a_hole(acme, dovetail):
    status, out, _ = dovetail("explain", "acme.three", "cost")
    assert status == 1 and out.startswith("acme.three x acme.cost: a hole\n")
    assert "because     it has no decomposition" in out
    assert "to fill it  @dovetail_core.registry().table('acme.cost').register(three_p)" in out
    assert "def three_rule(...):  # see CostRule" in out
    assert "contributes={'acme.cost': ('your.module',)}" in out
    assert "or say what it is made of, for every table: @three_p.def_decomposition" in out


def test_explain_where_no_rule_is_needed(acme, dovetail):
    status, out, _ = dovetail("explain", "acme.one", "dce")
    assert status == 0 and "x dce: no rule, and none is needed\n" in out
    assert "then          kept whole where a result is used, else dropped" in out


def test_explain_control_flow(site, dovetail):
    status, out, _ = dovetail("explain", "toy.scan", "eval")
    assert status == 0 and "a list of results, sub-programs (regions)" in " ".join(out.split())


WAVE = {
    "primitives": """
from dovetail_core import Primitive, ShapedArray

roll_p, bare_p = Primitive("wave.roll"), Primitive("wave.bare")


@roll_p.def_abstract_eval
def _roll_type(x: ShapedArray, *, by: int, axis=0) -> ShapedArray:
    \"\"\"The type
    of the operand.

    More.
    \"\"\"
    return x


@roll_p.def_decomposition
def _roll(x, *, by, axis=0):
    return x


roll_p.def_traits(linear=((0,), (2, 3)), commutative=True, parameters={"by": "places"})
bare_p.def_traits(linear=(slice(1, None),), constant=(0,), monotone=".-", elementwise=True)
""",
    "samples": """
import numpy as np

from dovetail_testing import Sample
from wave.primitives import roll_p


def samples():
    for by in range(1, 9):
        yield Sample(roll_p, (np.zeros((2, by), np.float32),), {"by": by})
    yield Sample(roll_p, (np.zeros(3, np.int32),), {"by": 2}, tags={"extreme"})
""",
    "tables": """
from dovetail_core import RuleTable

height_rules = RuleTable("wave.height", derive=lambda p: p.decomposition)
depth_rules = RuleTable("wave.depth", empty="well where the water is shallow, and also where " * 2)
""",
    "law": """
from dovetail_testing import law


@law("height", without=("extreme",))
def height_law(sample): ...
""",
}


@pytest.fixture
def wave(site):
    """A plugin with a primitive that has parameters, samples, a decomposition and a law."""
    fields = (
        "primitives=('wave.primitives',), samples=('wave.samples',), "
        "tables={'wave.height': 'wave.tables:height_rules', 'wave.depth': "
        "'wave.tables:depth_rules'}, laws={'wave.height': 'wave.law:height_law'}"
    )
    primitive._named.clear()  # primitives of other tests
    site.plugin("wave", fields, distribution="wave-dist")
    for name, source in WAVE.items():
        site.module(f"wave.{name}", source)
    return site


def test_explain_a_primitive(wave, dovetail):
    status, out, err = dovetail("explain", "wave.roll")
    assert (status, err) == (0, "")
    assert (
        out
        == f"""\
wave.roll
  defined as     wave.primitives.roll_p, of module wave.primitives
  in             {wave.path}/wave/primitives.py:4
  type rule      _roll_type(x: ShapedArray, *, by: int, axis=0) -> ShapedArray
                 at wave.primitives:7
                 The type of the operand.
  parameters     by: int (places), as 1 or 2 or 3
                 axis
  results        one
  effects        none
  decomposition  wave.primitives:17
  regions        none
  traits         linear in operand 0 and in operands 2 and 3, each alone; commutative
  as a program   {{ lambda ; a:f32[2,1]. let b:f32[2,1] = wave.roll[by=1] a in (b,) }}

Rules
  table          rule       law tried on  from
  wave.depth     · none     no law        well where the water is shallow, and also where well where
                                          the water is shallow, and also where
  wave.height    ○ derived  8 samples     its decomposition
  dce            · none     9 samples     kept whole where a result is used, else dropped
  eval           ○ derived  9 samples     its decomposition
  to_lo          ○ derived  0 samples     its decomposition
  text                      9 samples     a law of all programs
  check                     9 samples     a law of all programs
  decomposition             9 samples     a law of all programs
  types                     0 samples     a law of all programs
  traits                    8 samples     a law of all programs

Samples: 9
  f32[2,1] by=1
  f32[2,2] by=2
  f32[2,3] by=3
  f32[2,4] by=4
  f32[2,5] by=5
  f32[2,6] by=6
  ... and 3 others
"""
    )


def test_explain_a_primitive_of_which_little_is_known(wave, dovetail):
    status, out, err = dovetail("explain", "wave.bare")
    assert (status, err) == (0, "")
    assert (
        "  type rule      none\n  results        one\n  effects        no sample shows any" in out
    )
    said = "linear in all operands from 1 on; constant in operand 0, step by step; monotone (.-); "
    assert f" traits {said}elementwise " in " ".join(out.split())
    assert "wave.height    ✗ hole  0 samples\n" in out
    assert out.endswith("\nSamples: none\n")


def test_explain_a_primitive_whose_samples_fail(wave, dovetail):
    wave.module("wave.samples", "import not_there\n")
    status, out, _ = dovetail("explain", "wave.roll")
    assert status == 0 and "Samples: none\n" in out
    assert "problem: the samples of plugin 'wave' (wave.samples) fail: ModuleNotFoundError" in out


def test_explain_a_primitive_whose_type_rule_fails(wave, dovetail):
    wave.module("wave.primitives", WAVE["primitives"].replace("return x", "return 1 / 0", 1))
    status, out, _ = dovetail("explain", "wave.roll")
    assert status == 0 and "effects        no sample shows any" in out
    said = "as a program   the first sample cannot be traced: ZeroDivisionError: division by zero"
    assert said in out


def test_explain_a_primitive_where_a_deriver_fails(wave, dovetail):
    wave.module("wave.tables", WAVE["tables"].replace("p.decomposition", "1 / 0"))
    status, out, _ = dovetail("explain", "wave.roll")
    said = "the deriver of table 'wave.height', wave.tables.<lambda>, fails for primitive"
    assert status == 1 and "wave.height    ! fails" in out and said in " ".join(out.split())
    status, out, _ = dovetail("explain", "wave.roll", "height")
    assert status == 1 and out.startswith("wave.roll x wave.height: deriving it fails\n")
    assert f"because    {said}" in out


def test_explain_a_primitive_that_carries_its_rules(wave, dovetail):
    wave.module(
        "wave.primitives",
        f"{WAVE['primitives']}\nbare_p.rules = {{'wave.height': lambda carrier, x: x}}\n",
    )
    assert (
        "wave.height    ● declared  0 samples     the primitive itself"
        in (dovetail("explain", "wave.bare")[1])
    )
    status, out, _ = dovetail("explain", "wave.bare", "height")
    assert status == 0 and out.startswith("wave.bare x wave.height: declared\n")
    assert "registered at  the primitive, which carries its rule\n" in out
    assert "rule           <lambda>(carrier, x)\n" in out


def test_explain_control_flow_in_full(site, dovetail):
    status, out, _ = dovetail("explain", "toy.scan")
    assert status == 0 and "results        a list\n" in out
    assert "mutable        may take mutable values\n" in out
    assert "regions        dovetail_testing.toy_control:" in out


@pytest.mark.parametrize(
    ("primitive", "table", "message"),
    [
        ("acme.won", "cost", "no primitive is called 'acme.won'; did you mean acme.two, acme.one?"),
        ("three", "cost", "did you mean acme.three?"),
        ("zzzzzz", "cost", "no primitive is called 'zzzzzz'; see dovetail matrix"),
        ("acme.one", "price", "no table is called 'price'; there are acme.cost, dce, eval"),
    ],
)
def test_explain_with_wrong_names(acme, dovetail, primitive, table, message):
    status, out, err = dovetail("explain", primitive, table)
    assert (status, out) == (2, "") and message in err


def test_a_table_that_may_be_two(acme, dovetail):
    acme.plugin("beta", "tables={'beta.cost': 'acme.tables:cost_rules'}")
    status, _, err = dovetail("explain", "acme.one", "cost")
    assert status == 2 and "table 'cost' may be acme.cost or beta.cost" in err


# --- doctor -------------------------------------------------------------------------------------


def test_doctor(acme, dovetail):
    status, out, err = dovetail("doctor")
    assert (status, err) == (0, "")
    for line in (
        "Versions",
        "Plugins",
        "Backends",
        "Matrix",
        "From plugins",
        "  active  acme",
        "  good  works",
        "  poor  not available: libpoor.so is not installed: pip install poor",
        "  acme.cost   1 declared, 1 hole, 1 derived",
        "  acme licence  valid",
        "All is well.",
    ):
        assert line in out.splitlines(), line
    assert "jaxlib" in out and "(from 0.10.2, below 0.13)" in out and "(kernel API 2)" in out


def test_doctor_names_every_problem_and_goes_on(acme, dovetail, monkeypatch):
    acme.plugin("sad", "requires=('gone',)")
    acme.plugin("beta", "contributes={'acme.cost': ('beta_rules',)}")
    acme.module(
        "beta_rules",
        "from acme.primitives import one_p\nfrom acme.tables import cost_rules\n"
        "cost_rules.set(one_p, lambda *types: 2)\n",
    )
    acme.module("acme.hooks", "import not_there\n")
    monkeypatch.setenv("DOVETAIL_DISABLE_PLUGINS", "other")
    status, out, err = dovetail("doctor")
    assert (status, err) == (1, "")
    flat = " ".join(out.split())
    assert "problem sad of sad-dist 1.0: needs plugin 'gone', which is not installed" in flat
    assert "problem acme.cost rules set aside: beta_rules of plugin 'beta' (RuleConflict: " in flat
    assert "table 'acme.cost' already has a rule for 'acme.one'" in flat
    assert "problem hooks of plugin 'acme' of acme-dist 2.5 (acme.hooks) cannot be loaded" in flat
    assert "DOVETAIL_DISABLE_PLUGINS other" in flat
    assert "problem DOVETAIL_DISABLE_PLUGINS names 'other', and no plugin is called so" in flat
    assert out.endswith("4 problems.\n")


BROKEN_FIELDS = {
    "names": ("{'acme.x': 'acme.no:X'}", "names entry 'acme.x'"),
    "surfaces": ("{'acme': 'acme.no'}", "surfaces entry 'acme'"),
    "tables": ("{'beta.t': 'acme.no:X'}", "tables entry 'beta.t'"),
    "providers": ("{'algebra': 'acme.no:X'}", "providers entry 'algebra'"),
    "backends": ("{'bad': 'acme.no:X'}", "backends entry 'bad'"),
    "passes": ("{'beta.p': 'acme.no:X'}", "passes entry 'beta.p'"),
    "options": ("{'beta_o': 'acme.no:X'}", "options entry 'beta_o'"),
    "commands": ("{'say': 'acme.no:X'}", "commands entry 'say'"),
    "laws": ("{'beta.t': 'acme.no:X'}", "laws entry 'beta.t'"),
    "primitives": ("('acme.no',)", "primitives"),
    "types": ("('acme.no',)", "types"),
    "samples": ("('acme.no',)", "samples"),
    "hooks": ("'acme.no'", "hooks"),
}


@pytest.mark.parametrize("field", BROKEN_FIELDS)
def test_doctor_names_plugin_and_field_of_what_does_not_exist(acme, dovetail, field):
    value, said = BROKEN_FIELDS[field]
    acme.plugin("beta", f"{field}={value}")
    status, out, err = dovetail("doctor")
    assert (status, err) == (1, "") and "1 problem." in out
    assert f"problem {said} of plugin 'beta' of beta-dist 1.0 (acme.no" in " ".join(out.split())
    assert "cannot be loaded: ModuleNotFoundError: No module named 'acme.no'" in (
        " ".join(out.split())
    )
    for command in ("matrix", "plugins"):
        assert "Traceback" not in "".join(map(str, dovetail(command)))


def test_doctor_checks_names_of_tables(acme, dovetail):
    acme.plugin("beta", "tables={'cost': 'beta_tables:t'}, contributes={'acme.csot': ('os',)}")
    acme.module("beta_tables", "from dovetail_core import RuleTable\nt = RuleTable('cost')\n")
    status, out, _ = dovetail("doctor")
    flat = " ".join(out.split())
    assert status == 1 and "2 problems." in out
    assert "tables entry 'cost' of plugin 'beta' of beta-dist 1.0 has no prefix: call it" in flat
    assert "contributes entry 'acme.csot' of plugin 'beta' of beta-dist 1.0: no installed" in flat


def test_tables_are_named_by_a_plugin_of_their_distribution(acme, dovetail):
    acme.plugin("beta", "tables={'acme.own': 'beta_tables:t'}")
    acme.module("beta_tables", "from dovetail_core import RuleTable\nt = RuleTable('acme.own')\n")
    status, out, _ = dovetail("doctor")
    flat = " ".join(out.split())
    assert status == 1 and "of plugin 'beta' of beta-dist 1.0 begins with the name of" in flat
    assert "plugin 'acme' of acme-dist 2.5" in flat and "Call it 'beta.own'." in flat


def test_a_deriver_that_fails_is_a_problem_of_its_table(acme, dovetail):
    acme.module("acme.tables", MODULES["tables"].replace("p.decomposition", "1 / 0"))
    status, out, err = dovetail("doctor")
    said = "the deriver of table 'acme.cost', acme.tables.<lambda>, fails for primitive 'acme."
    assert (status, err) == (1, "") and said in " ".join(out.split())
    status, out, err = dovetail("matrix")
    assert (status, err) == (1, "") and "deriving fails" in out and said in out


def test_a_deriver_that_fails_for_many_is_said_once(acme, dovetail):
    names = [f"acme.many{i}" for i in range(12)]
    lines = [f"many{i}_p = Primitive({n!r})" for i, n in enumerate(names)]
    acme.module("acme.primitives", MODULES["primitives"] + "\n" + "\n".join(lines) + "\n")
    acme.module("acme.tables", MODULES["tables"].replace("p.decomposition", "1 / 0"))
    status, out, err = dovetail("doctor")
    flat = " ".join(out.split())
    assert (status, err) == (1, "") and "1 problem." in out
    assert flat.count("ZeroDivisionError") == 1 and flat.count("fails for primitive") == 1
    assert re.search(
        r"It must return a rule or None\. So it does for \d+ more primitives, as 'a", flat
    )


def test_a_deriver_that_fails_for_many_reasons_is_cut_short(acme, dovetail):
    lines = [f"many{i}_p = Primitive('acme.many{i}')" for i in range(12)]
    acme.module("acme.primitives", MODULES["primitives"] + "\n" + "\n".join(lines) + "\n")
    acme.module(
        "acme.tables", MODULES["tables"].replace("p.decomposition", "{}[len(p.name), id(p)]")
    )
    for command in ("doctor", "matrix"):
        status, out, _ = dovetail(command)
        flat = " ".join(out.split())
        assert status == 1 and flat.count("fails for primitive") == 5
        assert "more primitives cannot be given a rule, each for another reason" in flat


def test_doctor_tells_conflicts_in_strict_mode(acme, dovetail, monkeypatch):
    acme.plugin("beta", "contributes={'acme.cost': ('beta_rules',)}")
    acme.module(
        "beta_rules",
        "from acme.primitives import one_p\nfrom acme.tables import cost_rules\n"
        "cost_rules.set(one_p, lambda *x, **k: 2)\n",
    )
    monkeypatch.setenv("DOVETAIL_STRICT", "1")
    for _ in range(2):
        status, out, _ = dovetail("doctor")
        flat = " ".join(out.split())
        assert status == 1 and "RuleConflict: table 'acme.cost' already has a rule for" in flat


def test_doctor_names_rules_that_were_set_aside(acme, dovetail):
    acme.module("acme.rules", "raise KeyError('x')\n")
    status, out, err = dovetail("doctor")
    assert status == 1 and err == ""
    assert "problem acme.cost rules set aside: acme.rules of plugin 'acme' (KeyError: 'x')" in (
        " ".join(out.split())
    )


def test_doctor_where_plugins_clash(acme, dovetail):
    acme.plugin("beta", "tables={'acme.cost': 'm:x'}")
    status, out, err = dovetail("doctor")
    assert status == 1 and err == ""
    assert "problem tables entry 'acme.cost' is claimed by plugin 'acme'" in " ".join(out.split())


# --- the command line itself --------------------------------------------------------------------


def test_commands_of_plugins(acme, dovetail):
    assert dovetail("greet", "you") == (3, "hello you\n", "")
    status, out, _ = dovetail("--help")
    assert status == 0
    for name in ("plugins", "matrix", "explain", "doctor", "greet"):
        assert f"\n    {name} " in out
    assert "say hello" in out


def test_a_command_that_does_not_work_does_not_hide_the_others(acme, dovetail):
    acme.plugin("beta", "commands={'broken': 'acme.no:COMMAND'}")
    status, out, _ = dovetail("--help")
    assert status == 0 and "broken" in out and "greet" in out
    status, _, err = dovetail("broken")
    assert status == 2
    said = "commands entry 'broken' of plugin 'beta' of beta-dist 1.0 (acme.no:COMMAND) cannot be"
    assert said in err


def test_usage_errors(acme, dovetail):
    status, _, err = dovetail()
    assert status == 2 and "the following arguments are required: COMMAND" in err
    status, _, err = dovetail("nonsense")
    assert status == 2 and "invalid choice: 'nonsense'" in err


def test_warnings_about_plugins_are_lines(acme, dovetail):
    acme.plugin("sad", "requires=('gone',)")
    _, _, err = dovetail("matrix")
    assert err == (
        "dovetail: warning: plugin 'sad' of sad-dist 1.0 is set aside: needs plugin 'gone', which "
        "is not installed. The rest works without it. Repair or uninstall sad-dist, or disable the "
        "plugin (DOVETAIL_DISABLE_PLUGINS).\n"
    )


def test_clashes_are_errors_where_the_name_is_used(acme, dovetail):
    acme.plugin("beta", "tables={'acme.cost': 'm:x'}, commands={'greet': 'm:x'}")
    status, out, err = dovetail("matrix")
    assert (status, err) == (0, "") and "3 primitives, 3 tables" in out
    status, out, err = dovetail("greet", "you")  # the cause, not that no plugin has such a command
    assert (status, out) == (2, "")
    assert err.startswith("dovetail: error: commands entry 'greet' is claimed by plugin 'acme'")
    assert "greet" in dovetail("--help")[1]


def test_it_runs_as_a_module_and_ends_quietly_when_nobody_reads():
    code = f"{sys.executable} -m dovetail_cli matrix | head -n 1"
    env = {**os.environ, "DOVETAIL_PLUGINS": "none"}
    done = subprocess.run(code, shell=True, capture_output=True, text=True, env=env)
    assert done.returncode == 0 and done.stderr == ""


# --- rendering ----------------------------------------------------------------------------------


def test_tables_are_aligned():
    assert table(["a", "bb"], [["1", "2"], ["333", "4"]]) == "a    bb\n1    2\n333  4"


def test_fields_are_wrapped_under_each_other(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    result = fields([("name", "word " * 20), ("x", "two\n  lines")])
    assert max(map(len, result.splitlines())) <= 60
    assert result.splitlines()[1].startswith("        word word")
    assert result.splitlines()[-2:] == ["  x     two", "          lines"]


def test_colour_is_for_terminals(monkeypatch):
    assert style("x", "red") == "x"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert style("x", "red") == "\x1b[31mx\x1b[0m" and style("", "red") == ""
    monkeypatch.setenv("NO_COLOR", "1")
    assert style("x", "red") == "x"


def test_plurals():
    assert (count(1, "primitive"), count(2, "primitive"), count(0, "primitive")) == (
        "1 primitive",
        "2 primitives",
        "0 primitives",
    )
