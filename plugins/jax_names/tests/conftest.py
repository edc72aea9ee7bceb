"""What the tests of this plugin share: processes in which the hook may be installed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def python(tmp_path: Path) -> Run:
    """Runs an interpreter with arguments, in an empty folder; it sees further folders."""

    def run(*arguments: str, paths: tuple[Path, ...] = (), **env: str):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("DOVETAIL_", "JAX_"))}
        search = os.pathsep.join([*map(str, paths), *(p for p in sys.path if p)])
        return subprocess.run(
            [sys.executable, *arguments], env={**kept, "PYTHONPATH": search, **env}, cwd=tmp_path,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    return run


@pytest.fixture
def genuine_jax(tmp_path: Path) -> Path:
    """A folder with a package `jax` that is not Dovetail's."""
    package = tmp_path / "site" / "jax"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("genuine = True")
    (package / "core.py").write_text("")
    return tmp_path / "site"
