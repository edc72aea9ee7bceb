"""The command ``dovetail ir``: a function's program at every stage."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

help = "show a function's program: jaxpr, StableHLO, optimised HLO"
_EXAMPLE = "dovetail ir script.py:loss 'f32[8,4]' 'i32[8]'"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("function", help="SCRIPT:FUNCTION, a Python file and a name in it")
    parser.add_argument(
        "types", nargs="*", metavar="TYPE", help="types of the arguments, such as f32[8,4], or "
        "numbers; without them the script's FUNCTION_args() (or EXAMPLE_ARGS) gives arguments",
    )  # fmt: skip
    parser.add_argument(
        "--stage", choices=["jaxpr", "stablehlo", "hlo", "all"], default="all", help="which stage"
    )
    parser.epilog = f"for example: {_EXAMPLE}"


def run(args: Namespace) -> int:
    """Print the stages."""
    from .api import jit
    from .examples import example_call

    function, operands = example_call(args.function, args.types, _EXAMPLE)
    traced = jit(function).trace(*operands)
    stages = {
        "jaxpr": lambda: str(traced.jaxpr),
        "stablehlo": lambda: traced.lower().as_text(),
        "hlo": lambda: traced.lower().compile().as_text(),
    }
    chosen = list(stages) if args.stage == "all" else [args.stage]
    for name in chosen:
        if len(chosen) > 1:
            print(f"# --- {name} {'-' * (90 - len(name))}")
        print(stages[name]().rstrip())
    return 0
