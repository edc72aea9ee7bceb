"""Processes that fail: the others end, or raise, in time, and say whose fault it was."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dovetail_distributed.addresses import listen, reserve

from .processes import Ended, all_well, run_program, wait_for

WITHIN = 15.0
"""The seconds after which the processes that are left have ended. Every limit that is not the one
of a scenario is longer (see ``programs/failing.py``), so that nothing else can have ended them; the
time that a busy machine takes to import and to compile is in this. The table in the guide has what
it took."""


@dataclass(frozen=True)
class Scenario:
    """A way to fail.

    Attributes:
        mode: of the program. title: what happens. limit: the seconds that were set, and of what.
        says: what each process that is left writes, by its number. during: what is done meanwhile.
        measured: those whose time counts, if not all of these.
    """

    mode: str
    title: str
    limit: str
    says: dict[int, str]
    count: int = 2
    during: Callable[..., Any] | None = None
    absent: tuple[int, ...] = ()
    well: bool = False
    measured: tuple[int, ...] = ()


def _continue_after(seconds: float, index: int) -> Callable[..., None]:
    def during(made: Any, files: list[Path]) -> None:
        wait_for("event", [files[index]])
        time.sleep(seconds)
        made[index].send_signal(signal.SIGCONT)

    return during


_DIED = r"process {} \(host .*\) of {} ended without a word: it was killed, or it crashed"
_COORDINATOR = "process 0 of 2 ended without a word"
_SILENT = r"process 1 \(host .*\) of 2 gave no sign of life for 3 s"
_DIFFERENT = r"RuntimeError: processes run different programs at .*failing.py:\d+ .*"

SCENARIOS = [
    Scenario(
        "killed before", "killed (-9) before the first program", "",
        {i: _DIED.format(3, 4) + r".*cannot go on without it" for i in range(3)}, count=4,
    ),
    Scenario(
        "killed between", "killed (-9) between programs", "",
        # The line that it was at lately: when it last gave a sign of life.
        {0: _DIED.format(1, 2) + r".* It was at .*/programs/\w+.py:\d+: "},
    ),
    Scenario(
        "killed in", "killed (-9) while the others wait for it in a collective", "",
        {i: _DIED.format(3, 4) + r".*without it at .*failing.py:\d+: "
         for i in range(3)}, count=4,
    ),
    Scenario(
        "killed parent", "the same, while a process that the killed one has forked goes on", "",
        {0: _DIED.format(1, 2) + r".*cannot go on without it"},
    ),
    Scenario("child ends", "all have forked a process that has ended: all go on", "",
             {0: "", 1: ""}, well=True),
    Scenario(
        "killed late", "killed (-9) in a collective, 2.5 s after the last program", "",
        {0: _DIED.format(1, 2) + r".* It was at .*failing.py:\d+: time.sleep.*"
            r"cannot go on without it at .*failing.py:\d+: assert float"},
    ),
    Scenario("coordinator killed", "process 0 killed (-9)", "", {1: _COORDINATOR}),
    Scenario(
        "absent", "one never comes", "initialization_timeout=3",
        {0: r"TimeoutError: process 0 of 2 .*: process 1 of 2 did not come to initialize within 3"},
        absent=(1,),
    ),
    Scenario(
        "no coordinator", "process 0 never comes", "initialization_timeout=3",
        {1: r"TimeoutError: process 1 of 2 .*: process 0 at 127.0.0.1:\d+ is not reached"},
        absent=(0,),
    ),
    Scenario(
        "other programs", "they run different programs", "",
        {0: _DIFFERENT + "process 0 runs <lambda>.*process 1 runs <lambda>"},
    ),
    Scenario(
        "other shapes", "they run one program on different shapes", "",
        {0: _DIFFERENT + r"process 0 runs step\(f32\[16@x\]\).*1 runs step\(f32\[32@x\]\)"},
    ),
    Scenario(
        "other known", "one runs a new program, the other an old one", "compare_timeout=4",
        {0: r"TimeoutError: process 0 runs <lambda>\(f32\[8@x\]\) at .*, and waits for others to "
            r"do the same: process 1 .*, which is at .*failing.py:\d+: assert float\(step\(x\)\)"},
    ),
    Scenario(
        "never comes", "one lives, and never comes to a program that it has run before",
        "program_timeout=3",
        {0: r"process 0 of 2 has waited 3 s \(program_timeout\) for a result of type f32\[\] of a "
            r"program .*, at .*failing.py:\d+: assert .*; .*process 1 \(host .*\) is at "
            r".*failing.py:\d+: time.sleep\(60\)\. It ends now with exit status 70",
         1: r"process 0 \(host .*\) of 2 failed: waited 3 s .*cannot go on without it"},
    ),
    Scenario(
        "never comes at once", "the same, where programs run in the thread that calls them",
        "program_timeout=3",
        {0: r"Gloo all-reduce failed.*Timed out.*process 0 of 2: process 1 \(host .*\) is at "
            r".*failing.py:\d+: time.sleep\(60\)",
         1: r"process 0 \(host .*\) of 2 failed: .*Gloo.*cannot go on without it"},
    ),
    Scenario(
        "takes long", "one comes late again and again: all go on", "program_timeout=5",
        {0: "", 1: ""}, well=True,
    ),
    Scenario(
        "stopped", "stopped (SIGSTOP), and continued after 5 s", "heartbeat_timeout_seconds=3",
        {0: _SILENT, 1: "so that the others went on without it|ended without a word"},
        during=_continue_after(5, 1), measured=(0,),
    ),
    Scenario(
        "coordinator stopped", "process 0 stopped, and continued after 5 s",
        "heartbeat_timeout_seconds=3",
        {1: "process 0 of 2 gave no sign of life for 3 s", 0: r"process 1 \(host .*ended without"},
        during=_continue_after(5, 0), measured=(1,),
    ),
    Scenario(
        "paused", "stopped, and continued after 4 s: all go on", "heartbeat_timeout_seconds=10",
        {0: "", 1: ""}, during=_continue_after(4, 1), well=True,
    ),
    Scenario(
        "raises", "one raises an exception", "",
        {0: r"process 1 \(host .*\) of 2 failed: ValueError: bad data\. "
            r"It was at .*failing.py:\d+: raise ValueError"},
    ),
    Scenario(
        "exits", "one ends too early (sys.exit)", "shutdown_timeout_seconds=3",
        {1: "process 1 of 2 waited for 3 s at its end for the other processes.*process 0 .* is at "
            r".*failing.py:\d+: assert float", 0: r"process 1 .*ended without a word"},
    ),
    Scenario(
        "recovers", "killed (-9), with enable_recoverability", "",
        {0: r"ended without a word.* The others go on\.\ngoes on"}, well=True,
    ),
]  # fmt: skip


def measure(scenario: Scenario, folder: Path) -> tuple[float, list[str]]:
    """For how many seconds the processes that are left went on, and what is wrong with it."""
    place = folder / scenario.mode.replace(" ", "_")
    place.mkdir()
    ended = run_program(
        place, "failing", scenario.mode, count=scenario.count, devices=1, seconds=90.0,
        during=scenario.during, absent=scenario.absent,
    )  # fmt: skip
    said = "".join(e.text for e in ended)
    for pid in re.findall(r"forked (\d+)", said):
        os.kill(int(pid), signal.SIGKILL)
    times = re.findall(r"event ([\d.]+)", said)
    left = {i: ended[i] for i in scenario.says}
    last = max(ended[i].at for i in scenario.measured or left)
    seconds = last - max(map(float, times), default=0.0)
    return seconds, list(_wrong(scenario, left, seconds))


def _wrong(scenario: Scenario, left: dict[int, Ended], seconds: float) -> Any:
    for i, e in left.items():
        if (e.status == 0) is not scenario.well and scenario.mode != "exits":
            yield f"{scenario.mode}: process {i} has status {e.status}: {e.text}"
        if not re.search(scenario.says[i], e.text, re.DOTALL):
            yield f"{scenario.mode}: process {i} does not say {scenario.says[i]!r}: {e.text}"
    if seconds > WITHIN:
        yield f"{scenario.mode}: {seconds:.1f} s, not {WITHIN}"


def measure_all(folder: Path) -> list[tuple[Scenario, float, list[str]]]:
    """All scenarios, some of them at once."""
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda s: (s, *measure(s, folder)), SCENARIOS))


def test_failures(tmp_path):
    wrong = [w for _, _, result in measure_all(tmp_path) for w in result]
    assert not wrong, "\n\n".join(wrong)


def test_two_jobs_on_one_port(tmp_path):
    """The second job's process 0 cannot listen; another process of it is not let in."""
    with reserve("127.0.0.1") as kept:
        port = kept.getsockname()[1]
        _second_job_cannot_listen(tmp_path, port)
        _second_job_is_not_let_in(tmp_path, port)


def _second_job_cannot_listen(tmp_path, port):
    with listen("127.0.0.1", port):
        (first,) = run_program(tmp_path, "failing", "second job", count=1, port=port)
    assert first.status == 1
    assert f"process 0 cannot listen at 127.0.0.1:{port}" in first.text
    assert "the port is in use, by another job perhaps. Give another coordinator_addr" in first.text


def _second_job_is_not_let_in(tmp_path, port):
    second: list[Ended] = []

    def intrude(made: Any, files: list[Path]) -> None:
        wait_for("event", files)
        place = tmp_path / "second"
        place.mkdir()
        second.extend(run_program(place, "failing", "second job", port=port, absent=(0,)))

    all_well(run_program(tmp_path, "failing", "first job", during=intrude, port=port))
    assert second[1].status == 1
    assert (
        "cannot join: the job at this address has begun. Is the address another" in second[1].text
    )
