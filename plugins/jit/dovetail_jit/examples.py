"""A function in a script, and arguments for it, as command lines name them."""

from __future__ import annotations

import ast
import inspect
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dovetail_core import DovetailError, ShapedArray

from .structs import ShapeDtypeStruct


def example_call(place: str, given: Sequence[str], example: str) -> tuple[Any, list[Any]]:
    """The function ``SCRIPT:FUNCTION``, and arguments for it.

    Args:
        given: the arguments as text (see :func:`parse_argument`). Without any, those that the
            script has: what ``FUNCTION_args()`` returns, or the list ``EXAMPLE_ARGS``; else none.
        example: a command line that is right, for messages.

    Raises:
        DovetailError: there is no such script or function, or it takes other arguments.
    """
    function, found = _load(place, example)
    arguments = [parse_argument(text, example) for text in given] or found
    try:
        inspect.signature(function).bind(*arguments)
    except ValueError:  # it has no signature
        pass
    except TypeError as e:
        name = place.rpartition(":")[2]
        raise DovetailError(
            f"{name} does not take these arguments: {e}. Give a type or a number for each, or "
            f"write {name}_args() into the script; for example: {example}"
        ) from None
    return function, arguments


def _load(place: str, example: str) -> tuple[Any, list[Any]]:
    path, _, name = place.rpartition(":")
    if not path or not name:
        raise DovetailError(f"expected SCRIPT:FUNCTION, got {place!r}; for example: {example}")
    if not Path(path).is_file():
        raise DovetailError(f"there is no file {path!r}; for example: {example}")
    sys.path.insert(0, str(Path(path).resolve().parent))
    found: dict[str, Any] = runpy.run_path(path)
    if not callable(found.get(name)):
        functions = sorted(n for n, v in found.items() if callable(v) and not n.startswith("_"))
        raise DovetailError(
            f"{path} has no function {name!r}; it has {', '.join(functions) or 'none'}"
        )
    given: Any = found.get(f"{name}_args", found.get("EXAMPLE_ARGS", ()))
    made: Any = given() if callable(given) else given
    return found[name], list(made)


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

    found = np.dtype(getattr(ml_dtypes, name, name))
    if found.name != name:
        raise TypeError("one of NumPy's abbreviations")
    return found
