"""Rules of one call on flat lists of arrays: what primitives are made of, whoever wrote them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from dovetail_core.xla.config import trace_context

T = TypeVar("T")
Values = Sequence[Any]
Flags = tuple[bool, ...]


@dataclass(frozen=True, eq=False)
class Backward:
    """A rule of reverse mode in two parts.

    Attributes:
        fwd: from operands, and per operand whether it is perturbed, to results, residuals and a
            token that ``bwd`` needs to make sense of the residuals.
        bwd: from token, residuals and cotangents of the results (None for zeros) to one cotangent
            per operand (None for zeros).
        name: of the backward function, for messages.
    """

    fwd: Callable[[Values, Flags], tuple[list[Any], list[Any], Any]]
    bwd: Callable[[Any, Values, Values], list[Any]]
    name: str
    lean: bool = False  # where the residuals turn out unused, the function itself stands in


@dataclass(frozen=True, eq=False)
class Transposed:
    """A rule of transposition.

    Attributes:
        linear: per operand, whether the function is linear in it.
        apply: from operands (None in linear places) and cotangents of the results (None for zeros)
            to one cotangent per operand (None for zeros and other places).
    """

    linear: Flags
    apply: Callable[[Values, Values], list[Any]]


@dataclass(frozen=True, eq=False)
class FlatRules:
    """What is known of one function beside its body; absent rules are None.

    Attributes:
        name: of the function.
        origin: the author's rules that these come from, one object however they were lifted.
        fixed: per operand "", or what it is that derivative rules know nothing of.
        jvp: from operands and tangents (None for zeros) to results and tangents.
        vjp: see :class:`Backward`. transpose: see :class:`Transposed`.
        reduce: from which results are used to a function of the operands that returns those.
        batch: ``(axis, operands, dims)`` to results and their dims.
        table_rules: rules of any tables, as their tables want them.
        made: primitives derived from the primitive with these rules, by what they are for.
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
    made: dict[Any, Any] = field(default_factory=dict[Any, Any])

    def derived(self, program: Any, key: Any, make: Callable[[], T]) -> T:
        """What ``make`` makes for ``key`` of the primitive with the body ``program``; remembered.

        The program is kept, so that its identity stays its own.
        """
        full = id(program), trace_context(), key
        found = self.made.get(full)
        if found is None:
            found = self.made[full] = program, make()
        return found[1]

    @property
    def differentiates(self) -> bool:
        """Whether there is a derivative rule."""
        return self.jvp is not None or self.vjp is not None


def pick(values: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """The values whose flag is set."""
    return [x for x, f in zip(values, flags) if f]


def spread(values: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """The values in the places whose flag is set, None elsewhere."""
    rest = iter(values)
    return [next(rest) if f else None for f in flags]
