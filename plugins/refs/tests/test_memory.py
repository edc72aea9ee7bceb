"""A compiled update of a large reference needs no second copy of it."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import re
import dovetail, dovetail.numpy as dnp
from dovetail import ref as dref

n = 64 * 1024 * 1024
updates = [
    lambda r, x: r.__setitem__(slice(0, 1000), r[:1000] + x),
    lambda r, x: r.__setitem__(..., 2 * r[...] + x),
    lambda r, x: r.__setitem__(..., dnp.full(n, x)),
    lambda r, x: dovetail.lax.fori_loop(0, 9, lambda i, c: (dref.addupdate(r, i, x), c)[1], 0),
]
ref = dovetail.empty_ref(dovetail.ShapeDtypeStruct((n,), dnp.float32))
# Not getrusage: its peak is also that of the process that started this one.
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024
float(ref[7])
before = peak()
for update in map(dovetail.jit, updates):
    memory = update.lower(ref, 1.0).compile().memory_analysis()
    assert memory.alias_size_in_bytes == 4 * n, memory
    assert memory.temp_size_in_bytes < n, memory
    for _ in range(3):
        update(ref, 1.0)
    ref[5] = 1.0
    ref[8:20] += 1.0
    float(ref[3])
print(before, peak())
"""


def test_the_peak_of_the_process_stays() -> None:
    """The peak is that of one array of 256 MB, which an empty reference is made with."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    before, after = map(int, done.stdout.split())
    assert 256 < before < 512
    assert after - before < 128, f"the peak rose from {before} MB to {after} MB"
