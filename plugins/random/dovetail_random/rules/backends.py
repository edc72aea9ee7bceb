"""``threefry2x32`` lowered to StableHLO, and with NumPy.

On a CPU most of the rounds are in a loop, because nothing is fused across it: what several
operations use would be computed anew for each of them, and keys that are split from one another
are such chains. (Twelve draws with split keys, unrolled, took 9 s to compile; as loops 2 s.) Small
arrays have the shortest loop, which compiles quickest. Large ones have a longer body, and their
last rounds behind the loop, as one kernel with what uses the bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import reference_rules, stablehlo_rules
from dovetail_core import ShapedArray

from ..threefry import PARITY, ROTATIONS, U32, threefry2x32_p

SCALAR = ShapedArray((), U32)
BOOL = ShapedArray((), np.bool_)
LARGE = 1 << 14
"""From this size on the time to run counts for more than the time to compile."""


@stablehlo_rules.register(threefry2x32_p)
def _threefry2x32_stablehlo(b: Any, k0: Any, k1: Any, x0: Any, x1: Any) -> list[Any]:
    full = b.outs[0]
    ks = (k0, k1, _op(b, "xor", _op(b, "xor", k0, k1), _constant(b, PARITY)))
    x = (_op(b, "add", x0, k0), _op(b, "add", x1, k1))
    done = 0
    if b.platform == "cpu":
        x = tuple(b.broadcast_scalar(v, full) for v in x)
        if len({k.aval.shape for k in ks}) > 1:  # they change places
            ks = tuple(b.broadcast_scalar(k, full) for k in ks)
        loop, done = (_five_groups, 5) if full.size < LARGE else (_first_four_groups, 4)
        x = loop(b, x, ks)
    for group in range(done, 5):
        x = _group(b, x, ROTATIONS[group % 2], ks[(group + 1) % 3], ks[(group + 2) % 3], group + 1)
    return [b.broadcast_scalar(v, full) for v in x]


def _first_four_groups(b: Any, x: Any, ks: Any) -> Any:
    """A loop of two iterations, two groups each; the words of key rotate meanwhile."""
    carry = [_constant(b, 0), *x, *ks]
    types = [v.aval for v in carry]

    def more(b: Any, i: Any, *rest: Any) -> list[Any]:
        less = "comparison_direction = #stablehlo<comparison_direction LT>"
        return [b.op("stablehlo.compare", [i, _constant(b, 4)], BOOL, less)]

    def step(b: Any, i: Any, x0: Any, x1: Any, a: Any, c: Any, d: Any) -> list[Any]:
        first, second = (_op(b, "add", i, _constant(b, n)) for n in (1, 2))
        x = _group(b, (x0, x1), ROTATIONS[0], c, d, first)
        x = _group(b, x, ROTATIONS[1], d, a, second)
        return [second, *x, d, a, c]

    regions = [b.region(types, more), b.region(types, step)]
    return b.op("stablehlo.while", carry, types, regions=regions)[1:3]


def _five_groups(b: Any, x: Any, ks: Any) -> Any:
    """A loop of a group each; the words of key and the two lists of rotations change places."""
    rotations = [_constant(b, r) for some in ROTATIONS for r in some]
    carry = [_constant(b, 0), *x, *ks, *rotations]
    types = [v.aval for v in carry]

    def more(b: Any, i: Any, *rest: Any) -> list[Any]:
        less = "comparison_direction = #stablehlo<comparison_direction LT>"
        return [b.op("stablehlo.compare", [i, _constant(b, 5)], BOOL, less)]

    def step(b: Any, i: Any, x0: Any, x1: Any, a: Any, c: Any, d: Any, *r: Any) -> list[Any]:
        following = _op(b, "add", i, _constant(b, 1))
        x = _group(b, (x0, x1), r[:4], c, d, following)
        return [following, *x, c, d, a, *r[4:], *r[:4]]

    regions = [b.region(types, more), b.region(types, step)]
    return b.op("stablehlo.while", carry, types, regions=regions)[1:3]


def _group(b: Any, x: Any, rotations: Any, key0: Any, key1: Any, number: Any) -> Any:
    """Four rounds, and two words of key and the group's number added."""
    x0, x1 = x
    for distance in rotations:
        x0 = _op(b, "add", x0, x1)
        if isinstance(distance, int):
            back, distance = _constant(b, 32 - distance), _constant(b, distance)
        else:
            back = _op(b, "subtract", _constant(b, 32), distance)
        left = _op(b, "shift_left", x1, distance)
        right = _op(b, "shift_right_logical", x1, back)
        x1 = _op(b, "xor", _op(b, "or", left, right), x0)
    number = _constant(b, number) if isinstance(number, int) else number
    return _op(b, "add", x0, key0), _op(b, "add", x1, _op(b, "add", key1, number))


def _op(b: Any, name: str, x: Any, y: Any) -> Any:
    # Scalars stay scalars as long as they meet scalars, which makes the key schedule cheap.
    out = x.aval if x.aval.shape else y.aval
    return b.op(f"stablehlo.{name}", [b.broadcast_scalar(v, out) for v in (x, y)], out)


def _constant(b: Any, value: int) -> Any:
    return b.constant(value, SCALAR)


@reference_rules.register(threefry2x32_p)
def _threefry2x32_reference(*operands: Any) -> list[Any]:
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
