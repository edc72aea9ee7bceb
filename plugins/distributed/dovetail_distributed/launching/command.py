"""The command ``dovetail launch``: a script is run by several processes on this machine."""

from __future__ import annotations

import sys
from argparse import REMAINDER, ArgumentParser, ArgumentTypeError, Namespace
from math import inf, nan

from dovetail_cli.scripts import check_script

help = "run a script by several processes on this machine, which compute together"
_EXAMPLE = "dovetail launch -n 4 --devices-per-process 2 train.py --steps 10"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "-n", "--processes", type=_positive, required=True, metavar="N", help="how many processes"
    )
    parser.add_argument(
        "--devices-per-process", type=_positive, metavar="D",
        help="into how many devices each of them divides the CPU (option num_cpu_devices)",
    )  # fmt: skip
    parser.add_argument("--port", type=_port, help="where process 0 listens; a free one")
    parser.add_argument(
        "--grace", type=_seconds, default=5.0, metavar="SECONDS",
        help="after a failure or an interrupt, how long they have to end by themselves (5)",
    )  # fmt: skip
    parser.add_argument(
        "-m", dest="module", action="store_true", help="what follows is a module, as of python -m"
    )
    parser.add_argument("script", help="a Python file; it calls distributed.initialize()")
    rest = parser.add_argument(
        "arguments", nargs=REMAINDER, help="what the script gets in sys.argv"
    )
    rest.required = False  # as messages say it
    parser.epilog = f"for example: {_EXAMPLE}"


def run(args: Namespace) -> int:
    """Run the processes; the exit status is 0, or that of the first that failed."""
    from .running import Launch

    if not args.module:
        check_script(args.script, _EXAMPLE)
    program = ["-m", args.script] if args.module else [args.script]
    launch = Launch(
        [sys.executable, "-u", *program, *args.arguments],
        args.processes,
        args.devices_per_process,
        args.port,
        args.grace,
    )
    return launch.run()


def _positive(text: str) -> int:
    result = _number(text)
    if not result >= 1 or result % 1:
        raise ArgumentTypeError(f"expected a whole number of at least 1, got {text!r}")
    return int(result)


def _port(text: str) -> int:
    result = _number(text)
    if not 1 <= result <= 65535 or result % 1:
        raise ArgumentTypeError(f"expected a whole number from 1 to 65535, got {text!r}")
    return int(result)


def _seconds(text: str) -> float:
    result = _number(text)
    if not 0 <= result < inf:
        raise ArgumentTypeError(f"expected a number of seconds, got {text!r}")
    return result


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return nan
