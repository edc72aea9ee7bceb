"""The protocol of sub-commands of ``dovetail``, which plugins name in their manifests."""

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
        """Run the command; returns the exit status: 0, 1 for a problem that it found, 2 for misuse.

        Errors of kind ``DovetailError`` are printed without a traceback, with exit status 2.
        """
        ...
