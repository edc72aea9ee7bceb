"""High types: types of values that are made of arrays and that transformations treat as a whole.

A high type defines the arrays of its values (``lo_ty``, ``lower_val``, ``raise_val``), their
tangents, and how an axis is mapped over them. Before a program is compiled, high types are removed
from it (see ``lowering``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from dovetail_base.source import current_source, describe
from dovetail_core import (
    AbstractValue,
    MissingMethod as MissingMethod,
    leading_size as leading_size,
    low_types as low_types,
    register_type,
    registry,
    typeof,
    with_leading as with_leading,
    without_leading as without_leading,
    zeros_like_aval,
)
from dovetail_tree.util import tree_flatten


class HiType(AbstractValue):
    """A type whose values are made of low ones. Subclass it; values are of any Python class.

    Instances are hashable and equal if they describe the same type (as frozen dataclasses are), and
    have all that is needed to make a value from its arrays. A *spec* names the axis of a value that
    is mapped: an integer (that axis of each of its arrays), or anything that ``mapped``,
    ``unmapped`` and ``lo_axes`` of the type understand.
    """

    __slots__ = ()
    is_high: bool = True

    def lo_ty(self) -> Sequence[AbstractValue]:
        """The types of the arrays that a value is made of."""
        raise MissingMethod.of(self, "lo_ty(self)", "to know the arrays that a value is made of")

    def lower_val(self, value: Any) -> Sequence[Any]:
        """The arrays of a value, of the types ``lo_ty()``."""
        raise MissingMethod.of(self, "lower_val(self, value)", "to take a value apart into arrays")

    def raise_val(self, *arrays: Any) -> Any:
        """The value that is made of ``arrays`` (concrete or traced ones)."""
        raise MissingMethod.of(self, "raise_val(self, *arrays)", "to make a value from its arrays")

    def tangent_type(self) -> AbstractValue:
        raise MissingMethod.of(
            self, "tangent_type(self)", "to differentiate with respect to a value"
        )

    def make_zero(self) -> Any:
        """The zero of this type, for types of tangents; by default all arrays are zero."""
        return high_algebra().make(self, [zeros_like_aval(t) for t in self.lo_ty()])

    def add_tangents(self, x: Any, y: Any) -> Any:
        """The sum of two values, for types of tangents; by default that of their arrays."""
        return high_algebra().add(x, y)

    def mapped(self, size: int, spec: Any) -> AbstractValue:
        """The type of one element if the axis of length ``size`` that ``spec`` names is mapped."""
        raise MissingMethod.of(
            self, "mapped(self, size, spec)", "to map an axis over a value (vmap, scan)"
        )

    def unmapped(self, size: int, spec: Any) -> AbstractValue:
        """The type of ``size`` elements together, with the new axis that ``spec`` names."""
        raise MissingMethod.of(
            self, "unmapped(self, size, spec)", "to stack values along an axis (vmap, scan)"
        )

    def leading_spec(self, depth: int = 0) -> Any:
        """The spec of an axis that comes first in every array, after ``depth`` others.

        It stays first: ``unmapped`` puts axes that other specs name after it.
        """
        return depth

    def lo_axes(self, spec: Any) -> list[int | None]:
        """For each array of a value of this type, its axis that ``spec`` names, or None."""
        avals = self.lo_ty()
        leaves = tree_flatten(spec, is_leaf=lambda x: x is None)[0]
        axes: list[Any] = leaves * len(avals) if isinstance(spec, int) else leaves
        if len(axes) != len(avals) or not all(d is None or isinstance(d, int) for d in axes):
            raise TypeError(
                f"{spec!r} names no axis of {self.str_short()}{describe(current_source())}: pass "
                f"an integer, or one integer or None for each of its {len(avals)} arrays "
                f"({', '.join(a.str_short() for a in avals)})."
            )
        for d, a in zip(axes, avals):
            ndim = len(a.shape)  # type: ignore[attr-defined]
            if d is not None and not -ndim <= d < ndim:
                raise ValueError(
                    f"{spec!r} names no axis of {self.str_short()}{describe(current_source())}: "
                    f"an array that it is made of, {a.str_short()}, has no axis {d}. Pass None in "
                    "place of an axis for arrays that are not mapped."
                )
        return [d if d is None else d % len(a.shape) for d, a in zip(axes, avals)]  # type: ignore

    def axis_size(self, spec: Any) -> int:
        """The length of the axis that ``spec`` names in values of this type."""
        pairs: list[tuple[Any, int | None]] = list(zip(self.lo_ty(), self.lo_axes(spec)))
        sizes: set[int] = {a.shape[d] for a, d in pairs if d is not None}
        if len(sizes) != 1:
            raise ValueError(
                f"the axis {spec!r} of {self.str_short()} has {len(sizes) or 'no'} lengths in the "
                f"arrays of the value {sorted(sizes) or ''}{describe(current_source())}: name one "
                "axis of one length."
            )
        return sizes.pop()

    def remap(self, x: Any, size: int, source: Any, destination: Any) -> Any:
        """``size`` elements of this type (its axis named by ``source``; None: one element for all),
        with the axis that ``destination`` names."""
        return high_algebra().remap(self, x, size, source, destination)

    def __getattr__(self, name: str) -> Any:
        cls = type(self).__name__
        if name not in ("shape", "dtype", "ndim", "size", "weak_type", "update"):
            raise AttributeError(f"{cls!r} object has no attribute {name!r}")
        raise AttributeError(
            f"an operation on arrays asks for the {name} of a value of the high type {cls}"
            f"{describe(current_source())}. It is not an array: use an operation of its own, or "
            "one that makes arrays from it.",
            name=name,
            obj=self,
        )

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for theirs, ours in _JAX_NAMES.items():
            if theirs in cls.__dict__ and ours not in cls.__dict__:
                setattr(cls, ours, cls.__dict__[theirs])


_JAX_NAMES = {
    "to_tangent_aval": "tangent_type",
    "to_ct_aval": "cotangent_type",
    "vspace_zero": "make_zero",
    "vspace_add": "add_tangents",
    "dec_rank": "mapped",
    "inc_rank": "unmapped",
}
"""Types that are written with JAX's names of the methods work, too."""


