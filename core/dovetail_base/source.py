"""Source locations: the user's own line behind an operation, found cheaply and resolved late."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from itertools import islice
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple

from dovetail_base.caches import Cache

from .naming import inside, moved, transformed, without_transformations
from .scopes import Scope, run_with
from .wrapping import callable_name as callable_name

_hidden_packages: set[str] = {"dovetail"}
_hidden_files: tuple[str, ...] = ()
# By file name: a string keeps its hash, a code object is hashed anew at every look-up.
_is_hidden: Cache[str, bool] = Cache()
_warned: dict[Any, Any] = {}
_PACKAGES = "base cli core high hooks mesh mutable surface testing text tree xla"
KERNEL_PACKAGES = frozenset(f"dovetail_{part}" for part in _PACKAGES.split())
"""The packages of the distribution ``dovetail-core``."""


def hide_frames(package: str) -> None:
    """Treat a package's code as framework code: errors and source locations skip its frames.

    Packages named ``dovetail_*`` are hidden anyway.
    """
    _hidden_packages.add(package)
    _is_hidden.clear()


def hide_files(path: str) -> None:
    """Treat the code of a file, or of all files below a folder, as :func:`hide_frames` does."""
    global _hidden_files
    _hidden_files = (*_hidden_files, path)
    _is_hidden.clear()


def show_files(path: str) -> None:
    """Undo :func:`hide_files`."""
    global _hidden_files
    _hidden_files = tuple([p for p in _hidden_files if p != path])
    _is_hidden.clear()


def is_hidden(frame: FrameType) -> bool:
    """Return whether a frame runs the code of the framework or of its plugins."""
    return is_framework(frame.f_code, frame.f_globals)


def without_hidden(traceback: TracebackType | None) -> TracebackType | None:
    """A copy of a traceback without the frames that are hidden."""
    frames: list[TracebackType] = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    result: TracebackType | None = None
    for t in reversed(frames):
        if not is_hidden(t.tb_frame):
            result = TracebackType(result, t.tb_frame, t.tb_lasti, t.tb_lineno)
    return result


def is_framework(code: CodeType, names: Mapping[str, Any]) -> bool:
    """Return whether code with these globals is the framework's or its plugins'."""
    if is_framework_module(str(names.get("__name__", ""))):
        return True
    return code.co_filename.startswith(_hidden_files)


def is_framework_module(name: str) -> bool:
    """Return whether a module of this name is the framework's or a plugin's."""
    package = name.partition(".")[0]
    return package in _hidden_packages or package.startswith("dovetail_")


class AnnotatedScope(str):
    """A scope's name, with annotations of its operations (see the module ``annotations``)."""

    def __new__(cls, name: str, annotations: Mapping[str, str]) -> AnnotatedScope:
        made = super().__new__(cls, name)
        made.annotations = annotations
        return made

    annotations: Mapping[str, str]


