"""Values made of several arrays of one shape, such as typed keys, in functions that move elements.

Such a value has ``__array_parts__()``, which returns ``(kind, parts)``: ``kind`` is compared by
``==``, and ``kind.join(parts)`` makes a value of other arrays, which are all of one shape again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

from .source import here

F = TypeVar("F", bound=Callable[..., Any])


def moves_parts(*data: str) -> Callable[[F], F]:
    """Decorator of a public function that moves elements about, whatever they are.

    Where one of its parameters ``data`` (a sequence of values counts as values) is made of parts,
    the function is called once for each part. Arrays are not looked at: what is made of parts makes
    the function raise, and only then is the call tried so.
    """

    def decorate(f: F) -> F:
        @wraps(f)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return f(*args, **kwargs)
            except (TypeError, ValueError):
                if not _any_parts((*args, *kwargs.values())):
                    raise
            return _by_parts(f, data, args, kwargs)

        return call  # type: ignore[return-value]

    return decorate


def _any_parts(values: Sequence[Any]) -> bool:
    return any(
        _any_parts(v) if v.__class__ in (list, tuple) else hasattr(v, "__array_parts__")
        for v in values
    )


def _by_parts(f: Any, data: Sequence[str], args: Any, kwargs: Any) -> Any:
    import inspect

    bound = inspect.signature(f).bind(*args, **kwargs)
    found: list[tuple[Any, Any]] = []
    for name in data:
        found += _opened(f.__name__, bound.arguments.get(name))
    kind, first = found[0]
    for k, _ in found:
        if k != kind:
            raise TypeError(
                f"{f.__name__} got values of types {kind.name} and {k.name}{here()}: they cannot "
                "be put together."
            )
    outs: list[Any] = []
    for i in range(len(first)):
        one = {n: _part(v, i) if n in data else v for n, v in bound.arguments.items()}
        given = inspect.BoundArguments(bound.signature, one)  # type: ignore[arg-type]
        outs.append(f(*given.args, **given.kwargs))
    return _joined(kind, outs)


def _opened(name: str, value: Any) -> list[tuple[Any, Any]]:
    if value is None:
        return []
    if value.__class__ in (list, tuple):
        return [pair for v in value for pair in _opened(name, v)]
    if not hasattr(value, "__array_parts__"):
        shown = getattr(value, "dtype", None) or type(value).__name__
        raise TypeError(
            f"{name} got a value of type {shown} beside one that is no array of numbers{here()}: "
            "they cannot be put together."
        )
    return [value.__array_parts__()]


def _part(value: Any, i: int) -> Any:
    if value.__class__ in (list, tuple):
        return [_part(v, i) for v in value]
    return value if value is None else value.__array_parts__()[1][i]


def _joined(kind: Any, outs: list[Any]) -> Any:
    first: Any = outs[0]
    if first.__class__ not in (list, tuple):
        return kind.join(tuple(outs))
    found = [_joined(kind, list(parts)) for parts in zip(*outs, strict=True)]
    return found if first.__class__ is list else tuple(found)
