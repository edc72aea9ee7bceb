"""The environment in which genuine JAX, Dovetail and the libraries are installed."""

from __future__ import annotations

import hashlib
import json
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
        stamp = self.folder / ".installed"
        pinned = CONSTRAINTS.read_text()
        there = json.loads(stamp.read_text()) if stamp.exists() else {"pinned": ""}
        if there["pinned"] != pinned:
            print(f"{self.folder.relative_to(ROOT)}: new", flush=True)
            subprocess.run([sys.executable, "-m", "venv", "--clear", self.folder], check=True)
            there = {"pinned": pinned, "packages": [], "digest": ""}
        needs = {*ALWAYS, *(need for each in libraries for need in each.needs)}
        alone = {library.needs[0] for library in libraries if library.alone}
        for names, how in ((needs - alone, ()), (alone, ("--no-deps",))):
            missing = sorted(names.difference(there["packages"]))
            if missing:
                print(f"{self.folder.relative_to(ROOT)}: {' '.join(missing)}", flush=True)
                self._pip(*how, "-c", CONSTRAINTS, *missing)
                there["packages"] += missing
        result = sorted(wheels.glob("*.whl"))
        self.digest = hashlib.sha256(b"".join(w.read_bytes() for w in result)).hexdigest()[:12]
        if there["digest"] != self.digest:
            self._pip("--no-deps", "--force-reinstall", *result)
        stamp.write_text(json.dumps(there | {"digest": self.digest}))

    def _pip(self, *arguments: str | Path) -> None:
        command = [self.python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
        subprocess.run([*command, *arguments], check=True)

    def key(self, side: Side, library: Library) -> str:
        """What results of a side depend on."""
        mine = hashlib.sha256(CONSTRAINTS.read_bytes()).hexdigest()[:12]
        some = f" every {library.every}" if library.every > 1 else ""
        some += f" from {library.first}" if library.first else ""
        return f"{library.version} {self.digest if side == 'dovetail' else mine}{some}"

    def variables(self, side: Side, more: Mapping[str, str]) -> dict[str, str]:
        """The variables of a process of that side."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("DOVETAIL_", "JAX_"))}
        kept.pop("PYTHONPATH", None)
        kept |= {"PYTHONHASHSEED": "0", "JAX_PLATFORMS": "cpu"}
        return kept | more | ({"DOVETAIL_AS_JAX": "1"} if side == "dovetail" else {})
