"""Machines: what they compute and move in a second, given or measured."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple


class Machine(NamedTuple):
    """What a machine does in a second.

    Attributes:
        flops: floating-point operations. bandwidth: bytes that memory delivers or takes.
        transcendental: how many flops take as long as one value of a transcendental function.
        name: what reports call it.
    """

    flops: float
    bandwidth: float
    transcendental: float = 8.0
    name: str = "the machine"

    @property
    def ridge(self) -> float:
        """The flops per byte from which on computing takes longer than moving."""
        return self.flops / self.bandwidth

    def attainable(self, intensity: float) -> float:
        """The flops per second at so many flops per byte."""
        return min(self.flops, intensity * self.bandwidth)

    def __str__(self) -> str:
        speeds = f"{short(self.flops)}flop/s, {short(self.bandwidth)}B/s"
        return f"{self.name}: {speeds}, ridge at {self.ridge:.3g} flop/B"


def short(x: float) -> str:
    """A number to three digits with a prefix."""
    for prefix in ("", "k", "M", "G", "T"):
        if x < 999.5:
            return f"{x:.3g}{prefix}"
        x /= 1000
    return f"{x:.3g}P"


def measure(dtype: Any = "float32", *, name: str = "this machine") -> Machine:
    """The machine that programs run on now: a product of two matrices, a sum of two vectors.

    The vectors are of 64 MB, larger than most caches. It takes about a second.
    """
    import dovetail.numpy as dnp
    from dovetail import jit

    n, length = 1024, 16_000_000
    a, b = dnp.ones((n, n), dtype), dnp.ones(length, dtype)
    multiply, add = jit(lambda x: x @ x), jit(lambda x: x + 1)
    moved = 2 * length * b.dtype.itemsize
    return Machine(2 * n**3 / _seconds(multiply, a), moved / _seconds(add, b), name=name)


def _seconds(f: Callable[[Any], Any], x: Any) -> float:
    """The shortest of several runs, the first of which compiles."""
    times: list[float] = []
    for _ in range(6):
        start = perf_counter()
        f(x).block_until_ready()
        times.append(perf_counter() - start)
    return min(times[1:])
