"""Rule tables: filled once and lazily, conflicts, overrides, derived rules, generations."""

from __future__ import annotations

import functools
import importlib
import sys
import threading
import time
import types
from typing import Any, Protocol

import pytest

from dovetail_core import (
    MissingRule,
    Origin,
    PluginError,
    Primitive,
    RegistryError,
    RuleConflict,
    RuleTable,
    eval_rules,
    generation,
    registry,
)

MANIFEST = """
from dovetail_core import Manifest

MANIFEST = Manifest(
    "acme", tables={"acme.cost": "acme.tables:cost"}, contributes={"acme.cost": ("acme.rules",)}
)
"""
TABLE = "from dovetail_core import RuleTable\ncost = RuleTable('acme.cost')\n"
CELLS = """
from dovetail_core import registry
from acme.primitives import one_p

table = registry().table("acme.cost")


@table.register(one_p)
def _one():
    return 1
"""
PRIMITIVES = """
from dovetail_core import Primitive

one_p, two_p = Primitive("acme.one"), Primitive("acme.two")
"""


@pytest.fixture
def acme(site):
    """A plugin with a rule table, two primitives and one rule, nothing of it imported yet."""
    site.install("acme-dist", {"acme": "acme.plugin:MANIFEST"}, "2.5")
    for name, source in {
        "plugin": MANIFEST,
        "tables": TABLE,
        "primitives": PRIMITIVES,
        "rules": CELLS,
    }.items():
        site.module(f"acme.{name}", source)
    return site


def primitives():
    from acme.primitives import one_p, two_p

    return one_p, two_p


def rival(site, name: str, override: str = ""):
    """A plugin that adds the rule of acme.one, too."""
    site.plugin(name, f"contributes={{'acme.cost': ('{name}_rules',)}}", version="0.3")
    site.module(
        f"{name}_rules",
        "from dovetail_core import registry\nfrom acme.primitives import one_p\n\n"
        f"registry().table('acme.cost').set(one_p, lambda: {name!r}{override})\n",
    )


def test_a_table_is_filled_at_the_first_miss_and_once(acme):
    table = registry().table("acme.cost")
    one, _ = primitives()
    assert "acme.rules" not in sys.modules and table.rules == {}
    rule = table.rules.get(one) or table.miss(one)
    assert rule() == 1 and table.rules == {one: rule}
    assert table.origins[one] == Origin("acme.rules", 8, "declared")
    assert str(table.origins[one]) == "acme.rules:8"
    del sys.modules["acme.rules"]
    table.fill()
    assert "acme.rules" not in sys.modules
    assert repr(table) == "<RuleTable acme.cost: 1 rules>"


@pytest.fixture
def late(acme):
    """A plugin whose rules for acme.cost are all of its own primitive, or said to be."""

    def install(name: str, rules: str) -> str:
        rest = f"contributes={{'acme.cost': ('{name}.rules',)}}, own_rules=('{name}.rules',)"
        acme.plugin(name, rest)
        acme.module(
            f"{name}.primitives",
            f"from dovetail_core import Primitive\np = Primitive('{name}.p', unlisted=True)\n",
        )
        acme.module(
            f"{name}.rules",
            "from dovetail_core import registry\n"
            f"from .primitives import p\ntable = registry().table('acme.cost')\n{rules}\n",
        )
        return name

    return install


def test_rules_of_a_packages_own_primitives_wait_for_one(late):
    """And what was compiled before they come is not compiled again."""
    late("tardy", "table.set(p, lambda: 3)")
    table = registry().table("acme.cost")
    one, _ = primitives()
    assert table[one]() == 1 and not table.is_behind
    assert "tardy.rules" not in sys.modules
    before = generation.value
    from tardy.primitives import p

    assert table.is_behind and p not in table.rules
    assert table[p]() == 3 and not table.is_behind
    assert generation.value == before
    table.set(one, lambda: 2, override=True)
    assert generation.value == before + 1


