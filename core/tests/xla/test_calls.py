"""C++ dispatch: what it caches, what it sends to Python, and what it must not do."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail_xla import arrays, client, config, execution, execution as calls, shardings
from dovetail_xla.bindings import PyTreeRegistry

REGISTRY = PyTreeRegistry()
_, LEAF = REGISTRY.flatten(0.0)
KEYS = iter(range(10**6))  # callables of equal key and function share entries: keep ours apart


class Tracer:
    """A leaf of a type that C++ does not know."""


class Harness:
    """A callable that runs a program x -> x + x on a miss, and counts its misses."""

    def __init__(self, program, device, aval, **options):
        self.misses = []
        self.returns_fast_path = True
        self.drop = False
        sharding = shardings.single_device_sharding(device)
        self.fast = calls.FastPath(
            program, LEAF, [sharding], [sharding], [aval], [False], [True], [None]
        )
        self.handlers = execution.result_handlers([aval], [sharding], False)
        options = {"key": ("test", next(KEYS)), "registry": REGISTRY, **options}
        options.setdefault("shard_arg_fallback", self.no_fallback)
        self.call = calls.make_call("double", options.pop("fun", None), self.miss, **options)

    def no_fallback(self, argument, sharding, layout):
        raise AssertionError("not expected")

    def miss(self, *args, **kwargs):
        self.misses.append((args, kwargs))
        x = next(leaf for leaf in REGISTRY.flatten((args, kwargs))[0] if not isinstance(leaf, str))
        if isinstance(x, Tracer):
            return "traced", None, False
        (out,) = execution.run(self.fast.xla_executable, [x], self.handlers)
        return out, self.fast if self.returns_fast_path else None, self.drop


@pytest.fixture
def harness(double, device, aval):
    return lambda **options: Harness(double, device, aval((3,)), **options)


@pytest.fixture
def x(put):
    return put(np.arange(3, dtype=np.float32))


def test_the_second_call_stays_in_cpp(harness, x):
    h = harness()
    h.call(x)
    result = h.call(x)
    assert len(h.misses) == 1
    np.testing.assert_array_equal(arrays.to_numpy(result), [0, 2, 4])
    assert result.aval is h.fast.out_avals[0]
    assert result._sharding is h.fast.out_shardings[0]


def test_cpp_reads_exactly_the_declared_fields(double, device, aval, x):
    class Recording(tuple):
        def __new__(cls, fast):
            self = super().__new__(cls)
            self.__dict__.update(fast=fast, read=[])
            return self

        def __getattr__(self, name):
            self.__dict__["read"].append(name)
            return getattr(self.__dict__["fast"], name)

    h = Harness(double, device, aval((3,)))
    recording = Recording(h.fast)

    def miss(a):
        return execution.run(double, [a], h.handlers)[0], recording, False

    call = calls.make_call(
        "f", None, miss, key=(), registry=REGISTRY, shard_arg_fallback=h.no_fallback
    )
    call(x)
    call(x)
    assert sorted(set(recording.__dict__["read"])) == sorted(calls.FastPath._fields)


def test_what_makes_another_entry(harness, put, aval, device, cpu):
    value = np.arange(3, dtype=np.float32)
    weak = arrays.put(value, aval((3,), "f4", True), device)
    h = harness()
    variants = [put(value), put(value, committed=True), weak]
    for expected, argument in enumerate(variants, start=1):
        h.call(argument)
        h.call(argument)
        assert len(h.misses) == expected
    assert h.call._cache_size() == 3


def test_configs_in_the_key_make_another_entry(harness, x, set_local):
    h = harness()
    h.call(x)
    set_local(config.tracing_state, True)
    h.call(x)
    set_local(config.enable_x64_state, True)
    h.call(x)
    h.call(x)
    assert len(h.misses) == 3


def test_a_leaf_of_unknown_type_goes_to_python_every_time(harness):
    h = harness()
    assert [h.call(Tracer()) for _ in range(3)] == ["traced"] * 3
    assert len(h.misses) == 3


def test_a_call_without_fast_path_goes_to_python_every_time(harness, x):
    h = harness()
    h.returns_fast_path = False
    for _ in range(3):
        h.call(x)
    assert len(h.misses) == 3


def test_a_dropped_entry_is_asked_for_again(harness, x):
    h = harness()
    h.drop = True
    h.call(x)
    h.call(x)
    assert len(h.misses) == 2


def test_one_failure_does_not_slow_the_callable_for_ever(harness, x):
    h = harness()
    good, h.handlers = h.handlers, None
    with pytest.raises(TypeError):
        h.call(x)
    h.handlers = good
    for _ in range(3):
        np.testing.assert_array_equal(arrays.to_numpy(h.call(x)), [0, 2, 4])
    assert len(h.misses) == 2


def test_no_python_runs_with_the_error_of_cpp_set(harness):
    within_itself = []
    within_itself.append(within_itself)
    h = harness()
    with pytest.raises(RecursionError):
        h.call(within_itself)
    assert not h.misses


def test_static_arguments_are_compared_by_value(harness, x):
    h = harness(static_argnums=(0,), static_argnames=("mode",))
    for args, kwargs in [(("a", x), {}), (("b", x), {}), (("b", x), {"mode": "m"})] * 2:
        h.call(*args, **kwargs)
    assert h.misses == [(("a", x), {}), (("b", x), {}), (("b", x), {"mode": "m"})]


def test_an_unhashable_static_argument_is_refused(harness, x):
    with pytest.raises(ValueError, match=r"unhashable|hashable"):
        harness(static_argnums=(0,)).call([], x)


def test_a_key_must_be_hashable_and_not_none(harness):
    with pytest.raises(TypeError, match=r"key must be a hashable value other than None: use \(\)"):
        harness(key=None)
    with pytest.raises(TypeError, match="unhashable"):
        harness(key=([],))


def test_callables_of_one_function_and_key_share_entries(harness, x):
    def fun():
        pass

    cache = calls.PjitFunctionCache(8)
    first = harness(fun=fun, key=("shared",), cache=cache)
    second = harness(fun=fun, key=("shared",), cache=cache)
    other = harness(fun=fun, key=("other",), cache=cache)
    for h in (first, second, other):
        h.call(x)
    assert [len(h.misses) for h in (first, second, other)] == [1, 0, 1]
    assert (cache.size(), cache.capacity()) == (2, 8)


def test_caches_can_be_cleared_one_by_one_and_all_at_once(harness, x):
    first, second = harness(), harness()
    for clear, expected in [
        (lambda: None, [1, 1]),
        (lambda: calls.clear_cache(first.call), [2, 1]),
        (calls.clear_all_caches, [3, 2]),
    ]:
        clear()
        first.call(x)
        second.call(x)
        assert [len(first.misses), len(second.misses)] == expected


def test_shared_entries_of_callables_that_died_are_cleared_too(harness, x, monkeypatch):
    monkeypatch.setattr(calls, "_shared", [])
    cache = calls.shared_entries(8)
    h = harness(fun=lambda x: x, key=("shared",), cache=cache)
    h.call(x)
    del h
    assert cache.size() == 1 and cache.capacity() == 8
    calls.clear_all_caches()
    assert cache.size() == 0


def test_an_array_on_the_wrong_number_of_devices_is_handed_to_the_fallback(harness, x, cpu, aval):
    asked = []

    def fallback(argument, sharding, layout):
        asked.append((argument, sharding, layout))
        return x

    everywhere = shardings.GSPMDSharding(
        client.device_list(cpu.devices()), shardings.HloSharding.replicate()
    )
    wide = arrays.put_global(np.ones(3, np.float32), aval((3,)), everywhere)
    h = harness()
    call = calls.make_call(
        "f", None, lambda a: (None, h.fast, False), key=(), registry=REGISTRY,
        shard_arg_fallback=fallback,
    )  # fmt: skip
    call(wide)
    result = call(wide)
    assert asked == [(wide, h.fast.in_shardings[0], None)]
    np.testing.assert_array_equal(arrays.to_numpy(result), [0, 2, 4])


def test_disable_jit_calls_the_function_itself(harness, x, set_local):
    h = harness(fun=lambda a: ("plain", a))
    set_local(config.disable_jit_state, True)
    assert h.call(x) == ("plain", x)
    assert h.misses == []


def test_the_post_hook_sees_calls_that_stayed_in_cpp(harness, x, set_local):
    seen = []
    h = harness()
    h.call(x)
    set_local(config.post_hook_state, lambda fun, args, kwargs, out: seen.append((args, out)))
    result = h.call(x)
    assert seen == [((x,), result)]


def test_constants_come_before_arguments(compiled, device, aval, put, x):
    program = compiled(
        "(%c: tensor<3xf32>, %a: tensor<3xf32>) -> tensor<3xf32>",
        "%0 = stablehlo.subtract %c, %a : tensor<3xf32> return %0 : tensor<3xf32>",
    )
    sharding = shardings.single_device_sharding(device)
    fast = calls.FastPath(
        program, LEAF, [sharding] * 2, [sharding], [aval((3,))], [False],
        [True, False, True], [None] * 2, [put(np.full(3, 10.0, "f4"))],
    )  # fmt: skip
    call = calls.make_call(
        "f", None, lambda unused, a: (None, fast, False), key=(), registry=REGISTRY,
        shard_arg_fallback=lambda *a: None,
    )  # fmt: skip
    unused = put(np.zeros(3, "f4"))
    call(unused, x)
    np.testing.assert_array_equal(arrays.to_numpy(call(unused, x)), [10, 9, 8])


def test_a_donated_argument_is_deleted(compiled, harness, put):
    h = harness()
    program = compiled(
        "(%a: tensor<3xf32> {tf.aliasing_output = 0 : i32}) -> tensor<3xf32>",
        "%0 = stablehlo.add %a, %a : tensor<3xf32> return %0 : tensor<3xf32>",
    )
    h.fast = h.fast._replace(xla_executable=program)
    h.call(put(np.ones(3, "f4")))
    given = put(np.ones(3, "f4"))
    np.testing.assert_array_equal(arrays.to_numpy(h.call(given)), [2, 2, 2])
    assert given.is_deleted()
    assert len(h.misses) == 1
    with pytest.raises((ValueError, RuntimeError), match=r"deleted|donated"):
        h.call(given)
