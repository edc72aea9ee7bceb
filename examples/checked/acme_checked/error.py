"""Errors as data: a number that says which check failed first, and the values of all checks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import dovetail_tree.util as tree

from .check import CheckError


class Check(NamedTuple):
    """A check in a program: what it says, the names of its values, and where it stands."""

    message: str
    names: tuple[str, ...]
    place: str


class Error:
    """Which check failed first, if any. A pytree: it goes through ``jit``, ``vmap``, ``grad``.

    Where functions are mapped there is an error for each element, and the first is reported.
    """

    def __init__(self, code: Any, values: Any, checks: tuple[Check, ...]) -> None:
        self.code = code  # 0, or the number of a check from 1
        self.values = values  # for each check, in order, those of its first failure
        self.checks = checks

    def get(self) -> str | None:
        """The message, or None. Needs concrete arrays."""
        codes = np.asarray(self.code)
        failed = np.argwhere(codes)
        if not len(failed):
            return None
        at = tuple(failed[0])
        n = int(codes[at]) - 1
        check = self.checks[n]
        first = sum(len(c.names) for c in self.checks[:n])
        given = [np.asarray(x)[at] for x in self.values[first : first + len(check.names)]]
        where = f" (element {', '.join(map(str, at))})" if at else ""
        return f"{check.message.format(**dict(zip(check.names, given)))}{check.place}{where}"

    def throw(self) -> None:
        """Raise CheckError if a check failed."""
        message = self.get()
        if message is not None:
            raise CheckError(message)

    def __repr__(self) -> str:
        return f"Error({self.code})"


tree.register_pytree_node(
    Error,
    lambda e: ((e.code, e.values), e.checks),
    lambda checks, parts: Error(parts[0], parts[1], checks),
)
