"""``dovetail launch``."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dovetail_cli import main

PROGRAM = """
import os, sys, time
import dovetail as dt

dt.distributed.initialize(initialization_timeout=20, shutdown_timeout_seconds=20)
me = dt.process_index()
found = [me, "of", dt.process_count(), "with", dt.local_device_count(), sys.argv[1:]]
print("process", *found, flush=True)
if sys.argv[1] == "fail" and me == 1:
    sys.exit("it does not work")
if sys.argv[1] == "kill" and me == 2:
    os.kill(os.getpid(), 9)
if sys.argv[1] != "well":
    time.sleep(30)
"""
FAILING = """
import os, sys, time
if os.environ["DOVETAIL_PROCESS_ID"] == "1":
    sys.exit(4)
time.sleep(30)
"""


@pytest.fixture
def launch(tmp_path: Path):
    def call(*args: str, text: str = PROGRAM, option: tuple[str, ...] = ()) -> tuple[int, str, str]:
        (tmp_path / "program.py").write_text(text)
        command = [sys.executable, "-m", "dovetail_cli", "launch", *option]
        done = subprocess.run(
            [*command, str(tmp_path / "program.py"), *args], capture_output=True, text=True
        )
        return done.returncode, done.stdout, done.stderr

    return call


def test_processes_find_each_other(launch):
    status, out, _ = launch("well", "--steps", option=("-n", "2", "--devices-per-process", "3"))
    assert status == 0
    lines = sorted(line for line in out.splitlines() if "process" in line)
    assert lines == [f"[{i}] process {i} of 2 with 3 ['well', '--steps']" for i in range(2)]


def test_the_first_failure_ends_the_rest(launch):
    start = time.monotonic()
    status, out, err = launch("kill", option=("-n", "3"))
    assert status == 137 and time.monotonic() - start < 25
    assert "dovetail launch: process 2 was ended by SIGKILL; ending the others" in err
    for i in range(2):
        assert re.search(rf"\[{i}\] dovetail: process 2 .* of 3 ended without a word", out)


def test_processes_that_were_not_joined(launch):
    status, _, err = launch(text=FAILING, option=("-n", "3", "--grace", "0.5"))
    assert status == 4
    assert "process 1 failed with exit status 4; ending the others" in err
    assert "after 0.5 s there still run: 0, 2; ending them" in err


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupts(tmp_path, how):
    (tmp_path / "program.py").write_text("import time\nprint('runs', flush=True)\ntime.sleep(30)\n")
    command = [sys.executable, "-m", "dovetail_cli", "launch", "-n", "2"]
    run = subprocess.Popen(
        [*command, str(tmp_path / "program.py")], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert run.stdout is not None
    assert sorted(run.stdout.readline() for _ in range(2)) == ["[0] runs\n", "[1] runs\n"]
    run.send_signal(how)
    _, err = run.communicate(timeout=20)
    assert run.returncode == 128 + how and "interrupted; ending 2 processes" in err


LEFT = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    print("runs", os.getpid(), flush=True)
    time.sleep(60)
if os.environ["DOVETAIL_PROCESS_ID"] == "1":
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGSEGV)
time.sleep(60)
"""


