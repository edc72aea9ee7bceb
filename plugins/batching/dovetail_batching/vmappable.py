"""Values whose class says itself how a function is mapped over them, whatever their pytree is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dovetail_core import algebra, get_trace, here, run_under, typeof

from .trace import Axis, Batched, BatchTrace

Place = Callable[[Batched, Any], Any]


class Vmappable(NamedTuple):
    """How one class is mapped over.

    Attributes:
        spec_type: of the entries of ``in_axes`` and ``out_axes`` for its values.
        axis_size_type: of lengths of mapped axes.
        to_elt: ``to_elt(cont, get_index, value, spec)`` makes the value that the mapped function
            sees, by ``cont(part, spec)`` of its parts; ``get_index()`` is the index of the element.
        from_elt: ``from_elt(cont, axis_size, element, spec)`` makes the result of an element that
            the function returned, by ``cont(axis_size, part, spec)``.
        make_iota: ``make_iota(axis_size)`` makes the indices of all elements, or None.
    """

    spec_type: type
    axis_size_type: type
    to_elt: Callable[..., Any]
    from_elt: Callable[..., Any]
    make_iota: Callable[..., Any] | None


classes: dict[type, Vmappable] = {}


def register_vmappable(
    data_type: type,
    spec_type: type,
    axis_size_type: type,
    to_elt: Callable[..., Any],
    from_elt: Callable[..., Any],
    make_iota: Callable[..., Any] | None,
) -> None:
    """Say how ``vmap`` maps over values of a class: see :class:`Vmappable`.

    A value that has a ``shape`` has a part in the length of the mapped axis, where its spec is an
    integer; others are mapped over an axis that other arguments have, or ``axis_size`` says.
    """
    classes[data_type] = Vmappable(spec_type, axis_size_type, to_elt, from_elt, make_iota)


def unregister_vmappable(data_type: type) -> None:
    """Let values of a class be pytrees or leaves again; also if they were never anything else."""
    classes.pop(data_type, None)


def is_vmappable(x: Any) -> bool:
    """Whether the class of a value says how it is mapped over."""
    return x.__class__ in classes


def check_spec(what: str, x: Any, spec: Any) -> None:
    """Raise TypeError unless ``spec`` is None or what the class of ``x`` wants."""
    wanted = classes[x.__class__].spec_type
    if spec is not None and not isinstance(spec, wanted):
        raise TypeError(
            f"{what}: expected {wanted.__name__} or None for a {type(x).__name__}, got "
            f"{spec!r} of type {type(spec).__name__}{here()}"
        )


def length_of(x: Any, spec: Any) -> int | None:
    """The length of the mapped axis of a value, where it says it by a ``shape``."""
    shape = getattr(x, "shape", None)
    return shape[spec] if isinstance(shape, tuple) and isinstance(spec, int) else None  # type: ignore[index]


def element(axis: Axis, x: Any, spec: Any) -> Any:
    """A value as the mapped function sees it, under the trace of the mapping."""
    trace = get_trace()
    known = classes.get(x.__class__)
    assert isinstance(trace, BatchTrace)
    if known is not None:
        return known.to_elt(
            lambda part, s: element(axis, part, s), lambda: _index(trace, axis, known), x, spec
        )
    aval: Any = typeof(x) if spec is not None else None
    dim = spec % aval.ndim if isinstance(spec, int) and hasattr(aval, "ndim") else spec
    return trace.lift((x, dim))


def _index(trace: BatchTrace, axis: Axis, known: Vmappable) -> Any:
    def made() -> Any:
        if known.make_iota is not None:
            return known.make_iota(axis.size)
        x = np.arange(axis.size, dtype=np.int32)
        return algebra().array(x, typeof(x))

    return trace.lift((run_under(trace.parent, made), 0))


def whole(axis: Axis, x: Any, spec: Any, place: Place) -> Any:
    """The result of an element that the function returned; called under the trace of the mapping.

    Args:
        place: ``place((array, position of its mapped axis), where it goes)``.
    """
    trace = get_trace()
    assert isinstance(trace, BatchTrace)

    def cont(_: Any, part: Any, s: Any) -> Any:
        inner = classes.get(part.__class__)
        if inner is not None:
            return inner.from_elt(cont, axis.size, part, s)
        return place(trace.lower(part), s)

    from_elt = classes[x.__class__].from_elt
    return run_under(trace.parent, from_elt, cont, axis.size, x, spec)


def elements(
    axis: Axis, leaves: Sequence[Any], dims: Sequence[Any]
) -> tuple[list[Any], list[Any], Callable[[Sequence[Any]], list[Any]]]:
    """Arguments without what their classes say, and the function that puts that in."""
    own = [i for i, x in enumerate(leaves) if is_vmappable(x)]
    plain = [0 if i in own else x for i, x in enumerate(leaves)]
    plain_dims = [None if i in own else d for i, d in enumerate(dims)]

    def fill(xs: Sequence[Any]) -> list[Any]:
        result = list(xs)
        for i in own:
            result[i] = element(axis, leaves[i], dims[i])
        return result

    return plain, plain_dims, fill
