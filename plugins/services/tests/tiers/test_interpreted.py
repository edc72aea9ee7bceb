"""Programs that NumPy runs until they are compiled."""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad
from dovetail_backends import reference_rules
from dovetail_core import Primitive, ShapedArray, config
from dovetail_jit import executables_of, jit, make_jaxpr
from dovetail_refs import new_ref
from dovetail_services.tiers import interpreted, process as compilers
from dovetail_services.tiers.interpreted import DECOMPOSED, MODULE, OPERATION, estimate
from dovetail_testing import assert_close
from dovetail_xla import execution

X = np.linspace(0.1, 1.0, 64, dtype=np.float32).reshape(8, 8)
LONG = 60.0


def steps(x: Any) -> Any:
    for _ in range(3):
        x = lax.add(lax.sin(lax.mul(lax.dot(x, x), 0.1)), 1.0)
    return x


def executable(f: Any, *args: Any) -> Any:
    (result,) = executables_of(f.trace(*args)._program.call)
    return result


def is_interpreted(f: Any, *args: Any) -> bool:
    return isinstance(executable(f, *args).loaded, interpreted.Interpreted)


def compiled_in_full(f: Any, *args: Any) -> Any:
    made = executable(f, *args)
    assert made.is_provisional and made.successor._is_over.wait(LONG)
    f(*args)
    assert made.successor is None and not is_interpreted(f, *args)
    return made


def plain(f: Any) -> Any:
    """A function that NumPy runs, compiled."""

    def run(*args: Any) -> Any:
        with config.option("tiered")("off"):
            return jit(lambda *xs: f(*xs))(*args)

    return run


