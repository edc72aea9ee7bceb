"""A plugin's rules that do not import are set aside; the table works with everybody else's."""

from __future__ import annotations

import os
import sys
import warnings

import pytest

from dovetail_core import MissingRule, PluginError, Primitive, registry

OWNER = """
from dovetail_core import Primitive, RuleTable

cost = RuleTable("acme.cost")
one_p, two_p, six_p = Primitive("acme.one"), Primitive("acme.two"), Primitive("acme.six")
"""
GOOD = "from acme_table import cost, one_p\n\ncost.set(one_p, lambda: 'good')\n"
BROKEN = "from acme_table import cost, two_p\n\ncost.set(two_p, lambda: 'half')\n"
MISSING = BROKEN + "import acme_needs_this\n"


@pytest.fixture
def acme(site):
    """A rule table, and two plugins that fill it: ``good`` and, not written yet, ``ill``."""
    site.module("acme_table", OWNER)
    site.plugin("acme", "tables={'acme.cost': 'acme_table:cost'}")
    for name in ("good", "ill"):
        site.plugin(
            name, f"contributes={{'acme.cost': ('{name}_rules',)}}", distribution=f"{name}-dist"
        )
    site.module("good_rules", GOOD)
    return site


def primitives():
    from acme_table import one_p, six_p, two_p  # type: ignore[import-not-found]

    return one_p, two_p, six_p


@pytest.mark.parametrize(
    "source, error",
    [
        (MISSING, "ModuleNotFoundError: No module named 'acme_needs_this'"),
        (BROKEN + "1 / 0\n", "ZeroDivisionError: division by zero"),
        ("def", "SyntaxError: "),
        ("from acme_table import no_such_p\n", "ImportError: cannot import name 'no_such_p'"),
    ],
)
def test_a_failing_module_is_set_aside_with_a_warning(acme, source, error):
    acme.module("ill_rules", source)
    table = registry().table("acme.cost")
    one, two, _ = primitives()
    said = (
        r"the rules of plugin 'ill' of ill-dist 1\.0 for table 'acme\.cost' are set aside, because "
        rf"ill_rules fails to import: {error}.*Fix the module, or disable the plugin \(DOVETAIL_D"
    )
    with pytest.warns(RuntimeWarning, match=said) as caught:
        assert table[one]() == "good"
    assert len(caught) == 1
    assert table.get(two) is None and two not in table.origins, "no rule of half a module is left"


def test_it_is_said_once_and_again_where_a_rule_is_missing(acme):
    acme.module("ill_rules", MISSING)
    table = registry().table("acme.cost")
    one, two, six = primitives()
    with pytest.warns(RuntimeWarning, match="set aside"):
        table.fill()
    assert table[one]() == "good"
    for primitive in (two, six):
        said = r"no rule for .*Set aside: ill_rules of plugin 'ill' \(ModuleNotFoundError: No mod"
        with pytest.raises(MissingRule, match=said):
            table.miss(primitive)


def test_rules_that_were_there_before_survive(acme):
    acme.module(
        "ill_rules",
        "from acme_table import cost, six_p\n\ncost.set(six_p, 3, override=True)\n1 / 0\n",
    )
    table = registry().table("acme.cost")
    six = primitives()[2]
    table.set(six, lambda: "mine")
    with pytest.warns(RuntimeWarning, match="set aside"):
        table.fill()
    assert table[six]() == "mine" and table.origins[six].module == __name__


def test_strict_mode_raises_instead(acme, monkeypatch):
    monkeypatch.setenv("DOVETAIL_STRICT", "1")
    acme.module("ill_rules", MISSING)
    table = registry().table("acme.cost")
    with pytest.raises(PluginError, match=r"plugin 'ill'.*ill_rules fails to import") as caught:
        table[primitives()[0]]
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


def test_a_module_with_a_conflicting_rule_is_set_aside(acme):
    acme.module(
        "ill_rules", "from acme_table import cost, one_p\n\ncost.set(one_p, lambda: 'ill')\n"
    )
    table = registry().table("acme.cost")
    with pytest.warns(RuntimeWarning, match=r"plugin 'ill'.*RuleConflict.*good_rules.*ill_rules"):
        assert table[primitives()[0]]() == "good"


def test_a_disabled_plugin_is_not_even_imported(acme, monkeypatch):
    monkeypatch.setenv("DOVETAIL_DISABLE_PLUGINS", "ill")
    acme.module("ill_rules", MISSING)
    table = registry().table("acme.cost")
    assert table[primitives()[0]]() == "good"
    assert "ill_rules" not in sys.modules and table.problems == []


def test_a_module_that_ends_the_process_is_set_aside(acme):
    acme.module("ill_rules", BROKEN + "raise SystemExit\n")
    table = registry().table("acme.cost")
    one, two, _ = primitives()
    with pytest.warns(
        RuntimeWarning, match=r"plugin 'ill'.* ill_rules fails to import: SystemExit"
    ):
        assert table[one]() == "good"
    assert two not in table.rules


def test_interrupts_pass_and_the_next_use_fills_the_table(acme):
    acme.module(
        "ill_rules",
        "import sys\n" + BROKEN + "if not hasattr(sys, 'acme_tried'):\n"
        "    sys.acme_tried = True\n    raise KeyboardInterrupt\n"
        "from acme_table import six_p\ncost.set(six_p, lambda: 'six')\n",
    )
    table = registry().table("acme.cost")
    one, two, six = primitives()
    try:
        with pytest.raises(KeyboardInterrupt):
            table.fill()
        assert (table[six](), table[two](), table[one]()) == ("six", "half", "good")
        assert table.problems == []
    finally:
        del sys.acme_tried


def test_recursion_of_the_users_is_not_a_modules_fault(acme):
    acme.module("ill_rules", BROKEN + "def f():\n    f()\nimport acme_deep\n")
    acme.module("acme_deep", "def f(n): return n and f(n - 1)\nf(300)\n")
    table = registry().table("acme.cost")
    _, two, _ = primitives()

    def deep():
        deep()
        table.fill()  # as soon as there is room for it

    with pytest.raises(RecursionError):
        deep()
    assert table[two]() == "half" and table.problems == []


def test_what_a_module_changes_of_the_process_is_put_back(acme, monkeypatch):
    acme.module(
        "ill_rules",
        "import os, sys, warnings\nwarnings.simplefilter('error')\nsys.setrecursionlimit(200)\n"
        "os.environ['DOVETAIL_STRICT'] = '1'\n",
    )
    before = [*warnings.filters], sys.getrecursionlimit()
    table = registry().table("acme.cost")
    with pytest.warns(RuntimeWarning) as caught:
        table.fill()
    assert [str(w.message) for w in caught] == [
        "importing plugin 'ill' of ill-dist 1.0 changes the recursion limit and environment "
        "variables (DOVETAIL_...) and warnings into errors: that is undone. Correct the plugin, or "
        "disable it (DOVETAIL_DISABLE_PLUGINS)."
    ]
    assert before[1] == sys.getrecursionlimit() and "DOVETAIL_STRICT" not in os.environ


def test_replacing_a_rule_before_the_table_is_filled_counts_as_a_change(acme):
    """An interpreter that found the first rule without filling the table must look again."""
    from dovetail_core import generation

    acme.module("ill_rules", "")
    table = registry().table("acme.cost")
    primitive = Primitive("acme.late", anonymous=False)
    table.set(primitive, lambda: 1)
    before = generation.value
    table.set(primitive, lambda: 2, override=True)
    assert generation.value == before + 1
