"""Runs the tests of one file after another in processes of their own and keeps the outcomes.

A process that dies or hangs costs the test that it was at: the rest of its file is run again.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from .environment import BUILD, Environment, Side
from .libraries import HERE, Library

PATIENCE = 1200  # seconds for a file; a test has those of the recorder
DEATHS = 20  # of processes, after which the rest of a file is given up

Outcome = tuple[str, float, str, str]
"""How it ended (``passed``, ``failed``, ``skipped``, ``died``, ``missing``), in how many seconds,
the error's text and its place."""


class Job(NamedTuple):
    """Tests of one file on one side; all of them where ``only`` is None."""

    library: Library
    root: Path
    file: str
    side: Side
    only: frozenset[str] | None


class Runner:
    """Runs files and remembers outcomes below ``build/ecosystem/results``."""

    def __init__(
        self, environment: Environment, failing: bool, kept: bool, workers: int = 2
    ) -> None:
        self.environment = environment
        self.failing = failing
        self.kept = kept
        self.workers = workers

    def outcomes(
        self, library: Library, root: Path, files: list[str], side: Side, only: Any = None
    ) -> dict[str, Outcome]:
        """The outcomes of all tests of these files, or of those that ``only`` has by file."""
        jobs = [
            Job(library, root, file, side, frozenset(only[file]) if only is not None else None)
            for file in files
            if only is None or only.get(file)
        ]
        result: dict[str, Outcome] = {}
        with ThreadPoolExecutor(self.workers) as pool:
            for outcomes in pool.map(self._file, jobs):
                result |= outcomes
        return result

    def _file(self, job: Job) -> dict[str, Outcome]:
        place = _place(job)
        key = self.environment.key(job.side, job.library)
        stored = json.loads(place.read_text()) if place.exists() else None
        before = {name: tuple(o) for name, o in stored["tests"].items()} if stored else {}
        again = self.failing and job.side == "dovetail" and stored is not None
        if stored and (stored["key"] == key or self.kept) and not again:
            return before
        if again:
            bad = frozenset(n for n, o in before.items() if o[0] not in ("passed", "skipped"))
            if not bad:
                return before
            result = before | self._run(job._replace(only=bad))
            key = stored["key"]
        else:
            result = self._run(job)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps({"key": key, "tests": result}, indent=0))
        return result

    def _run(self, job: Job) -> dict[str, Outcome]:
        """Outcomes of all tests of a job, from as many processes as it takes. Where an earlier run
        was interrupted, its record is still there."""
        record = _record(job, self.environment.key(job.side, job.library))
        result = _read(record)[0] if record.exists() else {}
        for _ in range(DEATHS):
            record.parent.mkdir(parents=True, exist_ok=True)
            record.write_text(_written(result))
            told = self._process(job, record, frozenset(result))
            result, at = _read(record)
            if not at:
                break
            result[at] = ("died", 0.0, _last(told) or "the process died", "")
        record.unlink(missing_ok=True)
        if not result and told:
            result = {job.file: ("failed", 0.0, _last(told), "")}
        if job.only is not None:
            absent = ("missing", 0.0, _why_missing(result, job.file), "")
            result = {name: result.get(name, absent) for name in job.only}
        return result

    def _process(self, job: Job, record: Path, done: frozenset[str]) -> str:
        """Runs pytest; what it told where it did not end as it should."""
        wanted = record.with_suffix(".wanted")
        only = sorted(job.only) if job.only is not None else None
        first, every = (job.library.first, job.library.every) if only is None else (0, 1)
        asked = {"only": only, "first": first, "every": every, "done": sorted(done)}
        wanted.write_text(json.dumps(asked))
        command = [self.environment.python, "-m", "pytest", "-q", "-p", "ecosystem_recorder"]
        command += ["-p", "no:cacheprovider", "-o", "addopts=", f"--rootdir={job.root}"]
        command += ["--continue-on-collection-errors", *job.library.options, job.file]
        more = {"PYTHONPATH": str(HERE / "recording"), "ECOSYSTEM_RECORD": str(record)}
        more |= {"ECOSYSTEM_WANTED": str(wanted)} | job.library.settings
        variables = self.environment.variables(job.side, more)
        try:
            done_process = subprocess.run(
                command, cwd=job.root, env=variables, timeout=PATIENCE,
                capture_output=True, text=True, errors="replace", check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"no end within {PATIENCE} s"
        finally:
            wanted.unlink(missing_ok=True)
        if done_process.returncode in (0, 1, 5):
            return ""
        return f"{done_process.stdout}\n{done_process.stderr}"


def _place(job: Job) -> Path:
    name = job.file.replace("/", ".").removesuffix(".py")
    start = f"-from-{job.library.first}" if job.library.first else ""
    folder = BUILD / "results" / f"{job.library.folder}-{job.library.version}{start}"
    return folder / job.side / f"{name}.json"


def _record(job: Job, key: str) -> Path:
    """Where the outcomes of a job are as long as it runs."""
    asked = hashlib.sha256(repr((key, sorted(job.only or ()))).encode()).hexdigest()[:12]
    return _place(job).with_suffix(f".{asked}.record")


def _written(result: dict[str, Outcome]) -> str:
    lines = [
        json.dumps({"name": name, "how": how, "seconds": s, "error": error, "place": place}) + "\n"
        for name, (how, s, error, place) in result.items()
    ]
    return "".join(lines)


def _read(record: Path) -> tuple[dict[str, Outcome], str]:
    """What a process recorded, and the test that it had begun and not ended."""
    result: dict[str, Outcome] = {}
    at = ""
    for line in record.read_text().splitlines(keepends=True):
        told = json.loads(line) if line.endswith("\n") else {}
        at = told.get("begun", "")
        if "name" in told:
            result[told["name"]] = (told["how"], told["seconds"], told["error"], told["place"])
    return result, at


def _last(told: str) -> str:
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""


def _why_missing(result: dict[str, Outcome], file: str) -> str:
    """Why a test was not found: what the collection of its file said, if that failed."""
    return next((o[2] for n, o in result.items() if n == file and o[2]), "not collected")
