"""How two answers differ, and by how much two numbers may."""

from __future__ import annotations

import base64
from typing import Any

import ml_dtypes
import numpy as np

ULPS = 64
"""Results may be this far apart, in units of the spacing of their largest number: both libraries
compile with XLA, but sums, products and series may be taken in another order."""


def difference(ours: Any, theirs: Any, floor: float = 0.0) -> str:
    """What differs, in a few words; an empty string where nothing does.

    ``floor``: how large the terms are of which results are sums, where these may cancel.
    """
    if ours[0] == "error" or theirs[0] == "error":
        return _errors(ours, theirs)
    if ours[0] != theirs[0]:
        return f"a result of kind {ours[0]}, theirs {theirs[0]}"
    if ours[0] == "sequence":
        return _sequences(ours[1], theirs[1], floor)
    if ours[0] == "dict":
        keys = [[k for k, _ in x[1]] for x in (ours, theirs)]
        if keys[0] != keys[1]:
            return f"keys {keys[0]}, theirs {keys[1]}"
        return _sequences([v for _, v in ours[1]], [v for _, v in theirs[1]], floor)
    if ours[0] == "array":
        return _arrays(ours, theirs, floor)
    return "" if ours == theirs else f"{ours[1:]}, theirs {theirs[1:]}"


def _errors(ours: Any, theirs: Any) -> str:
    if ours[0] == theirs[0]:
        return ""  # which of their classes an error has is compared elsewhere
    if ours[0] == "error":
        return f"raises {ours[1]}: {ours[2]}"
    return f"does not raise, theirs {theirs[1]}: {theirs[2]}"


def _sequences(ours: Any, theirs: Any, floor: float) -> str:
    if len(ours) != len(theirs):
        return f"{len(ours)} results, theirs {len(theirs)}"
    result = (difference(x, y, floor) for x, y in zip(ours, theirs))
    return next((f for f in result if f), "")


def _array(told: Any) -> Any:
    dtype = np.dtype(getattr(ml_dtypes, told[1], None) or told[1])
    return np.frombuffer(base64.b64decode(told[4]), dtype).reshape(told[2])


def _arrays(ours: Any, theirs: Any, floor: float) -> str:
    for what, i in (("dtype", 1), ("shape", 2), ("weak type", 3)):
        if ours[i] != theirs[i]:
            return f"{what} {ours[i]}, theirs {theirs[i]}"
    if ours[1].startswith("["):  # of float0: nothing is in it
        return ""
    return _values(_array(ours), _array(theirs), floor)


def _values(x: Any, y: Any, floor: float) -> str:
    if x.tobytes() == y.tobytes():
        return ""
    dtype = x.dtype
    if dtype.kind in "biu":
        return f"values {_few(x)}, theirs {_few(y)}"
    eps = float(ml_dtypes.finfo(dtype).eps)
    wide = np.complex128 if dtype.kind == "c" else np.float64
    a, b = x.astype(wide), y.astype(wide)
    with np.errstate(all="ignore"):
        finite = np.isfinite(a) & np.isfinite(b)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        largest = np.abs(b[finite]).max(initial=0)
        close = np.abs(a - b) <= ULPS * eps * np.maximum(np.abs(b), max(0.01 * largest, floor))
    if np.all(same | (finite & close)):
        return ""
    return f"values {_few(x)}, theirs {_few(y)}{_apart(a, b, same | finite)}"


def _apart(a: Any, b: Any, comparable: Any) -> str:
    """How far numbers are apart, where all others are the same."""
    if not np.all(comparable):
        return ""
    with np.errstate(all="ignore"):
        finite = np.isfinite(a) & np.isfinite(b)
        x, y = a[finite], b[finite]
        far = np.abs(x - y) / np.maximum(np.abs(y), 0.01 * np.abs(y).max(initial=0))
    return f", {np.nanmax(far, initial=0):.0e} apart"


def _few(x: Any) -> str:
    flat = x.ravel()[:4].tolist()
    return f"{flat}{'...' if x.size > 4 else ''}"
