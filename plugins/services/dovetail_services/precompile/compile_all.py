"""``compile_all``, and the method ``precompile`` of compiled functions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from dovetail_base.source import called, short_repr
from dovetail_core import callable_name, here
from dovetail_jit import Compiled, Lowered, Traced, executable_identity, jit

from .workers import Tally, Workers, default_jobs, progress_of

_PROGRAM = (
    "(function, args) or (function, args, kwargs), or what jit(f).trace(...) or jit(f).lower(...) "
    "returned."
)


def compile_all(
    programs: Iterable[Any],
    *,
    jobs: int | None = None,
    progress: bool | None = None,
    return_exceptions: bool = False,
) -> list[Compiled]:
    """Compile several programs at once, in threads, ahead of their first calls.

    Afterwards calls of the functions with such arguments neither trace nor compile. The functions
    are traced one after the other by the thread that calls this, while others compile.

    Args:
        programs: each is a tuple ``(function, args)`` or ``(function, args, kwargs)``, in which
            arguments may be ``ShapeDtypeStruct``, or what ``jit(f).trace(...)`` or
            ``jit(f).lower(...)`` returned. Functions that are not compiled ones are so as by
            ``jit(function)``.
        jobs: how many are compiled at a time; by default as many as there are processors.
        progress: whether to show how far it is, on standard error: by default (None) on a terminal,
            after half a second, unless the option ``compile_progress`` is off.
        return_exceptions: for a program that cannot be traced or compiled return the exception,
            instead of raising it.

    Returns: the compiled programs, in the order of ``programs``.

    Raises:
        TypeError: ``programs`` is not iterable, or an element of it is something else.
        Exception: what tracing or compiling one of them raised, with a note that names it, when all
            others have been compiled; an ``ExceptionGroup`` where there are several.
    """
    if not isinstance(programs, Iterable):  # whoever is not typed gives one function
        raise TypeError(
            f"compile_all: programs is {short_repr(programs)} of type {type(programs).__name__}"
            f"{called()}, not a list of programs. Each of these is {_PROGRAM}"
        )
    given = [_Item(p, i) for i, p in enumerate(programs)]
    jobs = default_jobs() if jobs is None else _positive(jobs)
    result = _outcomes(given, jobs, progress)
    errors = [(item, x) for item, x in zip(given, result) if isinstance(x, Exception)]
    for item, error in errors:
        error.add_note(
            f"compile_all: this is about element {item.position} of programs, {item.name}"
        )
    if errors and not return_exceptions:
        _raise(errors, len(given))
    return result


def precompile(trace: Callable[..., Traced], /, *args: Any, **kwargs: Any) -> Compiled:
    """Compile the function ahead of calls with such arguments, which may be ``ShapeDtypeStruct``:
    these then neither trace nor compile."""
    (result,) = _outcomes([_Item(trace(*args, **kwargs).lower(), 0)], 1, None)
    if isinstance(result, Exception):
        raise result
    return result


def _outcomes(given: list[_Item], jobs: int, progress: bool | None) -> list[Any]:
    """The outcome of each program: it is compiled, or an exception."""
    if not given:
        return []
    first: dict[Hashable, int] = {}
    with Workers(min(jobs, len(given)), Tally(len(given)), progress_of(progress)) as workers:
        for item in given:
            workers.submit(item.name, item.lowered(first, given))
    return [item.outcome() for item in given]


class _Item:
    """One of the programs: it is lowered, then compiled by some thread."""

    def __init__(self, given: Any, position: int) -> None:
        self.position = position
        self._result: Any = None
        self._equal: _Item | None = None
        self._lowered: Lowered | None = None
        self._lower, self.name = _stage(given, position)

    def lowered(self, first: dict[Hashable, int], given: list[_Item]) -> Callable[[], None]:
        """Trace and lower it, and return what compiles it: nothing, where one before does so."""
        try:
            self._lowered = self._lower()
            known = first.setdefault(executable_identity(self._lowered), self.position)
        except Exception as e:
            self._result = e
            return _nothing
        if known != self.position:
            self._equal = given[known]
            return _nothing
        return self._compile

    def _compile(self) -> None:
        assert self._lowered is not None
        try:
            self._result = self._lowered.compile()
        except Exception as e:
            self._result = e

    def outcome(self) -> Any:
        """The compiled program, or the exception."""
        if self._equal is not None:
            if isinstance(self._equal._result, Exception):
                return self._equal._result
            self._compile()  # which finds it compiled
        return self._result


def _nothing() -> None:
    pass


def _stage(given: Any, position: int) -> tuple[Callable[[], Lowered], str]:
    """A function that lowers an element of ``programs``, and its function's name."""
    if isinstance(given, Lowered):
        return lambda: given, given.fun_name
    if isinstance(given, Traced):
        return given.lower, given.fun_name
    problem = _problem(given)
    if problem:
        raise TypeError(
            f"compile_all: element {position} of programs is {problem}{called()}. Give {_PROGRAM}"
        )
    function, args, *rest = given
    kwargs = rest[0] if rest else {}
    jitted = function if hasattr(function, "trace") else jit(function)
    return lambda: jitted.trace(*args, **kwargs).lower(), callable_name(function)


def _problem(given: Any) -> str:
    """Why this is no ``(function, args)`` or ``(function, args, kwargs)``."""
    if not isinstance(given, tuple):
        return f"{short_repr(given)} of type {type(given).__name__}"
    if len(given) not in (2, 3):
        return f"a tuple of {len(given)}"
    if not callable(given[0]):
        return f"a tuple whose first element, {short_repr(given[0])}, is no function"
    if not isinstance(given[1], (tuple, list)):
        return (
            f"a tuple whose second element is of type {type(given[1]).__name__}, not the tuple of "
            "the arguments by position"
        )
    if len(given) == 3 and not isinstance(given[2], dict):
        return (
            f"a tuple whose third element is of type {type(given[2]).__name__}, not the dict of "
            "the arguments by name"
        )
    return ""


def _positive(jobs: Any) -> int:
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise ValueError(f"compile_all: jobs must be a positive integer, got {jobs!r}{here()}")
    return jobs


def _raise(errors: list[tuple[_Item, Exception]], total: int) -> None:
    """Raise what went wrong, which names the programs."""
    distinct = list({id(e): e for _, e in errors}.values())
    if len(distinct) == 1:
        raise distinct[0]
    names = ", ".join(item.name for item, _ in errors)
    raise ExceptionGroup(
        f"compile_all: {len(errors)} of {total} programs were not compiled ({names})", distinct
    )
