"""Programs as Python functions: in Dovetail, in NumPy, and in NumPy with errors of rounding."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import scipy.linalg
import scipy.special

import dovetail
import dovetail.lax
import dovetail.nn
import dovetail.numpy

from . import helpers
from .programs import PLACES, Program

NAMES: dict[str, Any] = {
    "np": np,
    "ml_dtypes": ml_dtypes,
    "scipy": scipy,
    "dovetail": dovetail,
    "dnp": dovetail.numpy,
    "lax": dovetail.lax,
    "nn": dovetail.nn,
    **{k: v for k, v in vars(helpers).items() if inspect.isfunction(v)},
}


def lines_of(
    program: Program, name: str, language: str, noisy: bool = False, indent: str = ""
) -> list[str]:
    """The lines of the function ``name``; ``noisy`` results are perturbed as if by rounding."""
    inner = indent + "    "
    lines = [f"{indent}def {name}({', '.join(program.params)}):"]
    for step in program.steps:
        number = step.outs[0][1:]
        places = {letter: f"{letter}{number}" for letter in PLACES[: len(step.regions)]}
        for letter, region in zip(PLACES, step.regions):
            lines += lines_of(region, places[letter], language, noisy, inner)
        text = getattr(step, language).format(*step.args, r=f"r{number}", **places)
        *before, last = text.split("\n")
        lines += [inner + line for line in before]
        if noisy and step.error:
            last = f"tuple(noisy(x, {step.error}) for x in {last})"
        elif noisy and not step.regions:
            last = f"noisy({last})"
        comma = "," if step.is_tuple and len(step.outs) == 1 else ""
        lines.append(f"{inner}{', '.join(step.outs)}{comma} = {last}")
    lines.append(f"{inner}return ({', '.join(program.outs)},)")
    return lines


def function(
    program: Program, language: str, noisy: bool = False, more: dict[str, Any] | None = None
) -> Callable[..., tuple[Any, ...]]:
    """The program as a function; ``more`` are names that it uses beside its parameters."""
    name = "f" if language == "dovetail" else "f_numpy"
    source = "\n".join(lines_of(program, name, language, noisy))
    space: dict[str, Any] = {**NAMES, **more} if more else dict(NAMES)
    exec(compile(source, f"<{name}>", "exec"), space)
    return space[name]
