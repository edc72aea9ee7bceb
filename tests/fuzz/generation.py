"""Random programs."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from . import contracting, elementwise, ends, references, regions, ruled_references, shaping
from .programs import Program, all_steps, kind_of, without_dead_steps
from .rendering import function
from .scope import Rejected, Scope, is_tame

POINTS = 3
"""At how many points each program is known to have ordinary values."""

# Frequencies, dtypes of the parameters, and what is left out.
_WORLDS: list[tuple[int, list[str], frozenset[str]]] = [
    (62, ["float64", "float64", "float64", "int32", "bool"], frozenset()),
    (8, ["complex128", "float64"], frozenset()),
    (8, ["float32", "float32", "int32", "bool"], frozenset({"narrow", "complex"})),
    (4, ["bfloat16", "bfloat16", "int32"], frozenset({"narrow", "complex"})),
    (3, ["float16", "float16", "int8"], frozenset({"narrow", "complex"})),
    (2, ["complex64", "float32"], frozenset({"narrow"})),
    (5, ["int32", "uint8", "int8", "uint32", "bool", "int64"], frozenset()),
]
_SHAPES = [(), (3,), (3,), (2,), (2, 3), (3, 2), (3, 3), (2, 2), (1,), (2, 1, 3)]
_LEAVES = [
    *elementwise.OPERATIONS, *shaping.OPERATIONS, *contracting.OPERATIONS, *ends.OPERATIONS
]  # fmt: skip
_WEIGHTS = [w for w, _ in _LEAVES]
_WITH_PROGRAMS = [*regions.STEPS, *references.STEPS, *ruled_references.STEPS]
_REGION_WEIGHTS = [w for w, _ in _WITH_PROGRAMS]
DEEPEST = 2


def random_value(rng: random.Random, shape: tuple[int, ...], dtype: str) -> Any:
    """Ordinary numbers, at least a little apart."""
    n, kind = int(np.prod(shape)), kind_of(dtype)
    numbers = [rng.uniform(-1.8, 1.8) for _ in range(2 * n)]
    if kind == "c":
        x = np.array(numbers[:n]) + 1j * np.array(numbers[n:])
    elif kind == "f":
        x = np.array(numbers[:n])
    elif kind == "b":
        x = np.array(numbers[:n]) > 0
    else:
        x = np.array([rng.randrange(0 if kind == "u" else -4, 6) for _ in range(n)])
    return np.asarray(x, dtype=np.dtype(dtype)).reshape(shape)


class Generated:
    """A program and arguments of it."""

    def __init__(self, program: Program, points: list[tuple[Any, ...]]) -> None:
        self.program = program
        self.points = points


def generate(rng: random.Random) -> Generated:
    """A random program whose values are finite, and do not hang on how they are rounded."""
    while True:
        try:
            return _generate(rng)
        except Rejected:
            continue


def _generate(rng: random.Random) -> Generated:
    _, dtypes, flags = rng.choices(_WORLDS, [w for w, _, _ in _WORLDS])[0]
    types = [(rng.choice(_SHAPES), dtypes[0])]
    types += [(rng.choice(_SHAPES), rng.choice(dtypes)) for _ in range(rng.choice([0, 1, 1, 2]))]
    points = [tuple(random_value(rng, *t) for t in types) for _ in range(POINTS)]
    scope = Scope(rng, flags=flags)
    for x in points[0]:
        scope.param(x)
    fill(scope, rng.choice([2, 3, 4, 5, 6]))
    outs = scope.loose_ends()[-rng.choice([1, 2, 3]) :]
    if rng.random() < 0.1:
        outs.append(rng.choice(scope.own()))
    program = without_dead_steps(scope.program(*outs))
    if not list(all_steps(program)):
        raise Rejected
    _check_stable(program, points)
    return Generated(program, points)


def fill(scope: Scope, count: int | None = None) -> None:
    """Add random steps: leaves, and fewer of them the deeper, steps with programs inside."""
    rng = scope.rng
    if count is None:
        count = rng.choice([1, 1, 2, 3])
    for _ in range(count):
        for _attempt in range(30):
            deep = scope.depth >= DEEPEST
            try:
                if not deep and rng.random() < (0.35 if scope.depth == 0 else 0.2):
                    _region_step(rng)(scope, fill)
                else:
                    rng.choices(_LEAVES, _WEIGHTS)[0][1](scope)
                break
            except (Rejected, IndexError):
                continue


def _region_step(rng: random.Random) -> Callable[[Scope, regions.Fill], None]:
    def step(scope: Scope, fill: regions.Fill) -> None:
        result = rng.choices(_WITH_PROGRAMS, _REGION_WEIGHTS)[0][1]
        if result is regions.derivative and "derivative" in scope.flags:
            raise Rejected
        result(scope, fill)

    return step


def noise(rng: random.Random, sign: int = 1) -> Callable[..., Any]:
    """Changes numbers by a few units in the last place; differences by up to their error, and by
    half of it at least, so that of both signs one changes what hangs on the error."""

    def noisy(x: Any, error: float = 0.0) -> Any:
        y = np.asarray(x)
        if kind_of(y.dtype) not in "fc":
            return x
        least, eps = (0.5, error) if error else (0.0, 8 * precision(y.dtype))
        parts = [rng.uniform(-1, 1) for _ in range(y.size)]
        parts = [sign * eps * math.copysign(least + (1 - least) * abs(p), p) for p in parts]
        size = 1 + np.abs(y) if error else y
        return (y + size * np.array(parts).reshape(y.shape)).astype(y.dtype)

    return noisy


def precision(dtype: Any) -> float:
    """The distance from 1 to the next number."""
    dt = np.dtype(dtype)
    return float(ml_dtypes.finfo(f"f{dt.itemsize // 2}" if dt.kind == "c" else dt).eps)


def tolerance(dtype: Any) -> float:
    """How far results may be apart, relative to the largest, that are computed in two ways."""
    return max(1e-8, 300 * precision(dtype)) if precision(dtype) < 1e-4 else 0.12


def _check_stable(program: Program, points: list[tuple[Any, ...]]) -> None:
    """Reject a program at whose results errors of rounding would show."""
    moves: list[Callable[..., Any]] = []
    f = function(program, "numpy", noisy=True, more={"noisy": lambda *a: moves[-1](*a)})
    signs = (1, -1) if any(s.error for s in all_steps(program)) else (1,)

    def at(point: tuple[Any, ...], move: Callable[..., Any]) -> list[Any]:
        moves[:] = [move]
        return [np.asarray(x) for x in f(*point)]

    for point in points:
        try:
            with np.errstate(all="ignore"):
                plain = at(point, lambda x, *_: x)
                changed = [at(point, noise(random.Random(1), sign)) for sign in signs]
        except (ValueError, IndexError, ZeroDivisionError):
            raise Rejected from None
        for moved in changed:
            for x, y in zip(plain, moved):
                if not is_tame(x, 1e4) or x.shape != y.shape or x.dtype != y.dtype or far(x, y):
                    raise Rejected


def far(x: Any, y: Any) -> bool:
    """Whether results differ by a tenth of the tolerance, or at all where they are exact."""
    if kind_of(x.dtype) not in "fc":
        return not np.array_equal(x, y)
    wide = np.complex128 if x.dtype.kind == "c" else np.float64
    apart = np.abs(x.astype(wide) - y.astype(wide)).max(initial=0)
    size = np.abs(x.astype(wide)).max(initial=0)
    return bool(apart > 0.1 * tolerance(x.dtype) * (1 + size))
