"""Programs that NumPy computes until they are compiled: which, and that nothing else is seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_backends import reference_rules
from dovetail_core import config
from dovetail_core.testing import assert_close
from dovetail_jit import Executable, Interpreter, executables_of, jit
from dovetail_random import key, normal
from dovetail_refs import new_ref
from dovetail_tiers import compiler as compilers, interpreting
from dovetail_tiers.options import tiered

X = np.linspace(0.1, 1.0, 64, dtype=np.float32).reshape(8, 8)


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Iterator[compilers.Compiler]:
    made = compilers.Compiler()
    monkeypatch.setattr(compilers, "compiler", made)
    reference_rules.fill()  # plugins that are imported by it may replace rules: all is traced anew
    with tiered("auto"):
        yield made
    made.close()


@pytest.fixture
def nobody(compiler: compilers.Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    """Full forms never come."""
    monkeypatch.setattr(compiler, "ask", lambda full: None)


def executable(f: Any, *args: Any) -> Executable:
    (found,) = executables_of(f.trace(*args)._program.call)
    return found


def is_interpreted(f: Any, *args: Any) -> bool:
    """Whether NumPy computes a jitted function that was called."""
    return executable(f, *args).loaded.__class__ is Interpreter


def layers(x: Any) -> Any:
    for _ in range(4):
        x = lax.sin(lax.dot(x, x))
    return x, lax.reduce_max(x, axes=(0,))


def test_the_first_result_is_numpys_and_the_next_ones_are_not(
    compiler: compilers.Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = jit(lambda x: layers(x))
    first = f(X)
    made = executable(f, X)
    assert made.successor is None or made.successor._is_over.wait(60)  # type: ignore[attr-defined]
    second = f(X)
    assert not is_interpreted(f, X) and made.successor is None
    assert [x.dtype for x in first] == [x.dtype for x in second]
    for a, b in zip(first, second):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), atol=1e-4)
    with tiered("off"):
        full = jit(lambda x: layers(x))(X)
    assert [np.asarray(x).tobytes() for x in second] == [np.asarray(x).tobytes() for x in full]
    monkeypatch.setattr(Executable, "run", None)  # from now on C++ repeats calls by itself
    f(X)


def test_donation_references_keys_and_integers(nobody: None) -> None:
    given = lax.add(X, 0.0)
    f = jit(lambda x, y: (lax.add(x, y), lax.convert_element_type(x, np.int32)), donate_argnums=0)
    total, whole = f(given, X)
    assert given.is_deleted() and total.dtype == np.float32 and whole.dtype == np.int32
    np.testing.assert_array_equal(np.asarray(total), X + X)
    place = new_ref(X)

    def add(ref: Any, x: Any) -> Any:
        ref[...] = lax.add(ref[...], x)
        return lax.reduce_sum(ref[...], axes=(0, 1))

    np.testing.assert_allclose(jit(add)(place, X), 2 * X.sum(), rtol=1e-6)
    np.testing.assert_array_equal(place[...], X + X)
    draw = jit(lambda k: normal(k, (3,)))
    with tiered("off"):
        want = jit(lambda k: normal(k, (3,)))(key(3))
    assert_close(np.asarray(draw(key(3))), np.asarray(want))


def test_loops_are_counted(nobody: None) -> None:
    def scanned(length: int) -> Any:
        body = lambda c, _: (lax.sin(lax.add(c, 1.0)), None)  # noqa: E731
        return jit(lambda x: lax.scan(body, x, None, length=length)[0])

    f = scanned(20)
    program = f.trace(X)._program.call
    assert 40 < (interpreting.operations(program, {}) or 0) < 120
    f(X)
    assert is_interpreted(f, X)
    long = scanned(100_000)
    long(X)
    assert not is_interpreted(long, X)


def test_what_numpy_is_not_asked_for(nobody: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(f: Any, *args: Any) -> bool:
        f = jit(f)
        f(*args)
        return not is_interpreted(f, *args)

    assert refused(lambda x: lax.while_loop(lambda x: x[0, 0] < 1, lambda x: x + x, x), X)
    assert refused(lambda x: lax.sort(x), X)
    assert refused(lambda x: lax.linalg.cholesky(x), np.eye(3, dtype=np.float32))
    assert refused(lambda x: lax.dot(lax.dot(x, x), x), np.ones((1000, 1000), np.float32))
    many = np.zeros((interpreting.WINDOWS + 1,), np.int32)
    place = lambda x, i: x.at[i].add(1.0)  # noqa: E731
    assert refused(place, X[0], many) and not refused(place, X[0], many[:3])
    with config.option("transfer_guard_device_to_host")("disallow"):
        assert refused(lambda x: lax.cos(x), X)
    monkeypatch.setattr(interpreting.stablehlo_rules, "is_overridden", lambda p: p is lax.tan_p)
    assert refused(lambda x: lax.tan(x), X)


def test_failures_and_slow_calls_wait_for_the_full_form(
    nobody: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    f, g = jit(lambda x: lax.cos(x)), jit(lambda x: lax.cosh(x))
    monkeypatch.setattr(interpreting, "LONGEST", 0.0)
    monkeypatch.setattr(interpreting, "OPERATION", -1.0)
    f(X)
    assert is_interpreted(f, X)
    f(X)
    assert not is_interpreted(f, X)

    def fails(*_: Any) -> None:
        raise ValueError("no")

    monkeypatch.setattr(interpreting, "evaluate", fails)
    assert_close(np.asarray(g(X)), np.cosh(X))
    assert not is_interpreted(g, X)


def test_it_is_compiled_here_if_the_process_fails(
    nobody: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = jit(lambda x: lax.exp(x))
    f(X)
    made = executable(f, X)
    made.successor.bring(None, "it was killed")  # type: ignore[union-attr]
    assert_close(np.asarray(f(X)), np.exp(X))
    assert not is_interpreted(f, X) and made.successor is None
