"""The command ``dovetail profile``: runs a script, and shows traces, compilations and reasons."""

from __future__ import annotations

import sys
import time
from argparse import REMAINDER, ArgumentParser, Namespace
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from dovetail_cli.scripts import as_program, check_script, run_program
from dovetail_core import DovetailError

help = "run a script; show what was traced, compiled and run, how long, and why again"
_EXAMPLE = "dovetail profile --html profile.html train.py --steps 10"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--html", metavar="FILE", help="write the profile as a page for a browser")
    parser.add_argument(
        "--trace", metavar="FOLDER", help="also take a trace there, for XProf and Perfetto"
    )
    parser.add_argument("script", help="a Python file, which is run as it is by python")
    parser.add_argument("arguments", nargs=REMAINDER, help="what the script gets in sys.argv")
    parser.epilog = f"for example: {_EXAMPLE}"


def run(args: Namespace) -> int:
    """Run the script, print the profile; the exit status is the script's."""
    from .recording import recording
    from .summary import profile_of, text_of

    check_script(args.script, _EXAMPLE)
    _check_writable(args.html)
    with as_program(args.script, args.arguments), _tracing(args.trace), recording() as recorder:
        start = time.perf_counter()
        status = run_program(args.script)
        seconds = time.perf_counter() - start
    profile = profile_of(recorder, args.script, seconds)
    sys.stdout.flush()
    print(f"\n{text_of(profile)}")
    if args.html:
        from .page import page

        Path(args.html).write_text(page(profile), "utf-8")
        print(f"\nwrote {args.html}")
    return status


def _check_writable(html: str | None) -> None:
    """Raise before the script runs if the file cannot be written."""
    if html is not None:
        try:
            Path(html).open("a").close()
        except OSError as e:
            raise DovetailError(f"--html: {html!r} cannot be written: {e.strerror}") from None


def _tracing(folder: str | None) -> Any:
    from ..sessions import trace

    return nullcontext() if folder is None else trace(folder)
