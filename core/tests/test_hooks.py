"""Hooks: implementations by plugins, their order, and modules that do not work."""

from __future__ import annotations

import pytest

from dovetail_core import PluginError, hookimpl
from dovetail_core.registry.hooks import Hooks, has_hooks, manager


def hooks(site, name: str, source: str):
    site.plugin(name, f"hooks='{name}_hooks'")
    site.module(f"{name}_hooks", f"from dovetail_core import hookimpl\n\n\n{source}")


def test_every_hook_has_a_specification_with_a_docstring():
    specified = [n for n in vars(Hooks) if n.startswith("dovetail_")]
    assert set(specified) == {
        "dovetail_compile",
        "dovetail_compile_options",
        "dovetail_traced",
        "dovetail_lowered",
        "dovetail_compiled",
        "dovetail_environment",
    }
    assert all(getattr(Hooks, n).__doc__ for n in specified)
    assert hookimpl.project_name == "dovetail"


def test_nothing_is_called_where_nobody_implements(site):
    assert not has_hooks("dovetail_traced")
    assert manager().hook.dovetail_traced(name="f", program=None, seconds=0.0) == []


def test_hooks_of_active_plugins_are_called(site):
    hooks(
        site,
        "acme",
        "SEEN = []\n\n\n@hookimpl\ndef dovetail_lowered(name, seconds):\n"
        "    SEEN.append((name, seconds))\n",
    )
    assert has_hooks("dovetail_lowered") and not has_hooks("dovetail_traced")
    manager().hook.dovetail_lowered(name="f", module="...", seconds=0.5)
    import acme_hooks

    assert acme_hooks.SEEN == [("f", 0.5)]


def test_ordering_and_first_results_are_pluggys(site):
    for name, mark in {"one": "tryfirst=True", "two": ""}.items():
        hooks(
            site,
            name,
            f"@hookimpl({mark})\ndef dovetail_compile_options(platform):\n"
            f"    return {{'by': {name!r}}}\n"
            f"@hookimpl({mark})\ndef dovetail_compile(module):\n    return {name!r}\n",
        )
    hook = manager().hook
    assert [o["by"] for o in hook.dovetail_compile_options(platform="cpu")] == ["one", "two"]
    assert hook.dovetail_compile(module="", platform="cpu", options={}) == "one"


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("import not_there", "ModuleNotFoundError: No module named 'not_there'"),
        ("@hookimpl\ndef dovetail_tracd(name): ...\n", "unknown hook 'dovetail_tracd'"),
        ("@hookimpl\ndef dovetail_traced(nonsense): ...\n", "nonsense"),
    ],
)
def test_hooks_that_do_not_work_are_set_aside(site, monkeypatch, source, problem):
    hooks(site, "acme", source)
    hooks(site, "good", "@hookimpl\ndef dovetail_environment():\n    return {'a': 'b'}\n")
    with pytest.warns(RuntimeWarning) as caught:
        assert manager().hook.dovetail_environment() == [{"a": "b"}]
    text = str(caught[0].message)
    assert text.startswith("the hooks of plugin 'acme' (acme_hooks) are set aside: ")
    assert problem in text and "disable the plugin (DOVETAIL_DISABLE_PLUGINS)" in text
    monkeypatch.setenv("DOVETAIL_STRICT", "1")
    manager.cache_clear()
    with pytest.raises(PluginError, match="the hooks of plugin 'acme'"):
        manager()


def test_disabled_plugins_have_no_hooks(site, monkeypatch):
    hooks(site, "acme", "raise SystemError")
    monkeypatch.setenv("DOVETAIL_DISABLE_PLUGINS", "acme")
    assert not has_hooks("dovetail_environment")
