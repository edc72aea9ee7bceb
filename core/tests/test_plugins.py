"""Discovery: good, broken, incompatible, disabled and clashing plugins, and what users are told."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import nullcontext

import pytest

from dovetail_core import Manifest, PluginError, RegistryError, dce_rules, registry, typeof
from dovetail_core.base.options import check_ir, disable_jit, enable_x64
from dovetail_core.registry.configuration import Configuration
from dovetail_core.registry.discovery import distribution_of, swap_registry
from dovetail_core.registry.plugins import load_object


def set_aside(match: str):
    return pytest.warns(RuntimeWarning, match=match)


def test_nothing_installed_is_fine(site):
    assert registry().plugins == {} and registry().active == {}
    assert registry() is registry()


def test_a_plugin_is_found_with_its_distribution_and_nothing_of_it_is_imported(site):
    site.plugin(
        "acme", "primitives=('acme_primitives',), names={'cost': 'acme_api:cost'}", version="2.5"
    )
    found = registry().plugins["acme"]
    assert (found.distribution, found.version, found.problem) == ("acme-dist", "2.5", "")
    assert found.target == "acme_plugin:MANIFEST" and found.seconds > 0
    assert list(registry().active) == ["acme"]
    assert "acme_primitives" not in sys.modules and "acme_api" not in sys.modules


def test_entries_and_contributors_come_in_the_order_of_names(site):
    for name in ("beta", "alpha"):
        site.plugin(name, f"names={{'{name}': 'm:x'}}, contributes={{'dce': ('{name}_rules',)}}")
    assert registry().entries("names") == {"alpha": "m:x", "beta": "m:x"}
    assert registry().contributors("dce") == ["alpha_rules", "beta_rules"]


def test_two_distributions_with_one_entry_point_are_an_error_that_names_both(site):
    site.plugin("acme")
    site.module("other", "from dovetail_core import Manifest\nMANIFEST = Manifest('acme')\n")
    site.install("rival-dist", {"acme": "other:MANIFEST"})
    with pytest.raises(RegistryError) as e:
        registry()
    assert str(e.value) == (
        "plugin 'acme' is installed by acme-dist (acme_plugin:MANIFEST) and by rival-dist "
        "(other:MANIFEST). Uninstall one of them."
    )


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
        r"ModuleNotFoundError: No module named 'not_there_at_all'\. The rest works without it\."
    ):
        assert list(registry().active) == ["good"]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("MANIFEST = {}", "bad_plugin:MANIFEST is a dict, not a dovetail_core.Manifest"),
        ("raise SystemError('odd')", "failed to import .* SystemError: odd"),
        ("", "failed to import bad_plugin:MANIFEST: AttributeError: .*MANIFEST"),
        (
            "from dovetail_core import Manifest\nMANIFEST = Manifest('worse')",
            "its manifest is named 'worse', its entry point 'bad'",
        ),
        (
            "from dovetail_core import Manifest\nMANIFEST = Manifest('bad', api=(7, 9))",
            "works with kernel API 7 to 9, this is 1: upgrade dovetail-core",
        ),
        (
            "from dovetail_core import Manifest\nMANIFEST = Manifest('bad', api=(0, 0))",
            "works with kernel API 0 to 0, this is 1: upgrade bad-dist",
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
    monkeypatch.setenv("DOVETAIL_DISABLE_PLUGINS", "bad, other")
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
        f"{kind} entry 'thing' is claimed by plugin 'acme' of acme-dist and by plugin 'beta' of "
        "beta-dist. Disable one of the plugins (DOVETAIL_DISABLE_PLUGINS) or rename the entry."
    )
    with set_aside(re.escape(text)) if kind == "passes" else nullcontext():  # all passes run
        found = registry()
    assert found.clashes == {(kind, "thing"): text}
    assert found.entries(kind) == {"acme": "m:acme", "beta": "m:beta"}, "nothing else is lost"
    with pytest.raises(RegistryError, match=f"^{re.escape(text)}$"):
        found.load(kind, "thing")


def test_an_option_that_two_claim_fails_when_it_is_used(site):
    for name in ("acme", "beta"):
        site.plugin(name, "options={'thing': 'm:x'}")
    config = Configuration(enable_x64, disable_jit, check_ir)
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
    found = registry().provider("algebra")
    assert found is registry().provider("algebra") is load_object("acme_algebra:ALGEBRA")
    assert registry().provider("evaluator", default=None) is None
    with pytest.raises(
        PluginError, match=r"no active plugin provides 'evaluator'\. Install the plugin"
    ):
        registry().provider("evaluator")


def test_two_providers_of_one_role_are_an_error(site):
    for name in ("acme", "beta"):
        site.plugin(name, "providers={'algebra': 'm:x'}")
    with pytest.raises(PluginError) as e:
        registry().provider("algebra")
    assert str(e.value) == (
        "plugins 'acme' and 'beta' both provide 'algebra': disable one (DOVETAIL_DISABLE_PLUGINS)."
    )


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
        "m.startswith('dovetail_core')]\n"
        "assert not bad, bad\n"
        "for late in ('pytest', 'hypothesis', 'argparse', 'dovetail_core.text.parser'):\n"
        "    assert late not in sys.modules, late\n"
        "from dovetail_core.registry import discovery\n"
        "assert discovery._registry is None\n"
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
        "the types of plugin 'acme' (acme_types) are set aside: ValueError: no money. Fix the "
        "module, or disable the plugin (DOVETAIL_DISABLE_PLUGINS)."
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