class Source(NamedTuple):
    """A line of the user's code: a code object and an instruction, resolved when printed."""

    code: CodeType
    lasti: int
    scope: str

    @property
    def filename(self) -> str:
        return self.code.co_filename

    @property
    def line(self) -> int:
        # One entry per two-byte instruction: (line, end line, column, end column).
        at = next(islice(self.code.co_positions(), self.lasti // 2, None), None)
        return (at and at[0]) or self.code.co_firstlineno

    def __str__(self) -> str:
        names = without_transformations(self.scope)
        scope = f" in scope {names!r}" if names else ""
        return f"{self.filename}:{self.line} ({self.code.co_qualname}){scope}"


class BackwardSource(Source):
    """The source location of an operation in the backward pass: that of the one transposed."""

    __slots__ = ()


def backward(source: Source | None, outer: str, to: str) -> Source | None:
    """``source`` in the backward pass; the scope ``outer`` is replaced by ``to``."""
    if source is None:
        return None
    scope = source.scope
    if outer or to:
        scope = _like(scope, moved(scope, outer, to))
    return _new(BackwardSource, (source.code, source.lasti, scope))


def relative(source: Source | None, outer: str) -> Source | None:
    """``source`` with its scopes taken relative to ``outer``."""
    if source is None or not outer:
        return source
    return source._replace(scope=_like(source.scope, moved(source.scope, outer, "")))


def within(source: Source | None, scope: str) -> Source | None:
    """``source`` with its scopes put within ``scope``."""
    if source is None or not scope:
        return source
    return source._replace(scope=_like(source.scope, moved(source.scope, "", scope)))


def _like(scope: str, name: str) -> str:
    """``name`` with the annotations of ``scope``."""
    return AnnotatedScope(name, scope.annotations) if isinstance(scope, AnnotatedScope) else name


def without_names(scope: str) -> str:
    """The scope of a program that is traced by itself: empty, with the annotations of ``scope``."""
    return _like(scope, "") if scope else scope


_override: ContextVar[Source | None] = ContextVar("dovetail_source", default=None)
_scope: ContextVar[str] = ContextVar("dovetail_scope", default="")
get_scope, set_scope = _scope.get, _scope.set
get_override = _override.get
set_override = _override.set
reset_override = _override.reset


set_source_override, reset_source_override = set_override, reset_override


def run_at(source: Source | None, f: Callable[..., Any], *args: Any) -> Any:
    """``f(*args)``, whose operations have the source location ``source``; their own if None."""
    return run_with(_override, source, f, *args)


def current_source() -> Source | None:
    """The source location of the operation being traced, or of the equation being interpreted."""
    result = get_override()
    return result if result is not None else user_source(2)


def user_source(depth: int = 1) -> Source | None:
    """The source location of the innermost frame, at least ``depth`` up, of the user's code."""
    return source_of(sys._getframe(depth))  # pyright: ignore[reportPrivateUsage]


def source_of(frame: FrameType | None) -> Source | None:
    """The source location of the innermost frame of the user's code, from ``frame`` outwards."""
    while frame is not None:
        code = frame.f_code
        hidden = _known(code.co_filename)
        if hidden is None:
            hidden = is_hidden(frame)
            if not code.co_filename.startswith("<"):  # "<string>" may be the user's
                _is_hidden[code.co_filename] = hidden
        if not hidden:
            return _new(Source, (code, frame.f_lasti, _scope.get()))
        frame = frame.f_back
    return None


_known = _is_hidden.get
_new: Any = getattr(tuple, "__new__")  # noqa: B009  # one is made for each operation


def registration_location() -> tuple[str, int]:
    """The module and line of the code that registers something with the kernel.

    That is the statement of the module being imported, even if helper functions run it; outside of
    an import it is the innermost frame that is not the kernel's.
    """
    innermost: tuple[str, int] | None = None
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        name: str = frame.f_globals.get("__name__", "?")
        if name != "typing" and name.partition(".")[0] not in KERNEL_PACKAGES:
            innermost = innermost or (name, frame.f_lineno)
        importing = getattr(frame.f_globals.get("__spec__"), "_initializing", False)
        if importing and frame.f_code.co_name == "<module>":
            return name, frame.f_lineno
        frame = frame.f_back
    return innermost or ("?", 0)


def describe(source: Source | None) -> str:
    """``at FILE:LINE (FUNCTION)`` after a blank, for messages; empty if it is unknown."""
    return f" at {source}" if source is not None else ""


def here() -> str:
    """:func:`describe` of :func:`current_source`: the user's line that is running, for messages."""
    return describe(current_source())


def warn_here(text: str, category: type[Warning]) -> None:
    """Warn at the user's line, at whatever depth of the stack it is."""
    location = current_source()
    if location is None:
        warnings.warn(text, category, stacklevel=3)
    else:
        warnings.warn_explicit(text, category, location.filename, location.line, registry=_warned)


def short_repr(x: object) -> str:
    """The first 80 characters of ``repr(x)``; the default ``repr`` if that raises."""
    try:
        shown = repr(x)
    except Exception:
        return object.__repr__(x)
    return shown if len(shown) <= 80 else shown[:77] + "..."


def called() -> str:
    """:func:`here` after the public function that the user's line calls, for messages of helpers
    that many functions share: `` in FUNCTION at FILE:LINE (CALLER)``."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    function = ""
    while frame is not None and is_hidden(frame):
        name = frame.f_code.co_name
        if name in _OPERATORS:
            function = ""
        elif not name.startswith(("_", "<")) and name not in _INNER:
            function = name
        frame = frame.f_back
    return f" in {function}{here()}" if function else here()


def not_callable(argument: str, value: object) -> TypeError:
    """The error for an argument that must be a function and cannot be called."""
    return TypeError(
        f"{argument} must be a function, got {short_repr(value)} of type {type(value).__name__}"
        f"{called()}"
    )


_INNER = frozenset(
    (
        "axis_size_of bind call clearing_miss common_type decorated flat function masked_array "
        "miss option plan process program rebuild rebuild_all run stage trace_function "
        "trace_program traced typeof wrapped"
    ).split()
)
"""Names of helper functions that are called by public ones, or wrap them."""
_OPERATORS = frozenset("forward backward compare method".split())
"""Names of functions that implement Python's operators, which users do not call by name."""


describe_source = describe  # its name in dovetail_core


class named_scope(Scope):  # lower case: used as a function
    """Context manager and decorator that names operations: errors name their scope."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__()
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"named_scope takes a string, got {name!r}")
        self.name = name

    def _read(self) -> tuple[str, Source | None]:
        return _scope.get(), _override.get()

    def _enter(self, outer: tuple[str, Source | None]) -> None:
        scope, at = outer
        _scope.set(_like(scope, inside(scope, self.name)))
        if at is not None:  # such as a custom rule, which runs at the location of its equation
            _override.set(at._replace(scope=_like(at.scope, inside(at.scope, self.name))))

    def _leave(self, outer: tuple[str, Source | None]) -> None:
        _scope.set(outer[0])
        _override.set(outer[1])


def run_transformed(transformation: str, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``f(*args, **kwargs)``, whose operations' scopes show a transformation."""
    outer = _scope.get()
    try:  # as in base.scopes.run_with, without its frame
        try:
            _scope.set(_like(outer, transformed(outer, transformation)))
            return f(*args, **kwargs)
        finally:
            _scope.set(outer)
    finally:
        _scope.set(outer)


def named_call(fun: Callable[..., Any], *, name: str | None = None) -> Callable[..., Any]:
    """``fun`` whose operations are in the scope ``name``, by default that of the function's name.

    See :class:`named_scope`.

    Raises:
        TypeError: ``fun`` cannot be called, or ``name`` is no string.
    """
    if not callable(fun):
        raise not_callable("fun", fun)
    return named_scope(callable_name(fun) if name is None else name)(fun)
