"""Distributions of plugins for versions of the kernel's interface, as if they were installed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., str]
HERE = Path(__file__).parent


def digest_of(folder: Path) -> str:
    """A digest of the files of a distribution."""
    files = [p for p in folder.rglob("*") if p.suffix in (".py", ".toml", ".md", ".json")]
    result = hashlib.sha256()
    for path in sorted(p for p in files if not any(x.endswith("-info") for x in p.parts)):
        result.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return result.hexdigest()


def runner(site: Path, version: str) -> Run:
    """A function that runs a module in a process in which the plugin is installed, and returns
    what that prints.

    Args:
        site: an empty folder. version: ``api1``, the name of the plugin and of its folder.
    """
    info = site / f"acme_{version}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: acme-{version}\nVersion: 1.0\n")
    entry = f"[dovetail.plugins]\n{version} = acme_{version}.plugin:MANIFEST\n"
    (info / "entry_points.txt").write_text(entry)
    env = {k: v for k, v in os.environ.items() if not k.startswith("DOVETAIL_")}
    env["PYTHONPATH"] = os.pathsep.join([str(site), str(HERE / version)])
    # What is deprecated works: warnings of that kind alone are no errors.
    options = ["-W", "error", "-W", "ignore::DeprecationWarning", "-B"]

    def run(*arguments: str) -> str:
        command = [sys.executable, *options, "-m", *arguments]
        done = subprocess.run(command, env=env, cwd=site, capture_output=True, text=True)
        return done.stdout + done.stderr

    return run


@pytest.fixture(scope="module")
def digest() -> Callable[[Path], str]:
    return digest_of


@pytest.fixture(scope="module")
def install(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    return lambda version: runner(tmp_path_factory.mktemp("site"), version)
