"""Plugins that are built against version 2 of the interface work: see ``test_api1.py``.

``api2`` is a distribution that is written against kernel API 2. It is never edited.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dovetail_core
from dovetail_cli.locations import keywords
from dovetail_core import config, import_primitives, primitives, registry
from dovetail_hooks import Hooks
from dovetail_testing.samples import all_samples

API2 = Path(__file__).with_name("api2")
INTERFACE: dict[str, Any] = json.loads((API2 / "interface.json").read_text())
CHECKS = re.findall(r"^@check\ndef (\w+)", (API2 / "acme_api2/checks.py").read_text(), re.M)
DIGEST = "9e6786a0ae2959799ac330e20db0f36a38996798025740e1547c25bd961709ce"

Run = Callable[..., str]


def test_the_distribution_is_never_edited(digest: Callable[[Path], str]) -> None:
    assert digest(API2) == DIGEST, "it stands for plugins that others have"


@pytest.fixture(scope="module")
def report(install: Callable[[str], Run]) -> str:
    return install("api2")("acme_api2.checks")


@pytest.mark.parametrize("name", CHECKS)
def test_what_the_plugin_does_works(report: str, name: str) -> None:
    """Who breaks this raises ``KERNEL_API``, and keeps what was there as deprecated."""
    assert f"{name}: ok" in report.split("\n"), report


def test_the_plugin_takes_public_names_alone() -> None:
    """Its trace is one that stands beside those of ``ad`` and ``batching``."""
    for path in API2.rglob("*.py"):
        for module in re.findall(r"^from (dovetail\w*\.?[\w.]*) import", path.read_text(), re.M):
            assert module in ("dovetail_core", *MODULES), f"{path.name}: {module}"


MODULES = ("dovetail_base.options", "dovetail_cli.rules", "dovetail_hooks", "dovetail_tree.util")


@pytest.mark.parametrize("name", sorted(INTERFACE["names"]))
def test_the_kernel_has_every_name_and_its_parameters(name: str) -> None:
    result, then = getattr(dovetail_core, name), INTERFACE["names"][name]
    if then is not None:
        now = {p.name: p for p in inspect.signature(result).parameters.values()}
        takes_any = any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in now.values())
        assert takes_any or list(now)[: len(then)] == then, "parameters stay, in their order"


@pytest.mark.parametrize("name", sorted(INTERFACE["modules"]))
def test_a_public_module_has_every_name(name: str) -> None:
    module = getattr(dovetail_core, name)
    assert {*module.__all__} >= {*INTERFACE["modules"][name]}
    assert all(hasattr(module, n) for n in module.__all__)


def test_hooks_and_tables_are_there() -> None:
    for hook, arguments in INTERFACE["hooks"].items():
        assert {*arguments} <= {*inspect.signature(getattr(Hooks, hook)).parameters}
    assert {*INTERFACE["tables"]} <= {*registry().entries("tables")}


def test_options_have_their_defaults() -> None:
    code = "from dovetail_core import config; print({n: repr(config.option(n).value)"
    env = {k: v for k, v in os.environ.items() if not k.startswith("DOVETAIL_")}
    done = subprocess.run(
        [sys.executable, "-c", f"{code} for n in config.names()}})"],
        env=env, capture_output=True, text=True, check=True,
    )  # fmt: skip
    now: dict[str, str] = eval(done.stdout)
    assert INTERFACE["options"].items() <= now.items()
    assert {*INTERFACE["options"]} <= {*config.names()}


def test_primitives_take_the_parameters_that_the_contract_names() -> None:
    then = INTERFACE["parameters"]
    import_primitives()
    assert {"scan", "while", "cond", "jit"} <= then.keys() <= primitives().keys()
    now: dict[str, set[str]] = {}
    for _, sample in all_samples():
        primitive = sample.primitive
        if primitive is primitives().get(primitive.name) and primitive.abstract_eval is not None:
            own = {*sample.params, *keywords(primitive.abstract_eval)}
            now.setdefault(primitive.name, set()).update(own)
    assert {"scan", "while", "cond", "jit"} <= now.keys()
    gone = {n: {*then[n]} - now[n] for n in then.keys() & now.keys() if {*then[n]} - now[n]}
    assert not gone