def test_rules_that_wait_do_not_replace_what_users_register_nor_are_replaced_by_it(late):
    late("tardy2", "table.set(p, lambda: 3)")
    late("tardy3", "table.set(p, lambda: 3)")
    table = registry().table("acme.cost")
    table.fill()
    from tardy2.primitives import p

    with pytest.raises(RuleConflict, match=r"already has a rule for 'tardy2\.p'"):
        table.set(p, lambda: 4)
    assert table[p]() == 3
    from tardy3.primitives import p as other

    table.set(other, lambda: 4, override=True)
    assert table[other]() == 4 and table.origins[other].replaced.module == "tardy3.rules"


def test_an_override_of_a_plugin_wins_over_rules_that_wait(acme, late):
    late("tardy4", "table.set(p, lambda: 3)")
    acme.plugin("aaa", "contributes={'acme.cost': ('aaa_rules',)}")
    acme.module(
        "aaa_rules",
        "from dovetail_core import registry\nfrom tardy4.primitives import p\n"
        "registry().table('acme.cost').set(p, lambda: 5, override=True)\n",
    )
    table = registry().table("acme.cost")
    table.fill()  # which sees that there is a primitive now
    assert "tardy4.rules" in sys.modules
    from tardy4.primitives import p

    assert table[p]() == 5 and table.origins[p].replaced.module == "tardy4.rules"


@pytest.fixture
def families(acme):
    """A plugin with rules of two modules of primitives, which wait for them to be used."""

    def install(name: str, **rules: str) -> None:
        modules = {f"{name}.rules_{k}": (f"{name}.{k}",) for k in rules}
        acme.plugin(name, f"contributes={{'acme.cost': {(*modules,)!r}}}, families={modules!r}")
        for k, rule in rules.items():
            acme.module(
                f"{name}.{k}",
                "from dovetail_core import Primitive\n"
                f"p = Primitive('{name}.{k}', unlisted=True)\n",
            )
            acme.module(
                f"{name}.rules_{k}",
                f"from dovetail_core import registry\nfrom {name}.{k} import p\n"
                f"table = registry().table('acme.cost')\n{rule}\n",
            )

    return install


def test_families_of_rules_wait_until_one_is_asked_for(families):
    families("fam", a="table.set(p, lambda: 1)", b="table.set(p, lambda: 2)")
    table = registry().table("acme.cost")
    one, _ = primitives()
    assert table[one]() == 1
    from fam.a import p as a
    from fam.b import p as b

    before = generation.value
    assert not [m for m in sys.modules if m.startswith("fam.rules")]
    assert table[a]() == 1
    assert "fam.rules_b" not in sys.modules
    assert table.origin(b).module == "fam.rules_b" and table[b]() == 2
    assert generation.value == before


def test_all_families_are_imported_where_a_table_is_filled(families):
    families("fam2", a="table.set(p, lambda: 1)", b="1 / 0")
    table = registry().table("acme.cost")
    with pytest.warns(RuntimeWarning, match=r"fam2\.rules_b fails to import: ZeroDivisionError"):
        table.fill()
    from fam2.a import p

    assert table.rules[p]() == 1


def test_what_users_register_meets_the_rules_of_its_family(families):
    families("fam3", a="table.set(p, lambda: 1)", b="table.set(p, lambda: 2)")
    table = registry().table("acme.cost")
    one, _ = primitives()
    assert table[one]() == 1
    from fam3.a import p as a
    from fam3.b import p as b

    with pytest.raises(RuleConflict, match=r"already has a rule for 'fam3\.a'"):
        table.set(a, lambda: 5)
    table.set(b, lambda: 6, override=True)
    assert table[a]() == 1 and table[b]() == 6
    assert table.replaced(b, table[b])() == 2


