"""What the calls of ``calls.py`` are made of: arrays, trees, functions called before."""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

PARTS = ("numpy", "numpy.linalg", "lax", "nn", "random", "tree", "tree_util", "scipy.special")
PARTS = (*PARTS, "scipy.stats", "scipy.linalg")
Pair = namedtuple("Pair", "left right")


def environment(name: str) -> dict[str, Any]:
    """The names in the texts of calls, for a library."""
    lib = import_module(name)
    for part in PARTS:
        import_module(f"{name}.{part}")
    found = {
        "lib": lib, "np": np, "numpy": lib.numpy, "linalg": lib.numpy.linalg, "lax": lib.lax,
        "nn": lib.nn, "random": lib.random, "scipy": lib.scipy,
    }  # fmt: skip
    found |= arrays(lib)
    found |= trees(found)
    found |= jitted(lib, found)
    found |= functions(lib)
    found |= transformed(lib, found)
    found["pullback"] = lib.vjp(found["loss"], found["x"])[1]
    return found


def arrays(lib: Any) -> dict[str, Any]:
    """Small arrays by name."""
    rng = np.random.RandomState(0)
    x = rng.randn(8, 8).astype("float32")
    hosts = {
        "x": x, "y": rng.randn(8, 8).astype("float32"), "p": abs(x) + 1, "v": np.sort(x[0]),
        "m": x > 0, "x3": x[None], "i": np.array([1, 0, 2]), "v3": x[0, :3], "s": x[0, 0],
        "w": x @ x.T + 8 * np.eye(8, dtype="float32"), "one": np.float32(1), "s0": np.float32(0),
        "j": np.int32(1), "i0": np.int32(1), "flag": np.bool_(True), "fresh": x[1, 1],
        "img": rng.randn(1, 3, 8, 8).astype("float32"), "idx": np.array([[1], [2]]),
        "ker": rng.randn(4, 3, 3, 3).astype("float32"),
    }  # fmt: skip
    found = {n: lib.numpy.asarray(h) for n, h in hosts.items()}
    dims = lib.lax.GatherDimensionNumbers(
        offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,)
    )
    keys = {"k": lib.random.key(0), "kr": lib.random.PRNGKey(0), "dims": dims}
    return {**found, **keys, "a": x, "a_i": np.array([1, 0, 2])}


def trees(known: dict[str, Any]) -> dict[str, Any]:
    """Trees of arrays by name."""
    x = known["v"]
    return {
        "t100": {f"k{n}": x for n in range(100)},
        "t10": {"a": [x] * 5, "b": (x, {"c": x, "d": [x, x, x]})},
        "params": [(known["w"], x)] * 4,
    }


def jitted(lib: Any, known: dict[str, Any]) -> dict[str, Any]:
    """Jitted functions of one kind of argument each."""

    @lib.tree_util.register_dataclass
    @dataclasses.dataclass
    class State:
        first: Any
        second: Any

    class Instance:
        @partial(lib.jit, static_argnums=0)
        def method(self, u: Any) -> Any:
            return u + 1.0

    x, jit = known["x"], lib.jit
    records = {"s": State(x, {"u": x}), "p": Pair(x, [x, x]), "t": (x, (x, None))}
    dumb = lib.numpy.sum
    return {
        "records": records, "instance": Instance(), "fmethod": Instance.method,
        "f1": jit(lambda u: u + 1.0), "f100": jit(lambda t: {k: u + 1.0 for k, u in t.items()}),
        "fin100": jit(lambda t: sum(dumb(u) for u in t.values())),
        "fout100": jit(lambda u: [u + float(n) for n in range(100)]),
        "frecords": jit(lambda r: lib.tree.map(lambda u: u + 1.0, r)),
        "fmany": jit(lambda u, v, w: (u + v) * w),
        "fstatic": jit(lambda u, n: u * 2.0, static_argnames="n"),
        "fstatics": jit(lambda u, shape, how: u * 2.0, static_argnums=(1, 2)),
        "fkeyword": jit(lambda u, k: u + k), "fdefault": jit(lambda u, k=2.0: u + k),
        "fpartial": partial(jit(lambda c, u: u + c), 2.0),
        "fdonated": jit(lambda u: u + 1.0, donate_argnums=0), "fwaited": jit(lambda u: u + 1.0),
    }  # fmt: skip


def functions(lib: Any) -> dict[str, Any]:
    """Plain functions that transformations and control flow are given."""
    lnp = lib.numpy
    return {
        "square": lambda u: u * u,
        "add": lambda u, v: u + v,
        "add1": lambda u: u + 1.0,
        "loss": lambda u: lnp.sum(lnp.tanh(u) * u),
        "second": lambda path, u: u,
        "inc": lambda u: u + 1.0,
        "dec": lambda u: u - 1.0,
        "less": lambda u: u < 4.0,
        "body": lambda c, u: (c + 1.0, c),
        "step": lambda n, c: c + n,
        "closed": lambda held: lambda n, c: c + held[0, 0],
        "closed2": lambda held: lambda c, u: (c + held[0] * u, None),
        "flayers": lambda ps, u: lnp.sum(_layers(lnp, ps, u)),
    }


def _layers(lnp: Any, params: Any, u: Any) -> Any:
    for w, b in params:
        u = lnp.tanh(u @ w + b)
    return u


def transformed(lib: Any, known: dict[str, Any]) -> dict[str, Any]:
    """Functions that were transformed before they are called, and those with rules of their own."""
    lnp, loss, square = lib.numpy, known["loss"], known["square"]
    cj = lib.custom_jvp(lambda u: lnp.sum(lnp.sin(u)))
    cj.defjvp(lambda primals, tangents: (cj(*primals), lnp.sum(lnp.cos(primals[0]) * tangents[0])))
    cv = lib.custom_vjp(lambda u: lnp.sum(lnp.sin(u)))
    cv.defvjp(lambda u: (lnp.sum(lnp.sin(u)), u), lambda u, g: (g * lnp.cos(u),))
    closs = lib.checkpoint(loss)
    return {
        "vsquare": lib.vmap(square), "vadd": lib.vmap(known["add"], in_axes=(0, None)),
        "gloss": lib.grad(loss), "vgloss": lib.value_and_grad(loss), "closs": closs,
        "gcloss": lib.grad(closs), "cj": cj, "gcj": lib.grad(cj), "cv": cv, "gcv": lib.grad(cv),
        "gjit": lib.grad(lib.jit(loss)), "vjit": lib.vmap(lib.jit(square)),
        "vvgrad": lib.vmap(lib.value_and_grad(loss)),
    }  # fmt: skip
