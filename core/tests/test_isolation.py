"""A plugin's rules that do not import are set aside; the table works with everybody else's."""

from __future__ import annotations

import sys

import pytest

from dovetail_core import MissingRule, PluginError, Primitive, RuleConflict, registry

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


def test_conflicts_are_never_set_aside(acme):
    acme.module(
        "ill_rules", "from acme_table import cost, one_p\n\ncost.set(one_p, lambda: 'ill')\n"
    )
    table = registry().table("acme.cost")
    for _ in range(2):
        with pytest.raises(RuleConflict, match=r"good_rules.*ill_rules"):
            table.fill()


def test_a_disabled_plugin_is_not_even_imported(acme, monkeypatch):
    monkeypatch.setenv("DOVETAIL_DISABLE_PLUGINS", "ill")
    acme.module("ill_rules", MISSING)
    table = registry().table("acme.cost")
    assert table[primitives()[0]]() == "good"
    assert "ill_rules" not in sys.modules and table.problems == []


def test_interrupts_pass(acme):
    acme.module("ill_rules", "raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        registry().table("acme.cost").fill()


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
