"""A library whose version is of another series than the tested one is named once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dovetail_jax_names.versions import LIBRARIES

PROGRAM = """import dovetail.jax

import optax
import optax
print("runs")
"""


def test_the_tested_versions_are_those_that_the_suites_run() -> None:
    root = Path(__file__).parents[3]
    pins = (root / "tests" / "ecosystem" / "constraints.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in pins if "==" in line)
    assert {x.distribution: x.tested for x in LIBRARIES.values()} == {
        x.distribution: pinned[x.distribution] for x in LIBRARIES.values()
    }


@pytest.mark.parametrize(("version", "is_named"), [("0.2.1", False), ("0.3.0", True), ("", False)])
def test_another_series_is_named_once(
    python: Callable[..., Any], tmp_path: Path, version: str, is_named: bool
) -> None:
    site = tmp_path / "site"
    if version:
        (site / f"optax-{version}.dist-info").mkdir(parents=True)
        metadata = f"Metadata-Version: 2.1\nName: optax\nVersion: {version}\n"
        (site / f"optax-{version}.dist-info" / "METADATA").write_text(metadata)
    site.mkdir(exist_ok=True)
    (site / "optax.py").write_text("")
    (tmp_path / "program.py").write_text(PROGRAM)
    done = python("program.py", paths=(site,))
    assert done.stdout == "runs\n", done.stderr
    if not is_named:
        assert not done.stderr
        return
    (said, line) = done.stderr.splitlines()
    assert "program.py:3: UntestedVersion: optax 0.3.0 runs on Dovetail untested: 0.2.8" in said
    assert "optax==0.2.8" in said and "category=dovetail.jax.UntestedVersion" in said
    assert line.strip() == "import optax"
