"""Running many cases in some processes, and saying what was found."""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import dovetail

from .cases import case_of, check
from .evaluation import without_compiling
from .programs import all_steps
from .script import script_of
from .shrinking import Failure, failure_of, shrink

SLOW = 60
"""Seconds of processor time after which a case counts as one that does not end; one that waits does
so after ten times as many by the clock, which also runs while other processes have the machine."""
CLEAR_EVERY = 500
SAY_EVERY = 100


@dataclass
class Report:
    """What a session did, and the failures it found by how they look."""

    cases: int = 0
    unclear: int = 0
    seconds: float = 0.0
    kinds: Counter[str] = field(default_factory=Counter)
    failures: dict[str, dict[str, Any]] = field(default_factory=dict)

    def join(self, other: dict[str, Any]) -> None:
        """Add what another process reports."""
        self.cases += other["cases"]
        self.unclear += other["unclear"]
        self.seconds += other["seconds"]
        self.kinds.update(other["kinds"])
        for key, failure in other["failures"].items():
            known = self.failures.setdefault(key, {**failure, "numbers": []})
            known["numbers"] += failure["numbers"]


class _TooSlow(Exception):
    pass


def _give_up(*_: Any) -> None:
    raise _TooSlow(f"does not end in {SLOW} seconds of processor time, or waits")


def prepare() -> None:
    """Options of the process, and no compiling."""
    dovetail.config.update("enable_x64", True)
    dovetail.config.update("enable_checks", True)
    warnings.filterwarnings("ignore", "Budget")  # small ones are small on purpose
    without_compiling()
    gc.freeze()  # the collector would look through all that is imported
    gc.set_threshold(20_000, 20, 50)


def run(seed: int, numbers: range, compile_every: int, shrinking: float = 30.0) -> Iterator[Report]:
    """Try the cases of some numbers; yields the report so far after each."""
    report = Report()
    for timer in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(timer, _give_up)
    for i, number in enumerate(numbers):
        _try(report, seed, number, compile_every, shrinking)
        if i % CLEAR_EVERY == CLEAR_EVERY - 1:
            dovetail.clear_caches()
        yield report


def _try(report: Report, seed: int, number: int, compile_every: int, shrinking: float) -> None:
    dovetail.config.update("enable_checks", number % 3 == 0)
    before = time.process_time()
    case = case_of(seed, number, compile_every)
    report.cases += 1
    report.kinds.update({s.kind for s in all_steps(case.program)})
    report.kinds.update({f"under {type(t).__name__}" for t in case.stack})
    report.kinds.update([f"evaluated {case.mode}"])
    said: list[bool] = []
    failure = failure_of(lambda c: said.append(timed_check(c)), case)
    report.unclear += said == [False]
    report.seconds += time.process_time() - before
    if failure is None:
        return
    key = f"{failure.kind} {failure.place}"
    if failure.kind != "Wrong":
        key += f" {failure.message[:60]!r}"
        if key in report.failures:
            report.failures[key]["numbers"].append(number)
            return
    case = shrink(timed_check, case, failure, shrinking)
    failure = failure_of(timed_check, case) or failure
    if failure.kind == "Wrong":
        key = _look(case, failure)
    known = report.failures.setdefault(key, {"numbers": [], "message": failure.message[:2000]})
    known["numbers"].append(number)
    known.setdefault("script", script_of(case, f"Seed {seed}, case {number}: {key}"))


def _look(case: Any, failure: Failure) -> str:
    """Wrong results are told apart by what is left of the case after shrinking."""
    kinds = sorted({s.kind for s in all_steps(case.program)} - {"constant", "call"})
    stack = [type(t).__name__ for t in case.stack]
    return f"Wrong: {failure.message.splitlines()[0][:40]}: {' + '.join(kinds)} under {stack}"


def timed_check(case: Any) -> bool:
    """``check``, given up after some time."""
    signal.setitimer(signal.ITIMER_PROF, SLOW)
    signal.setitimer(signal.ITIMER_REAL, 10 * SLOW)
    try:
        return check(case)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def work(argv: list[str]) -> None:
    """A worker: prints the number that it is at, and at the end its report, as lines of JSON."""
    seed, first, last, step, compile_every = map(int, argv)
    faulthandler.enable()
    prepare()
    report = Report()
    for report in run(seed, range(first, last, step), compile_every):
        if report.cases % SAY_EVERY == 0:
            print(json.dumps({"report": vars(report)}), flush=True)
    print(json.dumps({"report": vars(report), "end": True}), flush=True)


def fuzz(
    count: int,
    seed: int,
    workers: int,
    compile_every: int,
    first: int = 0,
    tell: Callable[[int, Report], None] = lambda worker, report: None,
) -> Report:
    """Try ``count`` cases in ``workers`` processes; ``tell`` is given each one's reports."""
    last = first + count
    env = {**os.environ, "NPROC": "1"}
    command = [sys.executable, "-m", __package__, "--worker", str(seed)]
    processes = [
        subprocess.Popen(
            [*command, str(first + w), str(last), str(workers), str(compile_every)],
            stdout=subprocess.PIPE, text=True, env=env, cwd=Path(__file__).parent.parent,
        )
        for w in range(workers)
    ]  # fmt: skip
    lock = Lock()

    def listen(worker: int) -> dict[str, Any]:
        """What a worker said last; all are heard at once, as none speaks on unheard."""
        said: dict[str, Any] = {"report": vars(Report())}
        for line in processes[worker].stdout or ():
            if not line.endswith("\n"):
                break  # it was killed while it was speaking
            said = json.loads(line)
            with lock:
                tell(worker, Report(**said["report"]))
        return said

    total = Report()
    with ThreadPoolExecutor(workers) as pool:
        for w, said in enumerate(pool.map(listen, range(workers))):
            total.join(said["report"])
            if processes[w].wait() or "end" not in said:
                cases = said["report"]["cases"]
                key = f"worker {w} ended with {processes[w].returncode} after {cases} cases"
                total.failures[key] = {"numbers": [], "message": key}
    return total