def is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pids: list[int], seconds: float = 10.0) -> bool:
    until = time.monotonic() + seconds
    while any(map(is_there, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    return not any(map(is_there, pids))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")
def test_nothing_is_left_behind(launch):
    status, out, err = launch(text=LEFT, option=("-n", "2", "--grace", "0.5"))
    assert status == 139 and "process 1 was ended by SIGSEGV" in err
    pids = [int(pid) for pid in re.findall(r"runs (\d+)", out)]
    assert len(pids) == 2 and gone(pids)


ORPHANS = """
import os, time
import dovetail as dt
dt.distributed.initialize(initialization_timeout=20, heartbeat_timeout_seconds=5)
print("runs", os.getpid(), flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")
def test_processes_end_where_the_command_is_killed(tmp_path):
    (tmp_path / "program.py").write_text(ORPHANS)
    command = [sys.executable, "-m", "dovetail_cli", "launch", "-n", "2"]
    run = subprocess.Popen(
        [*command, str(tmp_path / "program.py")], stdout=subprocess.PIPE, text=True
    )
    assert run.stdout is not None
    lines = (line for line in run.stdout if "runs" in line)
    pids = [int(next(lines).split()[-1]) for _ in range(2)]
    run.kill()
    run.communicate(timeout=30)
    assert gone(pids)


INTERRUPTED = """
import time
import dovetail as dt
dt.distributed.initialize(initialization_timeout=20)
print("runs", flush=True)
if dt.process_index() == 1:
    raise KeyboardInterrupt
time.sleep(30)
"""


def test_exceptions_without_words(launch):
    status, out, _ = launch(text=INTERRUPTED, option=("-n", "2"))
    assert status and re.search(r"of 2 failed: KeyboardInterrupt\. It was at .*: raise Key", out)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_processes_hear_of_an_interrupt(tmp_path, how):
    (tmp_path / "program.py").write_text(
        "import signal, sys, time\n"
        "for s in (signal.SIGINT, signal.SIGTERM):\n"
        "    signal.signal(s, lambda number, _: sys.exit(f'ends by {number}'))\n"
        "print('runs', flush=True)\ntime.sleep(30)\n"
    )
    command = [sys.executable, "-m", "dovetail_cli", "launch", "-n", "2"]
    run = subprocess.Popen(
        [*command, str(tmp_path / "program.py")], stdout=subprocess.PIPE, text=True
    )
    assert run.stdout is not None
    assert sorted(run.stdout.readline() for _ in range(2)) == ["[0] runs\n", "[1] runs\n"]
    run.send_signal(how)
    out, _ = run.communicate(timeout=20)
    assert sorted(out.splitlines()) == [f"[{i}] ends by {int(how)}" for i in range(2)]


LINES = """
import os, sys, time
if os.environ["DOVETAIL_PROCESS_ID"] == "1":
    sys.exit()
sys.stdout.buffer.write(b"10%\\r20%\\r")
sys.stdout.flush()
print("read", repr(sys.stdin.read()))
sys.stdout.buffer.write(b"\\r30%\\rdone\\r\\n\\xff\\n\\n" + 300_000 * b"x" + b"\\nend")
"""


def test_lines(tmp_path):
    (tmp_path / "program.py").write_text(LINES)
    command = [sys.executable, "-m", "dovetail_cli", "launch", "-n", "2"]
    done = subprocess.run(
        [*command, str(tmp_path / "program.py")], stdout=subprocess.PIPE, input=b"text"
    )
    assert done.returncode == 0
    expected = b"10%\r|20%\r|read ''\n|30%\r|done\r\n|\xff\n|\n|" + 300_000 * b"x" + b"\n|end\n"
    assert done.stdout == b"".join(b"[0] " + line for line in expected.split(b"|"))


PROGRESS = """
import os, sys, time
for i in range(2):
    sys.stdout.write(f"{i}%\\r")
    sys.stdout.flush()
time.sleep(60)
"""


def test_progress_is_seen_while_it_is_made(tmp_path):
    (tmp_path / "program.py").write_text(PROGRESS)
    command = [sys.executable, "-m", "dovetail_cli", "launch", "-n", "1"]
    run = subprocess.Popen([*command, str(tmp_path / "program.py")], stdout=subprocess.PIPE)
    assert run.stdout is not None
    assert run.stdout.read(len("[0] 0%\r")) == b"[0] 0%\r"
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=20)


@pytest.mark.parametrize(
    "option, said",
    [
        (("-n", "0"), "expected a whole number of at least 1, got '0'"),
        (("-n", "1.5"), "expected a whole number of at least 1, got '1.5'"),
        (("-n", "nan"), "expected a whole number of at least 1, got 'nan'"),
        (("-n", "1", "--port", "99999"), "expected a whole number from 1 to 65535, got '99999'"),
        (("-n", "1", "--grace", "-1"), "expected a number of seconds, got '-1'"),
        (("-n", "1", "--grace", "long"), "expected a number of seconds, got 'long'"),
    ],
)
def test_numbers_that_do_not_fit(capsys, option, said):
    with pytest.raises(SystemExit):
        main(["launch", *option, "nothing.py"])
    assert said in capsys.readouterr().err


def test_misuse(capsys):
    assert main(["launch", "-n", "2", "nothing.py"]) == 2
    assert "there is no file 'nothing.py'; for example: dovetail launch" in capsys.readouterr().err
