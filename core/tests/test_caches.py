"""Caches: their bounds, what they keep alive, and telling callables apart by identity."""

from __future__ import annotations

import functools
import gc
import sys
import threading
import weakref

import numpy as np
import pytest

from dovetail_base.caches import caches, entries_in, forget_all, identity
from dovetail_base.keys import keeps_alive
from dovetail_core import (
    Cache,
    Primitive,
    ShapedArray,
    WeakTable,
    bound_axis,
    cached,
    register_cache,
    trace_key,
)
from dovetail_core.ir.programs import ClosedJaxpr, Jaxpr


def test_the_oldest_entry_makes_room():
    cache = Cache(3)
    for i in range(5):
        cache[i] = -i
    assert dict(cache) == {2: -2, 3: -3, 4: -4}
    cache[3] = 7  # it has its place
    assert dict(cache) == {2: -2, 3: 7, 4: -4}
    assert cache.setdefault(4, 0) == -4 and cache.setdefault(5, -5) == -5
    assert dict(cache) == {3: 7, 4: -4, 5: -5}
    with pytest.raises(TypeError):
        cache[[]] = 1


def test_all_are_emptied_at_once():
    one, two, owner = Cache(), WeakTable(), Owner(1)
    one[1] = 2
    two.of(owner, list).append(3)
    forget_all()
    assert not one and two.of(owner, list) == []


def test_results_are_computed_once_per_arguments():
    seen = []

    @cached(bound=2)
    def double(x, *, by=2):
        """Twice as much."""
        seen.append(x)
        return by * x

    assert [double(x) for x in (1, 2, 1, 3, 1, 2)] == [2, 4, 2, 6, 2, 4]
    assert seen == [1, 2, 3, 2]  # the one that was used longest ago made room
    assert double(1, by=3) == 3 and double.__name__ == "double"
    assert double.__doc__ == "Twice as much." and double.__wrapped__(4) == 8
    with pytest.raises(TypeError, match="unhashable"):
        double([])


def test_an_exception_is_no_result():
    @cached
    def inverse(x):
        return 1 / x

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            inverse(0)
    assert entries_in(inverse) == 0


def test_a_hit_enters_no_function_of_python():
    @cached
    def negative(x):
        return -x

    negative(1)
    entered = []
    sys.setprofile(lambda frame, event, _: entered.append(frame) if event == "call" else None)
    try:
        negative(1)
    finally:
        sys.setprofile(None)
    assert entered == []


def test_the_context_is_part_of_the_key():
    @cached(context=trace_key)
    def names():
        return [name for name, _ in trace_key()[1][0]] if trace_key()[1] else []

    assert names() == []
    with bound_axis("i", 3):
        assert names() == ["i"] and names() is names()
    assert names() == [] and entries_in(names) == 2 and names.__name__ == "names"
    forget_all()
    assert entries_in(names) == 0


def test_what_is_permanent_outlasts_the_others():
    @cached(permanent="objects are compared by identity")
    def operator(name):
        return object()

    owner, table = Owner(1), WeakTable(permanent="what a run has counted")
    before = operator("+"), table.of(owner, list)
    table.put(owner, 7)
    forget_all()
    assert operator("+") is before[0] and table.known(owner) == 7
    assert table not in caches() and operator not in caches()


def test_caches_of_others_are_emptied_too():
    class Buffers(list):
        """Can be referred to weakly."""

    one = functools.lru_cache(lambda x: x)
    two = Buffers([1, 2])
    one(3)
    register_cache(one)
    register_cache(two)
    assert entries_in(one) == 1 and entries_in(two) == 2
    forget_all()
    assert entries_in(one) == entries_in(two) == 0
    with pytest.raises(TypeError):
        register_cache(3)


def test_what_is_derived_from_a_program_is_emptied_too():
    program = ClosedJaxpr(Jaxpr([], [], [], []))
    made = []

    def make():
        made.append(Owner(1))
        return weakref.ref(made[-1])

    held = program.memo("key", make)
    assert program.memo("key", make) is held and program.cache in caches()
    forget_all()
    assert program.known("key") is None and program.memo("key", make) is not held
    known, cache = len(caches()), weakref.ref(program.cache)
    del program
    gc.collect()
    assert cache() is None and len(caches()) < known


def test_an_empty_cache_is_not_listed():
    cache = Cache()
    assert not any(c is cache for c in caches())
    cache[1] = 2
    assert any(c is cache for c in caches())


def test_a_value_can_be_replaced():
    table, owner = WeakTable(), Owner(1)
    table.put(owner, 1)
    table.put(owner, 2)
    assert table.known(owner) == 2 and len(table) == 1
    del owner
    assert len(table) == 0


def test_a_cache_dies_with_its_owner():
    cache = Cache()
    ref = weakref.ref(cache)
    del cache
    assert ref() is None


class Owner:
    """Equal to all others."""

    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return isinstance(other, Owner)

    def __hash__(self):
        return 1

    def __call__(self):
        return self.n

    def method(self):
        return self.n


def test_equal_owners_have_their_own():
    store, a, b = WeakTable(), Owner(1), Owner(2)
    store.of(a, list).append(1)
    assert store.of(b, list) == [] and store.of(a, list) == [1]
    assert store.of(a.method, list) is not store.of(b.method, list)


def test_what_belongs_to_an_object_dies_with_it():
    store, owner = WeakTable(), Owner(1)
    held = [Owner(2)]
    ref = weakref.ref(held[0])
    store.of(owner, held.pop)
    assert ref() is not None
    del owner
    assert ref() is None
    with pytest.raises(TypeError):
        store.of(3, list)


def test_identity_tells_apart_what_is_equal():
    a, b = Owner(1), Owner(2)
    assert identity(a) != identity(b) and identity(a) == identity(a)
    assert identity(a.method) == identity(a.method) != identity(b.method)
    for f in (lambda: 1, functools.partial(a)):
        assert identity(f) is None  # ``==`` does


def test_which_parameters_are_kept():
    kept = [1, 2.5, "a", None, (1, "b", (None,)), np.dtype("f4"), np.float32(2), int]
    assert not any(map(keeps_alive, [*kept, ShapedArray((3,), np.float32)]))
    mine = [lambda: 1, object(), Owner(1).method, functools.partial(int), (1, object()), len]
    assert all(map(keeps_alive, mine))


def test_types_are_not_remembered_by_functions():
    p = Primitive("test.with_function")
    p.def_abstract_eval(lambda x, *, f, n: f(x))
    x = ShapedArray((3,), np.float32)

    def function(aval):
        return aval

    ref = weakref.ref(function)
    assert p.infer((x,), {"f": function, "n": 2}).avals == (x,)
    del function
    gc.collect()
    assert ref() is None


def test_an_entry_of_something_dead_is_no_entry_of_what_has_its_place():
    cache, one = WeakTable(), Owner(1)
    cache.of(one, lambda: "of one")
    left = dict(cache._entries)
    del one
    two = Owner(2)
    cache._entries.update({id(two): entry for entry in left.values()})  # the drop was interrupted
    assert cache.of(two, lambda: "of two") == "of two"
    assert cache.of(two, list) == "of two"


def test_caches_may_come_and_go_in_other_threads_while_all_are_emptied():
    kept = [Cache() for _ in range(300)]
    over = threading.Event()

    def make():
        while not over.is_set():
            Cache()

    before = sys.getswitchinterval()
    thread = threading.Thread(target=make)
    try:
        sys.setswitchinterval(1e-6)
        thread.start()
        for _ in range(2000):
            forget_all()
    finally:
        over.set()
        thread.join()
        sys.setswitchinterval(before)
    assert not any(kept)
