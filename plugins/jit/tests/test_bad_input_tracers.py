"""Traced values where Python needs known ones, or where and when their trace is not: the errors."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_batching import vmap
from dovetail_core import (
    ConcretizationTypeError,
    NonConcreteBooleanIndexError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
)
from dovetail_jit import jit

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)
HERE = r"at \S*test_bad_input_tracers\.py:\d+"
MADE = rf"\(it was made {HERE} \(.*\)\)"
Kind = type[Exception]

KNOWN: dict[str, tuple[Callable[[Any], Any], Any, Kind, str]] = {
    "if": (
        lambda x: 1 if x > 0 else 2, 1.0, TracerBoolConversionError,
        rf"type bool\[\]~ that is being traced by the trace of '<lambda>' is used as a Python "
        rf"condition {HERE}.*, but it is not known while tracing {MADE}. Use dovetail.lax.cond",
    ),
    "and": (lambda x: x > 0 and x < 2, 1.0, TracerBoolConversionError, rf"condition {HERE}"),
    "float": (float, 1.0, ConcretizationTypeError, rf"to a Python number {HERE}.*Keep it as"),
    "int": (int, 1.0, ConcretizationTypeError, rf"to a Python number {HERE}.*Keep it as an arr"),
    "complex": (complex, 1j, ConcretizationTypeError, rf"to a Python number {HERE}"),
    "math": (math.sin, 1.0, ConcretizationTypeError, rf"to a Python number {HERE}.*outside of"),
    "item": (lambda x: x.item(), 1.0, ConcretizationTypeError, rf"to a Python number {HERE}"),
    "tolist": (
        lambda x: x.tolist(), X, ConcretizationTypeError, rf"converted to a NumPy array {HERE}"
    ),
    "format": (
        lambda x: f"{x:.2f}", 1.0, ConcretizationTypeError,
        rf"formatted as text {HERE}.*dovetail\.debug\.print when the program runs",
    ),
    "range": (
        lambda n: list(range(n)), 3, TracerIntegerConversionError,
        rf"used as a Python integer {HERE}.*fori_loop instead of range.*static_argnums",
    ),
    "list index": (lambda n: [1, 2][n], 1, TracerIntegerConversionError, rf"integer {HERE}"),
    "shape": (dnp.zeros, 3, TracerIntegerConversionError, rf"used as a Python integer {HERE}"),
    "reshape": (
        lambda n: dnp.reshape(X, (n, 2)), 2, TracerIntegerConversionError, rf"integer {HERE}"
    ),
    "slice": (
        lambda n: dnp.asarray(X)[n : n + 2], 1, TracerIntegerConversionError,
        rf"a slice bound of type i32\[\]~ is traced {HERE}.*Use dovetail\.lax\.dynamic_slice",
    ),
    "numpy": (
        np.sin, 1.0, TracerArrayConversionError,
        rf"converted to a NumPy array {HERE}.*dovetail\.numpy in place of .*pure_callback",
    ),
    "numpy.array": (lambda x: np.array([x]), 1.0, TracerArrayConversionError, rf"array {HERE}"),
    "mask": (
        lambda x: x[x > 0], X, NonConcreteBooleanIndexError,
        rf"a boolean array of type bool\[4\] is used as an index {HERE}.*Use dovetail.numpy.where",
    ),
    "nonzero": (
        dnp.nonzero, X, ConcretizationTypeError,
        rf"nonzero of a traced array of type f32\[4\] {HERE}.*Give size=",
    ),
    "arange": (dnp.arange, 3, TypeError, rf"arange: start is a traced value {HERE}.*static_arg"),
    "key": (lambda x: {x: 1}, 1.0, TypeError, r"unhashable type: '.*Tracer'"),
}  # fmt: skip


@pytest.mark.parametrize("case", KNOWN)
def test_a_value_must_be_known(case: str) -> None:
    f, x, error, said = KNOWN[case]
    with pytest.raises(error, match=said):
        jit(lambda x: f(x))(x)


def test_a_traced_value_can_be_shown() -> None:
    shown: list[str] = []
    jit(lambda x: shown.append(f"{x}") or x)(X)
    assert shown == ["Traced<f32[4]> under the trace of '<lambda>'"]


# --- values that left ----------------------------------------------------------------------------


def in_thread(f: Callable[[], Any]) -> Any:
    """The result of ``f`` in another thread; its exception here."""
    result: list[Any] = []

    def run() -> None:
        try:
            result.append(f())
        except Exception as e:
            result.append(e)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(result[0], Exception):
        raise result[0]
    return result[0]


def leak_from(run: Callable[[Callable[..., Any]], Any]) -> Any:
    leaked: list[Any] = []

    def keep(*xs: Any) -> Any:
        leaked[:] = [xs[-1]]
        return xs[0]

    run(keep)
    return leaked[0]


LEAKS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "jit": (lambda keep: jit(lambda x: keep(lax.mul(x, 2.0)))(X), "the trace of '<lambda>'"),
    "grad": (lambda keep: grad(lambda x: keep(dnp.sum(x), x))(X), r"differentiation \("),
    "vmap": (lambda keep: vmap(keep)(np.stack([X, X])), "vmap"),
    "scan": (lambda keep: lax.scan(lambda c, x: (keep(c, x), x), 0.0, X), "the trace of '<lam"),
    "scan carry": (lambda keep: lax.scan(lambda c, x: (keep(c), x), X, X), "the trace of '<lam"),
    "while": (lambda keep: lax.while_loop(lambda c: c[0] < 0, keep, X), "the trace of 'keep'"),
    "cond": (lambda keep: lax.cond(True, keep, keep, X), "the trace of 'keep'"),
    "jit in scan": (
        lambda keep: lax.scan(lambda c, x: (jit(keep)(c, x), x), 0.0, X), "the trace of 'keep'"
    ),
}  # fmt: skip
USES: dict[str, Callable[[Any], Any]] = {
    "operation": lambda x: dnp.asarray(x) + 1,
    "closed over": lambda x: jit(lambda: lax.add(x, x))(),
    "returned": lambda x: lax.scan(lambda c, t: (c, x), 0.0, X),
    "in a thread": lambda x: in_thread(lambda: lax.add(x, x)),
    "numpy": np.asarray,
    "bool": bool,
    "float": float,
    "index": lambda x: [1, 2][x],
}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_value_that_left_its_trace_is_named_in_every_use(leak: str) -> None:
    run, left = LEAKS[leak]
    x = leak_from(run)
    said = rf"left {left}.*, which is over, and is used {HERE}.*Return it from the transformed fun"
    for use in USES.values():
        with pytest.raises(UnexpectedTracerError, match=said):
            use(x)
    np.testing.assert_allclose(jit(lax.sin)(X), np.sin(X), rtol=1e-6)


def test_the_line_that_made_a_value_is_named() -> None:
    x = leak_from(lambda keep: jit(lambda x: keep(lax.mul(x, 2.0)))(X))
    with pytest.raises(UnexpectedTracerError, match=rf"is used {HERE} .* {MADE}"):
        lax.sin(x)


def test_a_thread_does_not_see_the_trace_of_the_one_that_began_it() -> None:
    """A tracer that is used in another thread while its own trace runs is an error there."""
    said = (
        rf"add is evaluated at once {HERE}.*but an operand Traced<f32\[4\]> under the trace of "
        r"'f' is being traced: .*trace, in another thread.*run it in the thread that traces"
    )

    def f(x: Any) -> Any:
        with pytest.raises(UnexpectedTracerError, match=said):
            in_thread(lambda: lax.add(x, x))
        return lax.mul(x, 2.0)

    np.testing.assert_allclose(jit(f)(X), 2 * X)


def test_threads_that_trace_at_once_are_not_confused() -> None:
    barrier = threading.Barrier(4)
    result: dict[int, Any] = {}

    def work(k: int) -> None:
        def f(x: Any) -> Any:
            barrier.wait()  # all four are tracing now
            y = lax.mul(x, float(k))
            barrier.wait()
            return dnp.sum(y)

        result[k] = np.asarray(jit(grad(f))(X))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for k in range(4):
        np.testing.assert_allclose(result[k], np.full(4, k))


# --- names of functions ---------------------------------------------------------------------------


def scale(k: Any, x: Any) -> Any:
    return lax.mul(x, k)


class Scale:
    """A function object, and one with a method."""

    def __call__(self, x: Any) -> Any:
        return lax.mul(x, 2.0)

    def method(self, x: Any) -> Any:
        return lax.mul(x, 2.0)


NAMED = {
    "partial": (partial(scale, 2.0), "scale"),
    "partial of a partial": (partial(partial(scale), 2.0), "scale"),
    "object": (Scale(), "Scale"),
    "bound method": (Scale().method, "method"),
}


@pytest.mark.parametrize("case", NAMED)
def test_functions_of_every_kind_are_named(case: str) -> None:
    f, name = NAMED[case]
    with pytest.raises(TypeError, match=rf"jit of {name}: args\[0\] {HERE}"):
        jit(f)("text")
    with pytest.raises(TypeError, match=rf"but {name} returned an array of type f32\[4\] {HERE}"):
        grad(f)(X)
    with pytest.raises(ValueError, match=rf"vmap of {name}: in_axes asks for axis 1 .*{HERE}"):
        vmap(f, 1)(X)
    with pytest.raises(UnexpectedTracerError, match=rf"left the trace of '{name}'"):
        lax.sin(leak_from(lambda keep: jit(partial_like(f, keep))(X)))
    np.testing.assert_allclose(jit(f)(X), 2 * X)


def partial_like(f: Any, keep: Any) -> Any:
    def g(x: Any) -> Any:
        return f(keep(x))

    g.__name__ = NAMED_NAMES[id(f)]
    return g


NAMED_NAMES = {id(f): name for f, name in NAMED.values()}


def test_lowering_for_a_platform_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match=rf"scale cannot be lowered for 'bogus' {HERE}.*are cpu,"):
        jit(scale).trace(2.0, X).lower(lowering_platforms=("bogus",))


def test_arguments_of_jit_that_do_not_exist_are_named() -> None:
    for name in ("static_argnums", "donate_argnums"):
        with pytest.raises(ValueError, match=rf"jit of scale: argument number 3 .*2 posi.*{HERE}"):
            jit(scale, **{name: 3})
    with pytest.raises(ValueError, match=rf"no argument 'z'; it has \['k', 'x'\] {HERE}"):
        jit(scale, static_argnames="z")


ARGUMENTS = {
    "axis": lambda x, n: dnp.sum(x, axis=n),
    "num": lambda x, n: dnp.linspace(0, 1, n),
    "sections": lambda x, n: dnp.split(x, [n]),
    "pad_width": lambda x, n: dnp.pad(x, n),
    "obj": lambda x, n: dnp.delete(x, n),
    "tobytes": lambda x, n: x.tobytes(),
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_traced_arguments_raise_the_error_of_what_must_be_known(case: str) -> None:
    with pytest.raises(ConcretizationTypeError, match="not known while tracing"):
        jit(ARGUMENTS[case])(X, 1)
