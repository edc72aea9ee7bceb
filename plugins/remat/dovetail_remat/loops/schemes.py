"""Schemes, which select the states of a loop that are kept and those that are computed again.

A scheme of s snapshots has ``slots`` buffers for carries; the last one is for the current state. A
segment of a loop whose first state is kept is described by its length ``l``, by ``c``, the number
of snapshots that it may use (its own included), and two integers (``Numbers``) from which the
position of its cut follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

LONGEST = 2**30 - 1
"""The number of steps up to which the schedules' 32-bit arithmetic is exact."""


class Numbers(NamedTuple):
    """The numbers that a schedule stores of a segment: repetitions, and a length."""

    repetitions: Any
    length: Any


class Cut(NamedTuple):
    """The number of steps to advance before the next state is kept, and numbers of both parts."""

    advance: Any
    before: Numbers
    after: Numbers


@runtime_checkable
class Scheme(Protocol):
    """A scheme whose schedule follows from a known number of steps.

    ``first_cut`` and ``cut`` stage integer arithmetic on 32-bit scalars: the first is used while
    the loop runs forward, the second when a part of it is run again.
    """

    def slots(self, length: int) -> int:
        """The number of carries for which there is room."""
        ...

    def start(self, length: int) -> Numbers:
        """The numbers of the complete loop."""
        ...

    def first_cut(self, length: Any, snapshots: Any, numbers: Numbers) -> Cut:
        """The cut up to which to run forward from a kept state: after 1 to ``length`` steps."""
        ...

    def cut(self, length: Any, snapshots: Any, numbers: Numbers) -> Cut:
        """The cut up to which to run a segment of 2 steps or more again: before its end."""
        ...


def _check(name: str, argument: str, value: Any, meaning: str) -> None:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(
            f"{name}({argument}={value!r}): {argument}, {meaning}, must be an integer that is "
            f"known while tracing, got {type(value).__name__}"
        )
    if value < 1:
        raise ValueError(f"{name}({argument}={value!r}): {argument}, {meaning}, must be at least 1")


@dataclass(frozen=True)
class Binomial:
    """Keep ``snapshots`` carries, so that as few steps as possible are computed again.

    For loops whose number of steps is known while tracing. With r the least integer for which
    ``C(s + r, s) >= n``, a loop of n steps takes ``r n - C(s + r, r - 1)`` steps in addition to
    those that are differentiated, which is the least possible, and one more because its result is
    computed first. There is room for one carry more: the current state.

    Source: A. Griewank, A. Walther, Algorithm 799: Revolve, ACM TOMS 26 (2000).

    Raises:
        TypeError, ValueError: ``snapshots`` is not a positive integer.
    """

    snapshots: int

    def __post_init__(self) -> None:
        _check("Binomial", "snapshots", self.snapshots, "the number of carries to keep")

    def slots(self, length: int) -> int:
        return min(self.snapshots, length) + 1

    def start(self, length: int) -> Numbers:
        s = self.slots(length) - 1
        if s == 1:
            return Numbers(length - 1, length - 1)
        r = 0
        while comb(s + r, s) < length:
            r += 1
        return Numbers(r, comb(s + r - 1, s) if r else 0)

    def first_cut(self, length: Any, snapshots: Any, numbers: Numbers) -> Cut:
        from . import integers

        cut = binomial_cut(length, snapshots, numbers)
        return cut._replace(advance=integers.at_least(cut.advance, 1))

    def cut(self, length: Any, snapshots: Any, numbers: Numbers) -> Cut:
        return binomial_cut(length, snapshots, numbers)


@dataclass(frozen=True)
class Online:
    """Keep ``snapshots`` carries of a loop whose number of steps is not known before it runs.

    With r the least integer for which ``C(s + r, s) >= n``, a loop that has n > 1 steps evaluates
    none of them more than r + 1 times, differentiation included. There is room for one carry more:
    the current state.

    Source of the placement: Q. Wang, P. Moin, G. Iaccarino, Minimal repetition dynamic
    checkpointing algorithm for unsteady adjoint calculation, SIAM J. Sci. Comput. 31 (2009).

    Raises:
        TypeError, ValueError: ``snapshots`` is not a positive integer.
    """

    snapshots: int

    def __post_init__(self) -> None:
        _check("Online", "snapshots", self.snapshots, "the number of carries to keep")


@dataclass(frozen=True)
class Periodic:
    """Keep each ``every``-th carry, and compute the steps between two of them again.

    For loops whose number of steps is known while tracing. Each step is computed at most twice, and
    differentiated once; there is room for ``ceil(n / every) + every - 1`` carries.

    Raises:
        TypeError, ValueError: ``every`` is not a positive integer.
    """

    every: int

    def __post_init__(self) -> None:
        _check(
            "Periodic", "every", self.every, "the number of steps from one kept carry to the next"
        )

    def slots(self, length: int) -> int:
        return -(-length // self.every) + min(self.every, length) - 1

    def start(self, length: int) -> Numbers:
        return Numbers(0, 0)

    def first_cut(self, length: Any, snapshots: Any, numbers: Numbers) -> Cut:
        from . import integers

        return Cut(integers.at_most(length, min(self.every, LONGEST)), numbers, numbers)

    def cut(self, length: Any, snapshots: Any, numbers: Numbers) -> Cut:
        return Cut(np.int32(1), numbers, numbers)


def binomial_cut(length: Any, snapshots: Any, numbers: Numbers) -> Cut:
    """The cut of a segment of length l with c snapshots that minimises the steps run again.

    Let β(c, r) = C(c + r, c). A segment with β(c, r-1) < l <= β(c, r) is advanced by m steps with
    β(c, r-2) <= m <= β(c, r-1) and β(c-1, r-1) <= l - m <= β(c-1, r); that part before is then
    one of (c, r-1), that after of (c-1, r). The numbers are r and β(c, r-1), from which
    β(c, r-2) = β(c, r-1) (r-1) / (c+r-1) and β(c-1, r-1) = β(c, r-1) - β(c, r-2): none exceeds l.
    """
    from . import integers as i

    r, high = numbers
    fewer = i.subtract(r, 1)
    low = i.scaled(high, fewer, i.at_least(i.add(snapshots, fewer), 1))
    rest = i.subtract(high, low)
    advance = i.minimum(high, i.subtract(length, rest))
    last = i.subtract(length, 1)
    advance = i.where(i.equal(snapshots, 1), last, advance)
    return Cut(advance, Numbers(fewer, low), Numbers(r, rest))
