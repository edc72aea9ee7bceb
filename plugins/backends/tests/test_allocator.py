"""What the first use of the CPU does to the process's memory: nothing, unless it is asked to."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

PROGRAM = """
import dovetail.numpy as jnp, numpy as np
jnp.ones(3).block_until_ready()
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 >> 20
before = resident()
blocks, small = [], []
for _ in range(60):
    blocks.append(np.ones(1 << 20))  # 8 MB
    small.append(np.ones(1 << 10))  # lies behind it, if both are of one heap
del blocks
print(resident() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="is about glibc's allocator")
@pytest.mark.parametrize("keep", ["0", "1"])
def test_freed_memory_goes_back_to_the_system_unless_it_is_to_be_kept(keep):
    env = {**os.environ, "DOVETAIL_KEEP_FREED_MEMORY": keep}
    code = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(code, env=env, capture_output=True, text=True, check=True)
    kept = int(done.stdout)
    assert (kept > 300) if keep == "1" else (kept < 100), f"{kept} of 480 MB"
