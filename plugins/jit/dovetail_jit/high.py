"""Calling programs on high values: their arrays go into the executable, values come out of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_backends import InPlace
from dovetail_core import ClosedJaxpr, low_types, lower_values, raise_values

from .executables import Executable


def donated_arrays(donated: Sequence[Any], program: ClosedJaxpr) -> list[Any]:
    """Per array of a program's inputs whether it is given away, and to which array of a result."""
    start, starts = 0, list[int]()
    for aval in program.out_avals:
        starts.append(start)
        start += len(low_types((aval,)))
    found: list[Any] = []
    for flag, aval in zip(donated, program.in_avals):
        for i in range(len(low_types((aval,)))):
            in_place = isinstance(flag, InPlace)
            found.append(InPlace(starts[flag.output] + i) if in_place else flag)
    return found


class HighExecutable(Executable):
    """A compiled program some of whose arguments or results are of high types."""

    def __init__(
        self, module: Any, loaded: Any, device: Any, in_avals: Sequence[Any], out_avals: Any
    ) -> None:
        super().__init__(module, loaded, device, in_avals)
        self.out_avals = list(out_avals)

    def run(self, leaves: Sequence[Any], committed: bool) -> list[Any]:
        """Run on high and low values; returns such."""
        arrays = lower_values(leaves, f"asked for to call {self.module.name}")
        return raise_values(super().run(arrays, committed), self.out_avals)

    def fast_path(self, out_tree: Any, committed: bool, consts: Sequence[Any] = ()) -> None:
        """None: values are taken apart and put together in Python."""
