"""The command ``dovetail profile``: a script is run, and what was compiled and why is shown."""

from __future__ import annotations

import runpy
import sys
import time
import traceback
import warnings
from argparse import REMAINDER, ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

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

    if not Path(args.script).is_file():
        raise DovetailError(f"there is no file {args.script!r}; for example: {_EXAMPLE}")
    _check_writable(args.html)
    with _as_script(args.script, args.arguments), _tracing(args.trace), recording() as recorder:
        start = time.perf_counter()
        status = _run(args.script)
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
    """Find out before the script runs, which may take long."""
    if html is not None:
        try:
            Path(html).open("a").close()
        except OSError as e:
            raise DovetailError(f"--html: {html!r} cannot be written: {e.strerror}") from None


@contextmanager
def _as_script(script: str, arguments: list[str]) -> Iterator[None]:
    """Arguments, import path and warnings as ``python SCRIPT`` sets them."""
    argv, path = sys.argv, sys.path[:]
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).resolve().parent))
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            yield
        finally:
            sys.argv, sys.path[:] = argv, path


def _show_warning(message: Any, category: Any, filename: str, lineno: int, *_: Any) -> None:
    sys.stderr.write(warnings.formatwarning(message, category, filename, lineno))


def _tracing(folder: str | None) -> Any:
    from ..sessions import trace

    return nullcontext() if folder is None else trace(folder)


def _run(script: str) -> int:
    """Run it as ``__main__``; what it raises is printed, as Python would."""
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as e:
        if e.code is None or isinstance(e.code, int):
            return e.code or 0
        print(e.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BaseException as e:
        _print_error(e)
        return 1
    return 0


def _print_error(error: BaseException) -> None:
    """Its traceback, from the script's own frames on."""
    at = error.__traceback__
    while at is not None and at.tb_frame.f_globals.get("__name__") != "__main__":
        at = at.tb_next
    traceback.print_exception(error.with_traceback(at))
