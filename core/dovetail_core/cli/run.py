"""Finding and running the sub-command of ``dovetail`` that is asked for."""

from __future__ import annotations

import os
import sys
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any, cast

from ..base.errors import DovetailError, PluginError
from ..registry.command import Command
from ..registry.discovery import registry
from ..registry.plugins import load_object
from . import doctor, explain, matrix, plugins

_OWN: dict[str, Any] = {
    "plugins": plugins,
    "matrix": matrix,
    "explain": explain,
    "doctor": doctor,
}


def run(argv: Sequence[str] | None = None) -> int:
    """Run ``dovetail`` with these arguments (the process's own by default); the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    asked = next((a for a in arguments if not a.startswith("-")), None)
    try:
        args = _parser(asked, quiet=asked in ("plugins", "doctor")).parse_args(arguments)
        return cast(Command, args.command).run(args)
    except DovetailError as e:
        print(f"dovetail: error: {e}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


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
    targets = _targets(quiet)
    if asked in _OWN:
        return _OWN
    wanted = [asked] if asked in targets else sorted(targets)
    return _OWN | {n: _load(n, targets[n]) for n in wanted}


class _Broken:
    """Stands for a command that cannot be loaded, so that the others are not lost."""

    help = "(cannot be loaded)"

    def __init__(self, problem: str) -> None:
        self.problem = problem

    def configure(self, parser: ArgumentParser) -> None:
        parser.add_argument("anything", nargs="*")

    def run(self, args: Namespace) -> int:
        raise PluginError(self.problem)


def _load(name: str, target: str) -> Command:
    try:
        return load_object(target)
    except Exception as e:  # a plugin's module may fail in any way
        return _Broken(
            f"the command {name!r} ({target}) cannot be loaded: {type(e).__name__}: {e}. See "
            "dovetail doctor."
        )


def _targets(quiet: bool) -> dict[str, str]:
    """Import strings of plugins' commands; warnings about plugins become lines of text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = registry().entries("commands")
        except DovetailError:
            if not quiet:
                raise
            return {}
    for w in [] if quiet else caught:
        print(f"dovetail: warning: {w.message}", file=sys.stderr)
    return found