def test_other_plugins_meet_the_rules_of_families(acme, families, monkeypatch):
    """One that conflicts is set aside, whichever module would come first."""
    families("fam4", a="table.set(p, lambda: 1)", b="table.set(p, lambda: 2)")
    for name, rest in (("aaa", ""), ("bbb", ", override=True")):
        acme.plugin(name, f"contributes={{'acme.cost': ('{name}_rules',)}}")
        acme.module(
            f"{name}_rules",
            "from dovetail_core import registry\n"
            f"from fam4.{name[0]} import p\n"
            f"registry().table('acme.cost').set(p, lambda: 7{rest})\n",
        )
    table = registry().table("acme.cost")
    before = generation.value
    monkeypatch.setattr("dovetail_core.rules.slots.active_count", lambda: 1)
    with pytest.warns(RuntimeWarning, match=r"aaa_rules fails to import: .* already has a rule"):
        table.fill()
    assert generation.value == before  # nobody has used what bbb replaces
    from fam4.a import p as a
    from fam4.b import p as b

    assert table[a]() == 1 and table[b]() == 7 and table.replaced(b, table[b])() == 2


def test_looking_up_by_item_and_by_get(acme):
    table = registry().table("acme.cost")
    one, two = primitives()
    assert table[one] is table.get(one) is table[one]
    assert table.get(two) is None
    with pytest.raises(MissingRule):
        table[two]


def test_an_error_for_a_hole_names_row_column_owners_place_and_remedy(acme):
    table = registry().table("acme.cost")
    _, two = primitives()
    with pytest.raises(MissingRule) as e:
        table.miss(two)
    text = str(e.value)
    assert isinstance(e.value, NotImplementedError)
    assert text.startswith("table 'acme.cost' has no rule for primitive 'acme.two' at ")
    assert "test_tables.py" in text
    owner = "acme-dist 2.5 (plugin 'acme')"
    assert f"The primitive comes from {owner}, the table from {owner}. Add the rule with" in text
    assert "@dovetail_core.registry().table('acme.cost').register(two_p)" in text
    assert "Primitive.def_decomposition" in text


SECOND = (
    "the rules of plugin 'beta' of beta-dist 0.3 for table 'acme.cost' are set aside, because "
    "beta_rules fails to import: RuleConflict: table 'acme.cost' already has a rule for "
    "'acme.one': acme-dist 2.5 (plugin 'acme') at acme.rules:8; module beta_rules registers "
    "another at beta_rules:4. Uninstall or disable one of them, or register with override=True to "
    "replace it on purpose. Fix the module, or disable the plugin (DOVETAIL_DISABLE_PLUGINS)."
)


def test_of_two_plugins_that_fill_one_rule_the_second_is_set_aside(acme, monkeypatch):
    rival(acme, "beta")
    table = registry().table("acme.cost")
    one, _ = primitives()
    with pytest.warns(RuntimeWarning) as caught:
        assert table[one]() == 1
    assert [str(w.message) for w in caught] == [SECOND]
    assert table.origins[one].module == "acme.rules"


def test_two_plugins_that_fill_one_rule_are_an_error_in_strict_mode(acme, monkeypatch):
    rival(acme, "beta")
    monkeypatch.setenv("DOVETAIL_STRICT", "yes")
    table = registry().table("acme.cost")
    for _ in range(3):  # and it stays one
        with pytest.raises(PluginError) as e:
            table.fill()
        assert str(e.value) == SECOND and isinstance(e.value.__cause__, RuleConflict)


def test_in_strict_mode_each_lookup_of_a_table_with_a_conflict_is_an_error(acme, monkeypatch):
    rival(acme, "beta")
    monkeypatch.setenv("DOVETAIL_STRICT", "1")
    table = registry().table("acme.cost")
    one, two = primitives()
    for p in (one, two, one, Primitive("acme.other")):
        for find in (lambda p: table.rules.get(p) or table.miss(p), table.get, lambda p: table[p]):
            with pytest.raises(PluginError) as e:
                find(p)
            assert str(e.value) == SECOND and isinstance(e.value.__cause__, RuleConflict)
    monkeypatch.delenv("DOVETAIL_STRICT")
    with pytest.warns(RuntimeWarning, match="beta_rules fails to import: RuleConflict"):
        assert table[one]() == 1
    assert table.rules[one] is table[one] and table.get(two) is None


