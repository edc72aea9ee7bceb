"""Processes forked after the runtime has started: errors in place of waiting, and what works."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")

_PARENT = """
import copy, gc, json, os, pickle, signal, sys, tempfile, threading, warnings
import numpy as np
import dovetail, dovetail.numpy as jnp, dovetail.lax as lax
from dovetail import debug

def attempt(action):
    try:
        return action()
    except RuntimeError as error:
        return f"RuntimeError: {{error}}"

def tried(action, leave):
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        os.write(writing, str(attempt(action)).encode())
        leave()
    os.close(writing)
    text = b""
    while part := os.read(reading, 65536):
        text += part
    os.close(reading)
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), text.decode()]

{setup}
found = {{}}
for name, action in actions.items():
    found[name] = tried(action, lambda: os._exit(0))
for name in {ends}:
    found["exit: " + name] = tried(actions[name], lambda: sys.exit(0))
print(json.dumps(found))
sys.stdout.flush()
os._exit(0)
"""

_STARTED = """
x = jnp.arange(4.0)
double = dovetail.jit(lambda v: v * 2.0)
double(x)
compiled = double.lower(x).compile()
square = jnp.full((64, 64), 0.01)
slow = dovetail.jit(lambda a: lax.fori_loop(0, 10**9, lambda i, c: jnp.tanh(c @ a), a))
pending = slow(square)
tell = dovetail.jit(lambda v: (debug.callback(lambda u: None, v), v)[1])
tell(pending)

store = tempfile.TemporaryDirectory()
dovetail.config.update("compilation_cache_dir", store.name)
kept = lambda: dovetail.jit(lambda v: jnp.sin(v) * 5.0).lower(x).compile()
kept()
dovetail.config.update("compilation_cache_dir", None)

def cached():
    warnings.simplefilter("error")
    dovetail.config.update("compilation_cache_dir", store.name)
    return kept()

def in_thread(action):
    out = []
    thread = threading.Thread(target=lambda: out.append(attempt(action)))
    thread.start()
    thread.join()
    return out[0]

actions = {
    "a call known to C++": lambda: double(x),
    "a new call": lambda: dovetail.jit(lambda v: v * 3.0)(x),
    "a compiled call": lambda: compiled(x),
    "an eager operation": lambda: x + x,
    "device_put": lambda: dovetail.device_put(np.ones(3)),
    "device_put of an array": lambda: dovetail.device_put(x, may_alias=False),
    "from_dlpack": lambda: jnp.from_dlpack(np.ones(16, np.float32)),
    "asarray": lambda: jnp.asarray(np.ones(3)),
    "compile": lambda: double.lower(x).compile({"xla_backend_optimization_level": 1}),
    "a callback": lambda: tell(x),
    "a program in the cache on disk": cached,
    "copy": lambda: copy.deepcopy(x),
    "grad": lambda: dovetail.grad(lambda v: (v * v).sum())(x),
    "another thread": lambda: in_thread(lambda: double(x)),
    "another backend": lambda: dovetail.devices("twin"),
    "waiting for a pending array": lambda: pending.block_until_ready(),
    "reading a pending array": lambda: np.asarray(pending),
    "printing a pending array": lambda: repr(pending),
    "reading": lambda: np.asarray(x).tolist(),
    "waiting": lambda: x.block_until_ready().is_ready(),
    "waiting for several": lambda: len(dovetail.block_until_ready([x, x])),
    "waiting for several, some pending": lambda: dovetail.block_until_ready([x, pending]),
    "shape": lambda: (x.shape, x.dtype.name),
    "make_jaxpr": lambda: dovetail.make_jaxpr(lambda v: jnp.sin(v))(x).eqns[0].primitive.name,
    "eval_shape": lambda: dovetail.eval_shape(double, x).shape,
    "lower": lambda: "stablehlo.cosine" in dovetail.jit(jnp.cos).lower(x).as_text(),
    "garbage": lambda: (globals().pop("pending"), gc.collect())[1] >= 0,
    "effects_barrier": dovetail.effects_barrier,
    "pickle": lambda: type(pickle.loads(pickle.dumps(x))).__name__,
    "a child of the child": lambda: tried(lambda: double(x), lambda: os._exit(0))[1],
}
"""

REMEDY = (
    r" in a forked process\. The runtime started before the fork, and its threads are in the "
    r"parent alone: this would wait for them for ever\. Start the process by spawn or forkserver "
    r"\(multiprocessing\.get_context\('spawn'\)\), or fork before the first computation\. "
)
RUN = r"RuntimeError: a compiled program is run at .*" + REMEDY
COMPILE = r"RuntimeError: a program is compiled at .*" + REMEDY
PENDING = (
    r"RuntimeError: an array of type f32\[64,64\]~ is used at .* in a process that was forked "
    r"before its value was computed: .* Wait for it before the fork \(x\.block_until_ready\(\)\), "
    r"or start the process by spawn or forkserver"
)
EXPECTED = {
    "a call known to C++": RUN,
    "a new call": COMPILE,
    "a compiled call": RUN,
    "an eager operation": COMPILE,
    "device_put": r"RuntimeError: a value is put on a device at .*" + REMEDY,
    "device_put of an array": r"RuntimeError: an array is copied at .*" + REMEDY,
    "from_dlpack": r"RuntimeError: an array is taken over from another library at .*" + REMEDY,
    "asarray": r"RuntimeError: a (value is put on a device|program is compiled) at .*" + REMEDY,
    "compile": COMPILE,
    "a callback": COMPILE,
    "a program in the cache on disk": COMPILE,
    "copy": r"RuntimeError: an array is copied at .*" + REMEDY,
    "grad": r"RuntimeError: .* at .*" + REMEDY,
    "another thread": RUN,
    "another backend": r"RuntimeError: Unknown backend 'twin'",
    "waiting for a pending array": PENDING,
    "reading a pending array": PENDING,
    "printing a pending array": r"Array\(<not computed before the fork>, shape=\(64, 64\)",
    "reading": r"\[0\.0, 1\.0, 2\.0, 3\.0\]$",
    "waiting": "True$",
    "waiting for several": "2$",
    "waiting for several, some pending": PENDING,
    "shape": r"\(\(4,\), 'float32'\)$",
    "make_jaxpr": "sin$",
    "eval_shape": r"\(4,\)$",
    "lower": "True$",
    "garbage": "True$",
    "effects_barrier": "None$",
    "pickle": "ndarray$",
    "a child of the child": RUN,
}


ENDS = ("a call known to C++", "waiting for a pending array", "reading", "effects_barrier")
"""Of actions after which a child ends as Python does; it takes a second, others end at once."""


def run(setup: str, ends: Sequence[str] = ()) -> dict[str, Any]:
    """Per action the status of the child that did it, and what it said."""
    code = _PARENT.format(setup=setup, ends=ends)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "failed" not in done.stderr, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def started() -> dict[str, Any]:
    return run(_STARTED, ENDS)


@pytest.mark.parametrize("action", EXPECTED)
def test_after_the_runtime_started(started: dict[str, Any], action: str) -> None:
    code, text = started[action]
    assert re.match(EXPECTED[action], text), text
    assert code == 0


@pytest.mark.parametrize("action", ENDS)
def test_children_end(started: dict[str, Any], action: str) -> None:
    code, text = started["exit: " + action]
    assert re.match(EXPECTED[action], text), text
    assert code == 0


_TRACING = """
forks = []

