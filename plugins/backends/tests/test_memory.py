"""With keep_freed_memory, memory of arrays that are gone is used again at once."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

SCRIPT = """
import resource
import dovetail, dovetail.numpy as dnp

x = dnp.ones((256, 256))
step = dovetail.jit(lambda x: [x + i for i in range(17)])
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    dovetail.block_until_ready(step(x))
rounds = []
for _ in range(5):  # a busy machine starts another thread of XLA's, with pages of its own, at times
    before = faults()
    for _ in range(20):
        dovetail.block_until_ready(step(x))
    rounds.append(faults() - before)
print(min(rounds))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="about glibc's allocator")
def test_repeated_calls_do_not_fault_their_results_pages_in_again() -> None:
    env = {**os.environ, "DOVETAIL_KEEP_FREED_MEMORY": "1"}
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    pages = 20 * 17 * 256 * 256 * 4 // 4096
    assert int(done.stdout) < pages / 20
