"""Traits of primitives: what holds of an operation whoever interprets it, to derive rules from."""

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
    """What is true of an operation; laws try it on the primitive's samples.

    Attributes:
        linear: groups of operands. The operation is linear, over the reals, in the operands of one
            group together while the others are fixed: ``((0, 1),)`` for a sum, ``((0,), (1,))`` for
            a product, which is bilinear. A function of the parameters where these decide.
        constant: operands on which the results depend in steps where they are real: derivatives are
            zero wherever they exist (an index, a predicate, what is rounded).
        elementwise: whether each element of a result depends on the elements of the operands in its
            place; operands without axes are for all places.
        monotone: how results of real numbers go with each operand: ``+`` they rise (or stay), ``-``
            they fall, ``.`` neither is known. The last one is for all operands that follow.
        commutative: whether the first two operands may be exchanged.
        effect_only: whether it has no results and is there for its effect, which a forward-style
            transformation without a rule lets happen once, on untransformed values.
        guard: of such an operation, ``guard(predicate, args, params)`` applies it so that its
            effect happens only where the boolean scalar holds. Its effects are ``guardable``.
        parameters: what parameters mean, in a few words, by name (others may be among them).
        moves: whether it puts elements of its operands elsewhere, whatever they are; operands of
            other types say where. So it happens to arrays of an extended dtype by happening, with
            the same parameters, to each of the arrays that these are made of.
        superlinear: whether its work grows faster than the number of elements, so that compiling it
            well pays for few of them already.
        varies: ``varies(axes, params)`` are the axes of a mesh over which results vary, where
            operands vary over ``axes``; by default the same. See ``ShapedArray.vma``.
        meets: ``meets(params)`` are the axes of a mesh along which devices wait for each other
            where they come to it.
        divides: whether its type rule is given types that tell how operands are divided along axes
            of a mesh, and says so of its results. Others know nothing of it, and the table
            ``sharding.infer`` says how their results are divided. See ``ShapedArray.divided``.
        places: ``places(params)`` are the shardings that it names: a program with it runs on their
            devices.
        exact: of which elements its results are the same to the last bit whoever computes them:
            ``"integers"`` (and booleans), ``"numbers"`` (real ones, too: it rounds once, as IEEE
            754 says), or none. What ``moves`` elements is exact for all.
        pulls_zeros: of a linear operation, whether its transpose is run, where a result is used,
            with cotangents that are all zero, too: an author's rule may return others.
        shrinks_back: of a linear operation, whether its transpose makes smaller arrays, also of
            cotangents that devices of a mesh have in part, or that are divided otherwise than types
            say: what devices have is summed after it.
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
    divides: bool = False
    places: Callable[[dict[str, Any]], Sequence[Any]] | None = None
    exact: Literal["", "integers", "numbers"] = ""
    pulls_zeros: bool = False
    shrinks_back: bool = False

    def extended(self, **traits: Any) -> Traits:
        """These and others, as ``dataclasses.replace`` would put them together, which takes four
        times as long; modules of primitives do it some hundred times.

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

        The result is linear in that group: where only some of it varies, a rule for what is linear
        (tangents, say) puts zeros in place of the others.
        """
        found = (g for g in self.groups(count, params) if set(varying) <= set(g))
        return next(found, None)

    def multilinear_in(
        self, varying: Sequence[int], count: int, params: dict[str, Any]
    ) -> list[tuple[int, ...]] | None:
        """The fewest groups that have all the ``varying`` operands, each linear by itself, or None.

        None of them are needed where the results are constant, or constant in steps.
        """
        if set(varying) <= set(self.constant):
            return []
        together = self.linear_in(varying, count, params)
        if together is not None:
            return [together]
        found = [g for g in self.groups(count, params) if set(g) & set(varying)]
        members = [i for g in found for i in g]
        disjoint = len(members) == len(set(members))
        return found if disjoint and set(varying) <= set(members) else None

    def direction(self, operand: int) -> str:
        """``+``, ``-`` or ``.`` (see :attr:`monotone`)."""
        return self.monotone[min(operand, len(self.monotone) - 1)] if self.monotone else "."


NO_TRAITS = Traits()
