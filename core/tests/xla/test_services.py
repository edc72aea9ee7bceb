"""Caches, profiles, and several processes."""

from __future__ import annotations

import gc
import json
import socket
import weakref

import numpy as np

from dovetail_core.xla import caching, config, profiler

PROCESS = """
import sys
from dovetail_core.xla import arrays, client, distributed, startup
address, me = sys.argv[1], int(sys.argv[2])
port = address.split(":")[1]
service = distributed.start_service(f"[::]:{port}", 2) if me == 0 else None
coordinator = distributed.connect(address, me, init_timeout=60)
coordinator.key_value_set(f"hello/{me}", f"from {me}")
other = coordinator.blocking_key_value_get(f"hello/{1 - me}", 60000)
coordinator.wait_at_barrier("met", 60000)
cpu = client.make_cpu_client(
    1, distributed_client=coordinator, node_id=me, num_nodes=2,
    collectives=distributed.gloo_collectives(coordinator))
assert startup.is_primed()
print(other, len(cpu.devices()), len(cpu.local_devices()), cpu.process_index())
coordinator.wait_at_barrier("done", 60000)
coordinator.shutdown()
if service is not None: service.shutdown()
"""


class Key:
    pass


def test_cached_results_die_with_their_key():
    calls = []

    def compute(key, x):
        calls.append(x)
        return x + 1

    cached = caching.weakref_lru_cache(compute)
    key = Key()
    assert [cached(key, 1), cached(key, 1), cached(key, 2)] == [2, 2, 3]
    assert calls == [1, 2]
    reference = weakref.ref(key)
    del key
    gc.collect()
    assert reference() is None
    assert cached.cache_info().currsize == 0


def test_cached_results_can_depend_on_the_trace_context(set_local):
    calls = []
    cached = caching.weakref_lru_cache(lambda key: calls.append(key), in_trace_context=True)
    key = Key()
    cached(key)
    set_local(config.enable_x64_state, True)
    cached(key)
    cached(key)
    assert calls == [key, key]


def test_a_session_records_annotated_spans():
    session = profiler.start_session()
    with profiler.annotation("a span of the test"):
        sum(range(1000))
    assert b"a span of the test" in session.stop()


def test_the_memory_profile_is_readable(cpu, put):
    held = put(np.zeros(1000))
    profile = json.loads(profiler.memory_profile_json(profiler.memory_profile(cpu)))
    assert held.on_device_size_in_bytes() == 8000
    assert profile["sample"]


def test_two_processes_meet(fresh_python, tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    script = tmp_path / "process.py"
    script.write_text(PROCESS)
    launch = (
        "import subprocess, sys\n"
        f"ps = [subprocess.Popen([sys.executable, {str(script)!r}, {address!r}, str(i)],"
        " stdout=subprocess.PIPE, text=True) for i in range(2)]\n"
        "for p in ps: print(p.communicate(timeout=90)[0].strip(), p.returncode)"
    )
    result = fresh_python(launch)
    assert result.stdout == "from 1 2 1 0 0\nfrom 0 2 1 1 0\n", result.stderr
