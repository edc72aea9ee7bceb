"""Caches: their bounds, what they keep alive, and telling callables apart by identity."""

from __future__ import annotations

import functools
import gc
import sys
import threading
import weakref

import numpy as np
import pytest

from dovetail_core import Primitive, ShapedArray
from dovetail_core.base.caches import ByIdentity, Cache, forget_all, identity
from dovetail_core.base.keys import keeps_alive


def test_the_oldest_entry_makes_room():
    cache = Cache(3)
    for i in range(5):
        cache[i] = -i
    assert dict(cache) == {2: -2, 3: -3, 4: -4}
    cache[3] = 7  # it has its place
    assert dict(cache) == {2: -2, 3: 7, 4: -4}


def test_all_are_emptied_at_once():
    one, two, owner = Cache(), ByIdentity(), Owner(1)
    one[1] = 2
    two.of(owner, list).append(3)
    forget_all()
    assert not one and two.of(owner, list) == []


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
    store, a, b = ByIdentity(), Owner(1), Owner(2)
    store.of(a, list).append(1)
    assert store.of(b, list) == [] and store.of(a, list) == [1]
    assert store.of(a.method, list) is not store.of(b.method, list)


def test_what_belongs_to_an_object_dies_with_it():
    store, owner = ByIdentity(), Owner(1)
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
    cache, one = ByIdentity(), Owner(1)
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
