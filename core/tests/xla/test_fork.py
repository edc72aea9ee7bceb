"""Forked processes at the level of the adapter: what is refused, and how."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest

from dovetail_xla import client, fork

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")

_CODE = """
import os, numpy as np
from dovetail_xla import arrays, client, execution, fork, options
from types import SimpleNamespace
cpu = client.make_cpu_client()
device = cpu.devices()[0]
text = ("module { func.func public @main(%a: tensor<3xf32>) -> tensor<3xf32> "
        "{ %0 = stablehlo.add %a, %a : tensor<3xf32> return %0 : tensor<3xf32> } }")
program = execution.compile(cpu, text, client.device_list([device]), options.compile_options(cpu))
aval = SimpleNamespace(shape=(3,), dtype=np.dtype("f4"), weak_type=False)
x = arrays.put(np.ones(3, "f4"), aval, device)
fork.explain(lambda: " at HERE", lambda array: array.delete())
fork.in_child(lambda: print("in the child", fork.forked()))
assert not fork.forked()
pid = os.fork()
if pid:
    print(os.waitpid(pid, 0)[1], fork.forked())
else:
    arrays.block_until_ready([x])
    print(arrays.to_numpy(x))
    blob = execution.serialize(cpu, program)
    devices = client.device_list([device])
    for use in (
        lambda: execution.run(program, [x], []),
        lambda: arrays.put(np.ones(3, "f4"), aval, device),
        lambda: execution.deserialize(cpu, blob, devices),
        client.make_cpu_client,
    ):
        try:
            print(use())
        except RuntimeError as error:
            print(str(error)[:60])
    os._exit(0)
"""


@needs_fork
def test_the_entries_of_the_runtime_are_refused(fresh_python: Any) -> None:
    done = fresh_python("import sys; sys.stdout.reconfigure(line_buffering=True)\n" + _CODE)
    assert done.stdout.splitlines() == [
        "in the child True",
        "[1. 1. 1.]",
        "a compiled program is run at HERE in a forked process. The r",
        "a value is put on a device at HERE in a forked process. The ",
        "a compiled program is loaded at HERE in a forked process. Th",
        "a backend is started at HERE in a forked process. The runtim",
        "0 False",
    ], done.stderr


def test_arrays_of_accelerators_are_not_read() -> None:
    read = fork._on_host(lambda array: "value")

    def array(platform: str) -> Any:
        device = SimpleNamespace(client=SimpleNamespace(platform=platform))
        return SimpleNamespace(_sharding=SimpleNamespace(_internal_device_list=[device]))

    assert read(array("cpu")) == "value"
    with pytest.raises(RuntimeError, match=r"an array of an accelerator is read.*in a forked"):
        read(array("cuda"))


def test_the_fingerprint_of_a_machine(cpu: client.Client) -> None:
    first, second = cpu.devices()[:2]
    result = client.topology_fingerprint(first)
    assert isinstance(result, int) and result == client.topology_fingerprint(second)
