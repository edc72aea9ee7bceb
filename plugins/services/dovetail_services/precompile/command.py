"""The command ``dovetail warm``: what a run has recorded is compiled into the cache on disk."""

from __future__ import annotations

import subprocess
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import Any

from dovetail_core import DovetailError, config

from .entry import Entry, devices
from .file import read

help = "compile what a run has recorded (DOVETAIL_RECORD_COMPILES) into the cache on disk"
_EXAMPLE = "dovetail warm compiles.jsonl --cache ~/.cache/dovetail --jobs 4"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("path", help="the file that DOVETAIL_RECORD_COMPILES named")
    parser.add_argument(
        "--cache", metavar="FOLDER", help="the folder of the cache "
        "(default: DOVETAIL_COMPILATION_CACHE_DIR)",
    )  # fmt: skip
    parser.add_argument(
        "--jobs", metavar="N", type=_number, help="how many programs are compiled at a time "
        "(default: the number of processors)",
    )  # fmt: skip
    parser.add_argument(
        "--devices", metavar="N", type=_number, help="only programs of processes that had N "
        "devices of their platform (default: all, those of each N in a process of their own)",
    )  # fmt: skip
    parser.epilog = f"for example: {_EXAMPLE}"


def _number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"expected a number from 1 on, got {text!r}")
    return int(text)


def run(args: Namespace) -> int:
    """Compile the programs; the exit status is 1 where one was not compiled."""
    if args.cache:
        config.update("compilation_cache_dir", args.cache)
    if config.read("compilation_cache_dir") is None:
        raise DovetailError(
            "there is no cache to compile into: give --cache FOLDER, or set "
            "DOVETAIL_COMPILATION_CACHE_DIR"
        )
    entries, bad = _entries(args.path)
    counts = sorted({e.count for e in entries})
    if args.devices is not None:
        entries, bad = [e for e in entries if e.count == args.devices], 0
    elif len(counts) > 1:
        return _run_each(args, counts) or int(bool(bad))
    if any(e.platform == "cpu" and e.count > 1 for e in entries):
        config.update("num_cpu_devices", entries[0].count)
    return _warm(entries, args.jobs, bad)


def _entries(path: str) -> tuple[list[Entry], int]:
    """The programs of the file, and how many lines of it are none."""
    result: list[Entry] = []
    bad = 0
    try:
        for number, entry in read(path):
            if isinstance(entry, Entry):
                result.append(entry)
            else:
                bad += 1
                print(f"{path}, line {number}, is left out: {entry}", file=sys.stderr)
    except OSError as e:
        raise DovetailError(
            f"{path!r} cannot be read: {e.strerror}. DOVETAIL_RECORD_COMPILES={path} lets a run "
            "write it."
        ) from None
    if not result and not bad:
        raise DovetailError(f"there is no program in {path!r}")
    return result, bad


def _run_each(args: Namespace, counts: list[int]) -> int:
    """A process has one number of devices of the CPU: another process for each number."""
    status = 0
    for count in counts:
        print(f"programs of processes with {devices(count)}:", flush=True)
        command = [sys.executable, "-m", "dovetail_cli", "warm", args.path]
        command += ["--devices", str(count)]
        if args.cache:
            command += ["--cache", args.cache]
        if args.jobs:
            command += ["--jobs", str(args.jobs)]
        status |= subprocess.run(command, check=False).returncode
    return status


def _warm(entries: list[Entry], jobs: int | None, bad: int) -> int:
    from .compiling import compile_entry, foreign, problem
    from .workers import Tally, Workers, default_jobs, progress_of

    problems = {i: p for i, e in enumerate(entries) if (p := problem(e))}
    wanted = [e for i, e in enumerate(entries) if i not in problems]
    jobs, tally = min(jobs or default_jobs(), max(len(wanted), 1)), Tally(len(wanted))
    outcomes: list[Any] = [None] * len(wanted)

    def task(i: int) -> None:
        try:
            outcomes[i] = compile_entry(wanted[i])
        except Exception as e:
            outcomes[i] = e

    with Workers(jobs, tally, progress_of(None)) as workers:
        for i, entry in enumerate(wanted):
            workers.submit(entry.name, lambda i=i: task(i))
    for text in sorted({f for e in wanted if (f := foreign(e))}):
        print(f"note: recorded with {text}: a run there looks for programs of its own versions")
    failed = [(entries[i].name, p) for i, p in problems.items()]
    failed += [(e.name, _line(x)) for e, x in zip(wanted, outcomes) if isinstance(x, Exception)]
    for name, reason in failed:
        print(f"not compiled: {name}: {reason}")
    _summarise(outcomes, len(failed), tally.seconds, jobs)
    return int(bool(failed or bad))


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


def _summarise(outcomes: list[Any], failed: int, seconds: float, jobs: int) -> None:
    compiled, cached = outcomes.count(False), outcomes.count(True)
    threads = f"{jobs} threads" if jobs > 1 else "one thread"
    parts = [f"{compiled} compiled in {seconds:.1f} s by {threads}"]
    if cached:
        parts.append(f"{cached} there already")
    if failed:
        parts.append(f"{failed} not compiled")
    total = compiled + cached + failed
    programs = f"{total} programs" if total != 1 else "one program"
    print(f"{programs} for {config.read('compilation_cache_dir')}: {', '.join(parts)}")
