"""Interrupts at random moments: nothing is left changed, and the next call is right."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import dovetail
import dovetail.numpy as jnp
from dovetail import lax

from ..state import state

LIMIT = 60.0
BATCH = 150


class Work(NamedTuple):
    """Something to do, about how long it takes in milliseconds, and what it must give."""

    what: str
    do: Callable[[float], Any]
    milliseconds: float
    wanted: Callable[[float], Any]


def attempt(rng: random.Random, begin: Callable[[str], None]) -> None:
    (work,) = rng.choices(WORK, WEIGHTS)
    begin(f"while {work.what}")
    before = state()
    s = rng.uniform(0.5, 2.0)
    if not _interrupted(lambda: work.do(s), rng.uniform(0.0, 1.2 * work.milliseconds) / 1e3):
        _check(work, s)
    after = state()
    assert after == before, {k: (before[k], v) for k, v in after.items() if v != before[k]}
    _check(work, s + 1.0)
    _check(rng.choice(QUICK), s)


def _check(work: Work, s: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as of a damaged entry of the cache
        result, wanted = work.do(s), work.wanted(s)
    if isinstance(result, str):
        assert result == wanted
    else:
        np.testing.assert_allclose(result, wanted, rtol=2e-4, atol=1e-5)


def _interrupted(do: Callable[[], Any], delay: float) -> bool:
    """Whether ``do()`` ended in the interrupt that comes after ``delay`` seconds."""
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, max(delay, 1e-6))
            do()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return True
    except RuntimeError as e:
        if isinstance(e.__cause__, KeyboardInterrupt):  # CPython 3.11 puts one in a __set_name__ so
            return True
        raise
    return False


def _fresh(s: float) -> Callable[..., Any]:
    """A function that no cache knows: sin and a loop, a branch and a call in it."""

    def f(x: Any) -> Any:
        y = lax.fori_loop(0, 3, lambda i, y: y * s + i, jnp.sin(x))
        y = lax.cond(y[0] > -100.0, lambda z: z + s, lambda z: z * 0.0, y)
        z, _ = lax.scan(lambda c, a: (c + a, a), jnp.zeros(()), y)
        return z + dovetail.jit(lambda a: a.sum() * s)(y)

    return f


_X = np.linspace(0.1, 1.0, 4).astype(np.float32)


def _value(s: float, x: Any = _X) -> Any:
    y = np.sin(x) * s**3 + s + 2.0 + s
    return y.sum() * (1.0 + s)


def _slope(s: float) -> Any:
    return np.cos(_X) * s**3 * (1.0 + s)


def _batched(s: float) -> Any:
    return [_value(s, row) for row in _ROWS]


_ROWS = np.stack([_X, 2 * _X, 3 * _X])


def _programs(transform: Callable[..., Any], x: Any) -> Work:
    """Work whose result is a program: as text, compared with that of an undisturbed process."""
    what = {"<lambda>": "tracing", "grad": "differentiating", "vmap": "batching"}

    def do(_: float) -> str:
        return str(dovetail.make_jaxpr(transform(_fresh(1.5)))(x))

    wanted = do(1.5)
    return Work(what.get(transform.__name__, "batching gradients"), do, 10, lambda s: wanted)


def _vmap_of_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    return dovetail.vmap(dovetail.grad(f))


def _start(s: float) -> Any:
    """A process that uses everything for the first time, interrupted before it is done."""
    code = _PROGRAM.format(s=s, delay=s / 4)  # of about 0.7 s
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=50
    )
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


_PROGRAM = """
import signal
signal.signal(signal.SIGALRM, signal.default_int_handler)

def work():
    import dovetail, dovetail.numpy as jnp
    f = lambda x: dovetail.lax.scan(lambda c, a: (c * a, None), 1.0, jnp.sin(x))[0]
    return dovetail.jit(dovetail.vmap(dovetail.grad(f)))(jnp.full((1, 2), {s}))[0, 0]

try:
    signal.setitimer(signal.ITIMER_REAL, {delay})
    try:
        work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
except KeyboardInterrupt:
    pass
