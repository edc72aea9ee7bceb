"""Public functions on references."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np

import dovetail_numpy as dnp
from dovetail_base.source import not_callable, short_repr
from dovetail_core import (
    ShapedArray,
    algebra,
    axis_names,
    callable_name,
    here,
    manual_axis_types,
    typeof,
)
from dovetail_lax import pvary_p, stop_gradient

from .indexing import Index, encode, indexed_type_of
from .primitives import (
    addupdate_p,
    empty_p,
    free_p,
    freeze_p,
    get_p,
    new_p,
    set_p,
    swap_p,
)
from .types import AbstractRef, RefTypeError
from .views import At, TransformedRef


def new_ref(init_val: Any, *, memory_space: Any = None, kind: Any = None) -> Any:
    """A new reference that holds a copy of ``init_val``, an array or scalar.

    Args:
        kind: ``"no_grad_no_remat"`` for one without derivatives: values that are being
            differentiated may be written to it, and values read from it have no derivative. For
            statistics of values in a differentiated function.

    Raises:
        ValueError: there is no such kind.
        TypeError: ``init_val`` is not an array (for a container, make one reference per array).
    """
    try:
        aval = typeof(init_val)
    except TypeError as e:
        raise TypeError(f"new_ref: {e}") from None
    AbstractRef(aval, memory_space, kind)  # raises for types that cannot be contents
    if unchecked := [a for a in _unchecked() if a not in aval.vma]:
        init_val = pvary_p.bind(init_val, axes=tuple(unchecked))
    if kind is None:
        return new_p.bind(init_val)
    return new_p.bind(stop_gradient(init_val), kind=kind)


def empty_ref(ty: Any, memory_space: Any = None) -> Any:
    """A new reference to an array of zeros of a type.

    Args:
        ty: a type, a ``ShapeDtypeStruct``, or anything with ``shape`` and ``dtype``.
    """
    try:
        aval = ty if isinstance(ty, ShapedArray) else ShapedArray(ty.shape, ty.dtype)
    except (AttributeError, TypeError) as e:
        raise TypeError(
            f"empty_ref takes a type with shape and dtype, got {short_repr(ty)}{here()}: {e}"
        ) from None
    AbstractRef(aval, memory_space)
    aval = aval.with_vma(aval.vma.union(_unchecked()))
    return empty_p.bind(aval=aval.strong())


def _unchecked() -> list[Any]:
    """The manual axes of a mesh on which varying types are not checked."""
    return [a for a, known in axis_names.manual_axes().items() if not known]


def _resolve(what: str, ref: Any, idx: Any) -> tuple[Any, Index]:
    """The reference of ``ref``, which may be a view, and the index into it.

    Raises:
        RefTypeError: it is not a reference.
    """
    base, indices = (
        (ref.ref, [*ref.indices, idx]) if isinstance(ref, TransformedRef) else (ref, [idx])
    )
    aval = typeof(base)
    if not isinstance(aval, AbstractRef):
        raise RefTypeError(
            f"{what} takes a reference, got a value of type {aval.str_short()}"
            f"{here()}. Make one with dovetail.new_ref(value)."
        )
    return base, encode(aval.inner_aval, indices)


def get(ref: Any, idx: Any = None) -> Any:
    """``ref[idx]``: the contents of a reference (or view) at an index, as an array; without an
    index all of them.

    Raises:
        IndexError: a static index is out of range. RuntimeError: the reference was freed or frozen.
    """
    base, (chain, operands) = _resolve("get", ref, ... if idx is None else idx)
    return get_p.bind(base, *operands, index=chain)


def set(ref: Any, idx: Any, value: Any) -> None:
    """``ref[idx] = value``; the value is broadcast to the shape of ``ref[idx]``.

    Raises:
        TypeError: the value's dtype is not the reference's. ValueError: its shape does not fit.
        IndexError: a static index is out of range. RuntimeError: the reference was freed or frozen.
    """
    base, (chain, operands) = _resolve("set", ref, idx)
    set_p.bind(base, _fitted("written", base, value, chain, operands), *operands, index=chain)


def swap(ref: Any, idx: Any, value: Any, _function_name: str = "swap") -> Any:
    """Write ``value`` at an index, and return the former value. Raises as :func:`set`."""
    base, (chain, operands) = _resolve(_function_name, ref, idx)
    fitted = _fitted("written", base, value, chain, operands)
    return swap_p.bind(base, fitted, *operands, index=chain)


def addupdate(ref: Any, idx: Any, x: Any) -> None:
    """``ref[idx] += x`` as one operation; elements that are indexed repeatedly receive the sum.

    Raises the errors of :func:`set`.
    """
    base, (chain, operands) = _resolve("addupdate", ref, idx)
    addupdate_p.bind(base, _fitted("added", base, x, chain, operands), *operands, index=chain)


def freeze(ref: Any) -> Any:
    """The value of a reference, which cannot be used afterwards.

    Raises:
        RuntimeError: it was freed or frozen before. ValueError: in a transformed function: the
            reference was made outside of it.
    """
    base, index = _resolve("freeze", ref, ...)
    _refuse_view("freeze", index)
    return freeze_p.bind(base)


def free_ref(ref: Any) -> None:
    """Free the memory of a reference, which cannot be used afterwards. Raises as ``freeze``."""
    base, index = _resolve("free_ref", ref, ...)
    _refuse_view("free_ref", index)
    free_p.bind(base)


def _refuse_view(what: str, index: Index) -> None:
    if index.chain:
        raise TypeError(f"{what} takes a reference, not a view of part of one")


def _fitted(verb: str, ref: Any, value: Any, chain: Any, operands: Any) -> Any:
    """``value`` with the type of the reference's contents at the index."""
    aval: Any = typeof(ref)
    if aval.kind is not None:
        value = stop_gradient(value)
    wanted: Any = indexed_type_of(aval.inner_aval, chain, operands)
    try:
        own: Any = typeof(value)
    except TypeError as e:
        raise TypeError(f"a value {verb} to a reference{here()} must be an array: {e}") from None
    over = manual_axis_types.NO_AXES.union(own.vma, *[typeof(x).vma for x in operands])
    if over != aval.vma:
        value = _varying_as(verb, aval, value, over)
    own, wanted = typeof(value), wanted.with_vma(typeof(value).vma)
    if own == wanted:
        return value
    if own.is_mutable:
        raise TypeError(
            f"{own.str_short()} is {verb} to {aval.str_short()}"
            f"{here()}: read its value first, ref[...]"
        )
    if own.is_high or wanted.is_high:
        raise TypeError(
            f"a value of type {own.str_short()} is {verb} to {aval.str_short()}{here()}: "
            "references keep their type"
        )
    if own.dtype != wanted.dtype and not (own.weak_type and _holds(wanted.dtype, own.dtype)):
        raise RefTypeError(
            f"a value of dtype {_name(own.dtype)} is {verb} to a reference of dtype "
            f"{_name(wanted.dtype)}{here()}: references keep their "
            f"type. Convert the value, for example with .astype({_name(wanted.dtype)!r})."
        )
    value = algebra().convert(value, wanted.update(shape=own.shape))
    if own.shape == wanted.shape:
        return value
    shape = own.shape
    while len(shape) > len(wanted.shape) and shape[0] == 1:
        shape = shape[1:]
    fits = len(shape) <= len(wanted.shape) and all(
        a in (1, b) for a, b in zip(shape[::-1], wanted.shape[::-1])
    )
    if not fits:
        raise ValueError(
            f"a value of shape {own.shape} is {verb} to a part of shape {wanted.shape} of "
            f"{aval.str_short()}{here()}: it cannot be broadcast to it"
        )
    return dnp.broadcast_to(dnp.reshape(value, shape), wanted.shape)


