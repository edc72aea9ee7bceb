"""Arrays whose elements lie in memory in another order than the usual one, the last axis fastest.

Programs take arrays in the usual order unless they are asked for another, and so does the runtime
where it copies them; what C++ repeats looks at no orders. So whoever passes an array on calls
:func:`in_usual_layout` first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dovetail_core import Cache, ShapedArray
from dovetail_xla import client as xla_client, execution, options as xla_options
from dovetail_xla.arrays import ArrayImpl, assemble, shards_of

_unusual: list[bool] = []  # not empty once an array was laid out in another way than usual


def note_unusual() -> None:
    """Say that there are arrays laid out in another way than usual."""
    _unusual[:] = [True]


def any_unusual(values: Iterable[Any]) -> bool:
    """Whether one of these is an array that programs do not take as it is."""
    return bool(_unusual) and any(_is_unusual(x) for x in values)


def _is_unusual(x: Any) -> bool:
    if x.__class__ is not ArrayImpl or x.is_deleted():
        return False
    return not is_usual(execution.array_layout(x)[0])


def is_usual(order: tuple[int, ...]) -> bool:
    """Whether axes from the slowest to the fastest are the first to the last."""
    return order == tuple(range(len(order)))


def lies_in(x: Any, order: tuple[int, ...]) -> bool:
    """Whether a usable array lies in memory in this order."""
    return not x.is_deleted() and execution.array_layout(x)[0] == order


def in_usual_layout(x: Any) -> Any:
    """``x`` as programs take it: the last axis fastest."""
    if not _unusual or not _is_unusual(x):
        return x
    return laid_out(x, tuple(range(len(x.aval.shape))))


_programs: Cache[Any, Any] = Cache()


def laid_out(x: ArrayImpl, order: tuple[int, ...]) -> ArrayImpl:
    """A copy whose axes lie in memory in another order: each of its parts is copied where it is."""
    note_unusual()
    sharding, committed = x._sharding, x._committed
    if len(sharding._internal_device_list) == 1:
        return _copied(x, order, x.aval, sharding, committed)
    shape = sharding.shard_shape(x.aval.shape)
    parts: list[ArrayImpl] = []
    for part in shards_of(x):
        aval = ShapedArray(shape, x.aval.dtype, x.aval.weak_type)
        parts.append(_copied(part, order, aval, part._sharding, True))
    return assemble(x.aval, sharding, parts, committed)


def _copied(
    x: ArrayImpl, order: tuple[int, ...], aval: Any, sharding: Any, committed: bool
) -> ArrayImpl:
    """A copy of an array on one device, by a program that says how it takes and returns it."""
    from ..pjrt.text import tensor_type  # it wants this package first

    old = execution.array_layout(x)[0]
    device = next(iter(sharding._internal_device_list))
    key = aval.strong(), old, order, device
    program = _programs.get(key)
    if program is None:
        program = _programs[key] = _compiled(tensor_type(aval), old, order, device)
    return execution.run(program, [x], execution.result_handlers([aval], [sharding], committed))[0]


def spelled_order(order: tuple[int, ...]) -> str:
    """An order as XLA writes it, the fastest axis first."""
    return "{" + ",".join(map(str, reversed(order))) + "}"


def _compiled(kind: str, old: tuple[int, ...], new: tuple[int, ...], device: Any) -> Any:
    before, after = spelled_order(old), spelled_order(new)
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
