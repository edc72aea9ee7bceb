"""Processes of which one fails, in the way that the first argument says."""

import os
import signal
import sys
import time

import numpy as np
from common import start

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import NamedSharding, P
from dovetail.experimental.multihost_utils import ProcessFailureError, live_devices

mode = sys.argv[1]
# Of a scenario's own limit it says how long it is; all others are longer than the test waits.
HEARTBEAT = {
    "stopped": 3, "coordinator stopped": 3, "paused": 10, "never comes at once": 10
}.get(mode, 100)  # fmt: skip


def event():
    """From now on the others are to notice."""
    print(f"event {time.time()}", flush=True)


def at_first(mode):
    if mode == "killed before" and last:
        event()
        os.kill(os.getpid(), signal.SIGKILL)


def before_others(mode):
    """What happens while the others wait for this process in a program that all have run."""
    time.sleep(2.5 if mode == "killed late" else 0.5)
    event()
    if mode == "killed parent" and os.fork() == 0:
        assert not dt.distributed.is_initialized()
        print("forked", os.getpid(), flush=True)
        time.sleep(60)  # the test ends it before
        os._exit(0)
    if mode in ("killed in", "killed late", "killed parent", "coordinator killed"):
        os.kill(os.getpid(), signal.SIGKILL)
    elif mode == "raises":
        raise ValueError("bad data")
    elif mode == "exits":
        sys.exit(3)
    elif mode in ("stopped", "coordinator stopped", "paused"):
        os.kill(os.getpid(), signal.SIGSTOP)


limits = {"initialization_timeout": 3} if mode in ("absent", "no coordinator") else {}
if mode == "exits":
    limits["shutdown_timeout_seconds"] = 3
if mode in ("absent", "no coordinator", "second job"):
    event()
WAITING = ("never comes", "never comes at once", "takes long")
if mode in WAITING:
    dt.config.update("program_timeout", 5.0 if mode == "takes long" else 3.0)
    if mode != "never comes at once":
        dt.config.update("jax_num_cpu_devices", 2)
start(heartbeat_timeout_seconds=HEARTBEAT, **limits)
me = dt.process_index()
last = me == dt.process_count() - 1
mesh = dt.make_mesh((dt.device_count(),), ("x",))
split = NamedSharding(mesh, P("x"))


def ones(n):
    return dt.make_array_from_callback((n,), split, lambda i: np.ones(n, np.float32)[i])


@dt.jit
def step(x):
    return dnp.sum(x * 2)


at_first(mode)
x = ones(8)
assert float(step(x)) == 16
if mode == "child ends":
    event()
    if os.fork() == 0:
        sys.exit(0)  # with what is registered to happen then
    os.wait()
if (
    mode in ("killed in", "killed late", "killed parent", "raises", "exits", "stopped", "paused")
    and last
):
    before_others(mode)
if mode in ("coordinator killed", "coordinator stopped") and me == 0:
    before_others(mode)
if mode == "killed between" and last:
    event()
    os.kill(os.getpid(), signal.SIGKILL)
if mode in ("other programs", "other shapes", "other known"):
    event()
if mode == "other programs":
    if me == 0:
        step = dt.jit(lambda x: dnp.max(x))
    else:
        step = dt.jit(lambda x: dnp.min(x * 3))
if mode == "other shapes":
    x = ones(16 + 16 * me)
if mode == "other known":
    dt.config.update("compare_timeout", 4.0)
    if me == 0:
        step = dt.jit(lambda x: dnp.max(x))
if mode in WAITING:
    for _ in range(2):
        assert float(step(x)) == 16  # C++ repeats it
    event()
if mode in ("never comes", "never comes at once") and last:
    time.sleep(60)
if mode == "takes long":
    for _ in range(4):  # each wait is short enough
        time.sleep(1.5 * last)
        assert float(step(x)) == 16
if mode == "recovers":
    dt.config.update("enable_recoverability", True)
    try:
        with live_devices(dt.devices()) as devices:
            assert devices == dt.devices()
            if last:
                event()
                os.kill(os.getpid(), signal.SIGKILL)
            while dt.distributed.live_processes() != [0]:
                time.sleep(0.05)
    except ProcessFailureError as e:
        assert [d.process_index for d in e.failed_devices] == [1]
    else:
        raise AssertionError("live_devices does not say that a process is lost")
    with live_devices(dt.devices()) as devices:
        assert devices == dt.local_devices()
    assert float(dnp.arange(3).sum()) == 3  # on devices of its own it computes
    print("goes on", time.time(), flush=True)
    os._exit(0)
if mode == "first job":
    event()
    time.sleep(4)
for _ in range(3):
    assert float(step(x)) == 16
if mode in ("coordinator killed", "killed between"):
    time.sleep(20)
