"""Typed effects: the actions of an equation beside computing its results, and their inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

from dovetail_base.scopes import run_with

from .avals import AbstractValue

__all__ = (
    "AccumulateEffect",
    "Effect",
    "Effects",
    "IOEffect",
    "InputEffect",
    "NO_EFFECTS",
    "OrderedIOEffect",
    "ReadEffect",
    "RetypeEffect",
    "WriteEffect",
    "ignoring_io",
    "must_be_kept",
    "write_effects",
)


class Effect:
    """Base of all effects. An effect is an immutable, hashable value.

    ``ordered`` effects keep their program order across equations; dead-code elimination removes an
    equation with an effect only if its ``dce`` rule does. Effects are ``guardable`` if their
    primitives can apply them under a condition (the trait ``guard``). Effects that do no harm where
    a condition does not hold happen ``anywhere``: if a transformation runs all branches, or a loop
    until its last element is done, they happen for every element.
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
    """Gives a mutable input contents of other types: its type is ``aval`` from this equation on.

    A program has at most one for each input, of the final type (``Jaxpr.mut_types``).
    """

    aval: AbstractValue
    ordered: ClassVar[bool] = True  # type: ignore[misc]


@dataclass(frozen=True, slots=True)
class IOEffect(Effect):
    """Communicates with the outside of the program (printing, callbacks)."""

    name: str = "io"


class OrderedIOEffect(IOEffect):
    """An IO effect whose order among others of the same name is kept."""

    __slots__ = ()
    ordered = True


@dataclass(frozen=True, slots=True)
class ClosureEffect(Effect):
    """An effect on a mutable value that a program closes over (see ``ir.closing``)."""


Effects = frozenset[Effect]
NO_EFFECTS: Effects = frozenset()

V = TypeVar("V")


_silent: ContextVar[bool] = ContextVar("dovetail_silent", default=False)


def ignoring_io(f: Callable[..., Any], *args: Any) -> Any:
    """``f(*args)`` within which IO effects do not keep an operation from being dead code."""
    return run_with(_silent, True, f, *args)


def is_ignoring_io() -> bool:
    """Return whether this is called within :func:`ignoring_io`, on which dead code depends."""
    return _silent.get()


def must_be_kept(effects: Effects) -> bool:
    """Return whether an equation with these effects must stay even if its results are unused."""
    passing = (ReadEffect, IOEffect) if _silent.get() else ReadEffect
    return any(not isinstance(e, passing) for e in effects)


def write_effects(effects: Iterable[Effect]) -> list[InputEffect]:
    """The effects that change an input."""
    return [e for e in effects if isinstance(e, InputEffect) and not isinstance(e, ReadEffect)]


def moved_effects(effects: Effects, by: int) -> Effects:
    """Effects of a program that gets ``by`` further inputs in front, or loses as many: effects on
    inputs that are gone become effects on values that it closes over."""
    moved = set[Effect]()
    for e in effects:
        at = e.input_index + by if isinstance(e, InputEffect) else 0
        moved.add(ClosureEffect() if at < 0 else e.moved(at) if isinstance(e, InputEffect) else e)
    return frozenset(moved)


def program_effects(eqn_effects: Effects, eqn_inputs: list[V], positions: dict[V, int]) -> Effects:
    """Effects of an equation as those of its program: on the program's inputs.

    An effect on a value made in the program is internal and removed. So are changes of inputs'
    types, which the program has as its own.
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
