"""What the adapter's tests share: a small CPU client, a plain aval, programs, fresh processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from dovetail_xla import arrays, client, config, execution, options

CORE = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Aval:
    shape: tuple[int, ...]
    dtype: np.dtype
    weak_type: bool = False


@pytest.fixture(scope="session")
def cpu() -> client.Client:
    return client.make_cpu_client(2)


@pytest.fixture
def device(cpu):
    return cpu.devices()[0]


@pytest.fixture(scope="session")
def aval() -> Callable[..., Aval]:
    return lambda shape, dtype="f4", weak_type=False: Aval(tuple(shape), np.dtype(dtype), weak_type)


@pytest.fixture
def put(device, aval):
    """A NumPy value as an array of the first device, or of `where`."""

    def put(value, where=None, committed=False):
        value = np.asarray(value)
        return arrays.put(value, aval(value.shape, value.dtype), where or device, committed)

    return put


@pytest.fixture(scope="session")
def compiled(cpu):
    """Compiles `main` from its arguments, results and body, for one device."""

    def compile(signature: str, body: str, host_callbacks=(), **kwargs):
        text = f"module @m {{ func.func public @main{signature} {{ {body} }} }}"
        devices = client.device_list(cpu.devices()[:1])
        return execution.compile(
            cpu, text, devices, options.compile_options(cpu, **kwargs), host_callbacks
        )

    return compile


@pytest.fixture(scope="session")
def double(compiled):
    """The program x -> x + x on float32[3]."""
    body = "%0 = stablehlo.add %a, %a : tensor<3xf32> return %0 : tensor<3xf32>"
    return compiled("(%a: tensor<3xf32>) -> tensor<3xf32>", body, profile="quick")


@pytest.fixture
def set_local() -> Iterator[Callable]:
    """Sets a Config for this thread until the end of the test."""
    changed = []

    def set_local(state, value):
        changed.append((state, state.swap_local(value)))

    yield set_local
    for state, previous in reversed(changed):
        state.set_local(previous)
    assert config.disable_jit_state.value is False


@pytest.fixture
def fresh_python(tmp_path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs code in a new interpreter that sees this kernel and the given directories."""

    def run(code: str, *paths: Path, **env: str) -> subprocess.CompletedProcess[str]:
        search = os.pathsep.join(map(str, (*paths, CORE)))
        kept = {k: v for k, v in os.environ.items() if k != "TF_CPP_MIN_LOG_LEVEL"}
        return subprocess.run(
            [sys.executable, "-c", code],
            env={**kept, "PYTHONPATH": search, **env},
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run
