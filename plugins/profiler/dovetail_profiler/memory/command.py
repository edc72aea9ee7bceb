"""The command ``dovetail memory``: live memory over a program, and the lines that own its peak."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from dovetail_core import DovetailError

help = "show what is in memory while a function runs, and which lines own the peak"
_EXAMPLE = "dovetail memory script.py:loss 'f32[8,4]' 'i32[8]'"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("function", help="SCRIPT:FUNCTION, a Python file and a name in it")
    parser.add_argument(
        "types", nargs="*", metavar="ARG", help="types of the arguments, such as f32[8,4], or "
        "numbers; without them the script's FUNCTION_args() (or EXAMPLE_ARGS) gives arguments",
    )  # fmt: skip
    parser.add_argument("--html", metavar="FILE", help="write a picture, as a page for a browser")
    parser.epilog = f"for example: {_EXAMPLE}"


def run(args: Namespace) -> int:
    """Trace and compile the function, and print its memory; it does not run."""
    from .analysis import text_of

    memory = _memory(args.function, args.types)
    print(text_of(memory))
    if args.html:
        from .page import page

        try:
            Path(args.html).write_text(page(memory), "utf-8")
        except OSError as e:
            raise DovetailError(f"--html: {args.html!r} cannot be written: {e.strerror}") from None
        print(f"\nwrote {args.html}")
    return 0


def _memory(location: str, types: list[str]) -> Any:
    from dovetail_jit import example_call, jit

    from .analysis import memory_of

    function, operands = example_call(location, types, _EXAMPLE)
    jitted = function if hasattr(function, "trace") else jit(function)
    return memory_of(jitted.trace(*operands), location.rpartition(":")[2])
