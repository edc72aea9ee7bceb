"""``pmap``: a function over the leading axes of its arguments, a device for each element."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

from dovetail_backends import devices as all_devices
from dovetail_batching import vmap
from dovetail_core import axis_size_of
from dovetail_core.base.arguments import integers
from dovetail_core.base.source import callable_name, here
from dovetail_jit import jit


class _Axis:
    """The name of an axis that its user did not name."""

    def __repr__(self) -> str:
        return "<axis of pmap>"


def pmap(
    fun: Callable[..., Any], axis_name: Any = None, *, in_axes: Any = 0, out_axes: Any = 0,
    static_broadcasted_argnums: int | Iterable[int] = (), devices: Sequence[Any] | None = None,
    backend: str | None = None, axis_size: int | None = None,
    donate_argnums: int | Iterable[int] = (),
) -> Callable[..., Any]:  # fmt: skip
    """``fun`` compiled for one element of the mapped axes on each device of this process.

    It is ``jit(vmap(fun, axis_name=axis_name))`` of at most as many elements as there are devices.

    Args:
        axis_name: of the mapped axis, for collectives.
        in_axes, out_axes: which axes of arguments and results are mapped, as for ``vmap``; keyword
            arguments are mapped over their first axes.
        static_broadcasted_argnums: positions of arguments that are not arrays; they are hashable.
        devices: which to use; all that this process has by default.
        backend: the platform of the devices.
        axis_size: the length of the mapped axis.
        donate_argnums: positions of arguments whose memory may be used again.

    Raises:
        TypeError: ``fun`` is not callable.
        ValueError: no argument is mapped, lengths differ, or there are not as many devices.
    """
    if not callable(fun):
        raise TypeError(f"pmap takes a function, got {fun!r} of type {type(fun).__name__}{here()}")
    static = integers("static_broadcasted_argnums of pmap", static_broadcasted_argnums)
    name = _Axis() if axis_name is None else axis_name

    @wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        fixed = {i if i >= 0 else i + len(args) for i in static}
        given = [a for i, a in enumerate(args) if i not in fixed]
        axes = in_axes
        if isinstance(in_axes, (list, tuple)):
            axes = tuple([a for i, a in enumerate(in_axes) if i not in fixed])

        @wraps(fun)
        def one(*dynamic: Any, **named: Any) -> Any:
            _check_devices(fun, axis_size_of(name), devices, backend)
            rest = iter(dynamic)
            return fun(*(a if i in fixed else next(rest) for i, a in enumerate(args)), **named)

        over = vmap(one, axes, out_axes, axis_name=name, axis_size=axis_size)
        return over(*given, **kwargs)

    donated = integers("donate_argnums of pmap", donate_argnums)
    return jit(mapped, static_argnums=static, donate_argnums=donated)


def _check_devices(f: Any, size: int, devices: Sequence[Any] | None, backend: str | None) -> None:
    there = len(all_devices(backend) if devices is None else devices)
    if size > there:
        raise ValueError(
            f"pmap of {callable_name(f)}{here()}: the mapped axis has {size} elements, and there "
            f"{'is 1 device' if there == 1 else f'are {there} devices'}. Use vmap, or split the "
            "axis."
        )
