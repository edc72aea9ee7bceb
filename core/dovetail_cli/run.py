"""Finding and running the sub-command of ``dovetail`` that is asked for."""

from __future__ import annotations

import os
import sys
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any, cast

from dovetail_base.errors import DovetailError, PluginError
from dovetail_core.registry.command import Command
from dovetail_core.registry.discovery import registry

from . import doctor, explain, matrix, new, plugins

_OWN: dict[str, Any] = {
    "new": new,
    "plugins": plugins,
    "matrix": matrix,
    "explain": explain,
    "doctor": doctor,
}


def run(argv: Sequence[str] | None = None) -> int:
    """Run ``dovetail`` with these arguments (the process's own by default); the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    asked = next((a for a in arguments if not a.startswith("-")), None)
    quiet = asked in ("plugins", "doctor")  # which report themselves what is wrong
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if quiet else "default", RuntimeWarning)
        warnings.showwarning = _show_warning
        try:
            args = _parser(asked, quiet).parse_args(arguments)
            return cast(Command, args.command).run(args)
        except DovetailError as e:
            print(f"dovetail: error: {e}", file=sys.stderr)
            return 2
        except BrokenPipeError:  # the reader of a pipe has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0


def _show_warning(message: Warning | str, *where: Any) -> None:
    """A line of text for a warning; where it was made says nothing to people who type commands."""
    print(f"dovetail: warning: {message}", file=sys.stderr)


def _parser(asked: str | None, quiet: bool) -> ArgumentParser:
    parser = ArgumentParser(
        prog="dovetail", description="Look into an installation of Dovetail.", allow_abbrev=False
    )
    added = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, command in _commands(asked, quiet).items():
        sub = added.add_parser(name, help=command.help, description=command.help)
        command.configure(sub)
        sub.set_defaults(command=command)
    return parser


def _commands(asked: str | None, quiet: bool) -> dict[str, Command]:
    """The kernel's commands and, unless one of those is asked for, the plugins'."""
    known = _known(quiet)
    if asked in _OWN:
        return _OWN
    wanted = [asked] if asked in known else known
    return _OWN | {n: _load(n) for n in wanted}


class _Broken:
    """Stands for a command that cannot be loaded, so that the others are not lost."""

    help = "(cannot be loaded)"

    def __init__(self, problem: str) -> None:
        self.problem = problem

    def configure(self, parser: ArgumentParser) -> None:
        parser.add_argument("anything", nargs="*")

    def run(self, args: Namespace) -> int:
        raise PluginError(self.problem)


def _load(name: str) -> Command:
    try:
        return registry().load("commands", name)
    except DovetailError as e:
        return _Broken(str(e))


def _known(quiet: bool) -> list[str]:
    """Names of plugins' commands, also of those that several plugins claim."""
    try:
        found = registry()
    except DovetailError:
        if not quiet:
            raise
        return []
    clashes = [name for kind, name in found.clashes if kind == "commands" and name not in _OWN]
    return sorted([*found.entries("commands"), *clashes])
