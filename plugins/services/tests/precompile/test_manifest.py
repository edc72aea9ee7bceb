"""The file of what was compiled: written by runs, read by ``dovetail warm``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_cli import main
from dovetail_core import config
from dovetail_jit import jit
from dovetail_services.precompile.entry import Entry, UnreadableLine, decode, encode, key_of
from dovetail_services.precompile.file import Appender, read

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)
record = config.option("record_compiles")

SCRIPT = """
import os
import numpy as np
import dovetail as dv
import dovetail.numpy as dnp
from dovetail_core import hookimpl
from dovetail_hooks import manager

class Told:
    @hookimpl
    def dovetail_compiled(self, name, cached, executable):
        if executable.profile == "default":
            print(name, "cached" if cached else "compiled")

told = Told()
manager().register(told)
x = np.linspace(0.1, 1.0, 16, dtype=np.float32).reshape(4, 4)
closed = dnp.asarray(np.arange(3000, dtype=np.float32))

def product(x): return dnp.tanh(x @ x)
def factor(x): return dnp.linalg.cholesky(x @ x.T + dnp.eye(4))
def option(x): return (closed * x.sum()).sum()
def given(x): return x + 1
def python(x): return dv.pure_callback(np.sin, dv.ShapeDtypeStruct((4, 4), np.float32), x)
def divided(x): return (x @ x.T).sum(0)

for f in (product, factor, python):
    dv.jit(f)(x)
dv.jit(option, compiler_options={"xla_cpu_enable_fast_math": True})(x)
dv.jit(given, donate_argnums=0)(dnp.asarray(x))
if len(dv.devices()) > 1:
    from dovetail.sharding import Mesh, NamedSharding, PartitionSpec as P
    mesh = Mesh(np.array(dv.devices()), ("i",))
    x = dv.device_put(x, NamedSharding(mesh, P("i")))
    dv.jit(divided)(x)
    def of_this_process(x):
        dv.debug.inspect_array_sharding(x, callback=lambda s: None)
        return x + 1
    dv.jit(of_this_process)(x)
"""


def ran(tmp_path: Path, **environment: str) -> list[str]:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    clean = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"}
    done = subprocess.run(
        [sys.executable, script], env={**clean, **environment}, capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def warm(*arguments: Any) -> tuple[int, str, str]:
    clean = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"}
    done = subprocess.run(
        [sys.executable, "-m", "dovetail_cli", "warm", *map(str, arguments)], env=clean,
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def test_a_run_in_a_cache_that_was_filled_ahead_compiles_nothing(tmp_path: Path) -> None:
    """Also on a mesh, in a process of several devices."""
    path, cache = tmp_path / "compiles.jsonl", tmp_path / "cache"
    first = ran(tmp_path, DOVETAIL_RECORD_COMPILES=str(path))
    assert len(first) == 5 and all(line.endswith("compiled") for line in first)
    ran(tmp_path, DOVETAIL_RECORD_COMPILES=str(path))
    assert len(path.read_bytes().splitlines()) == 5  # each program once
    four = ran(tmp_path, DOVETAIL_RECORD_COMPILES=str(path), DOVETAIL_NUM_CPU_DEVICES="4")
    assert len(four) == 7
    lines = path.read_bytes().splitlines()  # all but that of this process alone
    assert len(lines) == 11 and b"of_this_process" not in b"".join(lines)
    status, out, err = warm(path, "--cache", cache, "--jobs", 2)
    assert (status, err) == (0, "")
    assert "programs of processes with one device:" in out and "with 4 devices:" in out
    assert "5 programs for" in out and "6 programs for" in out and "by 2 threads" in out
    for count in ("1", "4"):
        again = ran(
            tmp_path, DOVETAIL_COMPILATION_CACHE_DIR=str(cache), DOVETAIL_NUM_CPU_DEVICES=count
        )
        told = [line for line in again if not line.endswith(" cached")]
        assert told == ["of_this_process compiled"] * (count == "4")
    status, out, _ = warm(path, "--cache", cache, "--devices", 4)
    assert status == 0 and "6 there already" in out


def recorded(path: Path, scale: float) -> bytes:
    """The line of a program."""
    before = path.read_bytes() if path.exists() else b""
    with record(path):
        jit(lambda x: lax.mul(lax.sin(x), scale))(X)
    return path.read_bytes()[len(before) :]


def test_an_option_records_for_as_long_as_it_is_set(tmp_path: Path) -> None:
    path = tmp_path / "compiles.jsonl"
    line = recorded(path, 2.0)
    entry = decode(line)
    assert entry.name == "<lambda>" and "stablehlo.sine" in entry.module
    assert (entry.platform, entry.devices, entry.parts, entry.callbacks) == ("cpu", (0,), None, 0)
    assert encode(entry) == (key_of(line), line)
    jit(lambda x: lax.mul(x, 7.0))(X)
    with record(path):
        lax.sinh(X)  # operations outside of jit are not in the cache
        jit(lambda x: lax.mul(x, 8.0))(X)
    assert len(path.read_bytes().splitlines()) == 2
    record.set(str(path))
    try:
        jit(lambda x: lax.mul(x, 9.0))(X)
    finally:
        record.set(None)
    assert len(path.read_bytes().splitlines()) == 3


def test_a_file_that_cannot_be_written_stops_no_program(tmp_path: Path) -> None:
    with record(tmp_path), pytest.warns(RuntimeWarning, match="not recorded in .*Is a directory"):
        jit(lambda x: lax.mul(x, 3.0))(X)
    with record(tmp_path):
        jit(lambda x: lax.mul(x, 4.0))(X)  # and says so once
    with pytest.raises(TypeError, match="expected the path of a file, got True"):
        record(True)


def test_what_a_killed_process_left_is_ended_and_left_out(tmp_path: Path) -> None:
    path = tmp_path / "compiles.jsonl"
    line = recorded(path, 2.5)
    with path.open("ab") as file:
        file.write(line[:50])
    other = recorded(path, 3.5)
    assert other.startswith(b"\n")
    result = dict(read(str(path)))
    assert isinstance(result[1], Entry) and isinstance(result[3], Entry)
    assert result[2] == "it is no program that was recorded"
    path.write_bytes(b"")
    Appender(str(path)).add("k", line)
    assert path.read_bytes() == line


def test_a_file_that_is_begun_anew_gets_programs_again(tmp_path: Path) -> None:
    path = tmp_path / "compiles.jsonl"
    line = recorded(path, 4.5)
    key, file = key_of(line) or "", Appender(str(path))
    file.add(key, line)
    assert path.read_bytes() == line
    path.unlink()
    file = Appender(str(path))
    file.add(key, line)
    file.add(key, line)
    assert path.read_bytes() == line


APPEND = """
import sys
from dovetail_services.precompile.file import Appender
file = Appender(sys.argv[1])
for i in range(200):
    key = f"{i:064x}"
    text = "x" * (5000 * (i % 7))
    file.add(key, f'{{"dovetail_compiles": 1, "key": "{key}", "module": "{text}"}}\\n'.encode())
