"""Processes are killed while they write compiled programs to the cache; the next one is right."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

LIMIT = 120.0
BATCH = 50

_PROGRAM = """
import sys, dovetail, dovetail.numpy as jnp
dovetail.config.update("compilation_cache_dir", sys.argv[1])
print("begins", flush=True)
for n in range(1, int(sys.argv[2]) + 1):
    f = dovetail.jit(lambda x: jnp.sin(x) * n + jnp.dot(x, x))
    assert abs(float(f(jnp.ones(n)).sum()) - n * (0.8414709848 * n + n)) < 1e-3 * n * n
"""


def attempt(rng: random.Random, begin: Callable[[str], None]) -> None:
    begin("killed while the cache is written")
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(_command(folder, 40), stdout=subprocess.PIPE, env=_quiet())
        assert process.stdout is not None
        assert process.stdout.readline() == b"begins\n"
        time.sleep(rng.uniform(0.0, 0.8))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        done = subprocess.run(
            _command(folder, 12), env=_quiet(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert not done.stderr, done.stderr
        left = [name for name in os.listdir(folder) if not name.endswith(".bin")]
        assert not left, left  # what was being written at that moment is deleted by the next


def _command(folder: str, count: int) -> list[str]:
    return [sys.executable, "-c", _PROGRAM, folder, str(count)]


def _quiet() -> dict[str, str]:
    return {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
