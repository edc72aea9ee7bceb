"""Running a user's script or module in this process as ``python`` would."""

from __future__ import annotations

import runpy
import sys
import traceback
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dovetail_base.errors import DovetailError


def check_script(script: str, example: str) -> None:
    """Check that a script exists.

    Raises:
        DovetailError: there is no such file; shows the example.
    """
    if not Path(script).is_file():
        raise DovetailError(f"there is no file {script!r}; for example: {example}")


def check_module(name: str, example: str) -> None:
    """Check that a module exists.

    Raises:
        DovetailError: there is no such module; shows the example.
    """
    sys.path.insert(0, str(Path.cwd()))
    try:
        result = find_spec(name)
    except ModuleNotFoundError as e:  # a package above it
        if not e.name or not f"{name}.".startswith(f"{e.name}."):
            raise
        result = None
    finally:
        sys.path.pop(0)
    if result is None:
        raise DovetailError(f"there is no module {name!r}; for example: {example}")


@contextmanager
def as_program(
    name: str, arguments: Sequence[str], is_module: bool = False
) -> Generator[None, None, None]:
    """A context with arguments, import path and warnings as in ``python NAME`` or ``-m NAME``."""
    argv, path = sys.argv, sys.path[:]
    sys.argv = [name, *arguments]
    sys.path.insert(0, str(Path.cwd() if is_module else Path(name).resolve().parent))
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            yield
        finally:
            sys.argv, sys.path[:] = argv, path


def run_program(name: str, is_module: bool = False) -> int:
    """Run a program as ``__main__``; prints its errors as Python would, returns the exit status.

    A script's ``__file__`` is absolute, as in Python, since the script may change the folder.
    """
    try:
        if is_module:
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(str(Path(name).absolute()), run_name="__main__")
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


def _show_warning(message: Any, category: Any, filename: str, lineno: int, *_: Any) -> None:
    sys.stderr.write(warnings.formatwarning(message, category, filename, lineno))


def _print_error(error: BaseException) -> None:
    """Print a traceback from the script's own frames on; exit handlers see the error, too."""
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    at = error.__traceback__
    while at is not None and at.tb_frame.f_globals.get("__name__") != "__main__":
        at = at.tb_next
    traceback.print_exception(error.with_traceback(at or error.__traceback__))