def _varying_as(verb: str, ref: AbstractRef, value: Any, over: frozenset[Any]) -> Any:
    """``value`` as one that varies over the same axes of a mesh as the contents of the reference;
    ``over`` are the axes over which it and the index vary."""
    if more := over - ref.vma:
        axis = sorted(more, key=str)[0]
        raise ValueError(
            f"a value that may differ along the axis {axis!r} of a mesh is {verb} to "
            f"{ref.str_short()}{here()}, whose contents are equal along it. Make the reference of "
            f"a value that varies, new_ref(lax.pvary(x, {axis!r}))."
        )
    return pvary_p.bind(value, axes=tuple(sorted(ref.vma - typeof(value).vma, key=str)))


_KINDS = "biufc"


def _holds(wide: Any, weak: Any) -> bool:
    """True if values of a Python scalar's kind of number can be converted to an element type."""
    kind = wide.kind if wide.kind in _KINDS else "f"  # ml_dtypes' floats are of kind V
    if "int" in wide.name and wide.kind == "V":
        kind = "i"
    rank = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
    return rank[weak.kind] <= rank[kind]


def _name(dtype: Any) -> str:
    return np.dtype(dtype).name if isinstance(dtype, np.dtype) else dtype.name


def run_state(f: Any) -> Any:
    """A function that runs ``f`` on references to its argument, and returns their final contents.

    Args:
        f: takes a pytree of references, changes them, and returns None.

    Returns: a function from a pytree of arrays to a pytree of the same structure and types. It has
        no effects: the references are made and frozen inside.
    """
    from dovetail_tree.util import tree_map

    if not callable(f):
        raise not_callable("f", f)

    def run(init: Any) -> Any:
        refs = tree_map(new_ref, init)
        out = f(refs)
        if out is not None:
            raise TypeError(
                f"run_state: {callable_name(f)} returned a value of type "
                f"{type(out).__name__}: write results to references"
            )
        return tree_map(freeze, refs)

    return run


