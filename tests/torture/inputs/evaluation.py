"""Texts of calls, evaluated in the library named: ``python evaluation.py LIBRARY < lines``.

It needs nothing but NumPy and that library, so that it runs in another library's environment.
"""

from __future__ import annotations

import json
import sys
import warnings
from contextlib import chdir, redirect_stdout
from importlib import import_module
from io import StringIO
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

FILE = "users_program.py"
_MODULES = {
    "dv": "",
    "jnp": "numpy",
    "la": "numpy.linalg",
    "fft": "numpy.fft",
    "lax": "lax",
    "laxl": "lax.linalg",
    "rnd": "random",
    "nn": "nn",
    "ini": "nn.initializers",
    "tree": "tree",
    "tu": "tree_util",
    "dtypes": "dtypes",
    "debug": "debug",
    "dlpack": "dlpack",
    "ref": "ref",
    "ckpt": "ad_checkpoint",
    "cb": "custom_batching",
    "cd": "custom_derivatives",
    "xp": "experimental",
    "testing": "test_util",
}


def modules(library: str) -> dict[str, Any]:
    """The library's public modules, by the short names that texts call them."""
    result: dict[str, Any] = {}
    for short, name in _MODULES.items():
        try:
            result[short] = import_module(f"{library}.{name}".rstrip("."))
        except ImportError:
            continue
    return result


class Broken:
    """Whatever is asked of it raises."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise RuntimeError("no array")

    def __iter__(self) -> Any:
        raise RuntimeError("no elements")

    def __repr__(self) -> str:
        raise RuntimeError("no text")


_NODE = {
    "tree_flatten": lambda self: ((), None),
    "tree_flatten_with_keys": lambda self: ((), None),
    "tree_unflatten": classmethod(lambda cls, data, children: cls()),
}


class _Recorder:
    """Gives values their names in texts."""

    def __init__(self, library: str) -> None:
        self.names = modules(library)
        self.dv, self.jnp = self.names["dv"], self.names["jnp"]
        self.lax = self.names["lax"]

    def values(self) -> dict[str, Any]:
        jnp = self.jnp
        v, w = jnp.array([0.5, 1.0, 0.25]), jnp.array([0.75, 1.5, 2.0])
        m = jnp.array([[2.0, 0.5, 0.0], [0.5, 3.0, 0.25], [0.0, 0.25, 4.0]])
        recursive: list[Any] = []
        recursive.append(recursive)
        deleted = jnp.array([1.0, 2.0, 3.0]) + 0
        deleted.delete()
        keys = self.names["rnd"].split(self.names["rnd"].key(0), 3)
        return {
            "np": np,
            "v": v,
            "w": w,
            "m": m,
            "t": jnp.arange(24.0).reshape(2, 3, 4),
            "i": jnp.array([0, 1, 2]),
            "b": jnp.array([True, False, True]),
            "c": jnp.array([1 + 1j, 2j, 3.0]),
            "z": jnp.array(1.0),
            "probs": jnp.array([0.25, 0.5, 0.25]),
            "image": jnp.ones((1, 1, 4, 4)),
            "kernel": jnp.ones((1, 1, 2, 2)),
            "heads": jnp.ones((1, 2, 2, 4)),
            "nest": {"a": v, "b": (w,)},
            "key": self.names["rnd"].key(0),
            "keys": keys,
            "key_type": keys.dtype,
            "deleted": deleted,
            "recursive": recursive,
            "float0": np.dtype([("float0", "V")]),
            "device": self.dv.devices()[0],
            "host": np.sin,
            "Broken": Broken,
            "Fresh": lambda: type("Fresh", (), {}),
        }

    def functions(self) -> dict[str, Any]:
        jnp, dv = self.jnp, self.dv

        def g(a: Any) -> Any:
            return a * 2.0

        def raising(*args: Any, **kwargs: Any) -> Any:
            raise RuntimeError("the user's own error")

        custom_jvp, custom_vjp = dv.custom_jvp(g), dv.custom_vjp(g)
        custom_jvp.defjvp(lambda primals, tangents: (g(*primals), g(*tangents)))
        custom_vjp.defvjp(lambda a: (a * 2.0, None), lambda kept, ct: (ct * 2.0,))
        return {
            "f": lambda a: jnp.sum(a * a),
            "g": g,
            "h": lambda a, b=1: a + b,
            "raising": raising,
            "halve": lambda matvec, a: a / 2.0,
            "halved": lambda fun, a: a / 2.0,
            "small": lambda n: n < 3,
            "up": lambda n: n + 1,
            "step": lambda n, a: a + n,
            "carry": lambda total, a: (total + a, a),
            "gradient_rule": lambda a: (a * 2.0, lambda ct: (ct * 2.0,)),
            "custom_jvp": custom_jvp,
            "custom_vjp": custom_vjp,
            "pushforward": lambda primals, tangents: (g(*primals), g(*tangents)),
            "tangent": lambda t, out, a: t * 2.0,
            "forward": lambda a: (a * 2.0, None),
            "backward": lambda kept, ct: (ct * 2.0,),
            "swapper": lambda r: r.__setitem__(0, 1.0),
            "pushing": lambda primals, tangents: dv.jvp(g, primals, tangents),
            "pulling": lambda *primals: dv.vjp(g, *primals),
            "pathwise": lambda path, a: a,
            "Node": lambda: type("Node", (), _NODE),
            "KeyedNode": lambda: type("KeyedNode", (), _NODE),
            "Record": lambda: type("Record", (), {"__init__": lambda self, a=1: None}),
        }


def namespace(library: str) -> dict[str, Any]:
    """What the names of texts mean in a library."""
    recorder = _Recorder(library)
    return {**recorder.names, **recorder.values(), **recorder.functions()}


def evaluate(text: str, names: dict[str, Any]) -> Any:
    """The value of a text, computed to its end; what it prints, warns of and keeps is dropped."""
    try:
        with np.printoptions(), redirect_stdout(StringIO()), TemporaryDirectory() as d, chdir(d):
            value = eval(compile(text, FILE, "eval"), dict(names))
            ready = getattr(value, "block_until_ready", None)
            return ready() if callable(ready) else value
    finally:
        if "config.update" in text:
            names["dv"].config.update("jax_enable_x64", False)


def answer(text: str, names: dict[str, Any]) -> str:
    """``accepted``, or the error's class and text."""
    try:
        evaluate(text, names)
    except (Exception, SystemExit) as error:
        try:
            return f"{type(error).__name__}: {error}"
        except Exception:
            return type(error).__name__
    return "accepted"


def main(library: str) -> None:
    out = sys.stdout
    warnings.simplefilter("ignore")
    names = namespace(library)
    for line in sys.stdin:
        text = json.loads(line)
        out.write(json.dumps([text, answer(text, names)[:400]]) + "\n")
        out.flush()


if __name__ == "__main__":
    main(sys.argv[1])
