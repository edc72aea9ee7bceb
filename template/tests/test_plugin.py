"""The plugin is found and well, and has no hole."""

from __future__ import annotations

import pytest

from dovetail_core import registry
from dovetail_core.cli import main


def test_the_plugin_is_active():
    assert "acme" in registry().active


def test_no_rule_is_missing(capsys: pytest.CaptureFixture[str]):
    assert main(["matrix", "--primitive", "acme.*", "--holes"]) == 0, capsys.readouterr().out
