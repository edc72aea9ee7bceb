"""Tests of a copy of the repository, each run in a process of its own: for `mutate.py`."""

from __future__ import annotations

import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Imported before forking, to start each process quickly: nothing of ours, nothing with threads.
import coverage
import ml_dtypes  # noqa: F401
import numpy  # noqa: F401
import pytest

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/mutation"
TREE = BUILD / "tree"
LOG = BUILD / "watched.json"
SOURCES = "core/dovetail_[^/]+/|facade/|plugins/[^/]+/dovetail_"


@dataclass
class Tests:
    """What is known of the tests below one folder: seconds by test, and tests by statement."""

    folder: str
    digest: str
    seconds: dict[str, float]
    covers: dict[str, dict[int, list[str]]]  # file -> line -> tests


@dataclass(eq=False)
class Watch:
    """A pytest plugin: runs chosen tests in a given order, and notes what became of them."""

    chosen: list[str] | None = None
    cov: Any = None
    seconds: dict[str, float] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the chosen tests, in their order."""
        if self.chosen is not None:
            order = {test: i for i, test in enumerate(self.chosen)}
            items[:] = sorted(
                (i for i in items if i.nodeid in order), key=lambda i: order[i.nodeid]
            )

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Statements that run from now on are this test's."""
        if self.cov is not None:
            self.cov.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up the time of a test's phases; a skipped test tells nothing."""
        test = report.nodeid
        self.seconds[test] = self.seconds.get(test, 0.0) + report.duration
        if report.outcome != "passed":
            self.failed.add(test)


def copy_tree() -> dict[str, str]:
    """Bring the copy up to date; the digest of each file."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    digests: dict[str, str] = {}
    for name in filter(None, names.split("\0")):
        target = TREE / name
        if (ROOT / name).is_symlink() and not target.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to((ROOT / name).readlink())
        if not (ROOT / name).is_file():
            continue
        data = (ROOT / name).read_bytes()
        digests[name] = hashlib.sha256(data).hexdigest()
        if not target.exists() or target.read_bytes() != data:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    for stale in [p for p in TREE.rglob("*.py") if str(p.relative_to(TREE)) not in digests]:
        stale.unlink()
    return digests


def forked(files: Iterable[str], watch: Watch, limit: float | None = None) -> int | None:
    """Pytest's exit code, run in a forked process on files of the copy; None beyond ``limit``."""
    LOG.unlink(missing_ok=True)
    pid = os.fork()
    if pid == 0:
        code = 3
        try:
            os.setpgid(0, 0)
            out = os.open(BUILD / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(out, 1)
            os.dup2(out, 2)
            resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
            code = _run(list(files), watch)
        except BaseException:  # also what ends a process: this one ends here
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    deadline = time.monotonic() + (limit or 1e9)
    while True:
        result, status = os.waitpid(pid, os.WNOHANG)
        if result:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return None
        time.sleep(0.01)


def _run(files: list[str], watch: Watch) -> int:
    """In the forked process: the tests of files, with the copy's packages in front."""
    os.chdir(TREE)
    paths = [str(TREE / p) for p in ("core", "facade", *(TREE / "plugins").glob("*"))]
    sys.path[:0] = paths
    sys.dont_write_bytecode = watch.cov is None  # the unchanged sources are compiled once
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    options = ["-q", "--rootdir=.", "-c", "pyproject.toml", "-p", "no:cacheprovider", "--tb=short"]
    if watch.cov is None:
        options.append("-x")
    else:
        watch.cov.start()
    code = pytest.main([*options, *files], plugins=[watch])
    if watch.cov is not None:
        watch.cov.stop()
        watch.cov.save()
    LOG.write_text(json.dumps({"seconds": watch.seconds, "failed": sorted(watch.failed)}))
    return int(code)


def known_tests(folder: str, digests: dict[str, str], measured: list[str]) -> Tests:
    """What the tests below a folder run of some packages.

    Found by running them, unless that was done before with the same sources and tests.
    """
    seen = [
        f"{n} {d}"
        for n, d in sorted(digests.items())
        if n.endswith(".py") and (n.startswith(folder) or re.match(SOURCES, n))
    ]
    digest = hashlib.sha256("\n".join([folder, *seen]).encode()).hexdigest()
    file = BUILD / f"tests-{folder.replace('/', '-')}.json"
    if file.exists() and (result := Tests(**json.loads(file.read_text()))).digest == digest:
        result.covers = {f: {int(k): t for k, t in ls.items()} for f, ls in result.covers.items()}
        return result
    print(f"running {folder} under coverage", flush=True)
    data = BUILD / "coverage.sqlite"
    data.unlink(missing_ok=True)
    included = [str(TREE / package / "*") for package in measured]
    cov = coverage.Coverage(data_file=str(data), include=included, config_file=False)
    started = time.monotonic()
    code = forked([folder], Watch(cov=cov))
    if code not in (0, 1):
        raise SystemExit(f"{folder} cannot be run: see {BUILD / 'output.txt'}")
    watched = json.loads(LOG.read_text())
    failed = set(watched["failed"])
    seconds = {t: s for t, s in watched["seconds"].items() if t not in failed}
    covers: dict[str, dict[int, list[str]]] = {}
    recorded = coverage.CoverageData(str(data))
    recorded.read()
    for name in recorded.measured_files():
        lines = recorded.contexts_by_lineno(name)
        kept = {n: [t for t in tests if t in seconds] for n, tests in lines.items()}
        covers[str(Path(name).relative_to(TREE))] = kept
    result = Tests(folder, digest, seconds, covers)
    file.write_text(json.dumps(vars(result)))
    print(f"  {len(seconds)} tests in {time.monotonic() - started:.0f} s", flush=True)
    for test in sorted(failed):
        print(f"  left out, since it did not pass: {test}", flush=True)
    return result
