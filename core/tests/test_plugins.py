"""Discovery: good, broken, incompatible, disabled and clashing plugins, and what users are told."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys

import pytest

from dovetail_base.options import disable_jit, enable_checks, enable_x64
from dovetail_core import (
    Manifest,
    Option,
    PluginError,
    RegistryError,
    dce_rules,
    registry,
    typeof,
)
from dovetail_core.registry.discovery import distribution_of, swap_registry
from dovetail_core.registry.plugins import load_object
from dovetail_surface.configuration import Configuration


def set_aside(match: str):
    return pytest.warns(RuntimeWarning, match=match)


def test_nothing_installed_is_fine(site):
    assert registry().plugins == {} and registry().active == {}
    assert registry() is registry()


def test_a_plugin_is_found_with_its_distribution_and_nothing_of_it_is_imported(site):
    site.plugin(
        "acme", "primitives=('acme_primitives',), names={'cost': 'acme_api:cost'}", version="2.5"
    )
    result = registry().plugins["acme"]
    assert (result.distribution, result.version, result.problem) == ("acme-dist", "2.5", "")
    assert result.target == "acme_plugin:MANIFEST" and result.seconds > 0
    assert list(registry().active) == ["acme"]
    assert "acme_primitives" not in sys.modules and "acme_api" not in sys.modules


def test_entries_and_contributors_come_in_the_order_of_names(site):
    for name in ("beta", "alpha"):
        site.plugin(name, f"names={{'{name}': 'm:x'}}, contributes={{'dce': ('{name}_rules',)}}")
    assert registry().entries("names") == {"alpha": "m:x", "beta": "m:x"}
    contributed = [module for _, module in registry().contributions("dce")]
    assert contributed == ["alpha_rules", "beta_rules"]


@pytest.mark.parametrize(("rival", "kept"), [("rival-dist", "acme-dist"), ("dovetail", "dovetail")])
def test_of_two_distributions_with_one_entry_point_one_is_set_aside(site, monkeypatch, rival, kept):
    site.plugin("acme")
    site.module("other", "from dovetail_core import Manifest\nMANIFEST = Manifest('acme')\n")
    site.install(rival, {"acme": "other:MANIFEST"})
    targets = {"acme-dist": "acme_plugin:MANIFEST", rival: "other:MANIFEST"}
    (lost,) = {*targets} - {kept}
    text = (
        f"plugin 'acme' of {lost} 1.0 is set aside: {kept} 1.0 has a plugin of that name "
        f"({targets[kept]}), and this is another ({targets[lost]})"
    )
    with set_aside(
        f"^{re.escape(text)}\\. The rest works without it\\. Repair or uninstall {lost}"
    ):
        result = registry()
    assert result.plugins["acme"].distribution == kept and list(result.active) == ["acme"]
    monkeypatch.setenv("DOVETAIL_STRICT", "1")
    swap_registry(None)
    with pytest.raises(PluginError, match=f"^{re.escape(text)}$"):
        registry()


def test_one_distribution_seen_twice_is_one(site):
    site.plugin("acme", version="1.0")
    site.install("acme-dist", {"acme": "acme_plugin:MANIFEST"}, version="1.1")
    assert list(registry().active) == ["acme"]


def test_a_plugin_that_cannot_be_imported_is_set_aside_and_the_rest_works(site):
    site.plugin("good")
    site.module("bad_plugin", "import not_there_at_all\n")
    site.install("bad-dist", {"bad": "bad_plugin:MANIFEST"}, "0.9")
    with set_aside(
        r"plugin 'bad' of bad-dist 0.9 is set aside: failed to import bad_plugin:MANIFEST: "
        r"ModuleNotFoundError: No module named 'not_there_at_all'\. The rest works without it\. "
        r"Repair or uninstall bad-dist, or disable the plugin \(DOVETAIL_DISABLE_PLUGINS\)\.$"
    ):
        assert list(registry().active) == ["good"]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("MANIFEST = {}", "bad_plugin:MANIFEST is a dict, not a dovetail_core.Manifest"),
        ("raise SystemError('odd')", "failed to import .* SystemError: odd"),
        (
            "from dovetail_core.rules.checks import kind_of",
            "failed to import .* ImportError: cannot import name 'kind_of' from .*page "
            "reference/what_moved of the documentation has the present names",
        ),
        (
            "import dovetail_core.base.nothing",
            "failed to import .* ModuleNotFoundError: No module named .*reference/what_moved",
        ),
        ("", "failed to import bad_plugin:MANIFEST: AttributeError: .*MANIFEST"),
        (
            "from dovetail_core import Manifest\nMANIFEST = Manifest('worse')",
            "its manifest is named 'worse', its entry point 'bad'",
        ),
        (
            "from dovetail_core import Manifest\nMANIFEST = Manifest('bad', api=(7, 9))",
            "works with kernel API 7 to 9, this is 1 to 2: upgrade dovetail-core",
        ),
        (
            "from dovetail_core import Manifest\nMANIFEST = Manifest('bad', api=(0, 0))",
            "works with kernel API 0 to 0, this is 1 to 2: upgrade bad-dist",
        ),
        (
            "from dovetail_core import Manifest\nMANIFEST = Manifest('bad', requires=('zip',))",
            "needs plugin 'zip', which is not installed",
        ),
    ],
)
def test_a_plugin_that_does_not_fit_is_set_aside(site, monkeypatch, source, problem):
    site.module("bad_plugin", source)
    site.install("bad-dist", {"bad": "bad_plugin:MANIFEST"})
    with set_aside(problem):
        assert registry().active == {} and registry().plugins["bad"].problem
    monkeypatch.setenv("DOVETAIL_STRICT", "1")
    load_object("dovetail_core.registry.discovery:swap_registry")(None)
    with pytest.raises(PluginError, match=problem):
        registry()


def test_requirements_of_requirements(site):
    site.plugin("a", "requires=('b',)")
    site.plugin("b", "requires=('c',)")
    with pytest.warns(RuntimeWarning) as caught:
        assert registry().active == {}
    assert sorted(str(w.message).split(": ")[1][:50] for w in caught) == [
        "needs plugin 'b', which is set aside itself. The r"[:50],
        "needs plugin 'c', which is not installed. The rest"[:50],
    ]


def test_disabled_plugins_are_not_imported_and_not_warned_about(site, monkeypatch):
    site.plugin("good")
    site.module("bad_plugin", "raise SystemError")
    site.install("bad-dist", {"bad": "bad_plugin:MANIFEST"})
    monkeypatch.setenv("DOVETAIL_DISABLE_PLUGINS", "bad, good2")
    said = (
        "^DOVETAIL_DISABLE_PLUGINS names 'good2', and no plugin is called so: did you mean good[?]$"
    )
    with set_aside(said):
        assert list(registry().active) == ["good"]
    assert registry().plugins["bad"].problem == "disabled (DOVETAIL_DISABLE_PLUGINS)"


def test_allowing_some_plugins_disables_the_rest(site, monkeypatch):
    site.plugin("good")
    site.plugin("fair", "requires=('good',)")
    site.plugin("rest")
    monkeypatch.setenv("DOVETAIL_PLUGINS", "fair,good")
    assert list(registry().active) == ["fair", "good"]
    assert registry().plugins["rest"].problem == "disabled (not in DOVETAIL_PLUGINS)"


def test_what_needs_a_disabled_plugin_is_set_aside_and_says_so(site, monkeypatch):
    site.plugin("good")
    site.plugin("fair", "requires=('good',)")
    monkeypatch.setenv("DOVETAIL_DISABLE_PLUGINS", "good")
    with set_aside(r"needs plugin 'good', which is disabled \(DOVETAIL_DISABLE_PLUGINS\)"):
        assert registry().active == {}


@pytest.mark.parametrize(
    "kind", ["names", "surfaces", "tables", "backends", "passes", "options", "commands"]
)
def test_two_plugins_may_not_claim_one_name(site, kind):
    for name in ("acme", "beta"):
        site.plugin(name, f"{kind}={{'thing': 'm:x', '{name}': 'm:{name}'}}")
    text = (
        f"{kind} entry 'thing' is claimed by plugin 'acme' of acme-dist 1.0 and by plugin 'beta' "
        "of beta-dist 1.0. Disable one of the plugins (DOVETAIL_DISABLE_PLUGINS) or rename the "
        "entry."
    )
    result = registry()
    assert result.clashes == {(kind, "thing"): text}
    assert result.entries(kind) == {"acme": "m:acme", "beta": "m:beta"}, "nothing else is lost"
    with pytest.raises(RegistryError, match=f"^{re.escape(text)}$"):
        result.load(kind, "thing")


def test_an_option_that_two_claim_fails_when_it_is_used(site):
    for name in ("acme", "beta"):
        site.plugin(name, "options={'thing': 'm:x'}")
    config = Configuration(enable_x64, disable_jit, enable_checks)
    assert "thing" not in config.names()
    with pytest.raises(RegistryError, match="options entry 'thing' is claimed by plugin 'acme'"):
        config.thing  # noqa: B018


def test_what_an_entry_names_may_not_exist(site):
    site.plugin("acme", "backends={'bad': 'no_such:X', 'good': 'acme_good:X'}")
    site.module("acme_good", "X = 3\n")
    said = (
        r"^backends entry 'bad' of plugin 'acme' of acme-dist 1.0 \(no_such:X\) cannot be loaded: "
        r"ModuleNotFoundError: No module named 'no_such'\. Correct the manifest or the module, or "
        r"disable the plugin \(DOVETAIL_DISABLE_PLUGINS\)\.$"
    )
    with pytest.raises(PluginError, match=said):
        registry().backend("bad")
    with set_aside(said):
        assert registry().load_all("backends") == [3]


def test_a_disabled_plugin_claims_nothing(site, monkeypatch):
    for name in ("acme", "beta"):
        site.plugin(name, "tables={'thing': 'm:x'}")
    monkeypatch.setenv("DOVETAIL_DISABLE_PLUGINS", "beta")
    assert registry().entries("tables") == {"thing": "m:x"}


@pytest.mark.parametrize(
    ("kind", "name"), [("tables", "dce"), ("options", "enable_x64"), ("commands", "doctor")]
)
def test_nobody_may_claim_what_is_the_kernels(site, kind, name):
    site.plugin("acme", f"{kind}={{{name!r}: 'm:x'}}")
    with set_aside(f"{kind} entry '{name}' is claimed by the kernel and by"):
        assert registry().entries(kind) == {}
    if kind == "tables":
        assert registry().table(name) is dce_rules


def test_providers(site):
    site.plugin("acme", "providers={'algebra': 'acme_algebra:ALGEBRA', 'lazy': 'no_such:thing'}")
    site.module("acme_algebra", "ALGEBRA = object()\n")
    result = registry().provider("algebra")
    assert result is registry().provider("algebra") is load_object("acme_algebra:ALGEBRA")
    assert registry().provider("evaluator", default=None) is None
    with pytest.raises(
        PluginError, match=r"no active plugin provides 'evaluator'\. Install the plugin"
    ):
        registry().provider("evaluator")


def test_two_providers_of_one_role_are_an_error(site):
    for name in ("acme", "beta"):
        site.plugin(name, "providers={'algebra': 'm:x'}")
    with pytest.raises(PluginError, match="providers entry 'algebra' is claimed by plugin 'acme'"):
        registry().provider("algebra")


KINDS = [
    "names", "surfaces", "tables", "providers", "backends", "passes", "options", "commands", "laws",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_with_dovetail_keeps_its_names(site, monkeypatch, kind):
    site.plugin("acme", f"{kind}={{'thing': 'acme_m:x', 'more': 'acme_m:y'}}")
    site.plugin("std", f"{kind}={{'thing': 'std_m:x'}}", distribution="dovetail")
    text = (
        f"{kind} entry 'thing' is claimed by plugin 'std' of dovetail 1.0 and by plugin 'acme' of "
        "acme-dist 1.0. Disable one of the plugins (DOVETAIL_DISABLE_PLUGINS) or rename the entry."
    )
    with set_aside(f"^{re.escape(text)} The first of them has it\\.$"):
        result = registry()
    assert result.entries(kind) == {"thing": "std_m:x", "more": "acme_m:y"}
    assert "thing" not in getattr(result.active["acme"], kind)
    monkeypatch.setenv("DOVETAIL_STRICT", "on")
    swap_registry(None)
    with pytest.raises(PluginError, match=f"^{re.escape(text)}$"):
        registry()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "requires='good'",
            r"field 'requires' is 'good', of type str; wanted: a tuple of strings: \(",
        ),
        ("requires=3", r"field 'requires' is 3, of type int; wanted: a tuple of strings"),
        ("names=['a']", r"field 'names' is \['a'\], of type list; wanted: a dictionary"),
        ("names={1: 'm:x'}", r"field 'names', key 1, is 1, of type int; wanted: a string"),
        (
            "names={'a': None}",
            r"field 'names', entry 'a', is None, of type NoneType; wanted: a stri",
        ),
        (
            "tables={'a': 'm x'}",
            r"field 'tables', entry 'a', is 'm x', of type str; wanted: a name,",
        ),
        ("types=('',)", r"field 'types', item 0, is '', of type str; wanted: a name, or an import"),
        (
            "contributes={'a': 'm'}",
            r"'contributes', entry 'a', is 'm', .*wanted: a tuple of strings",
        ),
        ("api=(1,)", r"field 'api' is \(1,\), of type tuple; wanted: the lowest and the highest"),
        ("hooks=None", r"field 'hooks' is None, of type NoneType; wanted: a string"),
    ],
)
def test_fields_of_manifests_are_checked(site, body, said):
    site.plugin("good")
    site.plugin("acme", body)
    with set_aside(f"plugin 'acme' of acme-dist 1.0 is set aside: failed to import .*{said}"):
        assert list(registry().active) == ["good"]


def test_lists_will_do_and_what_becomes_of_them_does_not_matter(site):
    site.module(
        "acme_plugin",
        "from dovetail_core import Manifest\nTYPES = ['a']\n"
        "MANIFEST = Manifest('acme', types=TYPES)",
    )
    site.install("acme-dist", {"acme": "acme_plugin:MANIFEST"})
    assert registry().active["acme"].types == ("a",)
    sys.modules["acme_plugin"].TYPES.append(3)
    assert registry().active["acme"].types == ("a",)


@pytest.mark.parametrize(
    "error", ["SystemExit", "GeneratorExit", "type('Odd', (BaseException,), {})"]
)
def test_a_manifest_that_ends_the_process_is_set_aside(site, error):
    site.plugin("good")
    site.module("bad_plugin", f"raise {error}")
    site.install("bad-dist", {"bad": "bad_plugin:MANIFEST"})
    with set_aside(
        "plugin 'bad' of bad-dist 1.0 is set aside: failed to import bad_plugin:MANIFEST"
    ):
        assert list(registry().active) == ["good"]


def test_an_interrupt_while_plugins_are_found_passes(site):
    site.plugin("good")
    site.module("bad_plugin", "raise KeyboardInterrupt")
    site.install("bad-dist", {"bad": "bad_plugin:MANIFEST"})
    with pytest.raises(KeyboardInterrupt):
        registry()
    site.module("bad_plugin", "from dovetail_core import Manifest\nMANIFEST = Manifest('bad')")
    importlib.invalidate_caches()
    assert list(registry().active) == ["bad", "good"]


def test_a_manifest_whose_module_asks_for_plugins(site):
    site.plugin("good")
    site.module("bad_plugin", "from dovetail_core import registry\nregistry()")
    site.install("bad-dist", {"bad": "bad_plugin:MANIFEST"})
    with set_aside(
        "bad_plugin uses plugins while it is imported for .*import dovetail_core only, "
    ):
        assert list(registry().active) == ["good"]


def test_a_package_that_asks_for_plugins_may_have_a_manifest(site):
    site.plugin("good")
    site.module("acme.plugin", "from dovetail_core import Manifest\nMANIFEST = Manifest('acme')")
    (site.path / "acme" / "__init__.py").write_text(
        "from dovetail_core import registry\nSEEN = list(registry().active)\nFOUND = registry()\n"
    )
    site.install("acme-dist", {"acme": "acme.plugin:MANIFEST"})
    result = registry()
    assert list(result.active) == ["acme", "good"]
    assert sys.modules["acme"].SEEN == ["acme", "good"] and sys.modules["acme"].FOUND is result


def test_misspelt_variables(site, monkeypatch):
    site.plugin("acme", "options={'tidy': 'm:x'}, variables=('rank_file',)")
    monkeypatch.setenv("DOVETAIL_PLUGINS", "acne,acme")
    monkeypatch.setenv("DOVETAIL_RANK_FILE", "/tmp/ranks")
    monkeypatch.setenv("DOVETAIL_TIDI", "1")
    monkeypatch.setenv("DOVETAIL_WHATEVER", "1")
    with pytest.warns(RuntimeWarning) as caught:
        assert list(registry().active) == ["acme"]
    assert [str(w.message) for w in caught] == [
        "the environment sets DOVETAIL_TIDI, which is no setting of Dovetail: did you mean "
        "DOVETAIL_TIDY?",
        "the environment sets DOVETAIL_WHATEVER, which is no setting of Dovetail.",
        "DOVETAIL_PLUGINS names 'acne', and no plugin is called so: did you mean acme?",
    ]
    monkeypatch.setenv("DOVETAIL_STRICT", "1")
    swap_registry(None)
    with pytest.raises(PluginError, match="the environment sets DOVETAIL_TIDI"):
        registry()


def test_a_plugin_that_was_not_read_may_have_an_option_of_any_name(site, monkeypatch):
    site.plugin("acme", "options={'tidy': 'm:x'}")
    monkeypatch.setenv("DOVETAIL_PLUGINS", "none")
    monkeypatch.setenv("DOVETAIL_TIDY", "1")
    assert registry().active == {}


@pytest.mark.parametrize("word", ["1", "true", "Yes", "ON", " t "])
def test_spellings_of_strict(site, monkeypatch, word):
    site.plugin("acme", "requires=('zip',)")
    monkeypatch.setenv("DOVETAIL_STRICT", word)
    with pytest.raises(PluginError):
        registry()


def test_strict_is_a_boolean(monkeypatch):
    monkeypatch.setenv("DOVETAIL_STRICT", "maybe")
    swap_registry(None)
    said = (
        r"^environment variable DOVETAIL_STRICT: expected a boolean \(or 1, true, yes, on, 0, "
        r"false, no, off\), got 'maybe'$"
    )
    with pytest.raises(ValueError, match=said):
        registry()


def test_malformed_distributions(site):
    site.plugin("good")
    for name, file, text in [
        ("torn", "entry_points.txt", b"[dovetail.plugins]\nnonsense"),
        ("bytes", "entry_points.txt", b"\xff\xfe\x00"),
        ("nameless", "entry_points.txt", b"[dovetail.plugins]\nlost = lost_plugin:MANIFEST\n"),
    ]:
        folder = site.path / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / file).write_bytes(text)
        if name != "nameless":
            (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    with pytest.warns(RuntimeWarning) as caught:
        assert list(registry().active) == ["good"]
    said = [str(w.message) for w in caught]
    unreadable = [re.match(r"the entry points of (\w+) 1.0 cannot be read: ", t) for t in said[1:]]
    assert {m and m[1] for m in unreadable} == {"torn", "bytes"}
    assert "plugin 'lost' of nameless-1.0.dist-info (of unknown version) is set aside" in said[0]


def test_an_option_that_is_none(site):
    site.plugin(
        "acme", "options={'thing': 'acme_m:X', 'broken': 'acme_m:Y', 'good': 'acme_m:GOOD'}"
    )
    site.module(
        "acme_m", "from dovetail_core import Option\nX = 3\nGOOD = Option('good', 7, 'Seven.')"
    )
    config = Configuration(enable_x64)
    with pytest.raises(
        PluginError, match=r"options entry 'thing' of plugin 'acme' .*it is a int, n"
    ):
        config.thing  # noqa: B018
    assert repr(config).splitlines()[-1].startswith("thing: options entry 'thing' of plugin 'acme'")
    assert "good = 7" in repr(config) and "broken: options entry" in repr(config)


def test_an_options_check_may_fail_in_any_way():
    option = Option("acme_odd", 3, "Odd.", check=lambda v: v.nothing)
    text = r"^option 'acme_odd': its check of 5 fails: AttributeError at .*test_plugins.*$"
    with pytest.raises(ValueError, match=text):
        option.set(5)
    assert option.value == 3


def test_errors_mention_what_was_set_aside(site, monkeypatch):
    site.plugin("acme", "providers={'algebra': 'm:x'}")
    monkeypatch.setenv("DOVETAIL_DISABLE_PLUGINS", "acme")
    message = r"provides 'algebra'. Set aside: acme \(disabled \(DOVETAIL_DISABLE_PLUGINS\)\)"
    with pytest.raises(PluginError, match=message):
        registry().provider("algebra")


def test_import_strings():
    assert load_object("collections") is sys.modules["collections"]
    assert load_object("dovetail_core.registry.manifest:Manifest") is Manifest
    assert load_object("dovetail_core:Manifest.__init__") is Manifest.__init__


def test_modules_are_traced_to_distributions(site):
    site.plugin("acme", version="2.5")
    assert distribution_of("acme_plugin.inner") == "acme-dist 2.5 (plugin 'acme')"
    assert distribution_of("dovetail_core.ir.programs").startswith("dovetail-core")
    assert distribution_of("pluggy").startswith("pluggy 1.")
    assert distribution_of("nowhere.inner") == "module nowhere.inner"


def test_the_kernel_imports_no_plugin_and_starts_without_reading_entry_points():
    code = (
        "import sys, dovetail_core\n"
        "bad = [m for m in sys.modules if m.startswith('dovetail_') and not "
        "m[9:].partition('.')[0] in ('base', 'core', 'mesh', 'tree', 'xla')]\n"
        "assert not bad, bad\n"
        "for late in ('pytest', 'hypothesis', 'argparse', 'dovetail_text.parser'):\n"
        "    assert late not in sys.modules, late\n"
        "from dovetail_core.registry import discovery\n"
        "assert not discovery.registry.is_made\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


TYPES = """
from dovetail_core import ShapedArray, register_type
class Money: pass
register_type(Money, lambda x: ShapedArray((), 'float32'))
"""


def test_modules_of_types_are_imported_when_a_value_of_no_known_type_is_met(site):
    site.module("acme_types", TYPES)
    site.plugin("acme", "types=('acme_types',)")
    with pytest.raises(TypeError, match="of type object is not a valid array value"):
        typeof(object())
    assert "acme_types" in sys.modules
    assert typeof(sys.modules["acme_types"].Money()).str_short() == "f32[]"


def test_a_module_of_types_that_does_not_import(site, monkeypatch):
    site.module("acme_types", "raise ValueError('no money')")
    site.plugin("acme", "types=('acme_types',)")
    text = (
        "the types of plugin 'acme' of acme-dist 1.0 (acme_types) are set aside: ValueError: no "
        "money. Fix the module, or disable the plugin (DOVETAIL_DISABLE_PLUGINS)."
    )
    with (
        pytest.warns(RuntimeWarning) as caught,
        pytest.raises(TypeError, match="not a valid array value"),
    ):
        typeof(object())
    assert [str(w.message) for w in caught] == [text]
    monkeypatch.setenv("DOVETAIL_STRICT", "1")
    swap_registry(None)
    with pytest.raises(PluginError) as e:
        typeof(object())
    assert str(e.value) == text


def test_members_of_collections_are_found_by_their_names(site):
    site.plugin(
        "acme", "members={'games.dice': 'acme_games:DICE', 'games.chess': 'acme_games:NONE'}"
    )
    site.module("acme_games", "DICE = 6\n")
    assert registry().members("games") == {
        "dice": "acme_games:DICE",
        "chess": "acme_games:NONE",
    }
    assert registry().member("games", "dice") == 6 and registry().members("game") == {}
    with pytest.raises(PluginError, match=r"members entry 'games\.dice' .* it is no string"):
        registry().member(
            "games", "dice", lambda x: "" if isinstance(x, str) else "it is no string"
        )
    with pytest.raises(PluginError, match=r"members entry 'games\.chess' of plugin 'acme'"):
        registry().member("games", "chess")
    with pytest.raises(PluginError, match=r"no active plugin has members entry 'games\.go'"):
        registry().member("games", "go")


PREFIX = (
    "tables entry 'acme.cost' of plugin 'beta' of beta-dist 1.0 begins with the name of plugin "
    "'acme' of acme-dist 1.0, whose tables have such names. Call it 'beta.cost'."
)


def test_a_table_under_anothers_name_is_refused(site, monkeypatch):
    site.plugin("acme", "tables={'acme.own': 'm:x'}")
    site.plugin("beta", "tables={'acme.cost': 'm:x', 'beta.own': 'm:x', 'free.cost': 'm:x'}")
    with set_aside(f"^{re.escape(PREFIX)} Until then nobody has it\\.$"):
        result = registry()
    assert [*result.entries("tables")] == ["acme.own", "beta.own", "free.cost"]
    for _ in range(2):
        with pytest.raises(RegistryError, match=f"^{re.escape(PREFIX)}$"):
            result.table("acme.cost")
    monkeypatch.setenv("DOVETAIL_STRICT", "1")
    for _ in range(2):
        swap_registry(None)
        with pytest.raises(PluginError, match=f"^{re.escape(PREFIX)}$"):
            registry()


def test_who_has_the_name_keeps_a_table_that_another_takes_too(site):
    for name in ("beta", "zeta"):
        site.plugin(name, f"tables={{'zeta.cost': 'm:{name}'}}")
    with set_aside("tables entry 'zeta.cost' of plugin 'beta' of beta-dist 1.0 begins with the na"):
        result = registry()
    assert result.entries("tables") == {"zeta.cost": "m:zeta"} and not result.clashes


def test_plugins_of_one_distribution_may_share_names_of_tables(site):
    site.module("one_plugin", "from dovetail_core import Manifest\nM = Manifest('one')\n")
    site.module(
        "two_plugin",
        "from dovetail_core import Manifest\nM = Manifest('two', tables={'one.cost': 'm:x'})\n",
    )
    site.install("both-dist", {"one": "one_plugin:M", "two": "two_plugin:M"})
    assert [*registry().entries("tables")] == ["one.cost"]
