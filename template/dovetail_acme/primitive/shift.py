"""The primitive ``acme.shift``: its function for users, its type rule, its decomposition."""

from __future__ import annotations

from operator import index
from typing import Any

from dovetail_core import Primitive, ShapedArray, current_source, describe_source

shift_p = Primitive("acme.shift")


def shift(x: Any, by: int, axis: int = 0) -> Any:
    """``x`` with its elements moved ``by`` places along an axis; zeros come in.

    Args:
        x: an array of any type.
        by: how far, towards the end; negative towards the beginning.
        axis: which axis; negative ones count from the last.

    Raises:
        TypeError: ``x`` has no such axis, or ``by`` or ``axis`` is not an integer.
    """
    axis = index(axis)
    return shift_p.bind(x, by=index(by), axis=axis if axis >= 0 else axis + len(x.shape))


@shift_p.def_abstract_eval
def _shift_type(x: ShapedArray, *, by: int, axis: int) -> ShapedArray:
    if not 0 <= axis < x.ndim:
        raise TypeError(
            f"shift{describe_source(current_source())} along axis {axis} of a value of type "
            f"{x.str_short()}, which has {x.ndim} axes. Name one of them."
        )
    return x


@shift_p.def_decomposition
def _shift(x: Any, *, by: int, axis: int) -> Any:
    # What a rule table does with a primitive for which it has no rule. Imported when it is needed:
    # this module is read at once, to know which primitives there are.
    import dovetail_lax as lax

    widths = [(by, -by, 0) if i == axis else (0, 0, 0) for i in range(len(x.shape))]
    return lax.pad(x, x.dtype.type(0), widths)
