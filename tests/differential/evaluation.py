"""Calls evaluated in the library named: ``python -m differential.evaluation LIBRARY < lines``.

A line is ``[text, variant]`` as JSON; the answer has it in front. It needs nothing but NumPy and
that library, so that it runs in another library's environment.
"""

from __future__ import annotations

import base64
import json
import sys
import warnings
from contextlib import nullcontext
from importlib import import_module
from typing import Any

import numpy as np
from torture.inputs.evaluation import evaluate, namespace

from .variants import changed, has_gradients, is_wide

_SCIPY = {
    "sp": "special", "st": "stats", "sl": "linalg", "sg": "signal", "sf": "fft", "sn": "ndimage",
    "si": "integrate",
}  # fmt: skip


def names_of(library: str) -> dict[str, Any]:
    """What texts are made of, in a library."""
    scipy = {k: import_module(f"{library}.scipy.{n}") for k, n in _SCIPY.items()}
    stats = import_module(f"{library}.scipy.stats")
    for name in ("norm", "betabinom"):  # modules of distributions are loaded one by one
        getattr(stats, name)
    return {**namespace(library), **scipy}


def told(x: Any) -> Any:
    """A result as JSON can have it."""
    if isinstance(x, dict):
        return ["dict", [[str(k), told(v)] for k, v in sorted(x.items(), key=str)]]
    if isinstance(x, (list, tuple)):
        return ["sequence", [told(v) for v in x]]
    if isinstance(x, (bool, int, float, complex, str, type(None))):
        return ["value", type(x).__name__, repr(x)]
    dtype = getattr(x, "dtype", None)
    if dtype is not None and "key<" in str(dtype):
        return ["keys", str(dtype), list(x.shape)]
    if dtype is None or not hasattr(x, "shape"):
        return ["object"]
    array = np.asarray(x)
    weak = bool(getattr(x, "weak_type", False))
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return ["array", str(array.dtype), list(array.shape), weak, data]


def _total(x: Any, jnp: Any, dv: Any) -> Any:
    """The sum of all floating-point results, which has a gradient."""
    leaves = [a for a in dv.tree.leaves(x) if hasattr(a, "dtype") and "key<" not in str(a.dtype)]
    parts = [a for a in leaves if jnp.issubdtype(a.dtype, jnp.inexact)]
    if not parts:
        raise TypeError("no result has derivatives")
    return sum(jnp.sum(jnp.real(a)) for a in parts)


def gradient(text: str, names: dict[str, Any]) -> Any:
    """The derivative of the sum of results in ``v`` (else ``w``, ``m``, ``t``), which occurs."""
    code = compile(text, "users_program.py", "eval")
    dv, jnp = names["dv"], names["jnp"]
    chosen = next(n for n in "vwmt" if n in code.co_names)

    def f(x: Any) -> Any:
        return _total(eval(code, {**names, chosen: x}), jnp, dv)

    return dv.grad(f)(names[chosen])


def answer(text: str, variant: str, names: dict[str, Any]) -> dict[str, Any]:
    """What a text gives: ``value`` and ``gradient``, or the class of the error in place of each."""
    result: dict[str, Any] = {}
    wide = names["dv"].enable_x64(True) if is_wide(variant) else nullcontext()
    with wide:
        own = {**names, **changed(variant, names)}
        for what, f in (("value", evaluate), ("gradient", gradient)):
            if what == "gradient" and not has_gradients(variant):
                continue
            try:
                result[what] = told(f(text, own))
            except StopIteration:  # nothing to differentiate in
                continue
            except Exception as e:
                result[what] = ["error", type(e).__name__, str(e)[:160]]
    return result


def main(library: str) -> None:
    out = sys.stdout
    warnings.simplefilter("ignore")
    names = names_of(library)
    for line in sys.stdin:
        text, variant = json.loads(line)
        out.write(json.dumps([text, variant, answer(text, variant, names)]) + "\n")
        out.flush()


if __name__ == "__main__":
    main(sys.argv[1])
