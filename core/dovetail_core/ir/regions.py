"""The structural interface of primitives that hold sub-programs, and what carries values through.

A primitive with sub-programs says in a :class:`Form` how its operands and results map onto theirs
and which positions form a loop's fixed point. A forward-style transformation says in a
:class:`Carrier` how a lifted value is made of arrays and how structures join. From the two
``derive`` makes the transformation's rule for every such primitive.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

from ..dispatch.primitive import Trace
from ..types.avals import AbstractValue
from .programs import ClosedJaxpr

CONTROL = -1
"""In ``Region.results``: the output is the loop's predicate, not a result of the primitive."""


@dataclass(frozen=True)
class Region:
    """One sub-program: which operand feeds each input, which result each output defines."""

    program: ClosedJaxpr
    operands: tuple[int, ...]
    results: tuple[int, ...]


@dataclass(frozen=True)
class Form:
    """How a primitive with sub-programs is built.

    Attributes:
        regions: the sub-programs. Where several define one result (branches), its structure is
            the join of theirs.
        rebuild: parameters for changed sub-programs. Takes the programs and, per operand and per
            result, into how many arrays it has expanded (in place, in order).
        loop: pairs (result, operand) that are one loop variable.
        sliced: operands of which each iteration sees one slice of the leading axis.
        stacked: results that gain a leading axis, one slice per iteration.
        control: an operand that selects among the regions (an integer), if any.
        extend: parameters for a sub-program (there is one) that takes further inputs at its end,
            which are sliced, or returns further outputs at its end, which are stacked; the row
            takes and returns these at its end, too. None where there is no such place.

    In a loop with a ``CONTROL`` output all regions take the same operands.
    """

    regions: tuple[Region, ...]
    rebuild: Callable[[Sequence[ClosedJaxpr], Sequence[int], Sequence[int]], dict[str, Any]]
    loop: tuple[tuple[int, int], ...] = ()
    sliced: frozenset[int] = frozenset()
    stacked: frozenset[int] = frozenset()
    control: int | None = None
    extend: Callable[[ClosedJaxpr], dict[str, Any]] | None = None


V = TypeVar("V")
S = TypeVar("S", bound=Hashable)


class Carrier(Protocol[V, S]):
    """How a forward-style transformation carries values through sub-programs.

    ``V`` is a lifted value (a primal and a tangent; an array and its batch axis; two bounds) and
    ``S`` its structure: hashable, and all that must be known to take the value apart into arrays
    and put it together again. ``depth`` is 1 where an operand or result has a leading loop axis
    that the sub-program does not see, else 0.
    """

    @property
    def key(self) -> Hashable:
        """What, beside structures, a lifted program depends on (a batch size, say)."""
        ...

    def trace(self, parent: Trace) -> Any:
        """The transformation's trace over ``parent``: a ``LiftTrace``."""
        ...

    def pure(self, x: Any) -> V:
        """An untransformed value, lifted."""
        ...

    def aval(self, value: V) -> AbstractValue:
        """The type that the untransformed program sees in place of a lifted value."""
        ...

    def structure(self, value: V, depth: int) -> S:
        """The structure of a lifted value, as a sub-program sees it (``depth`` axes stripped)."""
        ...

    def join(self, a: S, b: S) -> S:
        """The least structure that both can be promoted to."""
        ...

    def types(self, aval: AbstractValue, structure: S) -> tuple[AbstractValue, ...]:
        """The types of the arrays of a lifted value of type ``aval``."""
        ...

    def arrays(self, value: V, structure: S, depth: int) -> tuple[Any, ...]:
        """Promote ``value`` to ``structure`` and take it apart into arrays."""
        ...

    def value(self, arrays: Sequence[Any], structure: S, depth: int) -> V:
        """Put a lifted value together from its arrays."""
        ...

    def known(self, value: V) -> Any:
        """The plain array where a predicate or index is untransformed, else None."""
        ...

    def may(self, predicate: V) -> Any:
        """A scalar boolean: whether a lifted predicate may still be true for some element."""
        ...

    def choose(self, index: V, cases: Sequence[V]) -> V:
        """What results when a lifted boolean or index, not known, chooses among ``cases``."""
        ...


@runtime_checkable
class SetCarrier(Carrier[V, S], Protocol[V, S]):
    """A carrier whose lifted values stand for sets of arrays (two bounds: for all between them).

    A loop's lifted predicate may then hold for some arrays of a set and not for others: what may
    have left the loop is collected, and the loop goes on with what may still run.
    """

    @property
    def patience(self) -> int:
        """For how many iterations a loop may go on in which it is uncertain whether it does."""
        ...

    def union(self, a: V, b: V) -> V:
        """The least value that stands for all that ``a`` or ``b`` stands for."""
        ...

    def anything(self, aval: AbstractValue) -> V:
        """The value that stands for all arrays of a type: what a loop that did not end leaves."""
        ...


@runtime_checkable
class InstanceCarrier(Carrier[V, S], Protocol[V, S]):
    """A carrier whose lifted values are many instances of one value (along a mapped axis).

    The tangent of a lifted value is then a lifted tangent, and likewise a cotangent: so rules of
    differentiation that a row carries can be lifted, too.
    """

    def collect(self, cotangent: V, structure: S) -> V:
        """A cotangent of a value of ``structure``: where the value was shared by all instances,
        the sum over them."""
        ...