print(float(work()))
"""


def _gradients(s: float) -> Any:
    return dovetail.jit(dovetail.vmap(dovetail.grad(_fresh(s))))(_X[None])


def _lower(s: float) -> Any:
    lowered = dovetail.jit(dovetail.grad(_fresh(s))).lower(_X)
    assert lowered.as_text().count("stablehlo.while") >= 2
    return lowered.compile()(_X)


def _long(s: float) -> Any:
    def f(x: Any) -> Any:
        for i in range(150):
            x = jnp.tanh(x * s + i) + 0.1 * jnp.sort(x)
        return x.sum()

    text = dovetail.jit(f).lower(_X).compile()
    del f
    return text(_X)


def _long_value(s: float) -> Any:
    x = _X
    for i in range(150):
        x = np.tanh(x * np.float32(s) + i) + np.float32(0.1) * np.sort(x)
    return x.sum()


@dovetail.jit
def _loop(x: Any, s: Any) -> Any:
    return lax.fori_loop(0, 20_000, lambda i, y: 0.5 * jnp.sin(y) + s, x)


def _run(s: float) -> Any:
    return _loop(_X, s).block_until_ready()


def _looped(s: float) -> Any:
    y = _X
    for _ in range(200):
        y = np.float32(0.5) * np.sin(y) + np.float32(s)
    return y


def _call_back(s: float) -> Any:
    def host(x: Any) -> Any:
        for _ in range(200):
            x = x + np.float32(s)
        time.sleep(1e-3)
        return x

    f = dovetail.jit(lambda x: dovetail.pure_callback(host, x, x))
    return f(_X)


def _eager(s: float) -> Any:
    return jnp.concatenate([jnp.sin(_X) * s, jnp.cumsum(jnp.exp(_X)) ** 2, jnp.stack([_X, _X])[1]])


def _eager_value(s: float) -> Any:
    return np.concatenate([np.sin(_X) * s, np.cumsum(np.exp(_X)) ** 2, _X])


def _checkpointed(s: float) -> Any:
    @dovetail.custom_vjp
    def g(x: Any) -> Any:
        return jnp.sin(x) * s

    g.defvjp(lambda x: (g(x), x), lambda x, ct: (ct * jnp.cos(x) * s,))
    return dovetail.grad(dovetail.checkpoint(lambda x: g(g(x)).sum()))(_X)


def _checkpointed_value(s: float) -> Any:
    return np.cos(np.sin(_X) * s) * s * np.cos(_X) * s


_folder = tempfile.TemporaryDirectory()


def _cached(s: float) -> Any:
    @dovetail.config.option("compilation_cache_dir")(_folder.name)
    def compiled() -> Any:
        rounded = round(s, 1)  # so that entries are met again
        return dovetail.jit(lambda x: jnp.cos(x) * rounded)(_X)

    return compiled()


def _settings(s: float) -> Any:
    @dovetail.enable_x64()
    @dovetail.named_scope("attacked")
    def inside() -> Any:
        return dovetail.vmap(lambda x: x * s + lax.axis_size("rows"), axis_name="rows")(_X)

    return inside()


QUICK = [
    _programs(lambda f: f, _X),
    _programs(dovetail.grad, _X),
    _programs(dovetail.vmap, _ROWS),
    _programs(_vmap_of_grad, _ROWS),
]
WORK = [
    *QUICK,
    Work("lowering", _lower, 60, _slope),
    Work("compiling and running", lambda s: dovetail.jit(_fresh(s))(_X), 60, _value),
    Work("differentiating at once", lambda s: dovetail.grad(_fresh(s))(_X), 60, _slope),
    Work("batching at once", lambda s: dovetail.vmap(_fresh(s))(_ROWS), 60, _batched),
    Work("gradients are compiled", _gradients, 90, lambda s: _slope(s)[None]),
    Work("compiling a long program", _long, 500, _long_value),
    Work("running", _run, 5, _looped),
    Work("a callback runs", _call_back, 15, lambda s: _X + 200 * s),
    Work("working operation by operation", _eager, 5, _eager_value),
    Work("custom rules are used", _checkpointed, 40, _checkpointed_value),
    Work("the cache is written", _cached, 15, lambda s: np.cos(_X) * round(s, 1)),
    Work("settings are changed", _settings, 5, lambda s: _X * s + 4),
    Work("a process starts", _start, 0, lambda s: np.cos(s) * np.sin(s)),
]
WEIGHTS = [*[20] * len(QUICK), 3, 3, 3, 3, 3, 0.5, 10, 5, 10, 3, 5, 10, 0.5]
