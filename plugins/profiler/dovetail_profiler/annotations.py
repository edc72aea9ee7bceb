"""Named events in traces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_base.source import callable_name, called, not_callable, short_repr
from dovetail_base.wrapping import wraps
from dovetail_xla.profiling import TraceMe


class TraceAnnotation(TraceMe):
    """Context manager: its extent is an event of this name in the trace.

    Keyword arguments are shown with the event. While no trace is taken it costs about half a
    microsecond.

    Raises:
        TypeError: the name is no string.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of an annotation is a string, got {_got(name)}")
        super().__init__(name, **kwargs)


class StepTraceAnnotation(TraceAnnotation):
    """Context manager for one step of training: ``StepTraceAnnotation("train", step_num=i)``.

    Tools that know of steps show the time of each.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        super().__init__(name, _r=1, **kwargs)  # the mark of steps


def annotate_function(
    func: Callable[..., Any], name: str | None = None, **decorator_kwargs: Any
) -> Callable[..., Any]:
    """Decorator: every call of ``func`` is an event of the trace.

    Args:
        name: of the event; the function's qualified name by default.
        decorator_kwargs: shown with the event.

    Raises:
        TypeError: ``func`` cannot be called, or ``name`` is no string.
    """
    if not callable(func):
        raise not_callable("func", func)
    title = getattr(func, "__qualname__", None) or callable_name(func) if name is None else name
    TraceAnnotation(title)  # raises for other names now and not at the first call

    @wraps(func)
    def annotated(*args: Any, **kwargs: Any) -> Any:
        with TraceAnnotation(title, **decorator_kwargs):
            return func(*args, **kwargs)

    return annotated


def _got(value: object) -> str:
    return f"{short_repr(value)} of type {type(value).__name__}{called()}"
