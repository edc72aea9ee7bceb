"""Classes registered by ``register_vmappable``, which define how ``vmap`` maps their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dovetail_core import algebra, get_trace, here, run_under, typeof

from .trace import Axis, Batched, BatchTrace

MoveAxis = Callable[[Batched, Any], Any]


class Vmappable(NamedTuple):
    """The functions by which values of a class are mapped over.

    Attributes:
        spec_type: the type of entries of ``in_axes`` and ``out_axes`` for its values.
        axis_size_type: the type of lengths of mapped axes.
        to_elt: ``to_elt(cont, get_index, value, spec)`` makes the argument of the mapped function,
            by ``cont(part, spec)`` of the parts of the value; ``get_index()`` is the index of the
            element.
        from_elt: ``from_elt(cont, axis_size, element, spec)`` makes the result from an element that
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
    """Register the functions by which ``vmap`` maps over values of a class: see :class:`Vmappable`.

    If a value has a ``shape`` and its spec is an integer, they give the length of the mapped axis;
    otherwise other arguments or ``axis_size`` do.
    """
    classes[data_type] = Vmappable(spec_type, axis_size_type, to_elt, from_elt, make_iota)


def unregister_vmappable(data_type: type) -> None:
    """Undo :func:`register_vmappable`; nothing happens if the class is not registered."""
    classes.pop(data_type, None)


def is_vmappable(x: Any) -> bool:
    """True if the class of a value is registered."""
    return x.__class__ in classes


def check_spec(what: str, x: Any, spec: Any) -> None:
    """Raise TypeError unless ``spec`` is None or of the spec type of the class of ``x``."""
    wanted = classes[x.__class__].spec_type
    if spec is not None and not isinstance(spec, wanted):
        raise TypeError(
            f"{what}: expected {wanted.__name__} or None for a {type(x).__name__}, got "
            f"{spec!r} of type {type(spec).__name__}{here()}"
        )


def length_of(x: Any, spec: Any) -> int | None:
    """The length of the mapped axis of a value that has a ``shape``, else None."""
    shape = getattr(x, "shape", None)
    return shape[spec] if isinstance(shape, tuple) and isinstance(spec, int) else None  # type: ignore[index]


def element(axis: Axis, x: Any, spec: Any) -> Any:
    """The argument of the mapped function for a value, under the trace of the mapping."""
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


def unbatched_result(axis: Axis, x: Any, spec: Any, move: MoveAxis) -> Any:
    """The result from an element that the function returned; called under the trace of the mapping.

    Args:
        move: ``move((array, position of its mapped axis), new position)`` returns the array.
    """
    trace = get_trace()
    assert isinstance(trace, BatchTrace)

    def cont(_: Any, part: Any, s: Any) -> Any:
        inner = classes.get(part.__class__)
        if inner is not None:
            return inner.from_elt(cont, axis.size, part, s)
        return move(trace.lower(part), s)

    from_elt = classes[x.__class__].from_elt
    return run_under(trace.parent, from_elt, cont, axis.size, x, spec)


def elements(
    axis: Axis, leaves: Sequence[Any], dims: Sequence[Any]
) -> tuple[list[Any], list[Any], Callable[[Sequence[Any]], list[Any]]]:
    """Arguments without values of registered classes, their axes, and the function that inserts
    the elements of these values."""
    own = [i for i, x in enumerate(leaves) if is_vmappable(x)]
    plain = [0 if i in own else x for i, x in enumerate(leaves)]
    plain_dims = [None if i in own else d for i, d in enumerate(dims)]

    def fill(xs: Sequence[Any]) -> list[Any]:
        result = list(xs)
        for i in own:
            result[i] = element(axis, leaves[i], dims[i])
        return result

    return plain, plain_dims, fill
