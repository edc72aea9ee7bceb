"""Options that forbid what should no longer happen: tracing anew, running programs."""

from __future__ import annotations

from dovetail_base.options import as_bool
from dovetail_base.source import here
from dovetail_core import Option, config

no_tracing = config.add(
    Option(
        "no_tracing",
        False,
        "A compiled function that would be traced, because it or the types of its arguments were "
        "not seen before, is an error.",
        check=as_bool,
    )
)
no_execution = config.add(
    Option(
        "no_execution",
        False,
        "Running a program on a device is an error; tracing, lowering and compiling go on.",
        check=as_bool,
        traced=True,  # calls that C++ would repeat come to Python
    )
)


def refuse_tracing(name: str) -> None:
    """Raise RuntimeError where the option ``no_tracing`` forbids to trace the function ``name``."""
    if no_tracing.value:
        raise RuntimeError(
            f"{name} would be traced{here()}, and the option no_tracing forbids it: it was not "
            "called before with arguments of these types and these static values. Call it so once "
            "before, or set the option to False."
        )


def refuse_execution(name: str) -> None:
    """Raise RuntimeError where the option ``no_execution`` forbids to run the program ``name``."""
    if no_execution.value:
        raise RuntimeError(
            f"{name} would run on a device{here()}, and the option no_execution forbids it. Set "
            "it to False, or trace (make_jaxpr, eval_shape, jit(f).lower) in place of calling."
        )
