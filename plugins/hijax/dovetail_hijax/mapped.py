"""A high primitive over a mapped axis, as one high primitive: no rule of it is lost under vmap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from dovetail_batching import Axis, batch_values, carrier_of
from dovetail_core import with_leading
from dovetail_core.tree.util import tree_flatten, tree_unflatten

from .classes import VJPHiPrimitive
from .zeros import Zero


def mapped(op: VJPHiPrimitive, axis: Axis) -> VJPHiPrimitive:
    """``op`` over an axis, which all of its arguments and results have in front."""
    return _class_of(type(op))(op, axis)


def to_front(axis: Axis, x: Any, dim: Any) -> Any:
    """A value with its mapped axis in front; one that has none is repeated along it."""
    return carrier_of(axis).arrays((x, dim), True, 0)[0]


class Mapped(VJPHiPrimitive):
    """``op`` over ``axis``. Its rules are those of ``op``, mapped."""

    op: VJPHiPrimitive
    axis: Axis

    def __init__(self, op: VJPHiPrimitive, axis: Axis) -> None:
        ins = [with_leading(a, axis.size) for a in op.in_flat]
        outs = [with_leading(a, axis.size) for a in op.out_flat]
        self.in_avals = tree_unflatten(op.in_tree, ins)
        self.out_aval = tree_unflatten(op.out_tree, outs)
        self.params = {"op": op, "axis": axis}
        self.effects = op.effects
        super().__init__()

    def __repr__(self) -> str:
        return f"{self.op!r} over an axis of {self.axis.size}"

    def over_axis(self, f: Callable[..., Any], *args: Any) -> Any:
        """``f`` of elements, on trees of values that have the axis in front, as do its results.

        Symbolic zeros go in as those of elements; they come out as values.
        """
        leaves, tree = tree_flatten(args, is_leaf=lambda x: x.__class__ is Zero)
        carrier = carrier_of(self.axis)
        live = [x for x in leaves if x.__class__ is not Zero]
        out_trees: list[Any] = []

        def on_elements(*xs: Any) -> list[Any]:
            rest = iter(xs)
            full = [self._element(x) if x.__class__ is Zero else next(rest) for x in leaves]
            found, out_tree = tree_flatten(
                f(*tree_unflatten(tree, full)), is_leaf=lambda x: x.__class__ is Zero
            )
            out_trees[:] = [out_tree]
            return [x.instantiate() if x.__class__ is Zero else x for x in found]

        dims = [carrier.value((x,), True, 0)[1] for x in live]
        outs = batch_values(on_elements, self.axis, live, dims)
        return tree_unflatten(out_trees[0], [carrier.arrays(v, True, 0)[0] for v in outs])

    def _element(self, zero: Zero) -> Zero:
        aval: Any = zero.aval
        if aval.is_high:
            return Zero(aval.mapped(self.axis.size, aval.leading_spec()))
        return Zero(aval.update(shape=aval.shape[1:]))


def _expand(self: Mapped, *args: Any) -> Any:
    return self.over_axis(self.op.expand, *args)


def _jvp(self: Mapped, primals: Any, tangents: Any) -> Any:
    return self.over_axis(self.op.jvp, primals, tangents)


def _lin(self: Mapped, nzs_in: Any, *primals: Any) -> Any:
    return self.over_axis(lambda *xs: self.op.lin(nzs_in, *xs), *primals)


def _linearized(self: Mapped, residuals: Any, *tangents: Any) -> Any:
    return self.over_axis(self.op.linearized, residuals, *tangents)


def _vjp_fwd(self: Mapped, nzs_in: Any, /, *args: Any) -> Any:
    return self.over_axis(lambda *xs: self.op.vjp_fwd(nzs_in, *xs), *args)


def _vjp_bwd_retval(self: Mapped, res: Any, outgrad: Any, /) -> Any:
    op = self.op

    def on_elements(res: Any, outgrad: Any) -> Any:
        cts = tree_flatten(outgrad, is_leaf=lambda x: x.__class__ is Zero)[0]
        found = op.pulled_back(res, cts, [True] * len(op.in_flat))
        types = [a.cotangent_type() for a in op.in_flat]
        return op.arguments([Zero(a) if ct is None else ct for ct, a in zip(found, types)])

    return self.over_axis(on_elements, res, outgrad)


def _dce(self: Mapped, used_outs: Any) -> Any:
    needs, rest = self.op.dce(used_outs)
    return needs, mapped(rest, self.axis)


_RULES: Sequence[tuple[str, str, Callable[..., Any]]] = (
    ("expand", "expand", _expand),
    ("jvp", "jvp", _jvp),
    ("lin", "lin", _lin),
    ("lin", "linearized", _linearized),
    ("vjp_fwd", "vjp_fwd", _vjp_fwd),
    ("vjp_fwd", "vjp_bwd_retval", _vjp_bwd_retval),
    ("dce", "dce", _dce),
)


@cache
def _class_of(cls: type[VJPHiPrimitive]) -> type[Mapped]:
    """The class of the mapped operations of a class: it has the rules that the class has."""
    rules = {
        name: rule
        for needed, name, rule in _RULES
        if getattr(cls, needed) is not getattr(VJPHiPrimitive, needed)
    }
    return type(f"Mapped{cls.__name__}", (Mapped,), {**rules, "__module__": cls.__module__})
