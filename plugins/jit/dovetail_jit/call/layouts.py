"""Layouts in memory of arrays that compiled programs take and return, where ``jit`` was given
any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_backends import AutoLayout, Layouts, check_order, has_layout, layout_text
from dovetail_core import ClosedJaxpr, LiftTrace, Trace, get_trace, here, low_types
from dovetail_xla import execution
from dovetail_xla.arrays import ArrayImpl

from .executable import Executable
from .placement import Wanted

AUTO = "auto"


def requested_layouts(program: ClosedJaxpr, name: str, requested: Wanted | None) -> Layouts | None:
    """The layouts of a program's arrays, from those requested of its operands and results.

    Raises:
        ValueError: a layout does not list the axes of its value.
        NotImplementedError: a layout has tiles, or is one of a value of a high type.
    """
    if requested is None or all(x is None for x in (*requested.ins, *requested.outs)):
        return None
    ins = _modes(f"in_shardings of jit of {name}", program.in_avals, requested.ins)
    return Layouts(
        ins, _modes(f"out_shardings of jit of {name}", program.out_avals, requested.outs)
    )


def _modes(what: str, avals: Sequence[Any], layouts: Sequence[Any]) -> tuple[str | None, ...]:
    result: list[str | None] = []
    for i, aval in enumerate(avals):
        layout = layouts[i] if layouts else None
        if layout is None:
            result += [None] * len(low_types((aval,)))
        elif aval.is_high:
            raise NotImplementedError(
                f"{what}{here()}: a layout is given for value {i}, of type {aval.str_short()}, "
                "which is made of arrays. Give a sharding alone."
            )
        else:
            auto = isinstance(layout, AutoLayout)
            result.append(AUTO if auto else layout_text(check_order(what, layout, aval)))
    return tuple(result)


def check_layouts(ex: Executable, operands: Sequence[Any], chosen: bool = False) -> None:
    """Raise ValueError where an array that is bound to where it is lies in another layout than the
    program takes; ``chosen``: or than the compiler chose."""
    orders, requested = ex.required_layouts(), ex.module.layouts
    if orders is None or requested is None or len(operands) != len(orders):
        return
    for i, (x, order, mode) in enumerate(zip(operands, orders, requested.ins)):
        free = mode is None or (mode == AUTO and not chosen)
        if free or order is None or x.__class__ is not ArrayImpl or not x._committed:
            continue
        if not x.is_deleted() and not has_layout(x, order):
            own = execution.array_layout(x)[0]
            raise ValueError(
                f"{ex.module.name}{here()}: leaf {i} of its arguments, of type "
                f"{x.aval.str_short()}, lies in memory as major_to_minor={own}, and the program "
                f"takes {order}. Put it there with device_put(x, Format(Layout({order}), "
                "x.sharding)), or leave the layout out."
            )


def refuse_mapped_layouts(name: str) -> None:
    """Raise if a call with layouts of arguments or results is mapped.

    Raises:
        NotImplementedError: the arrays have an axis more than the order says.
    """
    trace: Trace | None = get_trace()
    while trace is not None:
        if isinstance(trace, LiftTrace) and trace.carrier.has_instances:
            raise NotImplementedError(
                f"vmap of jit of {name}{here()}: in_shardings or out_shardings have a Format with "
                "a layout, which says nothing of the mapped axis. Give shardings alone, or the "
                "layout to a jit around the vmap."
            )
        trace = trace.parent
