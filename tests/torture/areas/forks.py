"""Processes are forked at random moments; a child works, or says what it cannot do: none hangs."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import pickle
import random
import signal
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail
import dovetail.numpy as jnp
from dovetail import debug, lax

LIMIT = 120.0
BATCH = 40

_VALUES = np.linspace(0.1, 1.0, 8, dtype=np.float32)
_REFUSED = "in a forked process. The runtime started before the fork"
_LOST = "in a process that was forked before its value was computed"


def attempt(rng: random.Random, begin: Callable[[str], None]) -> None:
    """This process never starts the runtime: a child of it does, and is forked in its turn."""
    kind = rng.choice(list(_BUSY)) if rng.random() < 0.95 else rng.choice(list(_POOLS))
    begin(kind)
    if kind in _POOLS:
        _in_child(lambda: _pool(*_POOLS[kind]), 100)
    else:
        _in_child(lambda: _fork_while(_BUSY[kind], rng), 60)


def _in_child(work: Callable[[], None], seconds: int) -> None:
    """Run ``work`` in a forked process, which the system ends after so many seconds."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        try:
            work()
            os.write(writing, b"done")
        except BaseException:
            os.write(writing, traceback.format_exc().encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as said:
        text = said.read().decode()
    status = os.waitpid(pid, 0)[1]
    assert status != signal.SIGALRM, "the child hangs"
    assert (text, status) == ("done", 0), f"status {status}\n{text}"


def _fork_while(busy: Callable[[State], None], rng: random.Random) -> None:
    """Start the runtime in this process, fork it while it is busy, and see both go on."""
    state = State()
    busy(state)  # what a thread imports when a child is forked, that child cannot import: Python's
    state.double.lower(state.x).as_text()
    thread = threading.Thread(target=_until_stopped, args=(busy, state), daemon=True)
    thread.start()
    time.sleep(rng.uniform(0.0, 0.05))
    actions = [rng.choice(list(ACTIONS)) for _ in range(3)]
    forking = lambda: _in_child(lambda: _act(state, actions, rng.random() < 0.3), 20)  # noqa: E731
    if rng.random() < 0.3:
        _in_thread(forking)
    else:
        forking()
    state.stopped = True
    thread.join()
    np.testing.assert_allclose(state.double(state.x), _VALUES * 2, rtol=1e-6)


def _until_stopped(busy: Callable[[State], None], state: State) -> None:
    while not state.stopped:
        busy(state)


def _in_thread(work: Callable[[], None]) -> None:
    errors: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


class State:
    """What a process has when it is forked."""

    def __init__(self) -> None:
        self.stopped = False
        self.double = dovetail.jit(lambda v: v * 2.0)
        self.x = jnp.asarray(_VALUES)
        np.testing.assert_allclose(self.double(self.x), _VALUES * 2, rtol=1e-6)
        self.tell = dovetail.jit(lambda v: (debug.callback(lambda u: None, v), v + 1.0)[1])
        self.loop = dovetail.jit(
            lambda a, n: lax.fori_loop(0, n, lambda i, c: jnp.tanh(c @ a * 0.01), a)
        )
        self.square = jnp.ones((64, 64))
        self.loop(self.square, 1).block_until_ready()
        self.pending = self.loop(self.square, 2000)  # some 20 ms: computed, or not
        self.dropped = self.loop(self.square, 2000)
        self.count = 0


def _compile(state: State) -> None:
    state.count += 1
    n = float(state.count)
    np.testing.assert_allclose(dovetail.jit(lambda v: v * n)(state.x), _VALUES * n, rtol=1e-6)


def _new_types(state: State) -> None:
    state.count += 1
    dovetail.make_jaxpr(lambda v: jnp.sin(v) * v)(np.ones(state.count, np.float32))


_BUSY: dict[str, Callable[[State], None]] = {
    "forked while nothing runs": lambda state: time.sleep(0.001),
    "forked while a thread calls": lambda state: state.double(state.x),
    "forked while a thread traces": _new_types,
    "forked while a thread compiles": _compile,
    "forked while an effect is on its way": lambda state: state.tell(state.x),
    "forked while a thread waits": lambda state: state.loop(state.square, 50).block_until_ready(),
    "forked while a thread puts arrays": lambda state: dovetail.device_put(_VALUES),
}


def _act(state: State, actions: list[str], as_python_ends: bool) -> None:
    """The child's part: each action is right, or refused with the reason."""
    for name in actions:
        action, wanted = ACTIONS[name]
        try:
            result = action(state)
        except RuntimeError as error:
            allowed = (_REFUSED,) if wanted is None else (_LOST,) if wanted is _MAYBE else ()
            assert any(text in str(error) for text in allowed), f"{name}: {error}"
        else:
            assert wanted is not None, f"{name} was not refused: {result!r}"
            if wanted is not _MAYBE:
                np.testing.assert_allclose(result, wanted, rtol=1e-6, err_msg=name)
    if as_python_ends:
        atexit._run_exitfuncs()


_MAYBE: Any = object()
"""For what depends on whether an array was computed before the fork."""

ACTIONS: dict[str, tuple[Callable[[State], Any], Any]] = {
    "a known call": (lambda s: s.double(s.x), None),
    "a new call": (lambda s: dovetail.jit(lambda v: v * 3.0)(s.x), None),
    "an eager operation": (lambda s: s.x + s.x, None),
    "device_put": (lambda s: dovetail.device_put(_VALUES), None),
    "a copy": (lambda s: dovetail.device_put(s.x, may_alias=False), None),
    "compile": (lambda s: dovetail.jit(jnp.cos).lower(s.x).compile(), None),
    "grad": (lambda s: dovetail.grad(lambda v: (v * v).sum())(s.x), None),
    "a call with an effect": (lambda s: s.tell(s.x), None),
    "reading": (lambda s: np.asarray(s.x), _VALUES),
    "waiting": (lambda s: s.x.block_until_ready(), _VALUES),
    "a pickle": (lambda s: pickle.loads(pickle.dumps(s.x)), _VALUES),
    "the shape": (lambda s: s.x.shape, (8,)),
    "readiness": (lambda s: s.x.is_ready(), True),
    "make_jaxpr": (lambda s: len(dovetail.make_jaxpr(lambda v: v * v + v)(s.x).eqns), 2),
    "eval_shape": (lambda s: dovetail.eval_shape(s.double, s.x).shape, (8,)),
    "lower": (lambda s: "stablehlo.cosine" in dovetail.jit(jnp.cos).lower(s.x).as_text(), True),
    "reading a late array": (lambda s: np.asarray(s.pending), _MAYBE),
    "waiting for a late array": (lambda s: s.pending.block_until_ready(), _MAYBE),
    "printing a late array": (lambda s: len(repr(s.pending)) > 10, True),
    "dropping a late array": (lambda s: s.__dict__.pop("dropped", None) is not s, True),
    "effects_barrier": (lambda s: dovetail.effects_barrier() is None, True),
}


def work(x: Any) -> float:
    return float(jnp.sum(x * 2.0))


def read(x: Any) -> float:
    return float(np.asarray(x).sum())


_POOLS: dict[str, tuple[str, Callable[[Any], float], float]] = {
    "a pool by fork reads arrays": ("fork", read, 1.0),
    "a pool by fork computes": ("fork", work, 0.0),
    "a pool by spawn computes": ("spawn", work, 2.0),
    "a pool by forkserver computes": ("forkserver", work, 2.0),
}


def _pool(method: str, function: Callable[[Any], float], factor: float) -> None:
    xs = [jnp.asarray(_VALUES) * float(n) for n in range(1, 5)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        if not factor:
            try:
                raise AssertionError(f"was not refused: {pool.map(function, xs)}")
            except RuntimeError as error:
                assert _REFUSED in str(error), error
            return
        result = pool.map(function, xs)
    np.testing.assert_allclose(result, [_VALUES.sum() * n * factor for n in range(1, 5)], rtol=1e-5)