"""


def test_processes_that_write_at_once_write_each_program_once(tmp_path: Path) -> None:
    path = tmp_path / "compiles.jsonl"
    command = [sys.executable, "-c", APPEND, str(path)]
    running = [subprocess.Popen(command) for _ in range(3)]
    assert [p.wait(60) for p in running] == [0, 0, 0]
    keys = [json.loads(line)["key"] for line in path.read_bytes().splitlines()]
    assert sorted(keys) == [f"{i:064x}" for i in range(200)]


def altered(line: bytes, **changes: Any) -> bytes:
    return json.dumps({**json.loads(line), **changes}).encode() + b"\n"


def test_lines_that_were_altered_are_told(tmp_path: Path) -> None:
    line = recorded(tmp_path / "compiles.jsonl", 5.5)
    for changed, problem in [
        (altered(line, dovetail_compiles=9), "it is of format 9, and this version reads 1"),
        (altered(line, name="other"), "its checksum is wrong"),
        (altered(line, module="AAAA"), "cannot be unpacked"),
        (altered(line, module="no base 64"), "damaged"),
        (b'{"dovetail_compiles": 1}\n', "damaged"),
        (b"[]\n", "no program"),
        (b"\xff\n", "no program"),
    ]:
        with pytest.raises(UnreadableLine, match=problem):
            decode(changed)


def test_what_cannot_be_compiled_is_said(tmp_path: Path, capsys: Any) -> None:
    """Other flags, platforms and versions; text that is no module; lines that are no programs."""
    path, cache = tmp_path / "compiles.jsonl", tmp_path / "cache"
    good = decode(recorded(path, 6.5))
    with path.open("ab") as file:
        for changes in (
            {"flags": {"XLA_FLAGS": "--a"}}, {"platform": "abacus"}, {"module": "not MLIR"},
            {"jaxlib": "0.1.2"}, {"devices": (7,)},
        ):  # fmt: skip
            file.write(encode(Entry(**{**vars(good), **changes}))[1])
        file.write(b"nonsense\n")
    with config.option("compilation_cache_dir")(None):
        assert main(["warm", str(path)]) == 2
        assert "there is no cache to compile into: give --cache FOLDER" in capsys.readouterr().err
    status, out, err = warm(path, "--cache", cache)
    assert status == 1 and "line 7, is left out: it is no program" in err
    assert "recorded with XLA_FLAGS='--a', and here is no XLA_FLAGS" in out
    assert "'abacus'" in out and out.count("not compiled: <lambda>: ") == 4
    assert "note: recorded with jaxlib 0.1.2 (here " in out
    assert "6 programs for" in out and "4 not compiled" in out
    assert len([*cache.glob("*.bin")]) == 1


def test_files_that_are_not_there_are_told(tmp_path: Path, capsys: Any) -> None:
    with config.option("compilation_cache_dir")(str(tmp_path / "cache")):
        assert main(["warm", str(tmp_path / "none")]) == 2
        assert "cannot be read: No such file" in capsys.readouterr().err
        (tmp_path / "empty").touch()
        assert main(["warm", str(tmp_path / "empty")]) == 2
        assert "there is no program in" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["warm", "x", "--jobs", "none"])
    assert "expected a number from 1 on, got 'none'" in capsys.readouterr().err
