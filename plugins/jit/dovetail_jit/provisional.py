"""Executables that run in place of better ones until these are there: what a plugin may bring.

The provider of the role ``tiers`` is a function
``begin(module, device, options, compile, program)``. It is asked about programs of ``jit`` that no
cache has, with their module, device and compiler options, ``compile(profile)``, which compiles them
here, and the program. It returns a :class:`Provisional`, or None: then the program is compiled as
if nobody had been asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol


class Successor(Protocol):
    """The full executable of a program that runs provisionally until it is there."""

    @property
    def is_given_up(self) -> bool:
        """Whether nobody makes it any more: the provisional one is called as any other is."""
        ...

    def take(self) -> Any | None:
        """The runtime's executable if it is there; does not wait."""
        ...

    def wait(self) -> Any:
        """The runtime's executable; made now, if nobody else makes it."""
        ...


class Interpreter(NamedTuple):
    """Computes a program without the runtime: ``compute(operands)`` returns values as NumPy has
    them. None, or what it raises, makes the call wait for the full executable."""

    compute: Callable[[Sequence[Any]], Sequence[Any] | None]


class Provisional(NamedTuple):
    """The runtime's executable that runs meanwhile, or an :class:`Interpreter`, and who brings the
    full one."""

    loaded: Any
    successor: Successor
