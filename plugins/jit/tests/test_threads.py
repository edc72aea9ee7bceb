"""Eight threads at once: first use, compiled calls, eager operations, references."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_jit import jit
from dovetail_refs import new_ref

THREADS = 8
X = np.linspace(0.1, 1.0, 4, dtype=np.float32)


@pytest.fixture(autouse=True)
def switching() -> Iterator[None]:
    """Threads give way to each other after every few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(work: Callable[[int], Any]) -> list[Any]:
    """``work(k)`` in each thread, begun at one moment; the results in order."""
    start = threading.Barrier(THREADS)
    result: list[Any] = [None] * THREADS
    errors: list[BaseException] = []

    def run(k: int) -> None:
        start.wait(30)
        try:
            result[k] = work(k)
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    if errors:
        raise errors[0]
    return result


FIRST_USE = """
import sys, threading
sys.setswitchinterval(1e-6)
start, found, errors = threading.Barrier(8), [], []

def run(k):
    start.wait(30)
    try:
        import numpy as np
        import dovetail
        import dovetail.numpy as dnp
        from dovetail import lax
        f = (
            lambda x: dnp.sum(x * 2.0),
            dovetail.jit(lambda x: dnp.sum(x + x)),
            lambda x: dovetail.grad(lambda y: dnp.sum(y * y))(x).sum(),
            lambda x: dovetail.vmap(lambda y: y * 2.0)(x).sum(),
        )[k % 4]
        found.append(float(f(np.ones(3, np.float32))))
    except BaseException as e:
        errors.append(repr(e))

threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
for t in threads: t.start()
for t in threads: t.join(120)
print(found, errors)
"""


def test_the_first_use_of_all() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FIRST_USE],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout.strip() == f"{[6.0] * 8} []", done.stdout + done.stderr


def test_operations_of_many_parameters() -> None:
    def work(k: int) -> None:
        x = np.arange(6, dtype=np.float32) + k
        for shape in ((2, 3), (3, 2), (6, 1), (1, 6)):
            np.testing.assert_array_equal(lax.reshape(x, shape), x.reshape(shape))
        np.testing.assert_array_equal(lax.convert_element_type(x, np.int32), x.astype(np.int32))

    together(work)


def test_one_function_is_traced_by_many() -> None:
    for n in range(1, 4):
        f = jit(lambda x: lax.mul(lax.sin(x), 2.0))
        x = np.linspace(0, 1, n, dtype=np.float32)
        for result in together(lambda k, f=f, x=x: f(x + k)):
            assert result.shape == (n,)
        loss = jit(grad(lambda x: lax.reduce_sum(f(x), (0,))))  # noqa: B023
        for result in together(lambda k, g=loss, x=x: g(x)):
            np.testing.assert_allclose(result, 2 * np.cos(x), rtol=1e-6)
        for result in together(lambda k, f=f, x=x: vmap(f)(x[None])):
            np.testing.assert_allclose(result[0], 2 * np.sin(x), rtol=1e-6)


def test_options_of_one_thread_do_not_reach_another() -> None:
    f = jit(lambda x: lax.mul(x, 1.5))

    def work(k: int) -> list[str]:
        names = []
        for _ in range(10):
            if k % 2:
                with enable_x64(True):
                    names.append(str(f(np.ones(2)).dtype))
            else:
                names.append(str(f(np.ones(2)).dtype))
        return names

    for k, names in enumerate(together(work)):
        assert names == ["float64" if k % 2 else "float32"] * 10


def test_references_of_their_own() -> None:
    @jit
    def step(ref: Any, v: Any) -> None:
        ref[...] = lax.add(ref[...], v)

    def work(k: int) -> float:
        ref = new_ref(lax.mul(X, 0.0))
        for i in range(10):
            step(ref, np.full(4, i + k, np.float32))
        return float(ref[...][0])

    assert together(work) == [45.0 + 10 * k for k in range(THREADS)]