class Access:
    """The operators and methods of concrete references, traced ones, and views."""

    __slots__ = ()

    @property
    def at(self) -> Any:
        """``x.at[index]``: a view of part of it."""
        return At(self)

    def __getitem__(self, index: Any) -> Any:
        return get(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        set(self, index, value)

    def accum(self, cotangent: Any) -> None:
        """Add a cotangent to the contents, as ``vjp(f, x)[1].with_refs`` does."""
        addupdate(self, ..., cotangent)

    def addupdate(self, value: Any) -> None:
        """Add a value to the contents."""
        addupdate(self, ..., value)

    def __len__(self) -> int:
        shape = cast(Any, self).shape
        if not shape:
            raise TypeError("len() of a reference to an array without dimensions")
        return shape[0]

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"a reference is iterated over{here()}: iterate over its value, ref[...]")


_methods = vars(Access)
for _name_of in ("at", "__getitem__", "__setitem__", "accum", "addupdate", "__len__", "__iter__"):
    setattr(TransformedRef, _name_of, _methods[_name_of])
# Traced references look them up in their type, where operators have one underscore.
for _name_of in ("at", "accum", "addupdate"):
    setattr(AbstractRef, _name_of, _methods[_name_of])
for _operator in ("getitem", "setitem", "len", "iter"):
    setattr(AbstractRef, f"_{_operator}", _methods[f"__{_operator}__"])


def _read(aval: AbstractRef, ref: Any) -> Sequence[Any]:
    return (get(ref),)


def _write(aval: AbstractRef, ref: Any, contents: Sequence[Any]) -> None:
    set(ref, ..., contents[0])


def _make(aval: AbstractRef, contents: Sequence[Any]) -> Any:
    return new_ref(contents[0], kind=aval.kind)


AbstractRef.read, AbstractRef.write = _read, _write  # type: ignore[method-assign]
AbstractRef.make = _make  # type: ignore[method-assign]
