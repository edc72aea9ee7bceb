"""A program in the making: which names there are, with their values at one point."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from .programs import Program, Step, Type, kind_of, type_of, used_names
from .rendering import NAMES, function

LARGEST, MOST_ELEMENTS, MOST_AXES = 60.0, 36, 4


class Rejected(Exception):
    """An operation does not go here."""


class Scope:
    """The body of one function. Its values are what NumPy computes at the first point."""

    def __init__(
        self,
        rng: random.Random,
        numbers: Iterator[int] | None = None,
        outer: dict[str, Any] | None = None,
        depth: int = 0,
        flags: frozenset[str] = frozenset(),
    ) -> None:
        self.rng = rng
        self.numbers = numbers if numbers is not None else itertools.count()
        self.values: dict[str, Any] = dict(outer or {})
        self.depth = depth
        self.flags = flags
        """What must not be generated here: names of kinds of steps."""
        self.params: list[str] = []
        self.steps: list[Step] = []

    def name(self) -> str:
        return f"v{next(self.numbers)}"

    def param(self, value: Any) -> str:
        """A new parameter."""
        name = self.name()
        self.params.append(name)
        self.values[name] = value
        return name

    def inside(self, closed: bool = False, without: frozenset[str] = frozenset()) -> Scope:
        """A function inside; unless ``closed`` it may use the names that are visible here."""
        outer = {} if closed else self.values
        return Scope(self.rng, self.numbers, outer, self.depth + 1, self.flags | without)

    # --- choosing operands ------------------------------------------------------------------------

    def pick(self, test: Callable[[Any], bool] = lambda x: True) -> str:
        """The name of a value that passes a test; what was made last is taken most often."""
        result = [n for n, x in self.values.items() if test(x)]
        if not result:
            raise Rejected
        if self.rng.random() < 0.5:
            result = result[-3:]
        return self.rng.choice(result)

    def like(self, kinds: str, least: int = 0, most: int = MOST_AXES) -> str:
        """The name of a value of some kinds of dtype and numbers of axes."""
        return self.pick(
            lambda x: kind_of(x.dtype) in kinds and least <= x.ndim <= most and x.size > 0
        )

    def pair(self, kinds: str) -> tuple[str, str]:
        """Names of two values of one dtype whose shapes broadcast."""
        a = self.like(kinds)
        x = self.values[a]

        def fits(y: Any) -> bool:
            return y.dtype == x.dtype and _broadcast(x.shape, y.shape)

        return a, self.pick(fits)

    # --- adding steps -----------------------------------------------------------------------------

    def add(
        self,
        kind: str,
        dovetail: str,
        numpy: str,
        *args: str,
        regions: tuple[Program, ...] = (),
        results: int = 1,
        error: float = 0.0,
    ) -> tuple[str, ...]:
        """Add a step.

        Raises:
            Rejected: its results are not finite, too large, or of too many elements.
        """
        outs = tuple(self.name() for _ in range(results))
        low = any(self.values[a].dtype.name == "bfloat16" for a in args if a in self.values)
        if low and not regions and results == 1 and kind not in ("conversion", "comparison"):
            # NumPy knows no weak scalars where there is a bfloat16.
            *before, last = numpy.split("\n")
            numpy = "\n".join([*before, f"bfloat16_numpy({last})"])
        step = Step(outs, (), kind, dovetail, numpy, args, regions, error)
        result = self._evaluated(step)
        step = replace(step, types=tuple(type_of(x) for x in result))
        self.steps.append(step)
        self.values.update(zip(outs, result))
        return outs

    def _evaluated(self, step: Step) -> list[Any]:
        try:
            with np.errstate(all="ignore"):
                if step.is_tuple:
                    program = Program((), (step,), step.outs)
                    result = [np.asarray(x) for x in function(program, "numpy", more=self.values)()]
                else:
                    f = _expression(step.numpy, len(step.args))
                    result = [np.asarray(f(*[self.values[a] for a in step.args]))]
        except (ValueError, IndexError, ZeroDivisionError):  # shapes that do not go together
            raise Rejected from None
        for x in result:
            if x.size > MOST_ELEMENTS or x.ndim > MOST_AXES or not is_tame(x):
                raise Rejected
        return result

    def program(self, *outs: str) -> Program:
        types = tuple(type_of(self.values[p]) for p in self.params)
        return Program(tuple(self.params), tuple(self.steps), outs, types)

    def loose_ends(self) -> list[str]:
        """Names of this function's own values that no step uses."""
        used = used_names(self.program())
        return [n for s in self.steps for n in s.outs if n not in used] or self.own()[-1:]

    def own(self) -> list[str]:
        """Names of this function's own values."""
        return [*self.params, *(o for s in self.steps for o in s.outs)]


@lru_cache(4096)
def _expression(text: str, n: int) -> Callable[..., Any]:
    """A step's text in NumPy as a function of its operands."""
    names = [f"x{i}" for i in range(n)]
    return eval(f"lambda {', '.join(names)}: {text.format(*names)}", NAMES)


def is_tame(x: Any, largest: float = LARGEST) -> bool:
    """Whether all elements are finite and none is large."""
    if kind_of(x.dtype) not in "fc":
        return True
    wide = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
    return bool(np.isfinite(wide).all()) and float(np.abs(wide).max(initial=0)) <= largest


def with_type(t: Type) -> Callable[[Any], bool]:
    return lambda x: type_of(x) == t


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(reversed(a), reversed(b)))
