"""References and other effects in checkpointed functions: every write happens exactly once."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax
from dovetail.ad_checkpoint import Budget, checkpoint_name, checkpoint_policies as policies
from dovetail_callbacks import io_callback

W = np.array([[0.3, -0.5], [0.7, 0.2]], np.float32)
X = np.array([0.4, -0.8], np.float32)
START = np.array([0.6, 0.9], np.float32)


# --- the law --------------------------------------------------------------------------------------


def step(y: Any, ref: Any) -> Any:
    """Reads, writes, reads again: what is computed again must not see the write."""
    a = checkpoint_name(dnp.sin(W @ y * ref[...]), "a")
    ref[...] = 2.0 * dnp.cos(ref[...])
    ref[0] += 1.0
    return dnp.tanh(W @ a) * ref[...] + y


def plain(wrap: Any) -> Any:
    inner = wrap(step)
    return lambda y, ref: inner(inner(y, ref), ref)


def scan(wrap: Any) -> Any:
    inner = wrap(step)
    return lambda y, ref: lax.scan(lambda c, _: (inner(c, ref), None), y, None, length=3)[0]


def around_scan(wrap: Any) -> Any:
    return wrap(scan(lambda f: f))


def checkpointed_scan(wrap: Any) -> Any:
    """The loop keeps states by a scheme of its own, and its steps are checkpointed besides."""
    inner, scheme = wrap(step), dovetail.Binomial(snapshots=2)

    def f(y: Any, ref: Any) -> Any:
        body = lambda c, _: (inner(c, ref), None)  # noqa: E731
        return lax.scan(body, y, None, length=3, checkpoint=scheme)[0]

    return f


def fori(wrap: Any) -> Any:
    inner = wrap(step)
    return lambda y, ref: lax.fori_loop(0, 2, lambda i, c: inner(c, ref), y)


def loop(wrap: Any) -> Any:
    """A loop of unknown length, which writes; no derivative goes through it."""

    @wrap
    def inner(y: Any, ref: Any) -> Any:
        before = ref[0]

        def more(i: Any) -> Any:
            ref[1] += 0.5
            return i + 1

        n = lax.while_loop(lambda i: i < 3, more, 0)
        return dnp.sin(y * ref[...]) * before + n

    return inner


def cond(wrap: Any) -> Any:
    inner = wrap(step)

    def both(y: Any, ref: Any) -> Any:
        y = lax.cond(y[0] > 0, lambda v: inner(v, ref), lambda v: v, y)
        return lax.cond(y[0] > 99, lambda v: v, lambda v: inner(v, ref), y)

    return both


def nested(wrap: Any) -> Any:
    inner = plain(wrap)
    return dovetail.remat(lambda y, ref: dnp.sin(inner(y, ref)) * ref[...])


PROGRAMS = (plain, scan, around_scan, checkpointed_scan, fori, loop, cond, nested)
ORACLES: dict[Any, Any] = {checkpointed_scan: scan}
WHERE = ("argument", "closed over", "internal")
POLICIES: dict[str, Any] = {
    "none": {},
    "all": {"policy": policies.everything_saveable},
    "nothing": {"policy": policies.nothing_saveable},
    "names": {"policy": policies.save_only_these_names("a")},
    "dots": {"policy": policies.dots_saveable},
    "budget": {"policy": Budget(10**6)},
}


class Case(NamedTuple):
    make: Callable[[Any], Any]
    where: str
    jitted: bool
    policy: str
    order: int

    @property
    def label(self) -> str:
        how = "jit" if self.jitted else "eager"
        return f"{self.make.__name__}-{self.where}-{how}-{self.policy}-{self.order}"


EVERY = [Case(*c) for c in product(PROGRAMS, WHERE, (True, False), POLICIES, (1, 2))]
CASES = EVERY if os.environ.get("DOVETAIL_TEST_FULL") == "1" else EVERY[::17]


def outcome(case: Case, wrap: Any) -> tuple[Any, Any]:
    """The derivative, and what the reference holds at the end (zeros for an internal one)."""
    ref = dovetail.new_ref(START)
    f = _placed(case, wrap, ref)
    g = dovetail.grad(lambda y, *r: dnp.sum(f(y, *r) ** 2))
    if case.order == 2:
        first = g
        g = dovetail.grad(lambda y, *r: dnp.sum(dnp.sin(first(y, *r))))
    g = dovetail.jit(g) if case.jitted else g
    return g(X, ref) if case.where == "argument" else g(X), ref[...]


def _placed(case: Case, wrap: Any, ref: Any) -> Any:
    if case.where == "argument":
        return case.make(wrap)
    if case.where == "closed over":
        # What is checkpointed closes over the reference itself.
        f = case.make(lambda h: lambda y, r: wrap(lambda v: h(v, r))(y))
        return lambda y: f(y, ref)

    def internal(y: Any) -> Any:
        # No derivative goes through a loop of unknown length.
        own = dovetail.new_ref(START if case.make is loop else dnp.asarray(START) * y[1])
        return case.make(lambda h: h)(y, own) + own[...]

    return wrap(internal)


_expected: dict[Any, Any] = {}


@pytest.mark.parametrize("case", CASES, ids=[c.label for c in CASES])
def test_derivatives_and_references_are_those_without_checkpoints(case: Case) -> None:
    key = case._replace(make=ORACLES.get(case.make, case.make), policy="", jitted=True)
    if key not in _expected:
        _expected[key] = outcome(key, lambda f: f)
    result = outcome(case, lambda f: dovetail.remat(f, **POLICIES[case.policy]))
    for got, want in zip(result, _expected[key]):
        np.testing.assert_allclose(got, want, rtol=3e-5, atol=1e-5)


def test_the_oracle_of_the_law_agrees_with_finite_differences() -> None:
    def value(y: Any) -> float:
        ref, total = START.astype(np.float64), y
        for _ in range(2):
            a = np.sin(W @ total * ref)
            ref = 2.0 * np.cos(ref)
            ref[0] += 1.0
            total = np.tanh(W @ a) * ref + total
        return float(np.sum(total**2))

    x = X.astype(np.float64)
    h = 1e-5
    slopes = [(value(x + h * e) - value(x - h * e)) / (2 * h) for e in np.eye(2)]
    result, ref = outcome(Case(plain, "argument", True, "none", 1), dovetail.remat)
    np.testing.assert_allclose(result, slopes, rtol=1e-4)
    expected = 2.0 * np.cos(START) + np.array([1.0, 0.0])
    np.testing.assert_allclose(ref, 2.0 * np.cos(expected) + np.array([1.0, 0.0]), rtol=1e-5)


# --- references -----------------------------------------------------------------------------------


def counting(y: Any, ref: Any) -> Any:
    out = dnp.sin(y * ref[...])
    ref[...] += 1.0
    return out


@pytest.mark.parametrize("wrap", [lambda f: f, dovetail.jit], ids=["eager", "jit"])
def test_a_write_happens_once_and_what_is_computed_again_reads_what_was_there(wrap: Any) -> None:
    @dovetail.remat
    def f(y: Any, ref: Any) -> Any:
        out = y * ref[...]
        ref[...] += 1
        return out

    ref = dovetail.new_ref(1.0)
    assert float(wrap(dovetail.grad(f))(1.0, ref)) == 1.0
    assert float(ref[...]) == 2.0
    ref = dovetail.new_ref(1.0)
    slope = wrap(dovetail.grad(dovetail.remat(counting)))(1.0, ref)
    np.testing.assert_allclose(slope, np.cos(1.0), rtol=1e-6)
    assert float(ref[...]) == 2.0


def test_a_written_value_carries_its_derivative() -> None:
    @dovetail.remat
    def f(y: Any, ref: Any) -> Any:
        ref[...] = dnp.sin(y)
        return y * ref[...]

    def g(y: Any) -> Any:
        ref = dovetail.new_ref(0.0)
        return f(y, ref) + ref[...] ** 2

    expected = np.sin(0.7) + 0.7 * np.cos(0.7) + 2 * np.sin(0.7) * np.cos(0.7)
    np.testing.assert_allclose(dovetail.grad(g)(0.7), expected, rtol=1e-5)


def test_the_body_is_traced_once() -> None:
    traces: list[int] = []

    @dovetail.remat
    def f(y: Any, ref: Any) -> Any:
        traces.append(1)
        return counting(y, ref)

    for g in (dovetail.grad(f), dovetail.jit(dovetail.grad(f)), dovetail.hessian(f)):
        traces.clear()
        g(1.0, dovetail.new_ref(1.0))
        assert len(traces) == 1


def test_what_a_reference_held_is_kept_only_where_it_is_read_again() -> None:
    def unread(y: Any, ref: Any) -> Any:
        ref[...] += 1.0
        return dnp.sin(dnp.exp(y))

    def kept(f: Any) -> int:
        ref = dovetail.new_ref(np.zeros(1000, np.float32))
        records = dovetail.ad_checkpoint.saved_residuals(
            lambda y: dnp.sum(dovetail.remat(f)(y, ref)), np.float32(1)
        )
        return sum(r.nbytes for r in records)

    assert kept(unread) < 100
    assert kept(lambda y, ref: counting(y, ref)) >= 4000


def test_one_reference_given_twice_is_an_error() -> None:
    ref = dovetail.new_ref(1.0)
    f = dovetail.remat(lambda y, a, b: y * a[...] + b[...])
    with pytest.raises(ValueError, match=r"checkpoint of <lambda>: one Ref\{f32\[\]\} is passed"):
        f(1.0, ref, ref)


def test_returning_a_reference_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"returned Ref\{f32\[\]\}, which is mutable"):
        dovetail.remat(lambda y: dovetail.new_ref(y))(1.0)


# --- the choice -----------------------------------------------------------------------------------


def test_replay_has_the_effects_again() -> None:
    f = dovetail.remat(counting, effects="replay")
    for wrap in (lambda g: g, dovetail.jit):
        ref = dovetail.new_ref(1.0)
        slope = wrap(dovetail.grad(f))(1.0, ref)
        assert float(ref[...]) == 3.0, "written in both passes"
        np.testing.assert_allclose(slope, 2 * np.cos(2.0), rtol=1e-6)  # reads what is there then


def test_forbidden_effects_are_named() -> None:
    f = dovetail.remat(counting, effects="forbid")
    with pytest.raises(
        ValueError,
        match=r"(?s)checkpoint of counting with effects='forbid'.*test_"
        r"effects\.py:\d+ \(counting\) has a WriteEffect on Ref\{f32\[\]\}.*once",
    ):
        f(1.0, dovetail.new_ref(1.0))
    inside = dovetail.remat(lambda y: dovetail.jit(lambda v: seen(v))(y), effects="forbid")
    with pytest.raises(ValueError, match=r"'io_callback' at .* has a OrderedIOEffect"):
        inside(1.0)
    reading = dovetail.remat(lambda y, ref: y * ref[...], effects="forbid")
    assert float(reading(2.0, dovetail.new_ref(3.0))) == 6.0
    with pytest.raises(ValueError, match=r"effects must be 'once', 'replay' or 'forbid', got 'no'"):
        dovetail.remat(counting, effects="no")


# --- effects on the world -------------------------------------------------------------------------

LOG: list[float] = []


def _log(x: Any) -> Any:
    LOG.append(float(x))
    return np.float32(len(LOG))


def seen(y: Any) -> Any:
    z = dnp.sin(y)
    io_callback(_log, np.zeros((), np.float32), lax.stop_gradient(z), ordered=True)
    return dnp.exp(z)


def answered(y: Any) -> Any:
    """The derivative needs what the world answered: it cannot be asked again."""
    z = dnp.sin(y)
    k = io_callback(_log, np.zeros((), np.float32), lax.stop_gradient(z), ordered=True)
    return dnp.exp(z * k)


def in_scan(f: Any) -> Any:
    return lambda y: lax.scan(lambda c, _: (f(c), None), y, None, length=3)[0]


def in_cond(f: Any) -> Any:
    return lambda y: lax.cond(y > 0, f, lambda v: v, y)


@pytest.mark.parametrize("wrap", [lambda f: f, dovetail.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("f", [seen, answered, in_scan(answered), in_cond(answered)])
@pytest.mark.parametrize("policy", [None, policies.nothing_saveable, Budget(10**6)])
def test_the_world_is_asked_once_in_order(f: Any, policy: Any, wrap: Any) -> None:
    LOG.clear()
    expected = wrap(dovetail.grad(f))(0.5)
    calls = list(LOG)
    for g in (dovetail.remat(f, policy=policy), dovetail.remat(dovetail.jit(f), policy=policy)):
        LOG.clear()
        np.testing.assert_allclose(wrap(dovetail.grad(g))(0.5), expected, rtol=1e-5)
        np.testing.assert_allclose(LOG, calls, rtol=1e-5)


def test_replay_asks_the_world_again() -> None:
    LOG.clear()
    dovetail.grad(dovetail.remat(seen, effects="replay"))(0.5)
    assert len(LOG) == 2


@pytest.mark.parametrize("jitted", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("place", ["plain", "scan", "around a scan", "nested"])
@pytest.mark.parametrize("policy", [None, policies.everything_saveable])
def test_a_rule_writes_a_cotangent_to_a_reference(policy: Any, place: str, jitted: bool) -> None:
    ref = dovetail.new_ref(0.0)

    @dovetail.custom_vjp
    def watched(x: Any, ref: Any) -> Any:
        return x

    def backward(ref: Any, ct: Any) -> Any:
        ref[...] += ct
        return ct, None

    watched.defvjp(lambda x, ref: (x, ref), backward)

    def gradient(remat: Any) -> Any:
        def f(x: Any) -> Any:
            return watched(dnp.sin(x), ref) * x

        def loop(step: Any) -> Any:
            return lambda x: lax.scan(lambda c, _: (step(c), None), x, None, length=2)[0]

        made = {
            "plain": lambda: remat(f),
            "scan": lambda: loop(remat(f)),
            "around a scan": lambda: remat(loop(f)),
            "nested": lambda: remat(lambda x: remat(f)(x) * x),
        }[place]()
        ref[...] = 0.0
        g = dovetail.grad(made)
        value = (dovetail.jit(g) if jitted else g)(0.7)
        return [float(value), float(ref[...])]

    wanted = gradient(lambda f: f)
    assert wanted[1] != 0
    np.testing.assert_allclose(gradient(lambda f: dovetail.remat(f, policy=policy)), wanted, 1e-5)
