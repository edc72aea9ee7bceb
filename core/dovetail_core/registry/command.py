"""What a sub-command of ``dovetail`` is; plugins name theirs in their manifests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


class Command(Protocol):
    """A sub-command: a module or an object with these attributes.

    Attributes:
        help: one line for ``dovetail --help``.
    """

    help: str

    def configure(self, parser: ArgumentParser) -> None:
        """Add the command's arguments."""
        ...

    def run(self, args: Namespace) -> int:
        """Do it; returns the exit status: 0, 1 where what was asked about is not well, 2 misuse.

        Errors of kind ``DovetailError`` are printed without a traceback, with exit status 2.
        """
        ...
