"""``dovetail run``: a program that says ``import jax`` is run on Dovetail, as it is."""

from __future__ import annotations

import os
import sys
from argparse import REMAINDER, ArgumentParser, Namespace

from dovetail_cli.scripts import as_program, check_module, check_script, run_program

from ..hook import VARIABLE, install

help = "run a program that was written for JAX, unmodified, on Dovetail"
_EXAMPLE = "dovetail run train.py --steps 10"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--report",
        action="store_true",
        help="say at the end which names of jax were missing, which private ones were emulated, "
        "and which options have no effect",
    )
    parser.add_argument(
        "-m", dest="is_module", action="store_true", help="a module is run, as by python -m"
    )
    parser.add_argument("program", help="a Python file; with -m, a module")
    parser.add_argument("arguments", nargs=REMAINDER, help="what the program gets in sys.argv")
    parser.epilog = f"for example: {_EXAMPLE}"


def run(args: Namespace) -> int:
    """Run the program; the exit status is the program's."""
    if not args.is_module:
        check_script(args.program, _EXAMPLE)
    install()
    if args.is_module:
        check_module(args.program, f"{_EXAMPLE.replace('train.py', '-m my_package.train')}")
    os.environ[VARIABLE] = "1"  # processes that the program starts do the same
    with as_program(args.program, args.arguments, args.is_module):
        status = run_program(args.program, args.is_module)
    if args.report:
        from ..report import usage_report

        sys.stdout.flush()
        print(f"\n{usage_report()}", file=sys.stderr)
    return status
