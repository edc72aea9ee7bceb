"""Clients of the host and of plugins."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from dovetail_xla import arrays, client, execution, shardings


def test_a_cpu_client_has_the_devices_asked_for(cpu):
    assert cpu.platform == "cpu"
    assert [d.id for d in cpu.devices()] == [0, 1]
    assert cpu.devices()[0].default_memory().kind == "device"


def test_a_sharding_without_devices_can_be_made_before_any_client(fresh_python):
    code = """
from dovetail_xla import client, shardings
class AbstractMesh:
    size = 8
    _internal_device_list = None
client.ensure_primed()
print(shardings.NamedSharding(AbstractMesh(), ("x",)).spec)
"""
    result = fresh_python(code)
    assert result.stdout == "('x',)\n", result.stderr


def test_device_lists_are_compared_by_value(cpu):
    assert client.device_list(iter(cpu.devices())) == client.device_list(cpu.devices())
    assert hash(client.device_list(cpu.devices())) == hash(client.device_list(cpu.devices()))


def test_arrays_of_one_client_do_not_run_on_another(double, aval):
    other = client.make_cpu_client().devices()[0]
    x = arrays.put(np.zeros(3, "f4"), aval((3,)), other)
    sharding = shardings.single_device_sharding(other)
    with pytest.raises(arrays.XlaRuntimeError):
        execution.execute(double, [x], [aval((3,))], [sharding], False)


def test_a_missing_plugin_library_is_named(tmp_path):
    with pytest.raises(ValueError) as raised:
        client.load_plugin("nothing", tmp_path / "nothing.so")
    assert str(raised.value) == (
        f"the PJRT plugin 'nothing' has no library at {tmp_path / 'nothing.so'}"
    )


def test_a_library_that_is_no_plugin_is_refused(tmp_path):
    damaged = tmp_path / "damaged.so"
    damaged.write_bytes(b"not a library")
    with pytest.raises(ValueError, match=r"the PJRT plugin 'damaged' at .*damaged.so did not load"):
        client.load_plugin("damaged", damaged)


def test_a_shared_library_without_the_plugin_api_is_refused():
    library = importlib.util.find_spec("jaxlib.utils").origin
    with pytest.raises(ValueError, match=r"the PJRT plugin 'utils' at .* did not load"):
        client.load_plugin("utils", library)


def test_a_plugin_must_be_loaded_before_its_client():
    with pytest.raises(ValueError, match="'absent' is not loaded: call load_plugin first"):
        client.make_plugin_client("absent")


def test_gpu_options_follow_the_environment(monkeypatch):
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    monkeypatch.setenv("XLA_PYTHON_CLIENT_ALLOCATOR", "platform")
    options = client.gpu_plugin_options()
    assert options["allocator"] == "platform"
    assert options["preallocate"] is False
