"""The environment in which genuine JAX, Dovetail and the libraries are installed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from .libraries import CONSTRAINTS, Library

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "ecosystem"
ALWAYS = ("jax", "pytest", "absl-py", "hypothesis")

Side = Literal["jax", "dovetail"]


class Environment:
    """A virtual environment below ``build/ecosystem``, to which :meth:`install` adds."""

    def __init__(self, name: str) -> None:
        self.folder = BUILD / f"env-{name}"
        self.python = self.folder / "bin" / "python"
        self.digest = ""

    def install(self, libraries: Iterable[Library], wheels: Path) -> None:
        """Installs libraries and what they need at the pinned versions, and Dovetail's wheels."""
        needs = sorted({*ALWAYS, *(need for each in libraries for need in each.needs)})
        stamp = self.folder / ".installed"
        pinned = CONSTRAINTS.read_text()
        there = stamp.read_text().split("\n\n") if stamp.exists() else ["", ""]
        if there[0] != pinned.strip():
            print(f"{self.folder.relative_to(ROOT)}: new", flush=True)
            subprocess.run([sys.executable, "-m", "venv", "--clear", self.folder], check=True)
            there = [pinned.strip(), ""]
        missing = [need for need in needs if need not in there[1].split()]
        if missing:
            print(f"{self.folder.relative_to(ROOT)}: {' '.join(missing)}", flush=True)
            self._pip("-c", CONSTRAINTS, *missing)
            stamp.write_text("\n\n".join([there[0], "\n".join(sorted({*there[1].split(), *needs}))]))
        found = sorted(wheels.glob("*.whl"))
        self.digest = hashlib.sha256(b"".join(w.read_bytes() for w in found)).hexdigest()[:12]
        self._pip("--no-deps", "--force-reinstall", *found)

    def _pip(self, *arguments: str | Path) -> None:
        command = [self.python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
        subprocess.run([*command, *arguments], check=True)

    def key(self, side: Side, library: Library) -> str:
        """What results of a side depend on."""
        mine = hashlib.sha256(CONSTRAINTS.read_bytes()).hexdigest()[:12]
        return f"{library.version} {self.digest if side == 'dovetail' else mine}"

    def variables(self, side: Side, more: Mapping[str, str]) -> dict[str, str]:
        """The variables of a process of that side."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("DOVETAIL_", "JAX_"))}
        kept.pop("PYTHONPATH", None)
        kept |= {"PYTHONHASHSEED": "0", "JAX_PLATFORMS": "cpu"}
        return kept | more | ({"DOVETAIL_AS_JAX": "1"} if side == "dovetail" else {})