def traced(v):
    forks.append(os.fork())
    return v + 1

x = jnp.arange(4.0)
out = attempt(lambda: dovetail.jit(traced)(x))
if forks == [0]:
    os.write(1, json.dumps([0, str(out)]).encode())
    os._exit(0)
os.waitpid(forks[0], 0)
assert out.tolist() == [1.0, 2.0, 3.0, 4.0]
os._exit(0)
"""


def test_while_a_function_is_traced() -> None:
    result: Any = run(_TRACING)
    assert re.match(COMPILE, result[1]), result


_NOT_STARTED = """
dovetail.make_jaxpr(lambda v: jnp.sin(v))(np.ones(3))
every = {
    "jit": lambda: dovetail.jit(lambda v: v * 2.0)(np.arange(4.0)).tolist(),
    "eager": lambda: (jnp.arange(4.0) * 2.0).tolist(),
    "grad": lambda: dovetail.grad(lambda v: (v * v).sum())(jnp.arange(4.0)).tolist(),
    "pickle": lambda: pickle.loads(pickle.dumps(jnp.arange(4.0) * 2)).tolist(),
    "after its own fork": lambda: (jnp.ones(3), tried(lambda: jnp.ones(3), lambda: os._exit(0)))[1],
}
actions = every
"""


def test_all_works_where_the_runtime_had_not_started() -> None:
    result = run(_NOT_STARTED, ("jit",))
    nested = result.pop("after its own fork")
    assert all(x == [0, "[0.0, 2.0, 4.0, 6.0]"] for x in result.values()), result
    assert nested[0] == 0 and "in a forked process" in nested[1], nested


_IMPORTED = """
import os, numpy as np

def register(after_in_child=str, **others):
    if after_in_child.__module__.startswith("dovetail"):
        os.write(1, b"registered ")

os.register_at_fork = register
import dovetail, dovetail.numpy as jnp
dovetail.jit(lambda v: v + 1).eval_shape(np.ones(3))
os.write(1, b"computing ")
jnp.ones(3)
jnp.ones(3)
"""


def test_nothing_is_registered_before_the_runtime_starts() -> None:
    command = [sys.executable, "-c", _IMPORTED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout == "computing registered ", done.stdout + done.stderr


_POOLS = """
import concurrent.futures, multiprocessing, sys
import numpy as np
import dovetail, dovetail.numpy as jnp

def work(x):
    return float(jnp.sum(x * 2.0))

def read(x):
    return float(np.asarray(x).sum())

if __name__ == "__main__":
    xs = [jnp.arange(4.0), jnp.ones(3)]
    method, f = sys.argv[1], globals()[sys.argv[2]]
    with multiprocessing.get_context(method).Pool(1) as pool:
        try:
            print(pool.map(f, xs))
        except RuntimeError as error:
            print(error)
"""


@pytest.mark.parametrize(
    ("method", "function", "wanted"),
    [
        ("fork", "work", ".* in a forked process.*get_context\\('spawn'\\)"),
        ("fork", "read", r"\[6\.0, 3\.0\]"),
        ("spawn", "work", r"\[12\.0, 6\.0\]"),
        ("forkserver", "work", r"\[12\.0, 6\.0\]"),
    ],
    ids=["fork-work", "fork-read", "spawn-work", "forkserver-work"],
)
def test_pools(tmp_path: Path, method: str, function: str, wanted: str) -> None:
    (tmp_path / "pools.py").write_text(_POOLS)
    done = subprocess.run(
        [sys.executable, "pools.py", method, function],
        capture_output=True, text=True, timeout=300, cwd=tmp_path,
    )  # fmt: skip
    assert re.match(wanted, done.stdout), done.stdout + done.stderr
