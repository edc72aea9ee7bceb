"""Small eager operations on several devices: called for each part, with the same results."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import NamedSharding, P
from dovetail_core import ClosedJaxpr, Manifest, Pass
from dovetail_jit.options import by_parts_after
from dovetail_jit.providers import per_shard_calls
from dovetail_lax import add_p, sub_p
from dovetail_sharding import Mesh
from dovetail_testing.fresh import with_plugins

OPERATIONS = {
    "add": lambda x: x + x,
    "scalar": lambda x: x * 2.5,
    "integer": lambda x: x**3,
    "compare": lambda x: x > 1,
    "where": lambda x: dnp.where(x > 0, x, -x),
    "tanh": dnp.tanh,
    "exp": lambda x: dnp.exp(-x),
    "cast": lambda x: x.astype(np.int32),
    "relu": dt.nn.relu,
    "clip": lambda x: dnp.clip(x, -1, 1),
}
VALUE = np.random.RandomState(0).normal(size=(8, 6)).astype(np.float32)


@pytest.fixture
def calls(monkeypatch):
    """How many results were made by parts."""
    result = []
    made = per_shard_calls.assemble

    def note(aval, sharding, parts):
        result.append(len(parts))
        return made(aval, sharding, parts)

    monkeypatch.setattr(per_shard_calls, "assemble", note)
    before = by_parts_after.value
    dt.config.update("by_parts_after", 2)
    dt.clear_caches()
    yield result
    dt.config.update("by_parts_after", before)
    dt.clear_caches()


@pytest.fixture
def line(devices):
    return Mesh(np.array(devices), ("x",))


@pytest.mark.parametrize("kind, spec", [("mesh", P("x")), ("mesh", P()), ("explicit", P("x", "y"))])
def test_results_are_those_of_the_whole(calls, kind, spec, request):
    x = dt.device_put(VALUE, NamedSharding(request.getfixturevalue(kind), spec))
    for name, f in OPERATIONS.items():
        whole = f(x)
        for _ in range(4):
            calls.clear()
            y = f(x)
            assert y.aval == whole.aval and y.weak_type == whole.weak_type, name
            assert y.sharding == whole.sharding and y.committed, name
            assert np.asarray(y).tobytes() == np.asarray(whole).tobytes(), name
        assert calls and set(calls) == {8}, name


def test_what_is_not_called_by_parts(calls, line):
    x = dt.device_put(VALUE, NamedSharding(line, P("x")))
    copies = dt.device_put(VALUE, NamedSharding(line, P()))
    large = dt.device_put(np.ones((8, 1024), np.float32), NamedSharding(line, P("x")))
    cases = {
        "a sum": lambda: dnp.sum(x),
        "a transpose": lambda: x.T,
        "others of another sharding": lambda: x + copies,
        "another shape": lambda: x + copies[0],
        "of NumPy": lambda: x + VALUE,
        "large parts": lambda: large + large,
        "one device": lambda: dnp.ones(3) + 1,
    }
    for name, f in cases.items():
        first = np.asarray(f())
        for _ in range(4):
            np.testing.assert_array_equal(np.asarray(f()), first)
        assert not calls, name


def test_sharding_that_changes(calls, line, devices):
    x = dt.device_put(VALUE, NamedSharding(line, P("x")))
    for _ in range(4):
        x + x
    assert calls
    calls.clear()
    alone, copies = dt.device_put(VALUE), dt.device_put(VALUE, NamedSharding(line, P()))
    for other in (alone, copies, dt.device_put(VALUE, devices[3])):
        y = other + other
        assert y.sharding == other.sharding and np.array_equal(np.asarray(y), VALUE * 2)
    assert not calls
    assert np.array_equal(np.asarray(x + x), VALUE * 2) and calls


def test_it_can_be_watched_and_switched_off(calls, line):
    x = dt.device_put(VALUE, NamedSharding(line, P("x")))
    for _ in range(4):
        dnp.log(x * x)
    calls.clear()
    with dt.debug_nans(True), pytest.raises(FloatingPointError):
        dnp.log(x - 100)
    dt.config.update("by_parts_after", 0)
    for _ in range(4):
        x - 5
        x * x
    assert not calls


def test_arrays_that_were_given_away(calls, line):
    x = dt.device_put(VALUE, NamedSharding(line, P("x")))
    for _ in range(4):
        x + x
    x.delete()
    with pytest.raises(RuntimeError, match="delete"):
        x + x


def subtracting(program):
    swapped = {add_p: sub_p}
    eqns = [e.replace(primitive=swapped.get(e.primitive, e.primitive)) for e in program.eqns]
    return ClosedJaxpr(program.jaxpr.replace(eqns=eqns), program.consts)


@pytest.mark.parametrize(
    "given, wanted", [({"divides": False}, 2), ({}, 0), ({"platforms": ("tpu",)}, 2)]
)
def test_a_pass_acts_alike_on_calls_as_a_whole_and_by_parts(
    calls, line, monkeypatch, given, wanted
):
    module = types.ModuleType("acme_passes")
    module.PASS = Pass("acme", "ir", subtracting, **given)
    monkeypatch.setitem(sys.modules, "acme_passes", module)
    x = dt.device_put(VALUE, NamedSharding(line, P("x")))
    with with_plugins(Manifest("acme", passes={"acme": "acme_passes:PASS"})):
        for _ in range(8):
            np.testing.assert_array_equal(x + x, wanted * VALUE)
    assert bool(calls) == (given == {"platforms": ("tpu",)})
    np.testing.assert_array_equal(x + x, 2 * VALUE)
