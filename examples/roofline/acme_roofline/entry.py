"""What an operation costs, or a line of the program, on a machine."""

from __future__ import annotations

import linecache
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path

from .machine import Machine


@dataclass(frozen=True)
class Entry:
    """What an operation costs, or a line of the program.

    Attributes:
        file, number: the line. what: the primitive's name, or several. times: how often it runs.
        flops, transcendentals: floating-point operations, values of transcendental functions.
        read, written: bytes. machine: what it runs on.
    """

    file: str
    number: int
    what: str
    times: float
    flops: float
    transcendentals: float
    read: float
    written: float
    machine: Machine = field(repr=False)

    @property
    def place(self) -> str:
        """``file:line``."""
        return f"{Path(self.file).name}:{self.number}"

    @property
    def code(self) -> str:
        """The text of the line."""
        return linecache.getline(self.file, self.number).strip()

    @property
    def bytes(self) -> float:
        """Bytes that are read or written."""
        return self.read + self.written

    @property
    def work(self) -> float:
        """All arithmetic in flops of the machine."""
        return self.flops + self.machine.transcendental * self.transcendentals

    @property
    def intensity(self) -> float:
        """Flops per byte."""
        return self.work / self.bytes if self.bytes else float("inf") if self.work else 0.0

    @property
    def seconds(self) -> float:
        """The time that the machine takes at least."""
        return max(self.work / self.machine.flops, self.bytes / self.machine.bandwidth)

    @property
    def bound(self) -> str:
        """What takes this time: ``memory`` or ``compute``."""
        return "compute" if self.intensity > self.machine.ridge else "memory"


def total(entries: Iterable[Entry]) -> Entry:
    """The sum of entries, with the names of all."""

    def add(a: Entry, b: Entry) -> Entry:
        names = dict.fromkeys((*a.what.split(", "), *b.what.split(", ")))
        numbers = ("flops", "transcendentals", "read", "written")
        sums = {n: getattr(a, n) + getattr(b, n) for n in numbers}
        return replace(a, what=", ".join(names), times=max(a.times, b.times), **sums)

    return reduce(add, entries)
