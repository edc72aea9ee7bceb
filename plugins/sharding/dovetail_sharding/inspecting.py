"""``inspect_array_sharding``: what sharding a value has, also one that XLA chooses."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dovetail_backends import Attribute, devices, i32, stablehlo_rules
from dovetail_base.source import here
from dovetail_core import IOEffect, Primitive, def_impl
from dovetail_text.syntax import register_parameter
from dovetail_tree.util import tree_leaves
from dovetail_xla.ffi import on_sharding
from dovetail_xla.shardings import SingleDeviceSharding


@dataclass(frozen=True, slots=True)
class InspectEffect(IOEffect):
    """Telling the sharding of a value: it happens while a program is compiled."""

    name: str = "inspect"


register_parameter(InspectEffect, name="inspect")


inspect_sharding_p = Primitive("inspect_sharding", multiple_results=True)
inspect_sharding_p.def_traits(
    effect_only=True, parameters={"callback": "what is told the sharding"}
)


@inspect_sharding_p.def_effectful_abstract_eval
def _type(x: Any, *, callback: Any) -> Any:
    return (), {InspectEffect()}


_callbacks: deque[Any] = deque(maxlen=1024)
"""What programs call that are being compiled."""


@stablehlo_rules.register(inspect_sharding_p)
def _inspect_stablehlo(b: Any, x: Any, *, callback: Any) -> list[Any]:
    partition, ndim = b.module.partition, len(x.aval.shape)
    if partition is None:
        callback(SingleDeviceSharding(devices(b.platform)[0]))
        return []

    def notify(parts: Any) -> None:
        callback(partition.grid.sharding_of(parts, ndim))

    _callbacks.append(notify)
    attributes = {
        "call_target_name": "InspectSharding", "api_version": i32(1), "has_side_effect": True,
        "backend_config": Attribute('"' + "".join(f"\\{c:02X}" for c in on_sharding(notify)) + '"'),
    }  # fmt: skip
    b.op("stablehlo.custom_call", [x], [x.aval], attributes)
    return []


@def_impl(inspect_sharding_p)
def _now(x: Any, *, callback: Any) -> list[Any]:
    callback(x.sharding)
    return []


def inspect_array_sharding(value: Any, *, callback: Callable[[Any], None]) -> None:
    """Call ``callback`` with the sharding of each leaf of ``value``.

    In a function that is being compiled it is called when XLA has chosen the sharding, once for
    each time that the function is compiled.

    Raises:
        TypeError: ``callback`` is not callable.
    """
    if not callable(callback):
        raise TypeError(f"inspect_array_sharding{here()}: callback must be a function.")
    for x in tree_leaves(value):
        inspect_sharding_p.bind(x, callback=callback)
