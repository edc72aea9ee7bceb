"""The interface of primitives that hold sub-programs: their regions, and how to rebuild them.

A primitive declares the kind of each operand and result, which is what its regions get of it, and a
function that makes its parameters from other programs on other operands. All that transformations
do with control flow follows from that, by two operations: replacing an application by one with
further operands and results, and giving an operand another kind (a constant that is written becomes
a carried value).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

from ..types.effects import Effect, InputEffect
from .programs import ClosedJaxpr

CONTROL = -1
"""The entry of ``Region.results`` for an output that is the loop's predicate and no result."""


class Kind:
    """The way in which regions get an operand, or make a result.

    Operands come in the order of these kinds, and so do the inputs of each region; results come
    with carried ones first and stacked ones last, and so do its outputs.

    Attributes:
        rank: the position in that order; loop variables are of one rank.
        carried: True for a loop variable.
        leading: True if an operand or result has a leading axis that the regions do not have.
    """

    # No Enum, whose members take ten times as long to look up.

    __slots__ = ("name", "rank", "carried", "leading")

    CONTROL: ClassVar[Kind]
    """An operand (an integer) that selects among the regions, which do not see it."""
    CONSTANT: ClassVar[Kind]
    """An operand that is the same whenever a region runs."""
    CARRIED: ClassVar[Kind]
    """A loop variable: as an operand its first value, as a result its last one."""
    SPREAD: ClassVar[Kind]
    """A loop variable that comes in, or goes out, as many: slices of a leading axis."""
    SLICED: ClassVar[Kind]
    """An operand of which each iteration sees one slice of the leading axis."""
    PLAIN: ClassVar[Kind]
    """A result that a region returns as it is."""
    STACKED: ClassVar[Kind]
    """A result with a leading axis, to which each iteration contributes one slice."""

    def __init__(self, name: str, rank: int, carried: bool = False, leading: bool = False) -> None:
        self.name = name
        self.rank = rank
        self.carried = carried
        self.leading = leading

    def __repr__(self) -> str:
        return f"Kind.{self.name}"


Kind.CONTROL = Kind("CONTROL", 0)
Kind.CONSTANT = Kind("CONSTANT", 1)
Kind.CARRIED = Kind("CARRIED", 2, carried=True)
Kind.SPREAD = Kind("SPREAD", 2, carried=True, leading=True)
Kind.SLICED = Kind("SLICED", 3, leading=True)
Kind.PLAIN = Kind("PLAIN", 4)
Kind.STACKED = Kind("STACKED", 5, leading=True)


class Region(NamedTuple):
    """A sub-program, with the operand of each input and the result of each output."""

    program: ClosedJaxpr
    operands: tuple[int, ...]
    results: tuple[int, ...]


class Operand(NamedTuple):
    """An operand of a rebuilt application: its kind, and the operand that it stands for, if any."""

    kind: Kind
    origin: int | None = None


Rebuild = Callable[[Sequence[ClosedJaxpr], Sequence[Operand]], dict[str, Any]]
"""Parameters of a primitive, for other sub-programs on other operands."""


@dataclass(eq=False)
class RegionInterface:
    """The interface of one application of a primitive to its sub-programs.

    Attributes:
        regions: the sub-programs. All of them take all operands that are constant or carried, in
            this order; each takes the slices, and returns the stacked results, that are its own.
            Where several define one result (branches), its structure is the join of theirs.
        operands: the kind of each operand.
        results: the kind of each result. Results that are carried are, in order, the operands that
            are.
        rebuild: the parameters for other programs, which follow the order of kinds.
        runs: ``"once"`` if the regions run once (a call, or one of several branches), ``"in turn"``
            if they are iterated one after another, or ``"in any order"``, which allows no further
            loop variables.
        length: the number of iterations, if that is known.
        backward: like ``rebuild``, for the loop that runs from the last iteration to the first:
            variables that were spread are reduced, and the other way round.
        title: its name in messages (the primitive's name if empty).
        axes: of a mesh, if each of its devices along these runs the regions on values of its own. A
            result that differs along them comes out as the stack of all, along a leading axis.
        remedy: what users can do if the loop cannot be differentiated in reverse mode.
        loop: pairs (result, operand) that are one loop variable.
        is_open_ended: True if a region decides how often the others run.

    In a loop with a ``CONTROL`` output all regions take the same operands.
    """

    regions: tuple[Region, ...]
    operands: tuple[Kind, ...]
    results: tuple[Kind, ...]
    rebuild: Rebuild
    runs: Literal["once", "in turn", "in any order"] = "once"
    length: int | None = None
    backward: Rebuild | None = None
    title: str = ""
    remedy: str = ""
    loop: tuple[tuple[int, int], ...] = field(init=False, default=())
    is_open_ended: bool = field(init=False, default=False)
    axes: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if self.runs != "once":
            results = [r for r, kind in enumerate(self.results) if kind.carried]
            operands = [i for i, kind in enumerate(self.operands) if kind.carried]
            self.loop = tuple(zip(results, operands, strict=True))
            self.is_open_ended = any(CONTROL in r.results for r in self.regions)

    @property
    def is_loop(self) -> bool:
        """True if the regions are iterated."""
        return self.runs != "once"

    @property
    def control(self) -> int | None:
        """The operand that selects among the regions, if any."""
        return self.operands.index(Kind.CONTROL) if Kind.CONTROL in self.operands else None

    @property
    def is_choice(self) -> bool:
        """True if one of several regions runs, selected by an operand or by the backend."""
        return self.control is not None or (not self.is_loop and len(self.regions) > 1)

    def depth(self, operand: int) -> int:
        """The number of leading axes of an operand that the regions do not have: 0 or 1."""
        return int(self.operands[operand].leading)

    def result_depth(self, result: int) -> int:
        """The number of leading axes of a result that the regions do not have: 0 or 1."""
        return int(self.results[result].leading)

    def effects(self) -> set[Effect]:
        """Effects of the sub-programs; those on an input name the operand that feeds it."""
        result: set[Effect] = set()
        for region in self.regions:
            for e in region.program.effects:
                moved = isinstance(e, InputEffect)
                result.add(e.moved(region.operands[e.input_index]) if moved else e)
        return result


def call_interface(
    program: ClosedJaxpr, rebuild: Callable[[ClosedJaxpr, Sequence[Operand]], dict[str, Any]]
) -> RegionInterface:
    """The interface of a primitive that runs one program on its operands, once."""
    ins, outs = len(program.in_avals), len(program.out_avals)
    return RegionInterface(
        (Region(program, tuple(range(ins)), tuple(range(outs))),),
        (Kind.CONSTANT,) * ins,
        (Kind.PLAIN,) * outs,
        lambda programs, operands: rebuild(programs[0], operands),
    )
