"""The entry point of ``dovetail``: finds and runs sub-commands."""

from __future__ import annotations

import os
import sys
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any, cast

from dovetail_base.errors import DovetailError, PluginError
from dovetail_core import Command, registry

from . import doctor, explain, matrix, new, plugins

_OWN: dict[str, Any] = {
    "new": new,
    "plugins": plugins,
    "matrix": matrix,
    "explain": explain,
    "doctor": doctor,
}


def run(argv: Sequence[str] | None = None) -> int:
    """Run ``dovetail`` with these arguments (by default the process's own); returns the status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    requested = next((a for a in arguments if not a.startswith("-")), None)
    quiet = requested in ("plugins", "doctor")  # which report themselves what is wrong
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if quiet else "default", RuntimeWarning)
        warnings.showwarning = _show_warning
        try:
            args = _parser(requested, quiet).parse_args(arguments)
            return cast(Command, args.command).run(args)
        except DovetailError as e:
            print(f"dovetail: error: {e}", file=sys.stderr)
            return 2
        except BrokenPipeError:  # the reader of a pipe has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0


def _show_warning(message: Warning | str, *where: Any) -> None:
    """Print a warning as one line, without its line of code, which is no use in a terminal."""
    print(f"dovetail: warning: {message}", file=sys.stderr)


def _parser(requested: str | None, quiet: bool) -> ArgumentParser:
    parser = ArgumentParser(
        prog="dovetail", description="Look into an installation of Dovetail.", allow_abbrev=False
    )
    added = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, command in _commands(requested, quiet).items():
        sub = added.add_parser(name, help=command.help, description=command.help)
        command.configure(sub)
        sub.set_defaults(command=command)
    return parser


def _commands(requested: str | None, quiet: bool) -> dict[str, Command]:
    """The kernel's commands and, unless one of those is asked for, the plugins'."""
    known = _known(quiet)
    if requested in _OWN:
        return _OWN
    wanted = [requested] if requested in known else known
    return _OWN | {n: _load(n) for n in wanted}


class _Broken:
    """A stand-in for a command that cannot be loaded, so that the others still work."""

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
    """The names of plugins' commands, including those that several plugins claim."""
    try:
        result = registry()
    except DovetailError:
        if not quiet:
            raise
        return []
    clashes = [name for kind, name in result.clashes if kind == "commands" and name not in _OWN]
    return sorted([*result.entries("commands"), *clashes])
