"""How arrays are shown: ``repr``, ``str`` and ``format``."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_xla.arrays import ArrayImpl, install

from .state import spelled
from .values import value_of

_NAME = "Array("


def _repr(self: ArrayImpl) -> str:
    aval = self.aval
    tail = [f"dtype={aval.dtype.name}"]
    if aval.weak_type:
        tail.append("weak_type=True")
    hidden = _hidden(self)
    if hidden:
        return f"{_NAME}{hidden}, shape={aval.shape}, {', '.join(tail)})"
    body = np.array2string(value_of(self), separator=", ", prefix=_NAME)
    if aval.size == 0:
        tail.insert(0, f"shape={aval.shape}")
    # The tail goes on a line of its own where the value's last line is too long for it.
    text = f"{body}, {', '.join(tail)})"
    last = len(text) - (body.rfind("\n") + 1) + (0 if "\n" in body else len(_NAME))
    if last > np.get_printoptions()["linewidth"]:
        text = f"{body},\n{' ' * len(_NAME)}{', '.join(tail)})"
    return _NAME + text


def _hidden(x: ArrayImpl) -> str:
    """Why the value cannot be shown; a ``repr`` that raises helps no one."""
    if x.is_deleted():
        if "_lost" in x.__dict__:
            return "<not computed before the fork>"
        return "<deleted>" if "_deleted_at" in x.__dict__ else "<donated>"
    if x.aval.divided is not None and x._sharding.spec.unreduced:
        return "<summands>"
    devices = x._sharding._internal_device_list
    if devices.is_fully_addressable or (x._arrays and x._sharding.is_fully_replicated):
        return ""
    return "<on other processes' devices>"


def _str(self: ArrayImpl) -> str:
    hidden = _hidden(self)
    return f"{_NAME}{hidden})" if hidden else str(value_of(self))


def _format(self: ArrayImpl, spec: str) -> str:
    if not spec:
        return format(value_of(self)[()]) if self.aval.shape == () else str(self)
    if self.aval.shape != ():
        raise TypeError(
            f"the format {spec!r} is for numbers, and this is an array of type {spelled(self)}: "
            "format its elements (x[i]), or set how arrays print (numpy.set_printoptions)."
        )
    value: Any = value_of(self).item()
    return format(value, spec)


install("__repr__", _repr)
install("__str__", _str)
install("__format__", _format)
