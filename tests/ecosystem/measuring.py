"""Runs the programs of a library on both sides in turn and compares their numbers and times."""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from . import results
from .environment import BUILD, Environment, Side
from .libraries import HERE, Library

SIDES: tuple[Side, Side] = ("jax", "dovetail")
MEASURES = ("import", "first", "steady", "whole")
PATIENCE = 600


class Measured(NamedTuple):
    """A program's times in seconds on each side, and what is wrong with it, if anything."""

    library: str
    program: str
    times: dict[str, dict[str, float | None]]
    problem: str

    def ratio(self, measure: str) -> float | None:
        """Dovetail's time divided by JAX's."""
        mine, theirs = (self.times.get(s, {}).get(measure) for s in ("dovetail", "jax"))
        return mine / theirs if mine and theirs else None


def programs_of(library: Library) -> list[Path]:
    """Its programs, in the order in which they run."""
    return sorted((HERE / "programs" / library.folder).glob("*.py"))


def measure(
    library: Library, environment: Environment, sample: bool, repeat: int, kept: bool
) -> Iterator[Measured]:
    """Runs each program ``repeat`` times on each side, those of a sample once."""
    before = results.programs_of(library)
    if kept and before:
        for name, (times, problem) in before.programs.items():
            yield Measured(library.name, name, times, problem)
        return
    result: list[Measured] = []
    for path in programs_of(library):
        if not sample or f"programs/{path.stem}" in library.sample:
            result.append(_measured(library, path, environment, 1 if sample else repeat))
            yield result[-1]
    if not sample:
        every = {each.program: (each.times, each.problem) for each in result}
        results.keep(library, results.Programs(library.version, repeat, every))


def _measured(library: Library, path: Path, environment: Environment, repeat: int) -> Measured:
    runs: dict[Side, list[dict[str, Any]]] = {"jax": [], "dovetail": []}
    problem = ""
    for _ in range(repeat):
        for side in SIDES:
            told = _run(path, side, environment, library)
            if isinstance(told, str):
                problem = problem or f"{side}: {told}"
            else:
                runs[side].append(told)
        if problem:
            break
    if not problem:
        problem = difference(runs["dovetail"][0]["numbers"], runs["jax"][0]["numbers"])
    times = {side: _medians(told) for side, told in runs.items()}
    return Measured(library.name, path.stem, times, problem)


def _medians(runs: list[dict[str, Any]]) -> dict[str, float | None]:
    result: dict[str, float | None] = {}
    for name in MEASURES:
        values = [run[name] for run in runs if run[name] is not None]
        result[name] = statistics.median(values) if values else None
    return result


def _run(path: Path, side: Side, environment: Environment, library: Library) -> Any:
    """What a program says, or the last line of what it said before it failed."""
    folders = {s: BUILD / "scratch" / library.folder / s for s in SIDES}
    folders[side].mkdir(parents=True, exist_ok=True)
    other = folders["jax" if side == "dovetail" else "dovetail"]
    more = {"OWN_FOLDER": str(folders[side]), "OTHER_FOLDER": str(other)} | library.settings
    begun = time.perf_counter()
    more["ECOSYSTEM_BEGUN"] = str(time.time())
    try:
        done = subprocess.run(
            [environment.python, HERE / "stopwatch.py", path], cwd=folders[side],
            env=environment.variables(side, more), timeout=PATIENCE,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"no end within {PATIENCE} s"
    whole = time.perf_counter() - begun
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line and line[0] not in " -"]
        return lines[-1] if lines else f"exit status {done.returncode}"
    return json.loads(done.stdout.splitlines()[-1]) | {"whole": whole}


def difference(mine: Any, theirs: Any, name: str = "", tolerance: float = 1e-3) -> str:
    """How the numbers of two results differ by more than rounding, or nothing."""
    if isinstance(theirs, dict):
        return next(filter(None, (difference(mine.get(k), v, k) for k, v in theirs.items())), "")
    if isinstance(theirs, list) and isinstance(mine, list) and len(mine) == len(theirs):
        return next(filter(None, (difference(a, b, name) for a, b in zip(mine, theirs))), "")
    same = mine == theirs
    if isinstance(mine, float | int) and isinstance(theirs, float | int):
        same = math.isclose(mine, theirs, rel_tol=tolerance, abs_tol=1e-5)
        same |= math.isnan(mine) and math.isnan(theirs)
    return "" if same else f"{name} is {mine}, on JAX {theirs}"


def compared(measured: Measured) -> str:
    """A line: the program, and the ratios of its times."""
    name = f"{measured.library}/{measured.program}"
    if measured.problem:
        return f"{name:<34}{measured.problem}"
    parts: list[str] = []
    for each in MEASURES:
        ratio, theirs = measured.ratio(each), measured.times["jax"][each]
        parts += [f"{each} {ratio:.2f} of {theirs:.3f} s"] if ratio else []
    return f"{name:<34}{', '.join(parts)}"
