"""Typed effects: what an equation does beside computing its results, and to which input."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

from dovetail_base.scopes import run_with

from .avals import AbstractValue


class Effect:
    """Base of all effects. An effect is an immutable, hashable value.

    ``ordered`` effects keep their program order across equations; an equation with any effect is
    never removed by dead-code elimination unless its ``dce`` rule says that it may be. Those whose
    primitives say how they happen under a condition (the trait ``guard``) are ``guardable``. Those
    that do no harm where a condition does not hold happen ``anywhere``: where a transformation runs
    all branches, or a loop until its last element is done, they do so for every element.
    """

    __slots__ = ()
    ordered: bool = False
    guardable: ClassVar[bool] = False
    anywhere: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class InputEffect(Effect):
    """An effect on one input, named by its position among the inputs of the equation or program."""

    input_index: int

    def moved(self, index: int) -> InputEffect:
        """The same effect on the input at another position."""
        return replace(self, input_index=index)


class ReadEffect(InputEffect):
    """Reads a mutable input."""

    __slots__ = ()
    ordered = True


class WriteEffect(InputEffect):
    """Overwrites (part of) a mutable input."""

    __slots__ = ()
    ordered = True


class AccumulateEffect(InputEffect):
    """Adds to a mutable input; accumulations commute with each other."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class RetypeEffect(InputEffect):
    """Leaves a mutable input with contents of other types: its type is ``aval`` from here on.

    A program has at most one for each input, of the final type (``Jaxpr.mut_types``).
    """

    aval: AbstractValue
    ordered: ClassVar[bool] = True  # type: ignore[misc]


@dataclass(frozen=True, slots=True)
class IOEffect(Effect):
    """Talks to the world outside the program (printing, callbacks)."""

    name: str = "io"


class OrderedIOEffect(IOEffect):
    """Outside effect whose order among others of the same name is kept."""

    __slots__ = ()
    ordered = True


@dataclass(frozen=True, slots=True)
class ClosureEffect(Effect):
    """Something happens to a mutable value that a program closes over (see ``ir.closing``)."""


Effects = frozenset[Effect]
NO_EFFECTS: Effects = frozenset()

V = TypeVar("V")


_silent: ContextVar[bool] = ContextVar("dovetail_silent", default=False)


def silenced(f: Callable[..., Any], *args: Any) -> Any:
    """``f(*args)``, where effects on the world outside do not keep an operation."""
    return run_with(_silent, True, f, *args)


def is_silenced() -> bool:
    """Whether this is inside of :func:`silenced`: what dead code is then depends on it."""
    return _silent.get()


def lasting(effects: Effects) -> bool:
    """Whether an equation with these effects must stay even if nobody uses its results."""
    passing = (ReadEffect, IOEffect) if _silent.get() else ReadEffect
    return any(not isinstance(e, passing) for e in effects)


def moved_effects(effects: Effects, by: int) -> Effects:
    """Effects of a program among whose inputs there are ``by`` more first, or fewer: those on
    inputs that are gone are effects on what it closes over."""
    moved = set[Effect]()
    for e in effects:
        at = e.input_index + by if isinstance(e, InputEffect) else 0
        moved.add(ClosureEffect() if at < 0 else e.moved(at) if isinstance(e, InputEffect) else e)
    return frozenset(moved)


def program_effects(eqn_effects: Effects, eqn_inputs: list[V], positions: dict[V, int]) -> Effects:
    """Effects of an equation seen from its program: input effects move to the program's inputs.

    An effect on a value created inside the program is internal and disappears from its type. What
    types inputs have in the end is the program's to say.
    """
    out: set[Effect] = set()
    for effect in eqn_effects:
        if effect.__class__ is RetypeEffect:
            continue
        if isinstance(effect, InputEffect):
            position = positions.get(eqn_inputs[effect.input_index])
            if position is not None:
                out.add(effect.moved(position))
        else:
            out.add(effect)
    return frozenset(out)
