"""A pytest plugin that writes the outcome of each test to a file as soon as it is known.

``ECOSYSTEM_RECORD`` is the file, ``ECOSYSTEM_WANTED`` one that says which tests to run. It imports
neither JAX nor Dovetail.
"""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 150  # seconds for a test
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
RECORD = Path(os.environ["ECOSYSTEM_RECORD"])


def name_of(nodeid: str) -> str:
    """An identifier that is the same in every process, whatever module a class is of."""
    return ADDRESS.sub("0x", nodeid).replace("dovetail.numpy", "jax.numpy")


def tell(**what: Any) -> None:
    with RECORD.open("a") as file:
        file.write(json.dumps(what) + "\n")


class Slow(BaseException):
    """A test that takes too long."""


def _too_long(*_: Any) -> None:
    raise Slow(f"no end within {PATIENCE} s")


def pytest_configure(config: pytest.Config) -> None:
    signal.signal(signal.SIGALRM, _too_long)
    try:
        from absl import flags

        flags.FLAGS.mark_as_parsed()
    except ImportError:
        pass
    try:
        from hypothesis import settings

        settings.register_profile("ecosystem", derandomize=True, deadline=None, database=None)
        settings.load_profile("ecosystem")
    except ImportError:
        pass


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    wanted = json.loads(Path(os.environ["ECOSYSTEM_WANTED"]).read_text())
    only, done = wanted["only"], frozenset(wanted["done"])
    chosen = None if only is None else frozenset(only)
    items[:] = [
        item
        for item in items[wanted.get("first", 0) :: wanted["every"]]
        if name_of(item.nodeid) not in done
        and (chosen is None or name_of(item.nodeid) in chosen)
    ]  # fmt: skip


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    name = name_of(item.nodeid)
    _current.clear()
    tell(begun=name)
    signal.alarm(PATIENCE)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        if any(report.when == "teardown" for report in _current):  # not interrupted
            tell(name=name, **_outcome(_current))


_current: list[Any] = []


def pytest_runtest_logreport(report: Any) -> None:
    _current.append(report)


def pytest_collectreport(report: Any) -> None:
    if report.failed:
        error, place = _error(report)
        tell(name=name_of(report.nodeid), how="failed", seconds=0.0, error=error, place=place)


def _outcome(reports: list[Any]) -> dict[str, Any]:
    failed = [r for r in reports if r.failed]
    seconds = round(sum(r.duration for r in reports), 3)
    if failed:
        error, place = _error(failed[0])
        return {"how": "failed", "seconds": seconds, "error": error, "place": place}
    how = "skipped" if any(r.skipped for r in reports) else "passed"
    return {"how": how, "seconds": seconds, "error": "", "place": ""}


def _error(report: Any) -> tuple[str, str]:
    """The beginning of an exception's text, and the file and line that raised it."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        lines = [line.strip() for line in crash.message.splitlines() if line.strip()]
        return " ".join(lines[:2])[:300], f"{_short(crash.path)}:{crash.lineno}"
    lines = [line.strip() for line in str(report.longrepr).splitlines() if line.strip()]
    errors = [line.removeprefix("E").strip() for line in lines if line.startswith("E ")]
    return ((errors or lines or [""])[-1])[:300], ""


def _short(path: str) -> str:
    return path.split("site-packages/")[-1]
