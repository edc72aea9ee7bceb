"""Arrays whose elements lie in memory in another order than the usual one, the last axis fastest.

Programs take arrays in the usual order, and so does the runtime where it copies them; what C++
repeats looks at no orders. So whoever passes an array on calls :func:`in_usual_layout` first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dovetail_core.base.caches import Cache
from dovetail_core.xla import client as xla_client, execution, options as xla_options
from dovetail_core.xla.arrays import ArrayImpl

_unusual: list[bool] = []  # not empty once an array was laid out in another way than usual


def any_unusual(values: Iterable[Any]) -> bool:
    """Whether one of these is an array that programs do not take as it is."""
    return bool(_unusual) and any(_is_unusual(x) for x in values)


def _is_unusual(x: Any) -> bool:
    if x.__class__ is not ArrayImpl or x.is_deleted():
        return False
    order = execution.array_layout(x)[0]
    return order != tuple(range(len(order)))


def in_usual_layout(x: Any) -> Any:
    """``x`` as programs take it: the last axis fastest."""
    if not _unusual or not _is_unusual(x):
        return x
    return laid_out(x, tuple(range(len(x.aval.shape))))


_programs: Cache[Any, Any] = Cache()


def laid_out(x: ArrayImpl, order: tuple[int, ...]) -> ArrayImpl:
    """A copy whose axes lie in memory in another order, by a program that says so."""
    from ..pjrt.text import tensor_type  # it wants this package first

    _unusual[:] = [True]
    aval, old = x.aval, execution.array_layout(x)[0]
    (device,) = x.devices()  # type: ignore[attr-defined]
    key = aval.strong(), old, order, device
    program = _programs.get(key)
    if program is None:
        program = _programs[key] = _compiled(tensor_type(aval), old, order, device)
    sharding = x.sharding  # type: ignore[attr-defined]
    handlers = execution.result_handlers([aval], [sharding], x.committed)  # type: ignore[attr-defined]
    return execution.run(program, [x], handlers)[0]


def _compiled(kind: str, old: tuple[int, ...], new: tuple[int, ...], device: Any) -> Any:
    before, after = ("{" + ",".join(map(str, reversed(o))) + "}" for o in (old, new))
    text = f"""module @layout {{
  func.func public @main(%arg0: {kind} {{mhlo.layout_mode = "{before}"}})
      -> ({kind} {{mhlo.layout_mode = "{after}"}}) {{
    return %arg0 : {kind}
  }}
}}
"""
    client = device.client
    options = xla_options.compile_options(client, device_ids=[device.id])
    return execution.compile(client, text, xla_client.device_list([device]), options)
