"""Profiles of device memory parse as pprof, and servers are one at a time."""

from __future__ import annotations

import gzip
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail_profiler as profiler
from dovetail_backends import device_put
from dovetail_xla.profiling import pprof_profile_to_json


def parsed(profile: bytes) -> dict[str, Any]:
    return json.loads(pprof_profile_to_json(gzip.decompress(profile)))


def buffers(profile: dict[str, Any]) -> list[int]:
    """The bytes of buffers, those of one size together."""
    names = profile["stringTable"]
    kinds = [names[int(t["type"])] for t in profile["sampleType"]]
    samples = profile.get("sample", [])
    result = [s for s in samples if "buffer" in [names[int(x["str"])] for x in s["label"]]]
    return [int(s["value"][kinds.index("space")]) for s in result]


def test_a_profile_of_device_memory_has_the_arrays() -> None:
    x = device_put(np.ones(50_123, np.float32))
    assert 200_492 in buffers(parsed(profiler.device_memory_profile("cpu")))
    del x
    assert 200_492 not in buffers(parsed(profiler.device_memory_profile()))


def test_it_is_written_to_a_file(tmp_path: Path) -> None:
    profiler.save_device_memory_profile(tmp_path / "memory.prof")
    assert parsed((tmp_path / "memory.prof").read_bytes())["sampleType"]
    with pytest.raises(FileNotFoundError):
        profiler.save_device_memory_profile(tmp_path / "no" / "memory.prof")
    with pytest.raises(RuntimeError, match="Unknown backend 'qpu'"):
        profiler.device_memory_profile("qpu")
    with pytest.raises(ValueError, match="backend 'reference' has no devices whose memory could"):
        profiler.device_memory_profile("reference")


def test_it_says_where_arrays_were_made_if_it_is_asked_to(tmp_path: Path) -> None:
    script = tmp_path / "makes_arrays.py"
    script.write_text(
        "import gzip, dovetail, dovetail.numpy as dnp\n"
        "def made_here():\n    return dovetail.jit(lambda x: x + 1)(dnp.ones(1000))\n"
        "x = made_here()\n"
        "print(b'made_here' in gzip.decompress(dovetail.profiler.device_memory_profile()))\n"
    )
    for asked, result in (("1", "True"), ("0", "False")):
        env = {**os.environ, "DOVETAIL_RUNTIME_TRACEBACKS": asked}
        command = [sys.executable, str(script)]
        run = subprocess.run(command, capture_output=True, text=True, env=env)
        assert run.stdout.strip() == result, run.stderr


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def test_servers_are_one_at_a_time() -> None:
    with pytest.raises(ValueError, match="no server for profiles is running in stop_server at"):
        profiler.stop_server()
    port = free_port()
    assert profiler.start_server(port) is not None
    try:
        with pytest.raises(
            ValueError, match=r"a server for profiles is running in start_server at"
        ):
            profiler.start_server(free_port(), requires_backend=False)
    finally:
        profiler.stop_server()
    with socket.socket() as taken:
        taken.bind(("", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"port {port} cannot be used in start_server at"):
            profiler.start_server(port)
    with pytest.raises(ValueError, match="port must be a number between 1 and 65535, got 0 in sta"):
        profiler.start_server(0)
    with pytest.raises(TypeError, match="port must be an integer, got 'x'"):
        profiler.start_server("x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="pid must be an integer, got 'x'"):
        profiler.register_subprocess("x", port)  # type: ignore[arg-type]