class HighAlgebra(Protocol):
    """High operations on values of high types, which follow from those on their arrays."""

    def make(self, aval: AbstractValue, arrays: Sequence[Any]) -> Any:
        """The value of type ``aval`` that is made of ``arrays``."""
        ...

    def take(self, x: Any) -> Sequence[Any]:
        """The arrays that ``x``, a traced value of an extended dtype, is made of."""
        ...

    def add(self, x: Any, y: Any) -> Any:
        """The sum, array by array, of two values of one type."""
        ...

    def remap(self, aval: HiType, x: Any, size: int, source: Any, destination: Any) -> Any:
        """``x``, elements of type ``aval``, with its mapped axis moved (see ``HiType.remap``)."""
        ...

    def pick(self, index: Any, cases: Sequence[Any]) -> Any:
        """For each element ``i`` of the leading axis, that of ``cases[index[i]]``."""
        ...


def high_algebra() -> HighAlgebra:
    """The provider ``high_algebra``.

    Raises:
        PluginError: no active plugin provides it.
    """
    return registry().provider("high_algebra")


def register_hitype(val_cls: type, typeof_fn: Callable[[Any], AbstractValue]) -> None:
    """Register instances of ``val_cls`` as values, of the high type ``typeof_fn(x)``."""
    register_type(val_cls, typeof_fn)


def low_parts(x: Any, aval: AbstractValue, purpose: str) -> Sequence[Any]:
    """The arrays of a value: the result of ``lower_val`` for a high one, else itself.

    Raises:
        TypeError: the results of ``lower_val`` are not of the types ``lo_ty()``; names both.
    """
    if not aval.is_high:
        return (x,)
    high: Any = aval
    arrays, wanted = high.lower_val(x), high.lo_ty()
    result = [typeof(a) for a in arrays]
    fits = len(result) == len(wanted) and all(a.is_declared_as(b) for a, b in zip(result, wanted))
    if not fits:
        raise TypeError(
            f"{type(aval).__name__}.lower_val, {purpose}, returned arrays of types "
            f"({_spell(result)}), but {type(aval).__name__}.lo_ty says ({_spell(wanted)}) of "
            f"{aval.str_short()}. Make the two agree."
        )
    return arrays


def _spell(avals: Sequence[AbstractValue]) -> str:
    return ", ".join(a.str_short() for a in avals)
