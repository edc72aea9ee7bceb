"""The command ``dovetail cache``."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_cli import main
from dovetail_jit import jit
from dovetail_services.disk_cache.options import cache_dir

X = np.ones(4, np.float32)
DAY = 86400


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A cache with two entries, of which one was last used ten days ago."""
    result = tmp_path / "cache"
    with cache_dir(str(result)):
        jit(lambda x: lax.sin(x)).lower(X).compile()
        (old,) = result.glob("*.bin")
        when = os.stat(old).st_mtime - 10 * DAY
        os.utime(old, (when, when))

        def second(x: Any) -> Any:
            return lax.cos(x)

        jit(second).lower(X).compile()
    return result


Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command; its status and all that it prints."""

    def run(*arguments: str) -> tuple[int, str]:
        status = main(["cache", *arguments])
        out = capsys.readouterr()
        return status, out.out + out.err

    return run


def test_list(place: Path, run: Run) -> None:
    status, text = run("list", "--dir", str(place))
    lines = text.splitlines()
    assert status == 0 and len(lines) == 3
    assert lines[0].endswith("now  executable second")
    assert lines[1].endswith("10 d ago  executable <lambda>") or "10 d ago  executable" in lines[1]
    assert lines[2].startswith("2 entries, ") and lines[2].endswith(str(place))


def test_info(place: Path, run: Run) -> None:
    (place / f"{'0' * 64}.bin").write_bytes(b"junk")
    status, text = run("info", "--dir", str(place))
    assert status == 0
    for line in ("entries: 3 entries", "limit: none", "signed: no", "kind: executable: 2",
                 "kind: damaged or old: 1", "for: jaxlib "):  # fmt: skip
        assert line in text


def test_verify(place: Path, run: Run) -> None:
    assert run("verify", "--dir", str(place))[0] == 0
    entry = sorted(place.glob("*.bin"))[0]
    whole = entry.read_bytes()
    entry.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    status, text = run("verify", "--dir", str(place))
    assert status == 1
    assert f"{entry.name}: its checksum is wrong" in text
    assert "1 damaged" in text
    entry.write_bytes(b"dovetail-entry-2\n" + whole)
    assert "format of an earlier version" in run("verify", "--dir", str(place))[1]
    status, text = run("verify", "--delete", "--dir", str(place))
    assert status == 0 and "(deleted)" in text and not entry.exists()


def test_clear(place: Path, run: Run) -> None:
    (place / "notes.txt").write_text("not an entry")
    assert "deleted 1 entry" in run("clear", "--older-than", "5", "--dir", str(place))[1]
    assert len(list(place.glob("*.bin"))) == 1
    with cache_dir(str(place)):
        assert "deleted 1 entry" in run("clear")[1]
    assert os.listdir(place) == ["notes.txt"]
    assert "deleted 0 entries, 0 B" in run("clear", "--dir", str(place))[1]


def test_folders_that_are_none(tmp_path: Path, run: Run) -> None:
    assert "there is no cache: set DOVETAIL_COMPILATION_CACHE_DIR" in run("list")[1]
    status, text = run("list", "--dir", str(tmp_path / "none"))
    assert status and "there is no folder " in text and "none: no program was written there" in text
    (tmp_path / "file").write_text("")
    status, text = run("clear", "--dir", str(tmp_path / "file"))
    assert status and "file is no folder: no program was written there" in text


@pytest.mark.parametrize("days", ["-1", "nan"])
def test_ages_that_are_none(place: Path, run: Run, days: str) -> None:
    status, text = run("clear", "--dir", str(place), f"--older-than={days}")
    assert status and f"--older-than is a number of days, 0 or more, not {days}" in text


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="modes say nothing there")
def test_a_folder_of_everybody(tmp_path: Path, run: Run) -> None:
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    status, text = run("clear", "--dir", str(open_to_all))
    assert status and "may be written to by everybody" in text
    assert "that you alone can write to" in text
