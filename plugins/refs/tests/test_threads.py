"""Threads that use one reference at once: every update counts, and nobody sees half of one."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

import dovetail
import dovetail.numpy as jnp
from dovetail.ref import addupdate
from dovetail_refs.types import AbstractRef

THREADS = 8


@pytest.fixture(autouse=True)
def switching():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(work):
    start, errors = threading.Barrier(THREADS), []

    def run(k):
        start.wait(30)
        try:
            work(k)
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    if errors:
        raise errors[0]


def test_no_update_is_lost_and_every_reading_is_of_one_moment():
    ref = dovetail.new_ref(jnp.zeros(3))

    @dovetail.jit
    def twice(r):
        r[...] += 1.0
        r[...] += 1.0

    def work(k):
        for n in range(15):
            if n % 3 == 0:
                twice(ref)
            elif n % 3 == 1:
                addupdate(ref, ..., jnp.full(3, 2.0))
            else:
                seen = np.asarray(ref[...])
                assert (seen == seen[0]).all() and seen[0] % 2 == 0
                assert "Ref(" in repr(ref)

    together(work)
    assert np.asarray(ref[...]).tolist() == [THREADS * 10 * 2.0] * 3


def test_programs_of_several_references_lock_them_in_one_order():
    refs = [dovetail.new_ref(jnp.zeros(2)) for _ in range(3)]

    @dovetail.jit
    def move(a, b):
        a[...] -= 1.0
        b[...] += 1.0

    def work(k):
        for n in range(20):
            move(refs[(k + n) % 3], refs[(k + n + 1 + n % 2) % 3])

    together(work)
    assert sum(float(r[0]) for r in refs) == 0.0


def test_a_type_is_made_once():
    for n in range(20):
        result = []
        together(lambda k, n=n, result=result: result.append(AbstractRef(jnp.zeros((n, 7)).aval)))
        assert all(t is result[0] for t in result)
