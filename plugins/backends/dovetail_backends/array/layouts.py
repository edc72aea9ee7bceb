"""Arrays in other layouts than the default one, in which the last axis varies fastest in memory.

Programs take arrays in the default layout unless they are compiled for another, and the runtime
copies arrays as if they had it. Calls that C++ repeats do not check layouts. So code that passes an
array on calls :func:`in_default_layout` first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dovetail_core import Cache, ShapedArray
from dovetail_xla import client as xla_client, execution, options as xla_options
from dovetail_xla.arrays import ArrayImpl, assemble, shards_of

_custom_layouts: list[bool] = []  # not empty once an array was made with another layout


def note_custom_layout() -> None:
    """Record that arrays with other layouts than the default one exist."""
    _custom_layouts[:] = [True]


def any_custom_layout(values: Iterable[Any]) -> bool:
    """True if one of the values is an array that is not in the default layout."""
    return bool(_custom_layouts) and any(_has_custom_layout(x) for x in values)


def _has_custom_layout(x: Any) -> bool:
    if x.__class__ is not ArrayImpl or x.is_deleted():
        return False
    return not is_default_order(execution.array_layout(x)[0])


def is_default_order(order: tuple[int, ...]) -> bool:
    """True if an order of axes, from the slowest to the fastest, is that of the default layout."""
    return order == tuple(range(len(order)))


def has_layout(x: Any, order: tuple[int, ...]) -> bool:
    """True if an array that was not deleted has this order of axes, slowest first, in memory."""
    return not x.is_deleted() and execution.array_layout(x)[0] == order


def in_default_layout(x: Any) -> Any:
    """``x`` in the default layout, copied if it has another."""
    if not _custom_layouts or not _has_custom_layout(x):
        return x
    return with_layout(x, tuple(range(len(x.aval.shape))))


_programs: Cache[Any, Any] = Cache()


def with_layout(x: ArrayImpl, order: tuple[int, ...]) -> ArrayImpl:
    """A copy with another order of axes in memory; each device copies its part."""
    note_custom_layout()
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
    """A copy of an array on one device, by a program that has layouts of argument and result."""
    from ..pjrt.text import tensor_type  # which imports this package first

    old = execution.array_layout(x)[0]
    device = next(iter(sharding._internal_device_list))
    key = aval.strong(), old, order, device
    program = _programs.get(key)
    if program is None:
        program = _programs[key] = _compiled(tensor_type(aval), old, order, device)
    return execution.run(program, [x], execution.result_handlers([aval], [sharding], committed))[0]


def layout_text(order: tuple[int, ...]) -> str:
    """An order of axes in XLA's notation, the fastest axis first."""
    return "{" + ",".join(map(str, reversed(order))) + "}"


def _compiled(kind: str, old: tuple[int, ...], new: tuple[int, ...], device: Any) -> Any:
    before, after = layout_text(old), layout_text(new)
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
