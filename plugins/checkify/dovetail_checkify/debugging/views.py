"""Some elements of an operation's operands, in arrays of one type, as a search keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import Eqn, enable_x64, typeof

from .finding import SHOWN, operand_line
from .kinds import has_numbers

OPERANDS = 4
"""Of how many operands elements are kept, at most."""


def no_views() -> tuple[Any, Any]:
    """The views of no operands: real and imaginary parts, a row for each."""
    nothing = np.zeros((OPERANDS, SHOWN), _dtype())
    return nothing, nothing


def views(args: Sequence[Any], result: Any, at: Any) -> list[Any]:
    """Real and imaginary parts: of an operand of the shape of the result, the element in the place
    ``at``, counted along all axes; of others the first ones."""
    rows = [_rows(x, result, at) for x in args[:OPERANDS]]
    zero = np.zeros(SHOWN, _dtype())
    rows += [(zero, zero)] * (OPERANDS - len(rows))
    return [lax.stack([r[part] for r in rows]) for part in range(2)]


def _rows(x: Any, result: Any, at: Any) -> tuple[Any, Any]:
    aval: Any = typeof(x)
    zero = np.zeros(SHOWN, _dtype())
    if not has_numbers(aval) or not aval.size:
        return zero, zero
    here = _same_place(aval, result)
    n = 1 if here else min(aval.size, SHOWN)
    flat = lax.reshape(x, (aval.size,))
    cut = lax.dynamic_slice(flat, (at if here else np.int32(0),), (n,))
    if aval.dtype.kind == "c":
        return _row(lax.real(cut), n), _row(lax.imag(cut), n)
    return _row(cut, n), zero


def _row(x: Any, n: int) -> Any:
    dtype = _dtype()
    return lax.pad(lax.convert_element_type(x, dtype), dtype.type(0), [(0, SHOWN - n, 0)])


def lines(eqn: Eqn, result: Any, real: Any, imaginary: Any) -> list[str]:
    """What is said of an equation's operands, from their views."""
    results: list[str] = []
    for i, v in enumerate(eqn.invars):
        aval: Any = v.aval
        if i >= OPERANDS or not has_numbers(aval):
            results.append(aval.str_short())
            continue
        here = _same_place(aval, result)
        n = 1 if here else min(aval.size, SHOWN)
        values: Any = real[i, :n]
        if aval.dtype.kind == "c":
            values = values + 1j * imaginary[i, :n]
        elif aval.dtype.kind in "biu":
            values = values.astype(aval.dtype)
        results.append(operand_line(aval, list(values), here))
    return results


def _same_place(aval: Any, result: Any) -> bool:
    return bool(aval.shape) and aval.shape == result.shape


def _dtype() -> Any:
    return np.dtype(np.float64 if enable_x64.value else np.float32)
