"""``threefry2x32`` lowered to StableHLO, and with NumPy.

XLA for CPUs recomputes operands of several operations in the kernel of each of them, and keys
that are split from one another are chains of such uses. Barriers separate kernels: after keys,
and few words, which may be keys, both in one element, so that one kernel makes them; and before
many other words, which are one kernel with the rounds and what uses the bits. (Eight chains of
twelve draws took 7.4 s to compile with rounds in loops, which were barriers, too; so they take
1.2 s and run twice as fast.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import reference_rules, stablehlo_rules
from dovetail_core import ShapedArray

from ..threefry import PARITY, ROTATIONS, U32, threefry2x32_p

SCALAR = ShapedArray((), U32)
U64 = np.dtype(np.uint64)
FEW = 64
"""Up to this size words are taken for keys, whatever they are drawn for."""


@stablehlo_rules.register(threefry2x32_p)
def _threefry2x32_stablehlo(
    b: Any, k0: Any, k1: Any, x0: Any, x1: Any, *, keys: bool = False
) -> list[Any]:
    full = b.outs[0]
    are_keys = keys or full.size <= FEW
    if b.platform == "cpu" and not are_keys:
        k0, k1 = _barrier(b, k0, k1)
    x = _rounds(b, k0, k1, x0, x1)
    x = [b.broadcast_scalar(v, full) for v in x]
    return _split(b, *_barrier(b, _together(b, *x))) if b.platform == "cpu" and are_keys else x


def _rounds(b: Any, k0: Any, k1: Any, x0: Any, x1: Any) -> Any:
    ks = (k0, k1, _op(b, "xor", _op(b, "xor", k0, k1), _constant(b, PARITY)))
    x = (_op(b, "add", x0, k0), _op(b, "add", x1, k1))
    for group in range(5):
        x = _group(b, x, ROTATIONS[group % 2], ks[(group + 1) % 3], ks[(group + 2) % 3], group + 1)
    return x


def _barrier(b: Any, *values: Any) -> list[Any]:
    return b.op("stablehlo.optimization_barrier", values, [v.aval for v in values])


def _together(b: Any, x0: Any, x1: Any) -> Any:
    """Both words in one of 64 bits."""
    wide = ShapedArray(x0.aval.shape, U64)
    high, low = (b.op("stablehlo.convert", [v], wide) for v in (x0, x1))
    return b.op(
        "stablehlo.or", [b.op("stablehlo.shift_left", [high, _half(b, wide)], wide), low], wide
    )


def _split(b: Any, x: Any) -> list[Any]:
    word = ShapedArray(x.aval.shape, U32)
    high = b.op("stablehlo.shift_right_logical", [x, _half(b, x.aval)], x.aval)
    return [b.op("stablehlo.convert", [v], word) for v in (high, x)]


def _half(b: Any, wide: Any) -> Any:
    return b.broadcast_scalar(b.constant(32, ShapedArray((), U64)), wide)


def _group(b: Any, x: Any, rotations: Any, key0: Any, key1: Any, number: int) -> Any:
    """Four rounds, and two words of key and the group's number added."""
    x0, x1 = x
    for distance in rotations:
        x0 = _op(b, "add", x0, x1)
        left = _op(b, "shift_left", x1, _constant(b, distance))
        right = _op(b, "shift_right_logical", x1, _constant(b, 32 - distance))
        x1 = _op(b, "xor", _op(b, "or", left, right), x0)
    return _op(b, "add", x0, key0), _op(b, "add", x1, _op(b, "add", key1, _constant(b, number)))


def _op(b: Any, name: str, x: Any, y: Any) -> Any:
    # Scalars stay scalars as long as they meet scalars, which makes the key schedule cheap.
    out = x.aval if x.aval.shape else y.aval
    return b.op(f"stablehlo.{name}", [b.broadcast_scalar(v, out) for v in (x, y)], out)


def _constant(b: Any, value: int) -> Any:
    return b.constant(value, SCALAR)


@reference_rules.register(threefry2x32_p)
def _threefry2x32_reference(*operands: Any, keys: bool = False) -> list[Any]:
    k0, k1, x0, x1 = np.broadcast_arrays(*operands)
    ks = (k0, k1, k0 ^ k1 ^ U32.type(PARITY))
    with np.errstate(over="ignore"):  # uint32 wraps around, and NumPy warns of it for scalars
        x0, x1 = x0 + k0, x1 + k1
        for group in range(5):
            for distance in ROTATIONS[group % 2]:
                x0 = x0 + x1
                x1 = (x1 << U32.type(distance) | x1 >> U32.type(32 - distance)) ^ x0
            x0 = x0 + ks[(group + 1) % 3]
            x1 = x1 + ks[(group + 2) % 3] + U32.type(group + 1)
    return [np.asarray(x0), np.asarray(x1)]
