"""The command ``dovetail ir``, and functions with arguments as command lines name them."""

from __future__ import annotations

import ast
import inspect
import runpy
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dovetail_core import DovetailError, ShapedArray

from .structs import ShapeDtypeStruct

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


def example_call(named: str, given: Sequence[str], example: str) -> tuple[Any, list[Any]]:
    """The function ``SCRIPT:FUNCTION``, and arguments for it.

    Args:
        given: the arguments as text (see :func:`parse_argument`). Without any, those that the
            script has: what ``FUNCTION_args()`` returns, or the list ``EXAMPLE_ARGS``; else none.
        example: a command line that is right, for messages.

    Raises:
        DovetailError: there is no such script or function, or it takes other arguments.
    """
    function, result = _load(named, example)
    arguments = [parse_argument(text, example) for text in given] or result
    try:
        inspect.signature(function).bind(*arguments)
    except ValueError:  # it has no signature
        pass
    except TypeError as e:
        name = named.rpartition(":")[2]
        raise DovetailError(
            f"{name} does not take these arguments: {e}. Give a type or a number for each, or "
            f"write {name}_args() into the script; for example: {example}"
        ) from None
    return function, arguments


def _load(named: str, example: str) -> tuple[Any, list[Any]]:
    path, _, name = named.rpartition(":")
    if not path or not name:
        raise DovetailError(f"expected SCRIPT:FUNCTION, got {named!r}; for example: {example}")
    if not Path(path).is_file():
        raise DovetailError(f"there is no file {path!r}; for example: {example}")
    sys.path.insert(0, str(Path(path).resolve().parent))
    result: dict[str, Any] = runpy.run_path(path)
    if not callable(result.get(name)):
        functions = sorted(n for n, v in result.items() if callable(v) and not n.startswith("_"))
        raise DovetailError(
            f"{path} has no function {name!r}; it has {', '.join(functions) or 'none'}"
        )
    given: Any = result.get(f"{name}_args", result.get("EXAMPLE_ARGS", ()))
    made: Any = given() if callable(given) else given
    return result[name], list(made)


_KINDS = {"f": "float", "bf": "bfloat", "i": "int", "u": "uint", "c": "complex"}


def parse_argument(text: str, example: str) -> Any:
    """``f32[8,4]`` or ``float32[8,4]`` as an argument of that type, ``0.5`` as that number.

    Raises:
        DovetailError: it is neither; shows ``example``, a command line that is right.
    """
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        pass
    head, _, rest = text.partition("[")
    stem = head.rstrip("0123456789")
    try:
        dims = [int(d) for d in rest.removesuffix("]").split(",") if d.strip()]
        dtype = _dtype(_KINDS.get(stem, stem) + head[len(stem) :])
        return ShapeDtypeStruct(ShapedArray(dims, dtype).shape, dtype)
    except (TypeError, ValueError):
        raise DovetailError(f"{text!r} is not a type; write {example}") from None


def _dtype(name: str) -> Any:
    import ml_dtypes
    import numpy as np

    result = np.dtype(getattr(ml_dtypes, name, name))
    if result.name != name:
        raise TypeError("one of NumPy's abbreviations")
    return result
