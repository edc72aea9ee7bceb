"""Guards of transfers: what they stop, what they let through, and how they are set."""

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_backends import guards
from dovetail_backends.placement import device_get, device_put
from dovetail_core import config
from dovetail_jit import jit

HOST = np.ones(3, np.float32)


def test_implicit_transfers_are_stopped_and_explicit_ones_are_not():
    f = jit(lambda x: x + 1)
    f(HOST)
    x = device_put(HOST)
    with guards.transfer_guard("disallow"):
        for transfer in (lambda: f(HOST), lambda: dnp.asarray(HOST), lambda: x + HOST):
            with pytest.raises(RuntimeError, match="Disallowed host-to-device transfer"):
                transfer()
        np.testing.assert_array_equal(device_get(f(device_put(HOST))), HOST + 1)
    with (
        guards.transfer_guard("disallow_explicit"),
        pytest.raises(RuntimeError, match="Disallowed host-to-device transfer"),
    ):
        device_put(HOST)
    np.testing.assert_array_equal(f(HOST), HOST + 1)


def test_one_direction_alone():
    with guards.transfer_guard_device_to_host("disallow"):
        assert config.transfer_guard_device_to_host == "disallow"
        assert config.transfer_guard_host_to_device is None
        assert config.transfer_guard is None
        dnp.asarray(HOST)
    assert config.transfer_guard_device_to_host is None


def test_settings_nest_decorate_and_hold_for_the_process():
    @guards.transfer_guard("log")
    def inner():
        return config.transfer_guard

    with guards.transfer_guard("disallow"):
        assert inner() == "log"
        assert config.transfer_guard == "disallow"
    try:
        config.update("jax_transfer_guard", "allow")
        assert config.transfer_guard_device_to_device == "allow"
    finally:
        config.update("transfer_guard", None)
    assert config.transfer_guard is None


def test_other_guards():
    with guards.array_garbage_collection_guard("log"):
        assert config.array_garbage_collection_guard == "log"
    with guards.thread_guard(True):
        assert config.thread_guard
    assert not config.thread_guard


@pytest.mark.parametrize("name", ["transfer_guard", "array_garbage_collection_guard"])
def test_unknown_levels(name):
    with pytest.raises(
        ValueError, match=rf"option '{name}': expected None or one of 'allow', 'log'"
    ):
        getattr(guards, name)("never")
