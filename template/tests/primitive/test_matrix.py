"""The primitive under every installed rule table that has a law; it has rules for all of them."""

from __future__ import annotations

import pytest
from dovetail_cli import main
from dovetail_testing import matrix

test_product = matrix(primitives="acme")


def test_no_rule_is_missing(capsys: pytest.CaptureFixture[str]):
    status = main(["matrix", "--primitive", "acme.shift", "--holes"])
    assert status == 0, capsys.readouterr().out
