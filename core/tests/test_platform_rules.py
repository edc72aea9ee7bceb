"""Rules of platforms: beside the general one, and before it on theirs."""

from __future__ import annotations

import re

import pytest

from dovetail_cli import main
from dovetail_core import MissingRule, Primitive, RegistryError, RuleConflict, RuleTable, generation
from dovetail_core.registry.discovery import registry

OWNERS = r"table 'acme\.lower' already has a rule for 'test\.op' for platform 'x': "


def table(**kw):
    return RuleTable(
        "acme.lower", platform_of=lambda b, *rest: b, families={"xy": ("x", "y")}, **kw
    )


def primitive(name="test.op"):
    return Primitive(name)


def test_a_platform_has_its_own_rule_and_others_the_general_one():
    rules, p = table(), primitive()
    rules.register(p)(lambda b: "general")
    rules.register(p, platform="x")(lambda b: "x")
    assert [rules[p](b) for b in ("x", "y")] == ["x", "general"]
    assert rules.rules[p] is rules[p] is rules.get(p)
    assert rules.general(p)("x") == "general"
    assert rules.origin(p).kind == rules.origin(p, "x").kind == "declared"
    assert rules.origin(p) == rules.origin(p, "y") != rules.origin(p, "x")
    assert [*rules.platforms(p)] == ["x"] and rules.platforms(p)["x"][0]("x") == "x"


def test_the_order_of_registration_does_not_matter():
    rules, p = table(), primitive()
    rules.register(p, platform="y")(lambda b: "y")
    rules.register(p, platform="x")(lambda b: "x")
    with pytest.raises(MissingRule, match=r"'test\.op' on platform 'z', but one for x, y[ .]"):
        rules[p]("z")
    rules.register(p)(lambda b: "general")
    assert [rules[p](b) for b in "xyz"] == ["x", "y", "general"]


def test_a_general_override_does_not_take_a_platforms_rule():
    rules, p = table(), primitive()
    rules.register(p)(lambda b: "general")
    rules.register(p, platform="x")(lambda b: "x")
    rules.set(p, lambda b: "override", override=True)
    assert [rules[p](b) for b in "xy"] == ["x", "override"]
    assert rules.is_overridden(p, "y") and rules.origin(p, "x").kind == "declared"


def test_a_platforms_rule_may_call_the_general_one():
    rules, p = table(), primitive()

    def own(b, n):
        return n if n < 3 else rules.replaced(p, own)(b, n)

    rules.set(p, own, platform="x")
    rules.set(p, lambda b, n: "many")
    assert [rules[p]("x", n) for n in (2, 3)] == [2, "many"]
    assert rules.replaced(p, own) is rules.general(p)


def test_a_platforms_override_may_call_what_it_replaces():
    rules, p = table(), primitive()
    first = rules.register(p, platform="x")(lambda b: "first")
    second = rules.register(p, platform="x", override=True)(lambda b: "second")
    assert rules[p]("x") == "second" and rules.replaced(p, second) is first
    assert rules.origin(p, "x").kind == "override" and rules.origin(p, "x").replaced is not None
    assert rules.is_overridden(p, "x") and not rules.is_overridden(p, "y")


def test_a_derived_rule_serves_other_platforms():
    rules, p = table(derive=lambda primitive: lambda b: "derived"), primitive()
    rules.register(p, platform="x")(lambda b: "x")
    assert [rules[p](b) for b in "xyx"] == ["x", "derived", "x"]
    assert rules.is_derived(p) and rules.origin(p, "x").kind == "declared"
    rules.set(p, lambda b: "declared")
    assert rules[p]("y") == "declared"


def test_a_derived_rule_gives_way_to_the_one_of_a_platform():
    rules, p = table(derive=lambda primitive: lambda b: "derived"), primitive()
    rules.fill()
    assert rules[p]("x") == "derived"
    before = generation.value
    rules.set(p, lambda b: "x", platform="x")
    assert [rules[p](b) for b in "xy"] == ["x", "derived"]
    assert generation.value > before, "programs that were lowered without it are stale"


def test_families_stand_for_their_platforms():
    rules, p = table(), primitive()
    rules.register(p, platform="xy")(lambda b: f"own of {b}")
    assert [rules[p](b) for b in "xy"] == ["own of x", "own of y"]
    rules.withdraw(p, "x")
    with pytest.raises(MissingRule, match=r"on platform 'x', but one for y "):
        rules[p]("x")
    rules.withdraw(p, "y")
    assert p not in rules.rules and rules.get(p) is None
    with pytest.raises(KeyError):
        rules.withdraw(p, "y")


