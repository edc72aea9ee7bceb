"""Plugins that are built against the oldest supported interface of the kernel work.

``api1`` is a distribution that is written against kernel API 1. It is never edited. Who makes a
test of this file fail has changed the interface: keep what was there, as deprecated
(``dovetail_core.deprecated``, ``renamed``), and raise ``KERNEL_API`` where that cannot be done or
means something else now. The folder goes when ``OLDEST_KERNEL_API`` is raised; a folder for the
new version stands beside it by then.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dovetail_core
from dovetail_core import Manifest, registry
from dovetail_hooks import Hooks

API1 = Path(__file__).with_name("api1")
INTERFACE: dict[str, Any] = json.loads((API1 / "interface.json").read_text())
CHECKS = re.findall(r"^@check\ndef (\w+)", (API1 / "acme_api1/checks.py").read_text(), re.M)
DIGEST = "6f785bad85ce1a95210b25563836069557093d14fdfcdad57b69f97e3c695fe5"


def test_the_distribution_is_never_edited(digest: Callable[[Path], str]) -> None:
    assert digest(API1) == DIGEST, "it stands for plugins that others have: see above"


Run = Callable[..., str]


@pytest.fixture(scope="module")
def run(install: Callable[[str], Run]) -> Run:
    return install("api1")


@pytest.fixture(scope="module")
def report(run: Run) -> str:
    return run("acme_api1.checks")


@pytest.mark.parametrize("name", CHECKS)
def test_what_the_plugin_does_works(report: str, name: str) -> None:
    """Who breaks this raises ``KERNEL_API``, and keeps what was there as deprecated."""
    assert f"{name}: ok" in report.split("\n"), report


def test_its_command_runs(run: Run) -> None:
    assert run("dovetail_cli", "api1") == "ledger: []\n"


@pytest.mark.parametrize("name", sorted(INTERFACE["names"]))
def test_the_kernel_has_every_name_and_its_parameters(name: str) -> None:
    """Who breaks this raises ``KERNEL_API``, and keeps the old name or parameter as deprecated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        result = getattr(dovetail_core, name)
    then = INTERFACE["names"][name]
    if then is not None:
        now = {p.name: p for p in inspect.signature(result).parameters.values()}
        takes_any = any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in now.values())
        assert takes_any or list(now)[: len(then)] == then, "parameters stay, in their order"
        new = [p for n, p in now.items() if n not in then]
        assert all(p.default is not p.empty or p.kind is p.VAR_KEYWORD for p in new)


def test_fields_hooks_tables_and_methods_are_there() -> None:
    fields = [f.name for f in dataclasses.fields(Manifest)]
    assert fields[: len(INTERFACE["fields"])] == INTERFACE["fields"]
    for hook, arguments in INTERFACE["hooks"].items():
        assert set(arguments) <= set(inspect.signature(getattr(Hooks, hook)).parameters)
    assert all(registry().table(name).name == name for name in INTERFACE["tables"])
    for name, methods in INTERFACE["methods"].items():
        result = getattr(dovetail_core, name)
        assert all(hasattr(result, m) for m in methods), name
