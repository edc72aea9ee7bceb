"""Executables that run in place of better ones until these are there: what a plugin may bring.

The provider of the role ``tiers`` is ``begin(module, device, options, compile, program)``. It is
asked about programs of ``jit`` that no cache has, with their module, device and compiler options,
``compile(profile)``, which compiles them here, and the program that was lowered. It returns a
:class:`Provisional`, or None: then the program is compiled as if nobody had been asked.
"""

from __future__ import annotations

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


class Provisional(NamedTuple):
    """What runs meanwhile, and who brings the full executable.

    ``loaded`` is the runtime's executable, or has its method ``execute_sharded(arrays)``, which
    returns an object with its method ``consume_with_handlers(handlers)``.
    """

    loaded: Any
    successor: Successor