def test_a_withdrawn_rule_leaves_the_others():
    rules, p = table(), primitive()
    rules.register(p)(lambda b: "general")
    rules.register(p, platform="x")(lambda b: "x")
    rules.withdraw(p)
    assert rules[p]("x") == "x" and rules.origin(p) is None
    with pytest.raises(MissingRule):
        rules[p]("y")
    rules.register(p)(lambda b: "again")
    rules.withdraw(p, "x")
    assert rules[p]("x") == "again" and rules.rules[p]("x") == "again"


def test_tables_without_platforms_and_bad_names_are_refused():
    p = primitive()
    with pytest.raises(
        RegistryError, match=r"'test\.op' is registered for platform 'x' with table"
    ):
        RuleTable("acme.plain").register(p, platform="x")(lambda: 1)
    for bad in ("", ("x", "y"), 3):
        with pytest.raises(
            RegistryError, match=r"must be the name of one platform, as 'cuda', got"
        ):
            table().set(p, lambda b: 1, platform=bad)


RULES = """
from dovetail_core import registry
from acme.primitives import one_p
table = registry().table("acme.lower")
@table.register(one_p, platform={platform!r}{more})
def _own(b):
    return {platform!r} + {name!r}
"""


@pytest.fixture
def vendors(site):
    """A table and a primitive, and plugins of vendors with a rule each."""
    site.module(
        "acme.primitives", "from dovetail_core import Primitive\none_p = Primitive('acme.one')\n"
    )
    site.module(
        "acme.tables",
        "from dovetail_core import RuleTable\n"
        "T = RuleTable('acme.lower', platform_of=lambda b: b)\n",
    )
    site.plugin("acme", "tables={'acme.lower': 'acme.tables:T'}, primitives=('acme.primitives',)")

    def vendor(name, platform, more="", tail=""):
        site.plugin(name, f"contributes={{'acme.lower': ('{name}_rules',)}}")
        site.module(f"{name}_rules", RULES.format(platform=platform, more=more, name=name) + tail)

    return vendor


def one():
    return __import__("acme.primitives").primitives.one_p


def test_two_vendors_lower_one_primitive(vendors, capsys):
    vendors("beta", "bx")
    vendors("gamma", "gx")
    rules = registry().table("acme.lower")
    rule = rules[one()]
    assert [rule("bx"), rule("gx")] == ["bxbeta", "gxgamma"] and not rules.problems
    with pytest.raises(MissingRule, match=r"on platform 'cpu', but one for bx, gx at "):
        rule("cpu")
    assert main(["explain", "acme.one", "acme.lower"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"on bx +beta_rules:5, of module beta_rules", out)
    assert re.search(r"on gx +gamma_rules:5, of", out)
    main(["matrix", "--table", "acme.lower"])
    out = capsys.readouterr().out
    assert "acme.lower has rules of their own for bx: acme.one" in out
    main(["doctor"])
    assert re.search(r"acme\.lower .*1 for bx alone, 1 for gx alone", capsys.readouterr().out)


def test_two_rules_for_one_platform_conflict(vendors):
    vendors("beta", "bx")
    vendors("gamma", "bx")
    said = (
        r"the rules of plugin 'gamma' .* RuleConflict: table 'acme\.lower' already has a rule for "
        r"'acme\.one' for platform 'bx': module beta_rules at beta_rules:5; module gamma_r"
    )
    with pytest.warns(RuntimeWarning, match=said):
        rule = registry().table("acme.lower")[one()]
    assert rule("bx") == "bxbeta"


def test_an_override_of_a_platforms_rule_stands_whatever_is_imported_first(vendors):
    vendors("beta", "bx", ", override=True")
    vendors("gamma", "bx")
    assert registry().table("acme.lower")[one()]("bx") == "bxbeta"


def test_a_module_that_fails_leaves_no_rule_of_a_platform(vendors):
    vendors("beta", "bx", tail="1 / 0\n")
    vendors("gamma", "gx")
    with pytest.warns(RuntimeWarning, match="rules of plugin 'beta' of beta-dist .* are set aside"):
        rule = registry().table("acme.lower")[one()]
    assert rule("gx") == "gxgamma" and [*registry().table("acme.lower").platforms(one())] == ["gx"]
    with pytest.raises(MissingRule):
        rule("bx")


def test_two_rules_by_hand_for_one_platform_conflict():
    rules, p = table(), primitive()
    rules.register(p, platform="x")(lambda b: "first")
    with pytest.raises(RuleConflict, match=f"^{OWNERS}"):
        rules.register(p, platform="x")(lambda b: "second")
    assert rules[p]("x") == "first"