def test_nothing_is_compiled_here_until_the_full_form_is_there(
    tiers_always: compilers.Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    want = np.asarray(plain(steps)(X))
    f = jit(lambda x: steps(x))
    with monkeypatch.context() as m:
        m.setattr(execution, "compile", None)
        first = f(X)
    assert is_interpreted(f, X)
    assert_close(np.asarray(first), want)
    assert np.asarray(f(X)).tobytes() == np.asarray(first).tobytes()
    compiled_in_full(f, X)
    assert np.asarray(f(X)).tobytes() == want.tobytes()


def test_results_are_of_the_same_types(tiers_always: compilers.Compiler) -> None:
    constant = np.arange(4096, dtype=np.float32)  # large: an argument of the compiled program

    def f(i: Any, unused: Any, flag: Any, half: Any, c: Any, weak: Any) -> Any:
        return {
            "i": lax.add(i, 1), "flag": lax.bitwise_not(flag), "half": lax.mul(half, half),
            "c": lax.conj(c), "weak": lax.mul(weak, 2.0), "same": c, "none": None,
            "empty": lax.slice(half, (0,), (0,)), "table": lax.mul(constant, weak),
        }  # fmt: skip

    g = jit(f)
    half = lax.convert_element_type(np.ones(3), "bfloat16")
    args = (np.int8(127), X, np.array([True, False]), half, np.complex64(1 + 2j), 3.0)
    got = g(*args)
    assert is_interpreted(g, *args)
    want = plain(f)(*args)
    assert got.keys() == want.keys() and got["none"] is None
    for name in want.keys() - {"none"}:
        a, b = got[name], want[name]
        assert (a.dtype, a.shape, a.weak_type) == (b.dtype, b.shape, b.weak_type), name
        assert a.sharding == b.sharding and a.committed == b.committed
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def test_loops_branches_and_derivatives(tiers_always: compilers.Compiler) -> None:
    def f(x: Any) -> Any:
        c, ys = lax.scan(lambda c, _: (lax.sin(c), c), x, None, length=5)
        y = lax.cond(True, lambda a: lax.exp(a), lambda a: a, c)
        return lax.reduce_sum(lax.add(lax.mul(y, y), lax.reduce_sum(ys, (0,))), (0,))

    g, x = jit(grad(f)), X[0]
    got = g(x)
    assert is_interpreted(g, x)
    assert_close(np.asarray(got), np.asarray(plain(grad(f))(x)))


def test_arguments_are_donated_and_references_written(tiers_always: compilers.Compiler) -> None:
    f = jit(lambda x: lax.add(x, 1.0), donate_argnums=0)
    x = lax.full((3,), 1.0)
    assert np.asarray(f(x)).tolist() == [2, 2, 2] and x.is_deleted()
    with pytest.raises(RuntimeError, match="donated"):
        f(x)
    place = new_ref(lax.full((8, 8), 0.0, np.float32))

    def write(r: Any, x: Any) -> Any:
        r[...] = lax.add(r[...], x)
        return lax.sin(x)

    g = jit(write)
    for call in (1, 2, 3):
        g(place, X)
        assert_close(np.asarray(place[...]), call * X)


def test_the_program_is_compiled_here_if_nobody_else_does(
    tiers_always: compilers.Compiler, held: None, recwarn: pytest.WarningsRecorder
) -> None:
    f = jit(lambda x: steps(x))
    f(X)
    full = executable(f, X).successor
    ended = None
    for _ in range(compilers.FAILURES):
        while (process := tiers_always.process) is None or process is ended:
            pass
        os.kill(process.pid, signal.SIGKILL)
        ended = process
    assert full._is_over.wait(LONG)
    want = np.asarray(plain(steps)(X))
    assert np.asarray(f(X)).tobytes() == want.tobytes()
    assert executable(f, X).successor is None and not recwarn.list


def test_a_rule_that_fails_is_no_answer(
    tiers_always: compilers.Compiler, held: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*args: Any, **params: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setitem(reference_rules.rules, lax.sin_p, fails)
    f = jit(lambda x: steps(x))
    want = np.asarray(plain(steps)(X))
    assert_close(np.asarray(f(X)), want)
    assert is_interpreted(f, X)
    assert_close(np.asarray(f(X)), want)


def test_slow_calls_are_not_repeated(
    tiers_always: compilers.Compiler, held: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    evaluate = interpreted.evaluate
    monkeypatch.setattr(interpreted, "evaluate", lambda *xs: calls.append(1) or evaluate(*xs))
    f, g = jit(lambda x: steps(x)), jit(lambda x: steps(lax.neg(x)))
    for _ in range(3):
        f(X)
    assert len(calls) == 3
    g(X)
    executable(g, X).loaded._patience = 0.0
    for _ in range(3):
        g(X)
    assert len(calls) == 5


def test_transfers_that_are_watched_are_not_made(
    tiers_always: compilers.Compiler, held: None
) -> None:
    x = lax.full((8, 8), 0.5)
    f = jit(lambda x: steps(x))
    f(x)
    assert is_interpreted(f, x)
    with config.option("transfer_guard_device_to_host")("disallow"):
        f(x)
        g = jit(lambda x: steps(lax.neg(x)))
        g(x)
    assert not is_interpreted(g, x)


def test_stages_are_of_the_full_form(tiers_always: compilers.Compiler) -> None:
    f = jit(lambda x: steps(x))
    f(X)
    assert is_interpreted(f, X)
    assert "HloModule" in f.lower(X).compile().as_text()
    assert not is_interpreted(f, X)


# What is expected of a program


def of(f: Any, *args: Any) -> Any:
    return estimate(make_jaxpr(f)(*args))


def test_operations_and_steps_are_counted() -> None:
    one, two = of(lax.sin, X), of(lambda x: lax.sin(lax.cos(x)), X)
    assert one.operations == 1 and len(two.kinds) == 2 and not one.modules
    assert OPERATION < one.seconds < two.seconds
    assert len(of(lambda x: lax.sin(lax.sin(x)), X).kinds) == 1
    rows = of(lambda x, i: lax.dynamic_index_in_dim(x, i, 0), X, 0)
    many = of(lambda x, i: x.at[i].get(), lax.full((8, 8), 1.0), np.zeros(1000, np.int32))
    assert many.seconds > 1000 * OPERATION > rows.seconds


def test_loops_are_as_long_as_they_run() -> None:
    def loop(n: int) -> Any:
        return lambda x: lax.scan(lambda c, _: (lax.sin(c), None), x, None, length=n)[0]

    short, long = of(loop(10), X), of(loop(1000), X)
    assert 50 * short.seconds < long.seconds and short.kinds == long.kinds
    endless = of(lambda x: lax.while_loop(lambda c: c[0, 0] < 3, lambda c: lax.add(c, 1.0), x), X)
    assert endless.seconds == float("inf")
    branches = of(lambda x: lax.cond(True, lax.sin, loop(1000), x), X)
    assert abs(branches.seconds - long.seconds) < 0.1 * long.seconds


def test_modules_that_are_not_imported_yet_take_time(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    result = of(lambda x: lax.lgamma(x), X)
    assert result.modules == {"scipy.special"}
    monkeypatch.setitem(sys.modules, "scipy.special", np)
    before = result.first
    monkeypatch.delitem(sys.modules, "scipy.special")
    assert result.first == before + MODULE


def test_what_numpy_cannot_run_is_compiled() -> None:
    p = Primitive("tests.tiers.unknown")
    p.def_abstract_eval(lambda a: ShapedArray(a.shape, a.dtype))
    assert of(p.bind, X).seconds == float("inf")
    composed = Primitive("tests.tiers.composed")
    composed.def_abstract_eval(lambda a: ShapedArray(a.shape, a.dtype))
    composed.def_decomposition(lambda a: lax.sin(lax.cos(a)))
    assert of(composed.bind, X).seconds > DECOMPOSED


def test_what_has_other_right_results_is_compiled(
    tiers_always: compilers.Compiler, held: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begins(f: Any, *args: Any) -> bool:
        f = jit(f)
        f(*args)
        return is_interpreted(f, *args)

    square = np.ones((1000, 1000), np.float32)
    assert begins(steps, X) and not begins(lambda x: steps(x), square)
    assert not begins(lambda x: lax.linalg.cholesky(x), np.eye(3, dtype=np.float32))
    assert begins(lambda x: lax.sort(x), X[0]) and not begins(lambda x: lax.sort(x), square)
    monkeypatch.setattr(reference_rules.__class__, "is_overridden", lambda self, p: p is lax.tan_p)
    assert begins(lambda x: lax.cos(x), X) and not begins(lambda x: lax.tan(x), X)
