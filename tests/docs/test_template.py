"""What ``dovetail new`` writes passes its own tests: each part alone, and all installed by pip."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dovetail_cli.new import PARTS, write

RUFF = Path(sys.executable).with_name("ruff")
TEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]


def run(command: list[str], where: Path, *path: Path) -> str:
    done = subprocess.run(
        command,
        cwd=where,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}"
    return done.stdout


def entry_point(folder: Path, name: str) -> None:
    """What an installer would write, so that the plugin in ``folder`` is found without one."""
    info = folder / f"dovetail_{name}-0.1.0.dist-info"
    info.mkdir()
    head = f"Metadata-Version: 2.1\nName: dovetail-{name}\nVersion: 0.1.0\n"
    (info / "METADATA").write_text(head)
    text = (folder / "pyproject.toml").read_text()
    result = re.search(r'entry-points\."dovetail.plugins"\]\n(\w+) = "(.*)"\n', text)
    assert result is not None
    (info / "entry_points.txt").write_text(f"[dovetail.plugins]\n{result[1]} = {result[2]}\n")


@pytest.mark.parametrize("part", PARTS)
def test_a_part_alone(tmp_path: Path, part: str) -> None:
    folder = tmp_path / "fresh"
    write(folder, "fresh", [part])
    entry_point(folder, "fresh")
    assert " passed" in run(TEST, folder, folder)


def test_all_parts_installed_by_pip(tmp_path: Path) -> None:
    new = [sys.executable, "-m", "dovetail_cli", "new", "fresh", "--with", ",".join(PARTS)]
    assert "the plugin 'fresh', with" in run(new, tmp_path)
    plugin, site = tmp_path / "dovetail-fresh", tmp_path / "site"
    install = "pip install --quiet --no-deps --no-index --no-build-isolation --target".split()
    run([sys.executable, "-m", *install, str(site), "."], plugin)
    assert " passed" in run(TEST, plugin, site)
    listed = run([sys.executable, "-m", "dovetail_cli", "plugins", "fresh"], tmp_path, site)
    assert "state          active" in listed and "tables         fresh.bounds" in listed


@pytest.mark.skipif(not RUFF.exists(), reason="ruff is not installed")
@pytest.mark.parametrize("name", ["q", "a_name_of_eighteen"])
def test_what_is_written_is_in_style(tmp_path: Path, name: str) -> None:
    for part in PARTS:
        write(tmp_path / part, name, [part])
    write(tmp_path / "all", name, PARTS)
    run([str(RUFF), "check", "--no-cache"], tmp_path)
    run([str(RUFF), "format", "--no-cache", "--check"], tmp_path)
