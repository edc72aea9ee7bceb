"""The template, copied and renamed as its README says, installed by pip, passes its own tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(command: list[str], where: Path, **env: str) -> str:
    done = subprocess.run(
        command,
        cwd=where,
        env={**os.environ, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}"
    return done.stdout


def test_a_copy_under_another_name(tmp_path: Path) -> None:
    copied = shutil.ignore_patterns("__pycache__", ".*", "*.egg-info")
    shutil.copytree(ROOT / "template", tmp_path / "template", ignore=copied)
    commands = re.findall(r"```sh\n(.*?)```", (tmp_path / "template/README.md").read_text(), re.S)
    run(["sh", "-e", "-c", commands[0]], tmp_path)
    plugin, site = tmp_path / "dovetail-zeta", tmp_path / "site"
    assert not [p for p in plugin.rglob("*") if p.is_file() and "acme" in p.read_text()]
    install = "pip install --quiet --no-deps --no-index --no-build-isolation --target".split()
    run([sys.executable, "-m", *install, str(site), "."], plugin)
    test = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    assert " passed" in run(test, plugin, PYTHONPATH=str(site))
    assert "zeta" in run(
        [sys.executable, "-m", "dovetail_core.cli", "plugins"], tmp_path, PYTHONPATH=str(site)
    )
