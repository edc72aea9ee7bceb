"""The other process ends with its parent, however that ends, and never keeps it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PROGRAM = """
import os, signal, sys, time
import numpy as np
import dovetail
from dovetail_services.tiers.process import compiler

def f(x):
    for i in range(40):
        x = dovetail.numpy.sin(x @ x) + float(i)
    return x

if __name__ == "__main__":
    f = dovetail.jit(f)
    f(np.ones((4, 4), np.float32)).block_until_ready()
    while compiler.process is None:
        time.sleep(0.005)
    print(compiler.process.pid, flush=True)
    os.kill(compiler.process.pid, signal.{first})
    {then}
"""
ALWAYS = {**os.environ, "DOVETAIL_TIERED": "always"}


def begin(path: Path, first: str, then: str) -> subprocess.Popen[str]:
    """A program that has begun, and sends a signal to its compiler."""
    path = path / "program.py"
    path.write_text(PROGRAM.format(first=first, then=then))
    return subprocess.Popen(
        [sys.executable, str(path)], env=ALWAYS, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def is_over(pid: int) -> bool:
    """Whether a process is no more, or is a zombie that nobody asks about."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def ends(pid: int) -> bool:
    """Whether a process ends."""
    end = time.monotonic() + 60
    while not is_over(pid):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def test_the_end_waits_for_nothing(tmp_path: Path) -> None:
    # Stopped, it would never be done.
    program = begin(tmp_path, "SIGSTOP", "print('done')")
    out, err = program.communicate(timeout=60)
    pid, done = out.split()
    assert (program.returncode, done, err) == (0, "done", "")
    assert is_over(int(pid))


def test_it_ends_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    program = begin(tmp_path, "SIGCONT", "time.sleep(300)")
    assert program.stdout is not None
    pid = int(program.stdout.readline())
    assert not is_over(pid)
    program.kill()
    program.communicate()
    assert ends(pid)


def test_ctrl_c_is_for_the_program_alone(tmp_path: Path) -> None:
    then = (
        "\n    try:\n        print('ready', flush=True)"
        "\n        while True: time.sleep(0.1)"  # a signal just before a long sleep ends it late
        "\n    except KeyboardInterrupt: print(compiler.process.poll())"
    )
    program = begin(tmp_path, "SIGCONT", then)
    assert program.stdout is not None
    pid = int(program.stdout.readline())
    assert program.stdout.readline() == "ready\n"
    program.send_signal(signal.SIGINT)
    assert os.getpgid(pid) != os.getpgid(program.pid)
    out, err = program.communicate(timeout=60)
    assert (program.returncode, out.strip(), err) == (0, "None", "")
    assert ends(pid)


def test_a_forked_process_does_not_end_it(tmp_path: Path) -> None:
    then = (
        "\n    if os.fork() == 0: sys.exit()\n    os.wait(); print(compiler.process.poll(), "
        "compiler.is_usable)"
    )
    program = begin(tmp_path, "SIGSTOP", then)
    out, err = program.communicate(timeout=60)
    assert (program.returncode, out.split()[1:]) == (0, ["None", "True"]), err


def test_it_ends_with_a_parent_whose_child_holds_its_pipes(tmp_path: Path) -> None:
    then = (
        "\n    if os.fork() == 0:\n        print(os.getpid(), flush=True); os.close(1)\n"
        "        os.close(2); time.sleep(300)\n    time.sleep(300)"
    )
    program = begin(tmp_path, "SIGCONT", then)
    assert program.stdout is not None
    pid, child = int(program.stdout.readline()), int(program.stdout.readline())
    program.kill()
    program.communicate()
    try:
        assert ends(pid)
    finally:
        os.kill(child, signal.SIGKILL)
