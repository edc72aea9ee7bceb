"""The command ``dovetail ir``: a function's program at every stage."""

from __future__ import annotations

import runpy
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from dovetail_core import DovetailError, ShapedArray

help = "show a function's program: jaxpr, StableHLO, optimised HLO"
_EXAMPLE = "for example: dovetail ir script.py:loss 'f32[8,4]' 'i32[8]'"


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("function", help="SCRIPT:FUNCTION, a Python file and a name in it")
    parser.add_argument(
        "types", nargs="*", metavar="TYPE", help="types of the arguments, such as f32[8,4]; "
        "without them the script's FUNCTION_args() (or EXAMPLE_ARGS) gives example arguments",
    )  # fmt: skip
    parser.add_argument(
        "--stage", choices=["jaxpr", "stablehlo", "hlo", "all"], default="all", help="which stage"
    )
    parser.epilog = _EXAMPLE


def run(args: Namespace) -> int:
    """Print the stages."""
    from .api import jit

    function, given = _load(args.function)
    operands = [_parse_type(t) for t in args.types] or given
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


def _load(place: str) -> tuple[Any, list[Any]]:
    path, _, name = place.rpartition(":")
    if not path or not name:
        raise DovetailError(f"expected SCRIPT:FUNCTION, got {place!r}; {_EXAMPLE}")
    if not Path(path).is_file():
        raise DovetailError(f"there is no file {path!r}; {_EXAMPLE}")
    sys.path.insert(0, str(Path(path).resolve().parent))
    found: dict[str, Any] = runpy.run_path(path)
    if not callable(found.get(name)):
        functions = sorted(n for n, v in found.items() if callable(v) and not n.startswith("_"))
        raise DovetailError(
            f"{path} has no function {name!r}; it has {', '.join(functions) or 'none'}"
        )
    example: Any = found.get(f"{name}_args", found.get("EXAMPLE_ARGS", ()))
    given: Any = example() if callable(example) else example
    return found[name], list(given)


_KINDS = {"f": "float", "bf": "bfloat", "i": "int", "u": "uint", "c": "complex", "bool": "bool"}


def _parse_type(text: str) -> Any:
    """``f32[8,4]`` as an argument of that type."""
    from .structs import ShapeDtypeStruct

    head, _, rest = text.partition("[")
    stem = head.rstrip("0123456789")
    try:
        dims = [int(d) for d in rest.rstrip("]").split(",") if d.strip()]
        dtype = _dtype(_KINDS[stem] + head[len(stem) :])
        return ShapeDtypeStruct(ShapedArray(dims, dtype).shape, dtype)
    except (KeyError, TypeError, ValueError):
        raise DovetailError(f"{text!r} is not a type; write {_EXAMPLE.split(': ')[1]}") from None


def _dtype(name: str) -> Any:
    import ml_dtypes
    import numpy as np

    return np.dtype(getattr(ml_dtypes, name, name))