def test_in_strict_mode_a_rule_of_dovetails_that_another_took_stays_an_error(site, monkeypatch):
    site.plugin("std", "contributes={'acme.cost': ('std_rules',)}", distribution="dovetail")
    site.module("std_rules", "import std_shared as s\ns.table.set(s.primitive, lambda: 'ours')\n")
    shared = types.ModuleType("std_shared")
    shared.table, shared.primitive = RuleTable("acme.cost"), Primitive("std.one")
    site.modules.append("std_shared")
    sys.modules["std_shared"] = shared
    shared.table.set(shared.primitive, lambda: "theirs")
    monkeypatch.setenv("DOVETAIL_STRICT", "1")
    with pytest.raises(PluginError, match=r"already has a rule for 'std\.one'"):
        shared.table.fill()
    for _ in range(3):
        with pytest.raises(PluginError, match=r"already has a rule for 'std\.one'"):
            shared.table.rules.get(shared.primitive) or shared.table.miss(shared.primitive)
    monkeypatch.delenv("DOVETAIL_STRICT")
    assert shared.table[shared.primitive]() == "ours"


def test_what_comes_with_dovetail_keeps_its_rule_whoever_was_first(site):
    site.plugin("std", "contributes={'acme.cost': ('std_rules',)}", distribution="dovetail")
    site.module("std_rules", "import std_shared as s\ns.table.set(s.primitive, lambda: 'ours')\n")
    shared = types.ModuleType("std_shared")
    shared.table, shared.primitive = RuleTable("acme.cost"), Primitive("std.one")
    site.modules.append("std_shared")
    sys.modules["std_shared"] = shared
    shared.table.set(shared.primitive, lambda: "theirs")
    said = (
        r"^table 'acme\.cost' already has a rule for 'std\.one': module std_rules at "
        rf"std_rules:2; module {__name__} registers another at {__name__}:\d+\. Uninstall or "
        r"disable .* The first of them stands\.$"
    )
    with pytest.warns(RuntimeWarning, match=said):
        shared.table.fill()
    assert shared.table[shared.primitive]() == "ours"


@pytest.mark.parametrize("name", ["aaa", "zzz"])  # filled before and after acme
def test_an_override_wins_whatever_the_order_and_shows_what_it_replaced(acme, name):
    rival(acme, name, ", override=True")
    table = registry().table("acme.cost")
    one, _ = primitives()
    assert table[one]() == name
    origin = table.origins[one]
    assert (origin.module, origin.kind) == (f"{name}_rules", "override")
    assert (origin.replaced.module, origin.replaced.kind) == ("acme.rules", "declared")
    assert table.replaced(one, table[one]).__name__ == "_one"


def test_of_two_plugins_that_override_one_rule_the_second_is_set_aside(acme):
    rival(acme, "beta", ", override=True")
    rival(acme, "gamma", ", override=True")
    table = registry().table("acme.cost")
    with pytest.warns(
        RuntimeWarning, match=r"already has an override for 'acme.one'.*gamma_rules:4"
    ) as caught:
        table.fill()
    assert "override=True" not in str(caught[0].message)
    assert table[primitives()[0]]() == "beta"


@pytest.mark.parametrize("threads", [1, 2])
def test_overrides_that_come_when_a_table_is_filled_make_nothing_stale(acme, monkeypatch, threads):
    """Nobody has used what they replace, unless another thread ran meanwhile."""
    monkeypatch.setattr("dovetail_core.rules.slots.active_count", lambda: threads)
    rival(acme, "delta", ", override=True")
    table = registry().table("acme.cost")
    before = generation.value
    table.fill()
    assert table[primitives()[0]]() == "delta" and generation.value == before + threads - 1


def test_overrides_of_rules_that_were_there_before_make_programs_stale(acme):
    rival(acme, "epsilon", ", override=True")
    table = registry().table("acme.cost")
    importlib.import_module("acme.rules")  # as a user's own module may
    before = generation.value
    assert table[primitives()[0]]() == 1
    table.fill()
    assert table[primitives()[0]]() == "epsilon" and generation.value == before + 1


