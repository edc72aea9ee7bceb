"""A grammar of small smooth programs, each with two meanings: Dovetail's and plain NumPy's.

A program maps a vector to a vector of its length, given an integer ``k`` that is not differentiated
and decides over branches and trip counts. It is a tuple of nodes: a node is the name of an
operation, or a tuple of a kind and the programs inside. NumPy's meaning is written with Python's
own control flow and finite differences, so that it shares nothing with what is tested.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np

import dovetail
import dovetail.lax as lax
import dovetail.numpy as dnp

STEP = 1e-3
ROWS = np.cos(np.arange(12.0)).reshape(3, 4)
"""What loops scan over: each program takes the columns that it needs."""


def _matrix(n: int) -> Any:
    return np.sin(1.0 + np.add.outer(np.arange(n), 2.0 * np.arange(n)))


def _scattered(xp: Any, x: Any) -> Any:
    index = np.arange(len(x)) // 2  # some places are added to twice, some never
    if xp is np:
        out = x.copy()
        np.add.at(out, index, 0.5 * x)
        return out
    return x.at[index].add(0.5 * x)


def _written(xp: Any, x: Any) -> Any:
    if xp is np:
        out = x.copy()
        out[-1] = np.sin(x[0])
        return out
    return lax.dynamic_update_slice(x, xp.sin(x[:1]), (len(x) - 1,))


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "sin": lambda xp, x: xp.sin(x),
    "tanh": lambda xp, x: xp.tanh(x),
    "exp": lambda xp, x: xp.exp(0.3 * xp.tanh(x)),
    "log": lambda xp, x: xp.log1p(x * x),
    "square root": lambda xp, x: xp.sqrt(1 + x * x),
    "power": lambda xp, x: (1 + x * x) ** 0.3,
    "angle": lambda xp, x: xp.arctan2(x, 1 + x * x),
    "product": lambda xp, x: x * xp.tanh(x),
    "quotient": lambda xp, x: x / (2 + xp.sin(x)),
    "complex": lambda xp, x: xp.real(xp.exp(1j * x) * (1 + 0.5j)),
    "running sum": lambda xp, x: 0.3 * xp.cumsum(x),
    "reversed": lambda xp, x: x[::-1],
    "rolled": lambda xp, x: xp.roll(x, 1),
    "joined": lambda xp, x: xp.concatenate([x[1:], 0.5 * x[:1]]),
    "padded": lambda xp, x: xp.pad(x, (1, 1))[:-2] + x,
    "matrix": lambda xp, x: 0.4 * (_matrix(len(x)) @ x),
    "outer": lambda xp, x: 0.2 * xp.outer(x, xp.sin(x)).sum(0),
    "picked": lambda xp, x: x[np.arange(len(x))[::-1] // 2],
    "scattered": _scattered,
    "written": _written,
    "chosen": lambda xp, x: xp.where(np.arange(len(x)) % 2 == 0, xp.sin(x), 0.5 * x),
    "sorted": lambda xp, x: xp.sort(xp.tanh(x) - 3.0 * np.arange(len(x))) / 3,
    "transposed": lambda xp, x: x.reshape(-1, 1).T[0] * 0.9,
    "normalised": lambda xp, x: x / xp.sqrt(1 + xp.sum(x * x)),
    "mean": lambda xp, x: x * xp.mean(xp.cos(x)),
}


def run(program: Any, x: Any, k: Any) -> Any:
    """A program in Dovetail."""
    for node in program:
        kind, *inner = (node,) if isinstance(node, str) else node
        x = _DOVETAIL[kind](x, k, *inner) if inner else OPERATIONS[kind](dnp, x)
    return x


def run_numpy(program: Any, x: Any, k: int) -> Any:
    """The same program in NumPy."""
    for node in program:
        kind, *inner = (node,) if isinstance(node, str) else node
        x = _NUMPY[kind](x, k, *inner) if inner else OPERATIONS[kind](np, x)
    return x


def _bind(p: Any, k: Any) -> Callable[[Any], Any]:
    return lambda y: run(p, y, k)


def _scan(x: Any, k: Any, p: Any) -> Any:
    def step(c: Any, w: Any) -> Any:
        c = run(p, c, k) + 0.2 * w
        return c, c * w

    c, ys = lax.scan(step, x, ROWS[:, : len(x)])
    return c + 0.1 * ys.sum(0)


def _scan_numpy(x: Any, k: int, p: Any) -> Any:
    total = np.zeros_like(x)
    for w in ROWS[:, : len(x)]:
        x = run_numpy(p, x, k) + 0.2 * w
        total += x * w
    return x + 0.1 * total


def _fori_numpy(x: Any, k: int, p: Any) -> Any:
    for i in range(2):
        x = run_numpy(p, x, k) + 0.1 * i
    return x


def _while_numpy(x: Any, k: int, p: Any) -> Any:
    for _ in range(k):
        x = run_numpy(p, x, k)
    return x


def _rows(over: Callable[..., Any]) -> Callable[..., Any]:
    def node(x: Any, k: Any, p: Any) -> Any:
        if len(x) % 2:
            return run(p, x, k)
        return over(_bind(p, k))(x.reshape(2, -1)).reshape(-1)

    return node


def _rows_numpy(x: Any, k: int, p: Any) -> Any:
    if len(x) % 2:
        return run_numpy(p, x, k)
    return np.concatenate([run_numpy(p, row, k) for row in x.reshape(2, -1)])


def _ref(x: Any, k: Any, p: Any) -> Any:
    """What is read of a reference, and written to it again, in a loop."""
    ref = dovetail.new_ref(x)

    def step(i: Any, total: Any) -> Any:
        ref[...] = run(p, ref[...], k)
        ref[0] += 0.1
        return total + 0.2 * ref[...]

    total = lax.fori_loop(0, 2, step, dnp.zeros_like(x))
    return total + ref[...]


def _ref_numpy(x: Any, k: int, p: Any) -> Any:
    total = np.zeros_like(x)
    for _ in range(2):
        x = run_numpy(p, x, k).copy()
        x[0] += 0.1
        total = total + 0.2 * x
    return total + x


_DOVETAIL: dict[str, Callable[..., Any]] = {
    "jit": lambda x, k, p: dovetail.jit(_bind(p, k))(x),
    "checkpoint": lambda x, k, p: dovetail.checkpoint(_bind(p, k))(x),
    "cond": lambda x, k, p, q: lax.cond(k > 0, _bind(p, k), _bind(q, k), x),
    "switch": lambda x, k, p, q: lax.switch(k, [_bind(p, k), _bind(q, k), dnp.sin], x),
    "scan": _scan,
    "fori": lambda x, k, p: lax.fori_loop(0, 2, lambda i, v: run(p, v, k) + 0.1 * i, x),
    "while": lambda x, k, p: lax.fori_loop(0, k, lambda i, v: run(p, v, k), x),
    "vmap": _rows(dovetail.vmap),
    "map": _rows(lambda f: lambda rows: lax.map(f, rows)),
    "grad": lambda x, k, p: x + 0.1 * dovetail.grad(lambda y: run(p, y, k).sum())(x),
    "jvp": lambda x, k, p: dovetail.jvp(_bind(p, k), (x,), (dnp.ones_like(x),))[1],
    "ref": _ref,
}
_NUMPY: dict[str, Callable[..., Any]] = {
    "jit": lambda x, k, p: run_numpy(p, x, k),
    "checkpoint": lambda x, k, p: run_numpy(p, x, k),
    "cond": lambda x, k, p, q: run_numpy(p if k > 0 else q, x, k),
    "switch": lambda x, k, p, q: run_numpy([p, q, ("sin",)][min(max(k, 0), 2)], x, k),
    "scan": _scan_numpy,
    "fori": _fori_numpy,
    "while": _while_numpy,
    "vmap": _rows_numpy,
    "map": _rows_numpy,
    "grad": lambda x, k, p: x + 0.1 * gradient(lambda y: run_numpy(p, y, k).sum(), x),
    "jvp": lambda x, k, p: directional(lambda y: run_numpy(p, y, k), x, np.ones_like(x)),
    "ref": _ref_numpy,
}
DERIVATIVES = ("grad", "jvp")
REVERSIBLE = tuple(n for n in _NUMPY if n not in ("while", "ref"))
_TWO = ("cond", "switch")


def directional(f: Callable[[Any], Any], x: Any, v: Any, h: float = STEP) -> Any:
    """The derivative of ``f`` at ``x`` along ``v``, of fourth order in the step."""
    a, b, c, d = f(x + h * v), f(x - h * v), f(x + 2 * h * v), f(x - 2 * h * v)
    return (8 * (a - b) - (c - d)) / (12 * h)


def gradient(f: Callable[[Any], Any], x: Any) -> Any:
    """The gradient of a scalar function."""
    return np.stack([directional(f, x, e) for e in np.eye(len(x))])


def curvature(f: Callable[[Any], Any], x: Any, u: Any, v: Any) -> Any:
    """The second derivative of ``f`` at ``x`` along ``u`` and ``v``."""
    return directional(lambda y: directional(f, y, u, 3 * STEP), x, v, 3 * STEP)


def programs(kinds: tuple[str, ...] = REVERSIBLE, leaves: int = 5) -> st.SearchStrategy[Any]:
    """Programs with nodes of some kinds; a derivative holds no other, and no ``while``."""
    operation = st.sampled_from(sorted(OPERATIONS))
    derived = [k for k in kinds if k in DERIVATIVES]
    plain = tuple(k for k in kinds if k not in DERIVATIVES)
    if not derived:
        return _tree(operation, plain, leaves)
    inner = _tree(operation, tuple(k for k in plain if k != "while"), leaves)
    return _tree(operation | st.tuples(st.sampled_from(derived), inner), plain, leaves)


def _tree(node: Any, kinds: tuple[str, ...], leaves: int) -> st.SearchStrategy[Any]:
    def sequence(nodes: Any) -> Any:
        return st.lists(nodes, min_size=1, max_size=3).map(tuple)

    one = [k for k in kinds if k not in _TWO]
    two = [k for k in kinds if k in _TWO]

    def extend(program: Any) -> Any:
        nodes = node | st.tuples(st.sampled_from(one), program)
        if two:
            nodes = nodes | st.tuples(st.sampled_from(two), program, program)
        return sequence(nodes)

    return st.recursive(sequence(node), extend, max_leaves=leaves)
