"""Layouts of arrays in memory as public objects, and the transfer of arrays into a layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dovetail_base.placements import is_placement
from dovetail_base.source import here
from dovetail_xla import execution
from dovetail_xla.arrays import ArrayImpl, install

from .array import check_usable, type_of_array
from .array.layouts import with_layout


class AutoLayout:
    """The type of :attr:`Layout.AUTO`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "AUTO"

    def __reduce__(self) -> Any:
        return getattr, (Layout, "AUTO")


@dataclass(frozen=True)
class Layout:
    """The order of an array's elements in memory: axes from the slowest to the fastest.

    ``Layout.AUTO`` leaves it to the compiler, for arguments and results of ``jit``.
    """

    AUTO: ClassVar[AutoLayout]

    major_to_minor: tuple[int, ...]
    tiling: tuple[tuple[int, ...], ...] = ()
    sub_byte_element_size_in_bits: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "major_to_minor", tuple(self.major_to_minor))
        object.__setattr__(self, "tiling", tuple(map(tuple, self.tiling or ())))


Layout.AUTO = AutoLayout()


@dataclass(frozen=True)
class Format:
    """The layout and the sharding of an array; None for what is not specified.

    Raises:
        TypeError: the layout or the sharding is something else.
        ValueError: there is a layout and no sharding.
    """

    layout: Layout | AutoLayout | None = None
    sharding: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.layout, (Layout, AutoLayout, type(None))):
            raise TypeError(
                f"Format{here()}: the layout is of type {type(self.layout).__name__}; give "
                "Layout(major_to_minor=(0, 1))."
            )
        if self.sharding is not None and not is_placement(self.sharding):
            raise TypeError(
                f"Format{here()}: the sharding is of type {type(self.sharding).__name__}; give "
                "that of an array (x.sharding) or a device."
            )
        if isinstance(self.layout, Layout) and self.sharding is None:
            raise ValueError(
                f"Format{here()}: a format with a layout and no sharding does not say where. Give "
                "Format(layout, x.sharding)."
            )


def format_of(x: ArrayImpl) -> Format:
    """The layout and the sharding of an array."""
    check_usable((x,))
    return Format(Layout(*execution.array_layout(x)), x.sharding)  # type: ignore[attr-defined]


def check_order(what: str, layout: Layout, aval: Any) -> tuple[int, ...]:
    """The order of axes in a layout for arrays of a type, slowest first.

    Raises:
        ValueError: it does not list the axes. NotImplementedError: it has tiles.
    """
    order = layout.major_to_minor
    if sorted(order) != list(range(aval.ndim)):
        raise ValueError(
            f"{what}{here()}: major_to_minor is {order}, and the array has type "
            f"{aval.str_short()}; list each of its {aval.ndim} axes once, the slowest first."
        )
    if layout.tiling:
        raise NotImplementedError(
            f"{what}{here()}: layouts other than the usual one are not supported for tiles. Give "
            "Layout(major_to_minor=...) alone."
        )
    return order


def put_in_layout(x: Any, layout: Layout | AutoLayout) -> Any:
    """``x`` with the given layout.

    Raises:
        TypeError: ``x`` is no array.
        ValueError: the layout does not list the axes of ``x``, or is left to a compiler.
        NotImplementedError: the layout has tiles.
    """
    if x.__class__ is not ArrayImpl:
        raise TypeError(
            f"device_put{here()}: a value of type {type(x).__name__} is no array, and has no "
            "layout. Give a device or a sharding instead of the format."
        )
    if isinstance(layout, AutoLayout):
        raise ValueError(
            f"device_put{here()}: Layout.AUTO leaves the layout to a compiler, and there is none "
            "here. Give Layout(major_to_minor=...), or the format of a compiled function's "
            "argument, compiled.input_formats."
        )
    order = check_order("device_put", layout, type_of_array(x))
    return x if order == execution.array_layout(x)[0] else with_layout(x, order)


install("format", property(format_of))
