"""``jax.interpreters.batching``: registries of batching rules, and what fills them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import Axis, axis_primitives, batch_rules
from dovetail_core import Primitive, algebra, typeof

from .views import Rule, RuleView, as_it_is

not_mapped = None
"""Instead of the position of a mapped axis, where a value has none."""


def _adopt(primitive: Primitive, rule: Rule) -> Rule:
    return lambda axis, args, dims, /, **params: rule(tuple(args), tuple(dims), **params)


def _adopt_named(primitive: Primitive, rule: Rule) -> Rule:
    def adopted(
        axis: Axis, args: Sequence[Any], dims: Sequence[Any], /, **params: Any
    ) -> tuple[Any, Any]:
        return rule(axis.size, axis.name, None, tuple(args), tuple(dims), **params)

    return adopted


def _adopt_fancy(primitive: Primitive, rule: Rule) -> Rule:
    return lambda axis, args, dims, /, **params: rule(axis, tuple(args), tuple(dims), **params)


def _called(
    primitive: Primitive, rule: Rule, axis: Axis, args: Any, dims: Any, params: dict[str, Any]
) -> tuple[Any, Any]:
    result = rule(axis, list(args), list(dims), **params)
    if result is NotImplemented:
        result = batch_rules.fallback(primitive)(axis, list(args), list(dims), **params)
    return result


def _present(primitive: Primitive, rule: Rule) -> Rule:
    def presented(args: Sequence[Any], dims: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        size = _size_of(args, dims)
        if size is None:
            out = primitive.bind(*args, **params)
            return out, [None] * len(out) if primitive.multiple_results else None
        return _called(primitive, rule, Axis(size), args, dims, params)

    return presented


def _present_named(primitive: Primitive, rule: Rule) -> Rule:
    def presented(
        size: int,
        name: Any,
        trace_type: Any,
        args: Sequence[Any],
        dims: Sequence[Any],
        **params: Any,
    ) -> tuple[Any, Any]:
        return _called(primitive, rule, Axis(size, name), args, dims, params)

    return presented


def _size_of(args: Sequence[Any], dims: Sequence[Any]) -> int | None:
    avals: Any = map(typeof, args)
    return next((a.shape[d] for a, d in zip(avals, dims) if d is not None), None)


class _AxisRules(RuleView):
    """Rules that look at the axis: they are called even where no operand is mapped."""

    def __setitem__(self, primitive: Primitive, rule: Rule) -> None:
        super().__setitem__(primitive, rule)
        axis_primitives.add(primitive)

    def __delitem__(self, primitive: Primitive) -> None:
        super().__delitem__(primitive)
        axis_primitives.discard(primitive)


primitive_batchers = RuleView(batch_rules, _adopt, _present)
"""``rule(args, dims, **params)``, called where an operand is mapped, returns results and the
positions of their mapped axes."""

axis_primitive_batchers = _AxisRules(batch_rules, _adopt_named, _present_named)
"""``rule(axis_size, axis_name, None, args, dims, **params)`` likewise, under every
``vmap``."""

fancy_primitive_batchers = _AxisRules(batch_rules, _adopt_fancy, as_it_is)
"""``rule(axis, args, dims, **params)`` likewise; ``axis`` has a ``size``, a ``name`` (None where it
has none), the tuple ``spmd_name`` and ``explicit_mesh_axis``."""


def broadcast(x: Any, sz: int, axis: int, mesh_axis: Any = None) -> Any:
    """``x`` with a new axis of length ``sz`` at ``axis``."""
    return algebra().broadcast(x, sz, axis)


def moveaxis(x: Any, source: int, destination: int) -> Any:
    """``x`` with one axis moved."""
    ndim = typeof(x).ndim  # type: ignore[attr-defined]
    source, destination = source % ndim, destination % ndim
    return x if source == destination else algebra().move_axis(x, source, destination)


def bdim_at_front(x: Any, bdim: int | None, size: int, mesh_axis: Any = None) -> Any:
    """``x`` with its mapped axis first; with a new one where it has none."""
    return broadcast(x, size, 0) if bdim is None else moveaxis(x, bdim, 0)


def defvectorized(prim: Primitive) -> None:
    """Say that an operation acts on each element alone, on operands of one shape."""

    def rule(args: Sequence[Any], dims: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        if any(d != dims[0] for d in dims):
            raise NotImplementedError(
                f"{prim.name} has mapped axes at {tuple(dims)}: defvectorized is for operations "
                "whose operands have theirs at one position. Use defbroadcasting."
            )
        return _everywhere(prim, prim.bind(*args, **params), dims[0])

    primitive_batchers[prim] = rule


def _everywhere(prim: Primitive, out: Any, dim: int | None) -> tuple[Any, Any]:
    return out, [dim] * len(out) if prim.multiple_results else dim


def defbroadcasting(prim: Primitive) -> None:
    """Say that an operation acts on each element alone, on operands of one shape or scalars."""

    def rule(args: Sequence[Any], dims: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        avals: Any = list(map(typeof, args))
        kinds = {(a.shape, d) for a, d in zip(avals, dims) if a.shape}
        if len(kinds) == 1 and next(iter(kinds))[1] is not None:
            return _everywhere(prim, prim.bind(*args, **params), next(iter(kinds))[1])
        size = _size_of(args, dims)
        assert size is not None
        front = [bdim_at_front(x, d, size) if a.shape else x for x, d, a in zip(args, dims, avals)]
        ndim = max(typeof(x).ndim for x in front)  # type: ignore[attr-defined]
        spread = [x if d is None else _of_rank(x, ndim) for x, d in zip(front, dims)]
        return _everywhere(prim, prim.bind(*spread, **params), 0)

    primitive_batchers[prim] = rule


def _of_rank(x: Any, ndim: int) -> Any:
    """``x`` with axes of length one behind its own."""
    for n in range(typeof(x).ndim, ndim):  # type: ignore[attr-defined]
        x = broadcast(x, 1, n)
    return x


def defreducer(prim: Primitive, ident: Any = None) -> None:
    """Say that an operation reduces its one operand over the axes ``axes``."""

    def rule(
        args: Sequence[Any], dims: Sequence[Any], *, axes: Sequence[int], **params: Any
    ) -> tuple[Any, Any]:
        (x,), (dim,) = args, dims
        moved = tuple([a + (a >= dim) for a in axes])
        left = dim - sum(a < dim for a in moved)
        return _everywhere(prim, prim.bind(x, axes=moved, **params), left)

    primitive_batchers[prim] = rule
