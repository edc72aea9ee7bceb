"""Traits of primitives: properties of an operation, from which rules are derived."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Group = tuple[int, ...] | slice
"""Operands by position; a slice where their number varies."""


def _no_parameters() -> dict[str, str]:
    return {}


@dataclass(frozen=True)
class Traits:
    """Properties of an operation; a law tries them on the primitive's samples.

    Attributes:
        linear: groups of operands. The operation is linear, over the reals, in the operands of one
            group together while the others are fixed: ``((0, 1),)`` for a sum, ``((0,), (1,))`` for
            a product, which is bilinear. A function of the parameters if it depends on them.
        constant: operands on which the results depend in steps: derivatives are zero wherever they
            exist (an index, a predicate, a rounded number).
        elementwise: True if each element of a result depends only on the elements of the operands
            at the same index; operands without axes are used for every element.
        monotone: the direction in which real results change with each operand: ``+`` they rise (or
            stay), ``-`` they fall, ``.`` neither is known. The last one is for all operands that
            follow.
        commutative: True if the first two operands may be exchanged.
        effect_only: True if it has no results and is applied for its effect, which happens once, on
            untransformed values, under a forward-style transformation without a rule for it.
        guard: for such an operation, ``guard(predicate, args, params)`` applies it so that its
            effect happens only where the boolean scalar holds. Its effects are ``guardable``.
        parameters: the meanings of parameters, in a few words, by name (of other parameters, too).
        moves: True if it moves elements of its operands, whatever these are; operands of other
            types give their positions. So it is applied to arrays of an extended dtype by applying
            it, with the same parameters, to each of the arrays that they are made of.
        superlinear: True if its work grows faster than the number of elements, so that compiling it
            well pays for a small number of them already.
        varies: ``varies(axes, params)`` are the axes of a mesh over which results vary if operands
            vary over ``axes``; by default the same. See ``ShapedArray.vma``.
        meets: ``meets(params)`` are the axes of a mesh along which devices wait for each other in
            the operation.
        names_axes: ``names_axes(params)`` are the names of axes in scope that the operation is
            about: a trace that maps one of them handles it though no operand is mapped.
        divides: True if its type rule takes operands' types with their division along axes of a
            mesh, and returns such types. Otherwise it is given types without it, and the table
            ``sharding.infer`` has a rule for the division of results. See ``ShapedArray.divided``.
        places: ``places(params)`` are the shardings that it names: a program with it runs on their
            devices.
        exact: the elements for which results are the same to the last bit whoever computes them:
            ``"integers"`` (and booleans), ``"numbers"`` (real ones, too: it rounds once, as in IEEE
            754), or none. Operations with ``moves`` are exact for all.
        pulls_zeros: of a linear operation, True if its transpose is run, where a result is used,
            with cotangents that are all zero, too: an author's rule may return others.
        shrinks_back: of a linear operation, True if its transpose makes smaller arrays. Cotangents
            that are sums over devices left to be done, or divided in another way than their types
            show, are then summed or moved after the transpose.
    """

    linear: Sequence[Group] | Callable[[dict[str, Any]], Sequence[Group]] = ()
    constant: tuple[int, ...] = ()
    elementwise: bool = False
    monotone: str = ""
    commutative: bool = False
    effect_only: bool = False
    parameters: Mapping[str, str] = field(default_factory=_no_parameters)
    guard: Callable[[Any, Sequence[Any], dict[str, Any]], Any] | None = None
    moves: bool = False
    superlinear: bool = False
    varies: Callable[[frozenset[Any], dict[str, Any]], frozenset[Any]] | None = None
    meets: Callable[[dict[str, Any]], Sequence[Any]] | None = None
    names_axes: Callable[[dict[str, Any]], Sequence[Any]] | None = None
    divides: bool = False
    places: Callable[[dict[str, Any]], Sequence[Any]] | None = None
    exact: Literal["", "integers", "numbers"] = ""
    pulls_zeros: bool = False
    shrinks_back: bool = False

    def extended(self, **traits: Any) -> Traits:
        """A copy with some traits replaced, as ``dataclasses.replace`` makes it in four times the
        time; modules of primitives make some hundreds.

        Raises:
            TypeError: there is no such trait.
        """
        unknown = traits.keys() - self.__dict__.keys()
        if unknown:
            raise TypeError(f"there are no traits {', '.join(sorted(unknown))}")
        made = object.__new__(Traits)
        made.__dict__.update(self.__dict__, **traits)
        return made

    def groups(self, count: int, params: dict[str, Any]) -> list[tuple[int, ...]]:
        """The groups of :attr:`linear` in an application to ``count`` operands, as positions."""
        given = self.linear(params) if callable(self.linear) else self.linear
        return [tuple(range(count)[g]) if isinstance(g, slice) else g for g in given]

    def linear_in(
        self, varying: Sequence[int], count: int, params: dict[str, Any]
    ) -> tuple[int, ...] | None:
        """The group of operands that has all the ``varying`` ones, or None.

        The result is linear in that group: if only some of it varies, a rule for linear operations
        (of tangents, say) takes zeros for the others.
        """
        result = (g for g in self.groups(count, params) if set(varying) <= set(g))
        return next(result, None)

    def multilinear_in(
        self, varying: Sequence[int], count: int, params: dict[str, Any]
    ) -> list[tuple[int, ...]] | None:
        """The fewest groups that have all the ``varying`` operands, each linear by itself, or None.

        The list is empty if the results are constant, or constant in steps.
        """
        if set(varying) <= set(self.constant):
            return []
        together = self.linear_in(varying, count, params)
        if together is not None:
            return [together]
        result = [g for g in self.groups(count, params) if set(g) & set(varying)]
        members = [i for g in result for i in g]
        disjoint = len(members) == len(set(members))
        return result if disjoint and set(varying) <= set(members) else None

    def direction(self, operand: int) -> str:
        """``+``, ``-`` or ``.`` (see :attr:`monotone`)."""
        return self.monotone[min(operand, len(self.monotone) - 1)] if self.monotone else "."


NO_TRAITS = Traits()
