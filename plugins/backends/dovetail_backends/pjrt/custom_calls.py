"""Custom calls of foreign functions and of Python functions, and the order of ordered effects.

Operations with ordered effects pass a clock from one to the next: a number that each takes and
returns, a chain of values that keeps the compiler from reordering them. Branches and loops with
such operations have the clock as an operand and a result, too. The clock of a loop's condition may
be dropped, since the condition runs between two iterations of the body.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dovetail_core import AbstractValue, ClosedJaxpr, InputEffect, ShapedArray
from dovetail_xla.callbacks import (
    BUFFER_TARGET,
    PARTITIONED_TARGET,
    TARGET,
    checked_callback,
    keeping_exceptions,
)
from dovetail_xla.shardings import HloSharding

from .attributes import Attribute, dictionary, i32, integer, layouts, operand_aliases
from .emitter import Emitter, Val
from .partition import on_first_device_only

_TYPED = 4  # the version of the interface


def custom_call(
    b: Emitter,
    target: str,
    operands: Sequence[Val],
    outs: Sequence[AbstractValue],
    config: Mapping[str, Any],
    effect: bool,
    further: Mapping[str, Any],
    notes: Mapping[str, Any] | None = None,
) -> list[Val]:
    """Emit a call; see :meth:`Builder.custom_call`."""
    attributes: dict[str, Any] = {
        "call_target_name": target,
        "api_version": i32(_TYPED),
        "backend_config": dictionary(config),
        "has_side_effect": effect,
        "operand_layouts": _layouts([x.aval for x in operands]),
        "result_layouts": _layouts(outs),
        **further,
    }
    return b.op("stablehlo.custom_call", operands, list(outs), attributes, notes=notes or {})


def _layouts(avals: Sequence[Any]) -> Attribute:
    """Row-major layouts: the last axis is the fastest."""
    return layouts([range(len(a.shape))[::-1] for a in avals])


CLOCK = ShapedArray((), np.int32)
TARGETS = {
    "cpu": TARGET,
    "cuda": "xla_ffi_python_gpu_callback",
    "rocm": "xla_ffi_python_gpu_callback",
}
PARTITIONED_TARGETS = {
    "cpu": PARTITIONED_TARGET,
    "cuda": "xla_ffi_partitioned_python_gpu_callback",
    "rocm": "xla_ffi_partitioned_python_gpu_callback",
}
BUFFER_TARGETS = {
    "cpu": BUFFER_TARGET,
    "cuda": "xla_buffer_python_gpu_callback",
    "rocm": "xla_buffer_python_gpu_callback",
}
Body = Callable[..., Sequence[Val]]


def has_order(programs: Sequence[ClosedJaxpr]) -> bool:
    """True if an operation in one of the programs has an ordered side effect."""
    return any(
        e.ordered and not isinstance(e, InputEffect) for p in programs for e in p.jaxpr.effects
    )


def clock(b: Emitter) -> Val:
    """The clock at this point of the function."""
    if b.clock is None:
        b.clock = b.constant(0, CLOCK)
    return b.clock


def host_callback(
    b: Emitter,
    fun: Callable[..., Sequence[Any]],
    operands: Sequence[Val],
    outs: Sequence[Any],
    name: str,
    effect: bool,
    ordered: bool,
    partitioned: bool,
) -> list[Val]:
    """Emit a call of ``fun``; see :meth:`Builder.host_callback`."""
    on_parts = partitioned and _is_divided(b) and b.module.parts is None
    if on_parts and (ordered or outs):
        raise _no_parts(name, "is ordered" if ordered else "has results")
    target = _target(b, PARTITIONED_TARGETS if on_parts else TARGETS, name)
    if ordered:
        operands, outs = [*operands, clock(b)], [*outs, CLOCK]

    def call(*arrays: Any) -> tuple[Any, ...]:
        if not ordered:
            return tuple(fun(*arrays))
        return (*fun(*arrays[:-1]), arrays[-1])

    index = b.module.add_callback(checked_callback(call, outs, name))
    config = {"index": integer(index, np.uint64)}
    parts = b.module.parts
    if effect and _is_divided(b) and parts is not None and not parts.has_all():
        if outs:
            raise _no_group(name, "is ordered" if ordered else "has results")
        parts.on_first(
            b, operands, lambda b, *xs: custom_call(b, target, xs, (), config, effect, {})
        )
        return []
    notes = {} if on_parts else _once(b, outs)
    result = custom_call(b, target, operands, outs, config, effect, {}, notes)
    if ordered:
        *result, b.clock = result
    return _on_all(b, result)


def buffer_callback(
    b: Emitter,
    fun: Callable[..., None],
    operands: Sequence[Val],
    outs: Sequence[Any],
    name: str,
    effect: bool,
    aliases: Mapping[int, int],
    recorded: bool,
) -> list[Val]:
    """Emit a call of ``fun`` on buffers; see :meth:`Builder.buffer_callback`."""
    target = _target(b, BUFFER_TARGETS, name)
    if recorded and b.platform != "cpu":
        target += "_cmd_buffer"
    config = {"index": integer(b.module.add_callback(keeping_exceptions(fun)), np.uint64)}
    further = {"output_operand_aliases": operand_aliases(aliases, len(outs))} if aliases else {}
    return _on_all(
        b, custom_call(b, target, operands, outs, config, effect, further, _once(b, outs))
    )


def _no_parts(name: str, what: str) -> ValueError:
    return ValueError(
        f"{name} {what}, and is called on the parts of arrays on several devices, which have no "
        "order and no common result. Drop partitioned=True, to call it once on whole arrays."
    )


def _no_group(name: str, what: str) -> NotImplementedError:
    return NotImplementedError(
        f"{name} has an effect and {what}, in a shard_map over some of the axes of a mesh: several "
        "devices would call it for one part. Name all axes of the mesh in axis_names, or call it "
        "outside; without effect (pure_callback), or by debug.callback, it can be called here."
    )


def _is_divided(b: Emitter) -> bool:
    """True if the program is for several devices."""
    return b.module.partition is not None and len(b.module.partition.devices) > 1


def _once(b: Emitter, outs: Sequence[Any]) -> dict[str, Any]:
    """The attributes of a call that runs on one of several devices."""
    return {"sdy.sharding": on_first_device_only(len(outs))} if _is_divided(b) else {}


def _on_all(b: Emitter, results: list[Val]) -> list[Val]:
    """Results of a call on one of several devices, copied to all of them."""
    partition = b.module.partition
    if partition is None or not _is_divided(b):
        return results
    copies = HloSharding.replicate()
    ndims = [len(x.aval.shape) for x in results]
    return [b.constrain(x, partition.grid.sharding_of(copies, n)) for x, n in zip(results, ndims)]


def _target(b: Emitter, targets: Mapping[str, str], name: str) -> str:
    if b.platform in targets:
        return targets[b.platform]
    raise NotImplementedError(
        f"{name} is compiled for the platform {b.platform!r}, whose programs cannot call "
        "Python. Run it on the CPU (jit(..., backend='cpu')), or call it outside of the "
        "compiled function."
    )


def case(b: Emitter, index: Val, branches: Sequence[Body], outs: Sequence[Any]) -> list[Val]:
    """Emit a conditional whose branches take and return the clock."""
    before = clock(b)

    def clocked(branch: Body) -> Body:
        def body(b: Emitter) -> list[Val]:
            b.clock = before
            return [*branch(b), clock(b)]

        return body

    regions = [b.region([], clocked(branch)) for branch in branches]
    *result, b.clock = b.op("stablehlo.case", [index], [*outs, CLOCK], "", regions)
    return result


def while_loop(b: Emitter, carry: Sequence[Val], condition: Body, body: Body) -> list[Val]:
    """Emit a loop whose iterations take and return the clock."""
    state = [*carry, clock(b)]
    avals = [x.aval for x in state]

    def test(b: Emitter, *xs: Val) -> Sequence[Val]:
        b.clock = xs[-1]
        return condition(b, *xs[:-1])

    def step(b: Emitter, *xs: Val) -> list[Val]:
        b.clock = xs[-1]
        return [*body(b, *xs[:-1]), clock(b)]

    regions = [b.region(avals, test), b.region(avals, step)]
    *result, b.clock = b.op("stablehlo.while", state, avals, "", regions)
    return result
