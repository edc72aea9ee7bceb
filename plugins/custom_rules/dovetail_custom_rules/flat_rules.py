"""Rules of one function on flat lists of operands, as primitives and transformations use them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from dovetail_core import (
    Cache,
    trace_key,
)

T = TypeVar("T")


Values = Sequence[Any]


Flags = tuple[bool, ...]


@dataclass(frozen=True, eq=False)
class Backward:
    """A rule of reverse mode in two parts.

    Attributes:
        fwd: maps operands and flags of perturbed operands to results, residuals and a token from
            which ``bwd`` restores the structure of the residuals.
        bwd: maps token, residuals and cotangents of the results (None for zeros) to one cotangent
            per operand (None for zeros).
        name: the name of the backward function, for messages.
        lean: if the residuals are not needed, the function itself runs instead of ``fwd``.
    """

    fwd: Callable[[Values, Flags], tuple[list[Any], list[Any], Any]]
    bwd: Callable[[Any, Values, Values], list[Any]]
    name: str
    lean: bool = False


def varying_beyond(avals: Iterable[Any]) -> Callable[[frozenset[Any], Any], frozenset[Any]]:
    """A function for ``Traits.varies``: the axes over which results vary besides those of their
    types.

    Args:
        avals: the types of operands from which the types of results were inferred. Results need not
            vary over all axes of these: the function may have summed.
    """
    known: frozenset[Any] = frozenset().union(*[a.vma for a in avals])
    return lambda vma, _: vma - known


@dataclass(frozen=True, eq=False)
class Transposed:
    """A rule of transposition.

    Attributes:
        linear: True for each operand in which the function is linear.
        apply: maps operands (None for linear ones) and cotangents of the results (None for zeros)
            to one cotangent per operand (None for zeros and for operands that are not linear).
    """

    linear: Flags
    apply: Callable[[Values, Values], list[Any]]


@dataclass(frozen=True, eq=False)
class FlatRules:
    """The rules of one function; absent rules are None.

    Attributes:
        name: the name of the function.
        origin: the author's rules from which these are made; one object, however they are lifted.
        fixed: per operand "", or a description of an operand that derivative rules do not cover.
        jvp: maps operands and tangents (None for zeros) to results and tangents.
        vjp: see :class:`Backward`. transpose: see :class:`Transposed`.
        reduce: maps flags of used results to a function of the operands that returns those.
        batch: maps ``(axis, operands, dims)`` to results and their dims.
        table_rules: rules of any tables, with the signatures of the tables.
        made: primitives derived from the primitive with these rules, by key.
        closed: the number of values that the function closes over, which are the first operands.
        symbolic_zeros: True if derivative rules take zeros as ``SymbolicZero``.
    """

    name: str
    origin: Any
    fixed: tuple[str, ...]
    jvp: Callable[[Values, Values], tuple[list[Any], list[Any]]] | None = None
    vjp: Backward | None = None
    transpose: Transposed | None = None
    reduce: Callable[[Flags], Callable[..., list[Any]]] | None = None
    batch: Callable[[Any, Values, Sequence[int | None]], tuple[list[Any], list[Any]]] | None = None
    table_rules: dict[str, Callable[..., Any]] = field(
        default_factory=dict[str, Callable[..., Any]]
    )
    made: Cache[Any, Any] = field(default_factory=Cache[Any, Any])
    closed: int = 0
    symbolic_zeros: bool = False

    def derived(self, program: Any, key: Any, make: Callable[[], T]) -> T:
        """The cached result of ``make`` for the primitive with the body ``program``, by ``key``.

        The program is kept alive, so that its id is not reused.
        """
        full = id(program), trace_key(), key
        result = self.made.get(full)
        if result is None:
            result = self.made[full] = program, make()
        return result[1]

    @property
    def differentiates(self) -> bool:
        """True if there is a derivative rule."""
        return self.jvp is not None or self.vjp is not None

    @property
    def only_differentiates(self) -> bool:
        """True if there is one derivative rule and no other rule."""
        others = self.transpose, self.reduce, self.batch
        one = (self.jvp is None) != (self.vjp is None)
        return one and not self.table_rules and others == (None, None, None)


def body_name(params: dict[str, Any]) -> str:
    """The name of the parameter that is the body of a call: JAX's name if JAX has the primitive."""
    return "call_jaxpr" if "call_jaxpr" in params else "program"


def body_of(params: dict[str, Any]) -> Any:
    """The body of a call; None if it was not traced."""
    return params.get("program") or params.get("call_jaxpr")


def pick(values: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """The values whose flag is set."""
    return [x for x, f in zip(values, flags) if f]


def spread(values: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """A list with the values at the indices whose flag is set, and None at the others."""
    rest = iter(values)
    return [next(rest) if f else None for f in flags]
