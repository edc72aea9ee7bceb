"""An exception before any instruction of what changes state leaves nothing changed.

An interrupt comes between two instructions of Python's; here it comes before each one in turn, of
all that makes a trace current, stages, differentiates, batches, interprets and lowers.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as jnp
from dovetail import lax
from dovetail_base.source import get_override, here
from dovetail_core import EVAL, axis_env, get_trace
from dovetail_core.types.effects import is_ignoring_io
from dovetail_xla.config import enable_x64_state, tracing_state

FULL = bool(os.environ.get("DOVETAIL_TEST_FULL"))
CHANGING = (
    "dovetail_base/scopes.py", "dovetail_base/source.py", "dovetail_base/scopes.py",
    "dovetail_core/dispatch/primitive.py", "dovetail_core/rules/staging.py",
    "dovetail_core/rules/evaluation.py", "dovetail_core/interpret/lifting.py",
    "dovetail_ad/linear.py", "dovetail_ad/forward.py", "dovetail_ad/transposition.py",
    "dovetail_batching/trace.py", "dovetail_jit/call/program.py", "dovetail_jit/inspection.py",
)  # fmt: skip


def state() -> tuple[Any, ...]:
    """What is changed while a program is traced."""
    return (
        get_trace() is EVAL, tracing_state.get_local(), get_override(), axis_env(),
        is_ignoring_io(), enable_x64_state.get_local(), gc.get_threshold(),
        here().partition("in scope")[2],
    )  # fmt: skip


class Stop(KeyboardInterrupt):
    """Comes before an instruction."""


def stopped(run: Callable[[], Any], at: int, files: tuple[str, ...] = CHANGING) -> bool:
    """Whether ``run()`` was stopped before the ``at``-th of the instructions of ``files``."""
    left = at

    def in_frame(frame: Any, event: str, _: Any) -> Any:
        nonlocal left
        if event == "opcode":
            left -= 1
            if left == 0:
                raise Stop
        return in_frame

    def in_call(frame: Any, event: str, _: Any) -> Any:
        if frame.f_code.co_filename.replace(os.sep, "/").endswith(files):
            frame.f_trace_opcodes = True
            frame.f_trace_lines = False
            return in_frame
        return None

    before = sys.gettrace()
    sys.settrace(in_call)
    try:
        run()
    except Stop:
        return True
    finally:
        sys.settrace(before)
    return False


x = np.linspace(0.1, 1.0, 4, dtype=np.float32)


def fresh() -> Callable[..., Any]:
    """A new function with a branch, a loop and a call."""

    def f(x: Any) -> Any:
        y = lax.cond(x[0] > 0, jnp.sin, jnp.cos, x)
        y, _ = lax.scan(lambda c, a: (c * a, None), jnp.ones(()), y)
        return y + dovetail.jit(jnp.sum)(x)

    return f


SMALL: dict[str, Callable[[], Any]] = {
    "tracing": lambda: dovetail.make_jaxpr(lambda x: x)(x),
    "jvp": lambda: dovetail.jvp(lambda x: x, (x,), (x,)),
    "grad": lambda: dovetail.grad(lambda x: lax.neg(x))(1.0),
    "vmap": lambda: dovetail.vmap(lambda x: lax.neg(x), axis_name="rows")(x),
    "settings": dovetail.enable_x64()(dovetail.named_scope("s")(axis_env)),
    "known values": lambda: dovetail.make_jaxpr(
        dovetail.ensure_compile_time_eval()(lambda x: lax.add(x, lax.neg(np.float32(1))))
    )(x),
}
LARGE: dict[str, Callable[[], Any]] = {
    "tracing": lambda: dovetail.make_jaxpr(fresh())(x),
    "grad": lambda: dovetail.grad(fresh())(x),
    "vmap": lambda: dovetail.vmap(fresh(), axis_name="rows")(x[None]),
    "staged grad of vmap": lambda: dovetail.make_jaxpr(
        dovetail.grad(lambda x: dovetail.vmap(fresh())(x[None])[0])
    )(x),
    "lowering": lambda: dovetail.jit(fresh()).lower(x).as_text(),
}


def stop_at(run: Callable[[], Any], step: int) -> int:
    """Stop ``run`` before every ``step``-th instruction; returns how many there are, about."""
    run()  # what is set up once
    before, at = state(), 1
    while stopped(run, at):
        assert state() == before, f"stopped before instruction {at}"
        at += step
    return at


@pytest.mark.parametrize("name", SMALL)
def test_an_exception_before_any_instruction_leaves_nothing_changed(name: str):
    assert stop_at(SMALL[name], 1) > 100


@pytest.mark.parametrize("name", LARGE)
def test_an_exception_in_larger_programs_leaves_nothing_changed(name: str):
    stop_at(LARGE[name], 499 if FULL else 9973)
    np.testing.assert_allclose(fresh()(x), np.prod(np.sin(x)) + x.sum(), rtol=1e-5)


def test_an_exception_while_a_setting_is_entered_leaves_it_unchanged():
    before, changed, at = state(), 0, 1

    def enter() -> None:
        with dovetail.enable_x64(), dovetail.named_scope("s"):
            pass

    def one() -> bool:
        nonlocal changed
        try:
            return stopped(enter, at)
        finally:
            changed += state() != before
            enable_x64_state.set_local(before[5])

    while copy_context().run(one):  # what stays changed ends with the copy
        at += 1
    # Python itself leaves this open: returning from __enter__, and the beginning of __exit__.
    assert changed < at / 4
    assert state() == before


def test_after_an_interrupt_of_the_barrier_the_next_one_waits_again():
    seen: list[float] = []

    def late(value: Any) -> None:
        time.sleep(2e-3)
        seen.append(float(value))

    @dovetail.jit
    def f(x: Any) -> Any:
        dovetail.debug.callback(late, x[0, 0])
        return x

    @dovetail.jit
    def pending(x: Any) -> Any:
        return lax.fori_loop(0, 3, lambda i, y: jnp.sin(y @ y), x)

    large = jnp.ones((300, 300))
    f(pending(large))  # compiled; from now on results are on their way when a call returns
    dovetail.effects_barrier()
    at, more = 0, True
    while more:
        at += 1
        f(pending(large))
        more = stopped(dovetail.effects_barrier, at, ("dovetail_jit/call/effects.py",))
        dovetail.effects_barrier()
        assert len(seen) == at + 1
    assert at > 20
