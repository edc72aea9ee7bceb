"""The libraries, as ``libraries.toml`` and ``constraints.txt`` say them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
CONSTRAINTS = HERE / "constraints.txt"


class Library(NamedTuple):
    """What is known of one library.

    ``tests`` are the folders or files of its source distribution in which its tests are;
    ``patterns`` are their names, and ``without`` says why there are none. ``left_out`` maps the
    beginnings of paths to why these tests are not run, ``needs`` are further packages for tests and
    programs, ``sample`` are quick files of tests and ``programs/NAME``; ``options`` go to pytest,
    ``settings`` are variables.
    Where a suite takes long, one in ``every`` tests of each file is run, from the ``first`` on, or
    of each of ``tests`` where one process runs its files ``together``: where there are many.
    ``suite`` is the version whose source distribution has the tests, where that of ``version`` has
    none. ``note`` says where its tests are from, if not all are its own, and ``fails`` what those
    need that fail here. One that is installed ``alone`` says that it needs an older JAX: it is
    installed all the same, and what it needs is among ``needs``.
    """

    name: str
    version: str
    module: str
    tests: list[str]
    without: str
    left_out: dict[str, str]
    patterns: list[str]
    needs: list[str]
    sample: list[str]
    options: list[str]
    settings: dict[str, str]
    every: int = 1
    suite: str = ""
    fails: str = ""
    note: str = ""
    first: int = 0
    alone: bool = False
    together: bool = False

    @property
    def folder(self) -> str:
        """The name that folders of its programs, tests and results have."""
        return self.name.replace("-", "_")


def pins() -> dict[str, str]:
    """Versions by the names of distributions."""
    lines = CONSTRAINTS.read_text().splitlines()
    return dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))


def _library(name: str, told: dict[str, Any]) -> Library:
    pin = pins()[told.get("distribution", name)]
    return Library(
        name,
        pin,
        told.get("module", name.replace("-", "_")),
        told.get("tests", []),
        told.get("without", ""),
        told.get("left_out", {}),
        told.get("patterns", ["*_test.py", "test_*.py"]),
        [told.get("distribution", name), *told.get("needs", [])],
        told.get("sample", []),
        told.get("options", []),
        told.get("settings", {}),
        told.get("every", 1),
        told.get("suite", pin),
        told.get("fails", ""),
        told.get("note", ""),
        alone=told.get("alone", False),
        together=told.get("together", False),
    )


LIBRARIES = {
    name: _library(name, told)
    for name, told in tomllib.loads((HERE / "libraries.toml").read_text()).items()
}
