"""Kernel tests see no installed plugin, and leave the process as they found it."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import hypothesis
import pytest

import dovetail_testing.toy
import dovetail_testing.toy_control  # noqa: F401 - its primitives stay defined
from dovetail_base import entry_points as entries
from dovetail_core.dispatch import primitive
from dovetail_core.registry import discovery
from dovetail_core.rules.dead_code import dce_rules
from dovetail_core.rules.evaluation import eval_rules
from dovetail_core.types.typeof import type_handlers
from dovetail_high.lowering import to_lo_rules
from dovetail_testing import fresh_registry

INSTALLED = entries.installed
TABLES = (eval_rules, dce_rules, to_lo_rules)

# The same examples each time; many more of them where everything is tested.
hypothesis.settings.register_profile(
    "dovetail",
    derandomize=True,
    deadline=None,
    max_examples=1000 if os.environ.get("DOVETAIL_TEST_FULL") == "1" else 60,
)
hypothesis.settings.load_profile("dovetail")


def pytest_configure(config):
    if not config.pluginmanager.has_plugin("dovetail"):  # dovetail-core is not installed
        import dovetail_pytest

        config.pluginmanager.register(dovetail_pytest, "dovetail")


@pytest.fixture(autouse=True)
def kernel_alone(monkeypatch):
    """No plugins, no DOVETAIL_* variables; what the test registers is gone afterwards."""
    monkeypatch.setattr(entries, "installed", lambda group: ([], []))
    for name in ("PLUGINS", "DISABLE_PLUGINS", "STRICT"):
        monkeypatch.delenv(f"DOVETAIL_{name}", raising=False)
    tables = [(t, dict(t.rules), dict(t.origins), dict(vars(t._contributions))) for t in TABLES]
    names, handlers = dict(primitive._named), dict(type_handlers)
    for table in TABLES:
        table._contributions.is_loaded = False
        for p in [p for p, o in table.origins.items() if o.kind == "derived"]:
            del table.rules[p], table.origins[p]
    with fresh_registry():
        yield
    for table, rules, origins, filled in tables:
        vars(table._contributions).update(filled)
        for now, then in ((table.rules, rules), (table.origins, origins)):
            now.clear()
            now.update(then)
    for now, then in ((primitive._named, names), (type_handlers, handlers)):
        now.clear()
        now.update(then)


class Site:
    """A directory on ``sys.path`` in which distributions can be installed."""

    def __init__(self, path: Path):
        self.path = path
        self.modules: list[str] = []

    def module(self, name: str, source: str) -> str:
        """Write a module (``package.module`` makes the package, too); returns its name."""
        *packages, last = name.split(".")
        folder = self.path
        for package in packages:
            folder = folder / package
            folder.mkdir(exist_ok=True)
            (folder / "__init__.py").touch()
        (folder / f"{last}.py").write_text(source)
        self.modules.append(name.partition(".")[0])
        return name

    def install(self, distribution: str, entry_points: dict[str, str], version: str = "1.0"):
        """A distribution with entry points of the group ``dovetail.plugins``."""
        info = self.path / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
        )
        lines = "".join(f"{k} = {v}\n" for k, v in entry_points.items())
        (info / "entry_points.txt").write_text(f"[{discovery.GROUP}]\n{lines}")

    def plugin(self, name: str, body: str = "", *, distribution: str = "", version: str = "1.0"):
        """A plugin in one module; ``body`` are further arguments of its manifest."""
        self.module(
            f"{name}_plugin",
            f"from dovetail_core import Manifest\nMANIFEST = Manifest({name!r}, {body})\n",
        )
        self.install(distribution or f"{name}-dist", {name: f"{name}_plugin:MANIFEST"}, version)

    def entry_points(self, group: str):
        return INSTALLED(group, [str(self.path)])


@pytest.fixture
def site(tmp_path, monkeypatch, kernel_alone):
    """A fresh :class:`Site`; its plugins are found when ``registry()`` is asked next."""
    path = tmp_path / "site"
    path.mkdir()
    made = Site(path)
    monkeypatch.syspath_prepend(str(path))
    monkeypatch.setattr(entries, "installed", made.entry_points)
    discovery.swap_registry(None)
    yield made
    for name in [m for m in sys.modules if m.partition(".")[0] in made.modules]:
        del sys.modules[name]


@pytest.fixture(scope="session")
def carriers():
    """The module ``carriers.py`` beside this file: small transformations to test with."""
    spec = importlib.util.spec_from_file_location(
        "kernel_test_carriers", Path(__file__).with_name("carriers.py")
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
