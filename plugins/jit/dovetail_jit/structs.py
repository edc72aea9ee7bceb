"""Arrays without their values: what describes arguments and results of traced functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dovetail_backends import Format as Format, Layout as Layout
from dovetail_base import arguments
from dovetail_base.foreign import reword_errors
from dovetail_core import (
    HiType,
    ShapedArray,
    canonical_dtype,
    here,
    is_value,
    register_type,
)


class ShapeDtypeStruct:
    """Shape and dtype of an array without its values: an argument for tracing and lowering.

    ``sharding`` may be a :class:`Format`, which also says how it lies in memory.
    ``manual_axis_type`` says along which axes of a mesh it varies, within ``shard_map``.
    """

    __slots__ = ("shape", "dtype", "weak_type", "sharding", "_layout", "manual_axis_type")

    @reword_errors
    def __init__(
        self, shape: Sequence[int], dtype: Any, *, sharding: Any = None, weak_type: bool = False,
        manual_axis_type: Any = None,
    ) -> None:  # fmt: skip
        if dtype is None:
            raise ValueError("ShapeDtypeStruct: dtype must be given")
        dims, dt = ShapedArray.shape_and_dtype(shape, dtype)
        layout: Any = None
        if sharding is not None:
            if isinstance(sharding, Format):
                layout, sharding = sharding.layout, sharding.sharding
            if sharding is not None:
                sharding = arguments.placement("sharding", sharding)
        put = object.__setattr__  # its own refuses
        put(self, "shape", dims)
        put(self, "dtype", dt)
        put(self, "weak_type", weak_type)
        put(self, "sharding", sharding)
        put(self, "_layout", layout)
        put(self, "manual_axis_type", manual_axis_type)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__slots__:
            raise RuntimeError(
                f"{self!r} is immutable: attribute {name!r} cannot be set{here()}. Make another "
                f"one with update({name}=...)."
            )
        object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def __setstate__(self, state: Any) -> None:
        # Those of earlier versions are pairs of a dict and of what slots held.
        for name, value in (state[1] if isinstance(state, tuple) else state).items():
            object.__setattr__(self, name, value)

    @property
    def is_ref(self) -> bool:
        """Tell whether it describes a mutable reference: never."""
        return False

    @property
    def format(self) -> Format:
        """Its sharding, and its layout in memory."""
        return Format(self._layout, self.sharding)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return ShapedArray(self.shape, self.dtype).size

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"{self!r} has no axes, and so no length")
        return self.shape[0]

    def update(self, **changes: Any) -> ShapeDtypeStruct:
        """Another one that differs in what is given: any argument of the class."""
        where = self.sharding if self._layout is None else self.format
        given = {
            "shape": self.shape, "dtype": self.dtype, "weak_type": self.weak_type,
            "sharding": where, "manual_axis_type": self.manual_axis_type,
        }  # fmt: skip
        return ShapeDtypeStruct(**{**given, **changes})

    @classmethod
    def like(cls, x: Any) -> ShapeDtypeStruct:
        """That of a value: its shape, element type and sharding."""
        kept = {n: getattr(x, n, None) for n in ("sharding", "manual_axis_type")}
        if isinstance(x, ShapedArray):  # else it would mean copies on the mesh that is set
            kept["sharding"] = x.divided
        return cls(x.shape, x.dtype, weak_type=bool(getattr(x, "weak_type", False)), **kept)

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        where = "" if self.sharding is None else f", sharding={self.sharding}"
        where += "" if self._layout is None else f", format={self._layout}"
        manual = self.manual_axis_type
        varies = "" if manual is None else f", manual_axis_type={manual}"
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{where}{weak}{varies})"

    def _key(self) -> Any:
        where = self.sharding, self._layout
        return self.shape, self.dtype, self.weak_type, where, self.manual_axis_type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtypeStruct) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


register_type(
    ShapeDtypeStruct,
    lambda x: ShapedArray(
        x.shape,
        canonical_dtype(x.dtype),
        x.weak_type,
        sharding=x.sharding,
        manual_axis_type=x.manual_axis_type,
    ),
)


def described(leaves: Sequence[Any]) -> list[Any]:
    """Arguments, with a :class:`ShapeDtypeStruct` for each that only has a shape and a dtype."""
    return [ShapeDtypeStruct.like(x) if _only_describes(x) else x for x in leaves]


def _only_describes(x: Any) -> bool:
    if is_value(x) or isinstance(x, (np.ndarray, np.generic)):  # whose types say what is wrong
        return False
    return hasattr(x, "shape") and hasattr(x, "dtype")


def shape_struct(aval: Any, sharding: Any = None) -> Any:
    """A description of a value of type ``aval``: shape and dtype, or a high type itself."""
    if isinstance(aval, HiType):
        return aval
    where = aval.divided if sharding is None else sharding
    manual = aval.manual_axis_type if aval.vma else None
    return ShapeDtypeStruct(
        aval.shape, aval.dtype, weak_type=aval.weak_type, sharding=where,
        manual_axis_type=None if manual is None or manual.empty else manual,
    )  # fmt: skip


@dataclass(frozen=True)
class ArgInfo:
    """An argument of a traced function: its type, and whether its memory is given away."""

    aval: Any
    donated: bool

    @property
    def shape(self) -> tuple[int, ...]:
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        return self.aval.dtype
