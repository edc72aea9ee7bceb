"""The options of ``jit`` itself, and the errors and warnings of those that forbid or warn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from dovetail_base import arguments
from dovetail_base.options import as_bool
from dovetail_base.source import here, warn_here
from dovetail_core import Option, config
from dovetail_xla.options import LEVEL


def as_count(value: Any) -> int:
    """A number of calls.

    Raises:
        ValueError: it is negative, or no number.
    """
    n = int(value)
    if n < 0:
        raise ValueError(f"expected a number of calls, at least 0, got {n}")
    return n


captured_constants_warn_bytes = config.add(
    Option(
        "captured_constants_warn_bytes",
        2_000_000_000,
        "A function that is lowered and closes over arrays of more bytes together causes a "
        "warning; -1 for none.",
        check=lambda value: arguments.integer("captured_constants_warn_bytes", int(value)),
    )
)
disable_most_optimizations = config.add(
    Option(
        "disable_most_optimizations",
        False,
        "Programs that are compiled from now on take a half to a third of the time to compile, and "
        "up to ten times as long to run: for tests, and for programs that run once.",
        check=as_bool,
    )
)
interpret_first_calls = config.add(
    Option(
        "interpret_first_calls",
        4,
        "How often an eager operation on small arrays of the CPU is computed by NumPy, if it gives "
        "the same bits, before another thread compiles it; calls go on so until it has.",
        check=as_count,
    )
)
by_parts_after = config.add(
    Option(
        "by_parts_after",
        100,
        "After how many calls an eager operation on small arrays of several devices of the CPU is "
        "called for each device's part by itself; 0: never.",
        check=as_count,
    )
)
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


def _cache_mode(value: Any) -> str | None:
    if value in (None, ""):
        return None
    if not isinstance(value, str):
        raise ValueError(f'expected None or a string such as "source", got {value!r}')
    return value


cache_mode = config.add(
    Option(
        "cache",
        None,
        "The key by which programs are found in the compilation cache before they are traced: "
        '"source", the code of their functions; None: they are traced first. Or for one: '
        "`jit(cache=...)`.",
        check=_cache_mode,
    )
)


def refuse_tracing(name: str) -> NoReturn:
    """Raise RuntimeError: the option ``no_tracing`` forbids to trace the function ``name``."""
    raise RuntimeError(
        f"{name} would be traced{here()}, and the option no_tracing forbids it: it was not "
        "called before with arguments of these types and these static values. Call it so once "
        "before, or set the option to False."
    )


def refuse_execution(name: str) -> NoReturn:
    """Raise RuntimeError: the option ``no_execution`` forbids to run the program ``name``."""
    raise RuntimeError(
        f"{name} would run on a device{here()}, and the option no_execution forbids it. Set "
        "it to False, or trace (make_jaxpr, eval_shape, jit(f).lower) instead of calling."
    )


def warn_of_captured(name: str, constants: Iterable[Any]) -> None:
    """Warn where the arrays that the function ``name`` closes over are large together."""
    total = sum([getattr(x, "nbytes", 0) for x in constants])
    limit = captured_constants_warn_bytes.value
    if total > limit >= 0:
        warn_here(
            f"{name} closes over arrays of {total} bytes{here()}, which its programs keep alive: a "
            "large amount of constants were captured. Pass them as arguments, or raise the option "
            f"captured_constants_warn_bytes, which is {limit}.",
            UserWarning,
        )


FEWER_OPTIMIZATIONS: Mapping[str, Any] = {LEVEL: 0, "xla_llvm_disable_expensive_passes": True}
"""The compiler's options that ``disable_most_optimizations`` asks for."""
