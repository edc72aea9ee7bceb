"""What no library can leave out of a call: its program by itself, and what is Python."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

_HOST = (np.ndarray, np.generic)
SERIES, TIMES = 12, 300


def frames(f: Callable[[], Any]) -> int:
    """How many functions of Python a call of ``f`` enters, after others."""
    count = -1  # f itself

    def entered(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        count += event == "call"

    f()
    sys.setprofile(entered)
    try:
        f()
    finally:
        sys.setprofile(None)
    return count


def program(names: Mapping[str, Any], text: str) -> tuple[Any, list[Any]] | None:
    """The executable of a call's text, compiled as one function of the arrays that it names, and
    these arrays; None where that is not one program of arrays."""
    lib, code = names["lib"], compile(text, "<call>", "eval")
    plain = type(names["x"])
    given = {n: names[n] for n in code.co_names if n in names and not callable(names[n])}
    arrays = [v for v in given.values() if hasattr(v, "dtype") and not isinstance(v, _HOST)]
    if any(type(v) is not plain for v in arrays):  # keys
        return None
    given = {n: v for n, v in given.items() if all(type(u) is plain for u in lib.tree.leaves(v))}
    leaves = lib.tree.leaves(given)
    try:
        traced = lib.jit(lambda own: eval(code, {**names, **own}), keep_unused=True)
        found = traced.lower(given).compile().runtime_executable()
        found.execute_sharded(leaves)
    except Exception:  # what has no program, or asks for values
        return None
    return found, leaves


def alone(found: tuple[Any, list[Any]] | None) -> float | None:
    """Microseconds of one call of the executable, with nothing around it."""
    if found is None:
        return None
    execute, leaves = found[0].execute_sharded, found[1]
    best = float("inf")
    for _ in range(SERIES):
        start = time.perf_counter()
        for _ in range(TIMES):
            out = execute(leaves)
        for x in out.disassemble_into_single_device_arrays():
            for part in x:
                part.block_until_ready()
        best = min(best, time.perf_counter() - start)
    return best / TIMES * 1e6
