"""The full form runs once on zeros before a call takes it, where that is harmless."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_jit import executables_of, jit
from dovetail_services.tiers import process as compilers, requests
from dovetail_services.tiers.options import tiered

X = np.ones((8, 8), np.float32)


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Iterator[compilers.Compiler]:
    made = compilers.Compiler()
    monkeypatch.setattr(compilers, "compiler", made)
    with tiered("always"):
        yield made
    made.close()


def module(f: Any, *args: Any) -> Any:
    """The lowered module of a function."""
    return jit(f).lower(*args)._module


def looped(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda _, y: lax.add(y, 1.0), x)


def test_what_may_run_on_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = module(lambda x: lax.dot(x, x), X)
    assert [a.shape for a in plain.in_avals] == [(8, 8)]
    assert requests.can_run_ahead(plain)
    unused = module(lambda x, y: lax.sin(y), X, X[:1, :1])
    assert [a.shape for a in unused.in_avals] == [(1, 1)]
    assert not requests.can_run_ahead(module(looped, X))  # it might not end
    assert not requests.can_run_ahead(module(lambda x: lax.linalg.cholesky(x), X))  # foreign
    monkeypatch.setattr(requests, "LARGEST", 500)
    assert not requests.can_run_ahead(plain)


def test_it_runs_before_it_is_taken_and_donates_nothing_of_the_callers(
    compiler: compilers.Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, ran = requests.run_ahead, list[Any]()

    def watched(loaded: Any, arrays: Any) -> None:
        ran.append((threading.current_thread(), [np.asarray(x).sum() for x in arrays]))
        run(loaded, arrays)

    monkeypatch.setattr(requests, "run_ahead", watched)
    f = jit(lambda x, y: lax.add(lax.dot(x, x), lax.sin(y)), donate_argnums=0)
    f(X, X)
    (made,) = executables_of(f.trace(X, X)._program.call)
    assert made.successor is None or made.successor._is_over.wait(60)
    ((thread, sums),) = ran
    assert thread is not threading.main_thread() and sums == [0.0, 0.0]
    with tiered("off"):
        x = jit(lambda x: lax.add(x, 0.0))(X)
    np.testing.assert_allclose(np.asarray(f(x, X)), 8.0 + np.sin(X), rtol=1e-6)
    assert x.is_deleted() and made.successor is None


def test_a_failure_there_is_nobodys(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise ValueError("no")

    monkeypatch.setattr(requests, "run_ahead", fails)
    requests.run_on_zeros(None, module(lambda x: lax.sin(x), X), None)
