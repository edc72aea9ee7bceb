"""What checkpointed loops need: a bounded number of states, whatever the number of steps."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad
from dovetail_jit import jit
from dovetail_remat import Binomial, Online, Periodic

MEGABYTE = 2**20
STATE = np.zeros(MEGABYTE // 4, np.float32)


def temporary(n: int, scheme: Any) -> float:
    """Megabytes that the gradient of n steps of a carry of one megabyte needs to work in."""

    def f(x: Any) -> Any:
        def step(c: Any, _: Any) -> Any:
            return lax.tanh(lax.sub(c, lax.mul(np.float32(0.1), lax.sin(c)))), None

        return lax.reduce_sum_p.bind(lax.scan(step, x, length=n, checkpoint=scheme)[0], axes=(0,))

    analysis = jit(grad(f)).lower(STATE).compile().memory_analysis()
    return analysis.temp_size_in_bytes / MEGABYTE


@pytest.mark.parametrize("scheme", [Binomial(32), Online(32)], ids=repr)
def test_a_hundred_thousand_steps_of_a_megabyte_take_less_than_50(scheme: Any) -> None:
    assert temporary(100_000, scheme) < 50
    assert temporary(100_000, scheme) == pytest.approx(temporary(1000, scheme), abs=0.1)


def test_the_plain_loop_needs_a_hundred_gigabytes() -> None:
    assert temporary(100_000, None) > 100_000


def test_periodic_needs_the_kept_states_and_one_segment() -> None:
    assert temporary(900, Periodic(30)) < 30 + 30 + 10


LIMITED = """
import resource
import numpy as np
import dovetail as dt

def gradient(x, n, scheme):
    def step(c, _):
        return c - 0.5 * c * c, None
    return dt.jit(dt.grad(lambda x: dt.lax.scan(step, x, length=n, checkpoint=scheme)[0].sum()))(x)

gradient(np.full(1 << 18, 0.5, np.float32), 3, dt.Binomial(2))  # threads and compiler are there
used = int(next(l for l in open("/proc/self/status") if l.startswith("VmSize")).split()[1]) * 1024
limit = used + (200 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
out = np.asarray(gradient(np.full(1 << 18, 0.5, np.float32), 10_000, dt.Binomial(32)))
x, d = np.float32(0.5), 1.0
for _ in range(10_000):
    x, d = x - np.float32(0.5) * x * x, d * (1 - float(x))
print(np.ptp(out) == 0, abs(out[0] / d - 1) < 1e-2)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_ten_thousand_steps_run_under_an_address_space_limit() -> None:
    """The plain loop would keep 10 GB; this one may map 200 MB more than a tiny one has."""
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True)
    assert done.stdout.split() == ["True", "True"], done.stderr
