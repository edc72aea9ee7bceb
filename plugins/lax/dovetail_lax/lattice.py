"""The promotion lattice: which element type operands of several element types have in common.

Nodes are element types and three weak ones, ``i*``, ``f*`` and ``c*``, for Python's int, float and
complex. The common type of some nodes is their least upper bound; where there are several minimal
bounds, or none, there is no implicit promotion. (An unsigned 64-bit integer and a signed integer
meet in ``f*``, the weak float: that is why no promotion of integers makes a 64-bit float of a
32-bit one.)
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np

from dovetail_core import cached

Node = Any
"""A ``numpy.dtype``, or one of the names of weak nodes."""

WEAK = {"i*": np.dtype(np.int64), "f*": np.dtype(np.float64), "c*": np.dtype(np.complex128)}
_WEAK_OF_KIND = {"i": "i*", "u": "i*", "f": "f*", "c": "c*"}

FP8 = tuple(
    np.dtype(getattr(ml_dtypes, n))
    for n in (
        "float8_e3m4 float8_e4m3 float8_e8m0fnu float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz "
        "float8_e5m2 float8_e5m2fnuz"
    ).split()
)
FP4 = (np.dtype(ml_dtypes.float4_e2m1fn),)
SMALL_INTS = tuple(np.dtype(getattr(ml_dtypes, n)) for n in "int2 uint2 int4 uint4".split())
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def _dtypes(names: str) -> list[Node]:
    return [n if n in WEAK else np.dtype(n) for n in names.split()]


def _standard_edges() -> dict[Node, list[Node]]:
    chains = [
        "bool i* uint8 uint16 uint32 uint64 f* float16 float32 float64 complex128",
        "i* int8 int16 int32 int64 f* c* complex64 complex128",
        "uint8 int16", "uint16 int32", "uint32 int64", "float32 complex64",
    ]  # fmt: skip
    edges: dict[Node, list[Node]] = {}
    for chain in map(_dtypes, chains):
        for a, b in pairwise(chain):
            edges.setdefault(a, []).append(b)
    edges["i*"] += SMALL_INTS
    edges["f*"] += [BFLOAT16, *FP8, *FP4]
    edges[BFLOAT16] = [np.dtype(np.float32)]
    return edges


def _strict_edges() -> dict[Node, list[Node]]:
    """Only Python scalars adapt: to any type of their kind or a later one, never the other way."""
    ints = _dtypes("int8 int16 int32 int64 uint8 uint16 uint32 uint64")
    floats = [BFLOAT16, *FP8, *FP4, *_dtypes("float16 float32 float64")]
    return {
        "i*": [*ints, *SMALL_INTS, "f*"],
        "f*": [*floats, "c*"],
        "c*": _dtypes("complex64 complex128"),
    }


@cached
def _upper_bounds(strict: bool) -> dict[Node, frozenset[Node]]:
    """Each node's upper bounds, itself included."""
    edges = _strict_edges() if strict else _standard_edges()
    nodes: set[Node] = {*edges, *(b for bs in edges.values() for b in bs), np.dtype(np.bool_)}

    @cached
    def above(node: Node) -> frozenset[Node]:
        return frozenset({node}).union(*map(above, edges.get(node, ())))

    return {n: above(n) for n in nodes}


@cached
def join(nodes: frozenset[Node], strict: bool) -> Node | None:
    """The least upper bound of ``nodes``, or None."""
    bounds = _upper_bounds(strict)
    common = frozenset.intersection(*(bounds[n] for n in nodes))
    least = [n for n in common if bounds[n] == common]
    return least[0] if least else None


def node(dtype: np.dtype[Any], weak: bool) -> Node:
    """The lattice's node for an element type, weak or not.

    Raises:
        KeyError: arrays cannot have this element type.
    """
    if dtype not in _upper_bounds(False):
        raise KeyError(dtype)
    return _WEAK_OF_KIND.get(dtype.kind, dtype) if weak else dtype
