"""Arrays and backends used from several threads."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np

from dovetail_backends import PjrtBackend, device_get, device_put
from dovetail_backends.selection import default_device
from dovetail_xla.client import make_cpu_client

THREADS = 8


def in_threads(f):
    barrier = Barrier(THREADS)

    def run(i):
        barrier.wait()
        return f(i)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def test_one_client():
    made = []

    def make():
        made.append(1)
        time.sleep(0.01)
        return make_cpu_client()

    backend = PjrtBackend("cpu", make, priority=0, available=lambda: "")
    assert len({id(backend.client) for _ in in_threads(lambda i: backend.devices())}) == 1
    assert made == [1]


def test_values():
    def work(i):
        for n in range(50):
            x = device_put(np.full(16, i, np.float32))
            assert float(device_put(i)) == i and device_get(x).tolist() == [i] * 16
            if n % 2:
                x.delete()
        return repr(device_put(i))

    assert in_threads(work) == [f"Array({i}, dtype=int32, weak_type=True)" for i in range(THREADS)]


def test_default_device_belongs_to_its_thread(devices):
    def work(i):
        with default_device(devices[i % 4]):
            return [device_put(1.0).device for _ in range(20)]

    assert in_threads(work) == [[devices[i % 4]] * 20 for i in range(THREADS)]
