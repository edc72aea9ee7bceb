"""Functions that run beside the devices of their arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from dovetail_backends import device_put
from dovetail_core import Tracer
from dovetail_tree.util import tree_leaves, tree_map


def colocated_python(fun: Callable[..., Any]) -> Callable[..., Any]:
    """``fun``, run where the devices of its arguments are; its results are on these devices.

    ``specialize(in_specs=, out_specs_fn=, devices=)`` of what is returned says more about the
    calls; results go to ``devices`` then.
    """
    return make_callable(fun, None, None)


def make_callable(
    fun: Callable[..., Any],
    fun_sourceinfo: str | None,
    fun_signature: inspect.Signature | None,
    devices: Sequence[Any] | None = None,
) -> Callable[..., Any]:
    """The function that :func:`colocated_python` returns."""

    @wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        where = devices if devices is not None else _devices_of((args, kwargs))
        out = fun(*args, **kwargs)
        if devices is not None and len(devices) == 1 and where:
            return tree_map(lambda x: device_put(x, where[0]), out)
        return out

    def specialize(
        in_specs: Any = None, out_specs_fn: Any = None, devices: Sequence[Any] | None = None
    ) -> Callable[..., Any]:
        return make_callable(fun, fun_sourceinfo, fun_signature, devices)

    call.specialize = specialize  # type: ignore[attr-defined]
    return call


def _devices_of(tree: Any) -> list[Any]:
    return [d for x in tree_leaves(tree) if _is_placed(x) for d in x.devices()]


def _is_placed(x: Any) -> bool:
    return hasattr(x, "devices") and not isinstance(x, Tracer)