def test_users_may_override_at_any_time(acme):
    table = registry().table("acme.cost")
    one, _ = primitives()
    table.fill()
    before = generation.value
    table.set(one, lambda: "mine", override=True)
    table.set(one, lambda: "mine again", override=True)
    assert table[one]() == "mine again" and generation.value == before + 2
    assert table.replaced(one, table[one])() == "mine"
    chain = table.origins[one]
    assert [chain.module, chain.replaced.module, chain.replaced.replaced.module] == [
        __name__,
        __name__,
        "acme.rules",
    ]
    with pytest.raises(RuleConflict):
        table.set(one, lambda: "not on purpose")


def test_helpers_do_not_hide_where_a_rule_was_registered(site):
    """Partial objects and closures of helpers carry no place of their own."""
    table = RuleTable("test.helped")
    p = Primitive("test.helped")

    def helper(n):
        table.set(p, functools.partial(int, n))

    helper(1)
    with pytest.raises(RuleConflict, match=f"{__name__}:"):
        table.set(p, functools.partial(int, 2))


def test_registering_the_same_line_again_replaces():
    table, p = RuleTable("test.again"), Primitive("test.again")
    for n in range(3):
        table.set(p, lambda n=n: n)
    assert table[p]() == 2 and table.origins[p].replaced is None


def test_derived_rules_are_kept_and_give_way_to_declared_ones():
    made = []

    def derive(primitive):
        made.append(primitive)
        return primitive.decomposition

    table = RuleTable("test.derived", derive=derive)
    p = Primitive("test.derived")
    p.def_decomposition(lambda x: x + 1)
    assert table[p](1) == 2 and table[p](1) == 2 and made == [p]
    assert table.origins[p] == Origin(__name__, 0, "derived")
    assert str(table.origins[p]) == f"{__name__} (derived)"
    before = generation.value
    table.set(p, lambda x: x)
    assert table[p](1) == 1 and generation.value == before + 1
    assert table.origins[p].kind == "declared" and table.origins[p].replaced is None


def test_rules_of_anonymous_rows_are_not_kept_and_change_no_generation():
    table = RuleTable("test.anonymous", derive=lambda p: p.decomposition)
    table.fill()
    p = Primitive("test.anonymous", anonymous=True)
    p.def_decomposition(len)
    before = generation.value
    assert table[p] is len and p not in table.rules
    table.set(p, sum)
    assert table[p] is sum and generation.value == before


def test_filling_does_not_change_the_generation(acme):
    before = generation.value
    registry().table("acme.cost").fill()
    assert generation.value == before


def test_a_table_that_cannot_derive_a_rule_is_missing_it():
    table = RuleTable("test.none", derive=lambda p: None)
    with pytest.raises(MissingRule):
        table.miss(Primitive("test.none"))


def test_a_module_that_fails_is_set_aside_with_all_its_rules(acme):
    acme.module("acme.rules", CELLS + "\n\nraise RuntimeError('broken')\n")
    acme.plugin("beta", "contributes={'acme.cost': ('beta_rules',)}")
    acme.module(
        "beta_rules",
        "from acme.primitives import two_p\nfrom acme.tables import cost\n"
        "cost.set(two_p, lambda: 2)\n",
    )
    table = registry().table("acme.cost")
    one, two = primitives()
    with pytest.warns(RuntimeWarning) as caught:
        assert table[two]() == 2
    assert [str(w.message) for w in caught] == [
        "the rules of plugin 'acme' of acme-dist 2.5 for table 'acme.cost' are set aside, because "
        "acme.rules fails to import: RuntimeError: broken. Fix the module, or disable the plugin "
        "(DOVETAIL_DISABLE_PLUGINS)."
    ]
    assert table.problems == ["acme.rules of plugin 'acme' (RuntimeError: broken)"]
    assert one not in table.rules and one not in table.origins and table.get(one) is None


