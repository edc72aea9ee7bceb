"""Carriers: the base class of the descriptions of lifted values by transformations."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from dovetail_base.errors import MissingRule
from dovetail_base.source import current_source, describe

from ..dispatch.primitive import Trace
from ..ir.programs import ClosedJaxpr
from ..rules.evaluation import jaxpr_as_fun
from ..types.avals import AbstractValue

V = TypeVar("V")
S = TypeVar("S", bound=Hashable)


class MissingMethod(MissingRule, NotImplementedError):
    """A high type or primitive lacks a method that an operation needs."""

    @classmethod
    def of(cls, owner: Any, method: str, purpose: str) -> MissingMethod:
        """The error for a method that ``owner`` does not define.

        It names the method, the type, the purpose (``"to stack values"``) and the user's line.
        """
        kind = owner.__class__
        return cls(
            f"{kind.__name__} ({kind.__module__}) has no method {method.partition('(')[0]}, which "
            f"is needed {purpose}{describe(current_source())}. Define {kind.__name__}.{method}."
        )


class Carrier(Generic[V, S]):
    """The carrier of a forward-style transformation: its lifted values and their structures.

    A method that a program needs and the carrier does not define raises ``MissingMethod``. ``V`` is
    a lifted value (a primal and a tangent; an array and its batch axis; two bounds) and ``S`` its
    structure: hashable, and all that must be known to take the value apart into arrays and put it
    together again. ``depth`` is 1 where an operand or result has a leading loop axis that the
    sub-program does not see, else 0.
    """

    has_instances: ClassVar[bool] = False
    """True if lifted values are many instances of one value (along a mapped axis). The tangent of a
    lifted value is then a lifted tangent, and likewise a cotangent: so rules of differentiation
    that a primitive carries can be lifted, too. Such a carrier has :meth:`collect`."""

    lift_loop: ClassVar[Callable[..., Any] | None] = None
    """A method that runs a loop whose predicate is lifted:
    ``lift_loop(primitive, interface, args, ins, predicate)`` returns lifted results, given lifted
    operands, the structures to which these are promoted in the loop, and that of its predicate. If
    it is None the predicate selects, element by element, between the old and the new value of each
    loop variable."""

    key: Hashable = None
    """All that a lifted program depends on beside structures (a batch size, say)."""

    def trace(self, parent: Trace) -> Any:
        """The transformation's trace over ``parent``: a ``LiftTrace``."""
        raise MissingMethod.of(self, "trace(parent)", "to lift the equations of a program")

    def function(self, program: ClosedJaxpr) -> Callable[..., list[Any]]:
        """The function to run on lifted values in place of a program: by default its equations."""
        return jaxpr_as_fun(program)

    def pure(self, x: Any) -> V:
        """An untransformed value, lifted."""
        raise MissingMethod.of(self, "pure(x)", "to lift a value that is not lifted yet")

    def aval(self, value: V) -> AbstractValue:
        """The type that the untransformed program has for a lifted value."""
        raise MissingMethod.of(self, "aval(value)", "to stage a program that lifted values go into")

    def structure(self, value: V, depth: int) -> S:
        """The structure of a lifted value, as a sub-program sees it (``depth`` axes stripped)."""
        raise MissingMethod.of(
            self, "structure(value, depth)", "to stage a program that lifted values go into"
        )

    def join_structures(self, a: S, b: S) -> S:
        """The least structure that both can be promoted to."""
        raise MissingMethod.of(
            self,
            "join_structures(a, b)",
            "where two structures meet: in a loop, or in the results of branches",
        )

    def types(self, aval: AbstractValue, structure: S) -> tuple[AbstractValue, ...]:
        """The types of the arrays of a lifted value of type ``aval``."""
        raise MissingMethod.of(
            self, "types(aval, structure)", "to stage the lifted form of a program"
        )

    def arrays(self, value: V, structure: S, depth: int) -> tuple[Any, ...]:
        """Promote ``value`` to ``structure`` and take it apart into arrays."""
        raise MissingMethod.of(
            self, "arrays(value, structure, depth)", "to hand a lifted value to a lifted program"
        )

    def value(self, arrays: Sequence[Any], structure: S, depth: int) -> V:
        """Put a lifted value together from its arrays."""
        raise MissingMethod.of(
            self,
            "value(arrays, structure, depth)",
            "to make lifted values of what a lifted program returns",
        )

    def known(self, value: V) -> Any:
        """The plain array if a predicate or index is untransformed, else None."""
        raise MissingMethod.of(
            self, "known(value)", "to find out whether a predicate or an index is lifted"
        )

    def primal(self, value: V) -> Any:
        """The plain value of a lifted one for effects, such as printing, or None."""
        return self.known(value)

    def may(self, predicate: V) -> Any:
        """A scalar boolean: whether a lifted predicate may still be true for some element."""
        raise MissingMethod.of(
            self, "may(predicate)", "to go on with a loop whose predicate is lifted"
        )

    def select(self, index: V, cases: Sequence[V]) -> V:
        """The result of selecting among ``cases`` by a lifted boolean or index, not known."""
        raise MissingMethod.of(
            self,
            "select(index, cases)",
            "to select among results by a predicate or an index that is lifted",
        )

    def branch(self, program: ClosedJaxpr, case: int) -> Callable[..., Sequence[Any]]:
        """The function to run on an index and operands, all lifted, in place of a branch that is
        taken where the index, not known, is ``case``: by default the branch, on all operands."""
        f = jaxpr_as_fun(program)

        def run(index: Any, *operands: Any) -> list[Any]:
            return f(*operands)

        return run

    def collect(self, cotangent: V, structure: S) -> V:
        """A cotangent of a value of ``structure``: the sum over all instances if they shared the
        value."""
        raise MissingMethod.of(
            self,
            "collect(cotangent, structure)",
            "for the cotangent of a value that all instances share",
        )