def test_another_thread_waits_for_a_table_that_is_being_filled(acme):
    acme.module("acme.rules", "import time\ntime.sleep(0.2)\n" + CELLS)
    table = registry().table("acme.cost")
    one, _ = primitives()
    result: list[Any] = []
    threads = [threading.Thread(target=lambda: result.append(table[one]())) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert result == [1, 1, 1]


def test_another_thread_sees_no_rule_of_a_module_that_is_not_whole(acme):
    below = CELLS.replace("return 1", "return BELOW")
    acme.module("acme.rules", f"{below}\nimport time\ntime.sleep(0.2)\nBELOW = 1\n")
    table = registry().table("acme.cost")
    one, _ = primitives()
    thread = threading.Thread(target=lambda: table[one])
    thread.start()
    while one not in table.origins:
        time.sleep(0.001)
    assert one not in table.rules and table.entered(one) is not None
    rule = table.rules.get(one) or table.miss(one)
    assert rule() == 1
    thread.join()
    assert table.rules[one] is rule is table.entered(one)


def test_a_module_finds_what_it_has_registered_itself(acme):
    acme.module(
        "acme.rules",
        CELLS
        + "from acme.primitives import two_p\n"
        + "assert table.entered(one_p) is _one and table[one_p] is _one\n"
        + "assert table.entered(two_p) is None and one_p not in table.rules\n"
        + "table.set(two_p, _one)\ntable.withdraw(two_p)\nassert table.get(two_p) is None\n",
    )
    table = registry().table("acme.cost")
    one, two = primitives()
    assert table[one]() == 1 and table.problems == [] and table.get(two) is None
    table.withdraw(one)
    assert table.entered(one) is None and one not in table.rules


def test_rules_that_a_failing_module_replaced_are_there_again(acme):
    acme.module("acme.rules", CELLS)
    acme.plugin("late", "contributes={'acme.cost': ('late_rules',)}")
    acme.module(
        "late_rules",
        "import acme.rules\nfrom acme.rules import one_p, table\n"
        "table.set(one_p, lambda: 2, override=True)\n"
        "assert table.entered(one_p)() == 2\n1 / 0\n",
    )
    table = registry().table("acme.cost")
    one, _ = primitives()
    with pytest.warns(RuntimeWarning, match="late_rules fails to import: ZeroDivisionError"):
        assert table[one]() == 1
    assert table.entered(one) is table.rules[one] and table.origins[one].replaced is None


def test_a_table_knows_its_owner_also_when_it_is_made_with_type_arguments():
    class Rule(Protocol):
        """What a rule is."""

        def __call__(self) -> int: ...

    assert RuleTable("test.plain").module == __name__
    assert RuleTable[Rule]("test.typed", signature=Rule).module == __name__
    assert eval_rules.module == "dovetail_core.rules.evaluation"


def test_unknown_tables_and_backends_are_errors_that_list_what_there_is(acme):
    with pytest.raises(PluginError) as e:
        registry().table("acme.price")
    assert str(e.value).startswith(
        "no active plugin has tables entry 'acme.price'; known: acme.cost, dce, eval, to_lo."
    )
    with pytest.raises(PluginError, match="no active plugin has backends entry 'gpu'; known: none"):
        registry().backend("gpu")
    assert registry().table("dce").name == "dce" and registry().table("eval") is eval_rules


def test_the_module_that_can_derive_rules_says_so():
    table, p = RuleTable("test.above"), Primitive("test.above", anonymous=True)

    @table.deriver
    def derive(primitive):
        return lambda: primitive.name

    assert table[p]() == "test.above"
    assert table.deriver(derive) is derive  # once more is no other


def test_two_derivers_are_an_error_that_names_both():
    table = RuleTable("test.twice", derive=abs)
    with pytest.raises(
        RegistryError,
        match=r"table 'test.twice' has a deriver already, builtins.abs; builtins.len is another",
    ):
        table.deriver(len)
